//! One run of the compiler, stage by stage.
//!
//! Each stage does what the stages before it have not done yet, so that a caller asks for the last one it needs. A stage
//! gives `None` if there were errors; they are in [`Compilation::diagnostics`], with the places in
//! [`Compilation::sources`].

use std::collections::HashSet;
use std::path::PathBuf;

use clickwork_source::{Diagnostic, Diagnostics, Sources, Span};

use super::input::{Reader, SourceFile};
use super::preprocess::{self, Preprocessed};
use super::run::run;
use crate::analyze::reach::{self, Reach};
use crate::analyze::{Counts, counts};
use crate::check::check;
use crate::emit::{self, Output};
use crate::optimize::{self, Report, optimize};
use crate::program::{Program, Target};
use crate::report;
use crate::syntax::{self, ast};

/// How to compile.
#[derive(Clone, Debug)]
pub struct Options {
    /// When and how the C preprocessor runs.
    pub preprocessor: preprocess::Options,
    /// The machine whose layouts count.
    pub target: Target,
    /// What the optimiser does.
    pub optimize: optimize::Options,
    /// Whether `#line` in the C gives the places in the Prolac source.
    pub lines: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            preprocessor: preprocess::Options::default(),
            target: Target::default(),
            optimize: optimize::Options::default(),
            lines: true,
        }
    }
}

/// A program on its way from text to C.
///
/// ```
/// use clickwork_prolac::{Compilation, Options};
///
/// let mut compilation = Compilation::new(Options::default());
/// compilation.add("answer.pc", "module M { static answer :> int ::= 6 * 7; } export M.answer;");
/// let output = compilation.emit("answer.c", "answer.h").expect("the program has no errors");
/// assert!(output.header.contains("int answer__M(void);"));
///
/// let mut wrong = Compilation::new(Options::default());
/// wrong.add("wrong.pc", "module M { static f :> int ::= x; } export M.f;");
/// assert!(wrong.emit("wrong.c", "wrong.h").is_none());
/// assert_eq!(wrong.diagnostics.iter().next().unwrap().message, "`x` is not declared");
/// ```
#[derive(Debug, Default)]
pub struct Compilation {
    /// How to compile.
    pub options: Options,
    /// The texts of all files.
    pub sources: Sources,
    /// What is wrong with the program, or might be.
    pub diagnostics: Diagnostics,
    /// The files that the program was read from, lists and included files too; standard input is none.
    pub dependencies: Vec<PathBuf>,
    /// The program as written, after [`Compilation::parse`].
    pub syntax: Option<ast::Program>,
    /// The program as it means, after [`Compilation::check`].
    pub program: Option<Program>,
    /// The program after [`Compilation::optimize`], with what was done to it.
    pub optimized: Option<(Program, Report)>,
    /// The files to parse.
    files: Vec<SourceFile>,
}

impl Compilation {
    /// A compilation without any text.
    pub fn new(options: Options) -> Self {
        Compilation { options, ..Self::default() }
    }

    /// Adds a piece of the program that stands in no file; `name` is what messages call it. It is not preprocessed.
    pub fn add(&mut self, name: &str, text: &str) {
        let id = self.sources.add(name, text);
        self.files.push(SourceFile { id, path: None });
    }

    /// Reads the files of a program and preprocesses those that need it. A word is the name of a file, `-` for standard
    /// input, or `@LIST` for a list of such words, one a line.
    pub fn read(&mut self, words: &[String]) -> Option<()> {
        let mut reader = Reader::new(&mut self.sources, &mut self.diagnostics);
        words.iter().for_each(|word| reader.word(word));
        let Reader { files, lists, .. } = reader;
        if files.is_empty() && !self.diagnostics.has_errors() {
            self.diagnostics.push(Diagnostic::error(Span::NONE, "there is no file to compile"));
        }
        self.dependencies.extend(lists);
        self.dependencies.extend(files.iter().filter_map(|f| f.path.clone()));
        let Preprocessed { files, included } = preprocess::preprocess(
            files,
            &self.options.preprocessor,
            &mut self.sources,
            &mut self.diagnostics,
        )?;
        self.dependencies.extend(included);
        self.files.extend(files);
        self.succeeded(())
    }

    /// The text of the program as the parser sees it, after preprocessing.
    pub fn preprocessed(&self) -> String {
        self.files.iter().map(|f| self.sources.text(f.id)).collect()
    }

    /// Parses all files into one program.
    pub fn parse(&mut self) -> Option<&ast::Program> {
        if self.syntax.is_none() {
            let mut program = ast::Program::default();
            for file in &self.files {
                // Support code in front of any file goes to the top of the C.
                program.items.extend(syntax::parse(&mut self.sources, file.id, &mut self.diagnostics).items);
            }
            self.syntax = Some(program);
        }
        self.syntax.as_ref().filter(|_| !self.diagnostics.has_errors())
    }

    /// Resolves names, types and exceptions.
    pub fn check(&mut self) -> Option<&Program> {
        if self.program.is_none() {
            self.parse()?;
            let syntax = self.syntax.as_ref()?;
            let checked = check(&self.sources, syntax, self.options.target);
            let program = checked.program;
            // What two modules share can be complained about from both.
            let mut known = HashSet::new();
            let new = checked.diagnostics.into_iter().filter(|d| known.insert((d.span(), d.message.clone())));
            self.diagnostics.extend(new);
            self.program = Some(program);
        }
        self.program.as_ref().filter(|_| !self.diagnostics.has_errors())
    }

    /// Optimises; the program of [`Compilation::check`] stays as it is.
    pub fn optimize(&mut self) -> Option<&(Program, Report)> {
        if self.optimized.is_none() {
            let mut program = self.check()?.clone();
            let reach = Reach::new(&program);
            self.diagnostics.extend(reach::warnings(&program, &reach));
            let report = optimize(&mut program, &self.options.optimize);
            self.optimized = Some((program, report));
        }
        self.optimized.as_ref()
    }

    /// Writes C. `source_name` and `header_name` are what the two files will be called.
    pub fn emit(&mut self, source_name: &str, header_name: &str) -> Option<Output> {
        self.optimize()?;
        let (program, _) = self.optimized.as_ref()?;
        let options = emit::Options {
            lines: self.options.lines,
            source_name: source_name.to_string(),
            header_name: header_name.to_string(),
        };
        match emit::emit(program, &self.sources, &options) {
            Ok(output) => Some(output),
            Err(errors) => {
                self.diagnostics.extend(errors);
                None
            }
        }
    }

    /// The numbers of methods, calls and dispatches.
    pub fn counts(&mut self) -> Option<Counts> {
        let options = self.options.optimize;
        self.check().map(|program| counts(program, &options))
    }

    /// The original namespace of each module.
    pub fn namespaces(&mut self) -> Option<String> {
        self.check()?;
        Some(report::namespaces(self.syntax.as_ref()?, self.program.as_ref()?, &self.sources))
    }

    /// What is derived from what.
    pub fn chains(&mut self) -> Option<String> {
        self.check()?;
        Some(report::chains(self.program.as_ref()?, &self.sources))
    }

    /// Who calls whom, for Graphviz.
    pub fn callgraph(&mut self) -> Option<String> {
        self.optimize()?;
        let (_, done) = self.optimized.as_ref()?;
        Some(report::callgraph(self.program.as_ref()?, done))
    }

    /// Which definitions a method has, and which its calls reach.
    pub fn explain(&mut self, method: &str) -> Option<String> {
        self.optimize()?;
        let (_, done) = self.optimized.as_ref()?;
        match report::explain(self.program.as_ref()?, done, &self.sources, method) {
            Ok(text) => Some(text),
            Err(message) => {
                self.diagnostics.push(Diagnostic::error(Span::NONE, message));
                None
            }
        }
    }

    /// An HTML reference.
    pub fn reference(&mut self, title: &str) -> Option<String> {
        self.check()?;
        let files: Vec<_> = self.files.iter().map(|f| f.id).collect();
        Some(report::doc::html(report::doc::Input {
            title,
            syntax: self.syntax.as_ref()?,
            program: self.program.as_ref()?,
            files: &files,
            sources: &self.sources,
        }))
    }

    /// Interprets a method with arguments given as words: what it returned. Needs a large stack.
    pub fn run(&mut self, method: &str, arguments: &[String]) -> Option<String> {
        match run(self.check()?, method, arguments) {
            Ok(text) => Some(text),
            Err(error) => {
                self.diagnostics.push(error);
                None
            }
        }
    }

    /// The value, unless there were errors.
    fn succeeded<T>(&self, value: T) -> Option<T> {
        (!self.diagnostics.has_errors()).then_some(value)
    }
}

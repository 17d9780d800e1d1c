//! `prolacc FILE...`: compiles, or prints what it knows about a program.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::{Files, Input};
use crate::driver::{Compilation, Options};
use crate::optimize;
use crate::program::print_method;
use crate::syntax;

#[derive(clap::Args, Debug)]
pub struct Build {
    #[command(flatten)]
    input: Input,
    /// Write C to OUT, which ends in '.c', and the header beside it
    #[arg(short, long, value_name = "OUT.c", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Print something instead of writing files; several are separated by commas
    #[arg(long, value_name = "WHAT", value_enum, value_delimiter = ',', help_heading = "Output")]
    emit: Vec<Emit>,
    /// Print all definitions of a method in the order of overriding, and what each call reaches
    #[arg(long, value_name = "MODULE.METHOD", help_heading = "Output")]
    explain: Vec<String>,
    /// Print how many methods, calls and dispatches there are
    #[arg(long, help_heading = "Output")]
    stats: bool,
    /// Leave out '#line' in the C, so that C compilers and debuggers show the C and not the Prolac source
    #[arg(long, help_heading = "Output")]
    no_line: bool,
    /// Write the names of all files that were read to FILE, as a rule for make
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    deps: Option<PathBuf>,
    #[command(flatten)]
    optimize: Optimize,
}

#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Optimisation")]
struct Optimize {
    /// 0: nothing; 1: dispatch removal and folding; 2: inlining where it is asked for or free; 3: where it is likely to pay
    #[arg(short = 'O', value_name = "LEVEL", default_value_t = 3, value_parser = clap::value_parser!(u8).range(..=3))]
    level: u8,
    /// Inline nothing
    #[arg(long)]
    no_inline: bool,
    /// Make no dispatch direct because of what the whole program shows
    #[arg(long)]
    no_cha: bool,
    /// Leave code marked 'outline' where it stands
    #[arg(long)]
    no_outline: bool,
}

/// What `--emit` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Emit {
    /// The text after the C preprocessor
    Source,
    /// The syntax tree
    Ast,
    /// What each module sees: every name, what it is, and where it comes from
    Namespaces,
    /// What is derived from what, and what each layer overrides
    Chain,
    /// Who calls whom, for Graphviz
    Callgraph,
    /// The methods with types and calls written out, optimised
    Typed,
    /// The C file
    C,
    /// The header
    Header,
}

/// Runs the command.
pub fn run(args: &Build) -> ExitCode {
    if let Err(message) = args.check_output() {
        args.input.messages().error(&message);
        return ExitCode::from(2);
    }
    args.input.compile(args.options(), |compilation| args.results(compilation))
}

impl Build {
    fn options(&self) -> Options {
        let Optimize { level, no_inline, no_cha, no_outline } = self.optimize;
        let optimize = optimize::Options { level, cha: !no_cha, inline: !no_inline, outline: !no_outline };
        Options { optimize, lines: !self.no_line, ..self.input.options() }
    }

    /// Whether the name of the output is one that can be written without harm.
    fn check_output(&self) -> Result<(), String> {
        let (source, header) = self.names();
        if self.output.is_some() && source.extension().is_none_or(|e| e != "c") {
            return Err(format!(
                "the output '{}' must end in '.c'; use '--emit=c' for standard output",
                source.display()
            ));
        }
        let is_input = |path: &Path| self.input.files.iter().any(|file| Path::new(file) == path);
        match [source, header].into_iter().find(|path| is_input(path)) {
            Some(path) if self.output.is_some() => {
                Err(format!("'{}' would be overwritten by the output", path.display()))
            }
            _ => Ok(()),
        }
    }

    /// What is to be printed, and the files to be written.
    fn results(&self, compilation: &mut Compilation) -> Option<(String, Files)> {
        let (source, header) = self.names();
        let file_name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (source_name, header_name) = (file_name(&source), file_name(&header));
        let mut text = String::new();
        for emit in &self.emit {
            text.push_str(&emit.text(compilation, &source_name, &header_name)?);
        }
        for method in &self.explain {
            text.push_str(&compilation.explain(method)?);
        }
        let mut files = Files::new();
        if let Some(deps) = &self.deps {
            files.push((deps.clone(), self.rule(compilation)));
        }
        // The syntax tree and the preprocessed text can be looked at though the program has errors.
        if self.emit.is_empty() || self.output.is_some() || self.stats {
            let output = compilation.emit(&source_name, &header_name)?;
            if self.stats {
                let lines = output.source.lines().count();
                text.push_str(&format!("{}{:<28}{lines:>16}\n", compilation.counts()?, "lines of C"));
            }
            if self.output.is_some() {
                files.extend([(source, output.source), (header, output.header)]);
            }
        }
        Some((text, files))
    }

    /// Where the C file and the header go.
    fn names(&self) -> (PathBuf, PathBuf) {
        let source = self.output.clone().unwrap_or_else(|| PathBuf::from("program.c"));
        let header = source.with_extension("h");
        (source, header)
    }

    /// A rule for make: the output depends on every file that was read.
    fn rule(&self, compilation: &Compilation) -> String {
        let escaped = |path: &PathBuf| path.display().to_string().replace('$', "$$").replace(' ', "\\ ");
        let target = self.output.as_ref().or(self.deps.as_ref()).map_or(String::new(), escaped);
        let files: Vec<String> = compilation.dependencies.iter().map(escaped).collect();
        format!("{target}: {}\n", files.join(" \\\n  "))
    }
}

impl Emit {
    fn text(self, compilation: &mut Compilation, source: &str, header: &str) -> Option<String> {
        match self {
            Emit::Source => Some(compilation.preprocessed()),
            Emit::Ast => {
                compilation.parse()?;
                compilation.syntax.as_ref().map(|tree| syntax::dump(tree, &compilation.sources))
            }
            Emit::Namespaces => compilation.namespaces(),
            Emit::Chain => compilation.chains(),
            Emit::Callgraph => compilation.callgraph(),
            Emit::C => compilation.emit(source, header).map(|output| output.source),
            Emit::Header => compilation.emit(source, header).map(|output| output.header),
            Emit::Typed => {
                let (program, _) = compilation.optimize()?;
                let reach = crate::analyze::Reach::new(program);
                Some(reach.methods().map(|m| print_method(program, m)).collect())
            }
        }
    }
}

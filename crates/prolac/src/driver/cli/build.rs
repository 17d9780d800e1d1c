//! `prolacc FILE...`: compiles, or prints what it knows about a program.

use std::path::PathBuf;
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
}

/// Runs the command.
pub fn run(args: &Build) -> ExitCode {
    args.input.compile(args.options(), |compilation| args.results(compilation))
}

impl Build {
    fn options(&self) -> Options {
        let Optimize { level, no_inline, no_cha, no_outline } = self.optimize;
        let optimize = optimize::Options { level, cha: !no_cha, inline: !no_inline, outline: !no_outline };
        Options { optimize, ..self.input.options() }
    }

    /// What is to be printed, and the files to be written.
    fn results(&self, compilation: &mut Compilation) -> Option<(String, Files)> {
        let mut text = String::new();
        for emit in &self.emit {
            text.push_str(&emit.text(compilation)?);
        }
        for method in &self.explain {
            text.push_str(&compilation.explain(method)?);
        }
        if self.stats {
            text.push_str(&compilation.counts()?.to_string());
        }
        let only_printed = !self.emit.is_empty();
        if !only_printed {
            compilation.optimize()?;
        }
        let mut files = Files::new();
        if let Some(deps) = &self.deps {
            files.push((deps.clone(), self.rule(compilation)));
        }
        Some((text, files))
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
    fn text(self, compilation: &mut Compilation) -> Option<String> {
        match self {
            Emit::Source => Some(compilation.preprocessed()),
            Emit::Ast => {
                compilation.parse()?;
                compilation.syntax.as_ref().map(|tree| syntax::dump(tree, &compilation.sources))
            }
            Emit::Namespaces => compilation.namespaces(),
            Emit::Chain => compilation.chains(),
            Emit::Callgraph => compilation.callgraph(),
            Emit::Typed => {
                let (program, _) = compilation.optimize()?;
                let reach = crate::analyze::Reach::new(program);
                Some(reach.methods().map(|m| print_method(program, m)).collect())
            }
        }
    }
}

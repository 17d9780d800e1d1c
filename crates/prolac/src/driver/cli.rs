//! The command line of `prolacc`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use super::messages::{Color, Messages, Warnings};
use super::{Compilation, Options, PreprocessorOptions, When, output};
use crate::program::Target;
use crate::syntax;

/// Compile a Prolac program to C
///
/// Reads a whole program, removes dispatches and calls, and writes OUT.c and OUT.h. The exit status is 0, 1 after errors
/// in the program, or 2 for a wrong command line. After errors no file is written.
#[derive(Parser, Debug)]
#[command(name = "prolacc", version, after_help = EXAMPLES)]
struct Cli {
    #[command(flatten)]
    build: Build,
}

const EXAMPLES: &str = "Examples:
  prolacc tcp.pc -o tcp.c                  compile a program
  prolacc base.pc ext.pc main.pc -o p.c    compile a program of several files, as if they were one
  prolacc @tcp.list -o tcp.c               the same with the names of the files in a list, one a line
  prolacc tcp.pc                           only look for errors";

/// The options of compiling.
#[derive(clap::Args, Debug)]
struct Build {
    /// Files of the program in order; '@LIST' names a file that lists more, '-' is standard input
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    /// Write C to OUT, which ends in '.c', and the header beside it
    #[arg(short, long, value_name = "OUT.c")]
    output: Option<PathBuf>,
    /// The machine whose layouts count [default: this one]
    #[arg(long, value_name = "NAME", value_parser = target)]
    target: Option<Target>,
    /// Print something instead of writing files, several separated by commas
    #[arg(long, value_name = "WHAT", value_enum, value_delimiter = ',')]
    emit: Vec<Emit>,
    /// Write the names of all files that were read to FILE, as a rule for make
    #[arg(long, value_name = "FILE")]
    deps: Option<PathBuf>,
    #[command(flatten)]
    preprocessor: Preprocessor,
    #[command(flatten)]
    messages: MessageOptions,
}

/// What `--emit` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Emit {
    /// The text after the C preprocessor
    Source,
    /// The syntax tree
    Ast,
}

#[derive(clap::Args, Debug)]
#[command(next_help_heading = "C preprocessor")]
struct Preprocessor {
    /// Search DIR for included files
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Define a macro
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    define: Vec<String>,
    /// Undefine a macro
    #[arg(short = 'U', value_name = "NAME")]
    undefine: Vec<String>,
    /// Run the C preprocessor ('cc -E', or the command in $CPP): 'auto' from the first file on that uses it
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    cpp: When,
}

#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Messages")]
struct MessageOptions {
    /// Colours in messages
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    color: Color,
    /// What becomes of warnings; '-Werror' makes them errors
    #[arg(short = 'W', long = "warn", value_name = "WHAT", value_enum, default_value_t)]
    warnings: Warnings,
}

/// Runs the program.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    if cli.build.files.is_empty() {
        Cli::command().error(clap::error::ErrorKind::MissingRequiredArgument, "no FILE is given").exit();
    }
    in_large_stack(move || build(&cli.build))
}

/// Runs in a thread whose stack is large enough for any tree that the parser accepts.
fn in_large_stack(work: impl FnOnce() -> ExitCode + Send + 'static) -> ExitCode {
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(work);
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(status)) => status,
        Ok(Err(_)) => ExitCode::from(3),
        Err(error) => {
            Messages::default().error(&format!("cannot start a thread: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn build(args: &Build) -> ExitCode {
    let messages = Messages { color: args.messages.color, warnings: args.messages.warnings };
    let mut compilation = Compilation::new(args.options());
    let text = args.results(&mut compilation);
    let usable = messages.print(&compilation.sources, &compilation.diagnostics);
    let Some((text, files)) = text.filter(|_| usable) else { return ExitCode::FAILURE };
    output::print(&text);
    match output::write_all(&files) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            messages.error(&error);
            ExitCode::FAILURE
        }
    }
}

impl Build {
    /// What is to be printed, and the files to be written.
    fn results(&self, compilation: &mut Compilation) -> Option<(String, Vec<(PathBuf, String)>)> {
        compilation.read(&self.files)?;
        compilation.parse()?;
        let text = self.emit.iter().map(|emit| emit.text(compilation)).collect::<Option<String>>()?;
        let mut files = Vec::new();
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

    fn options(&self) -> Options {
        let Preprocessor { include, define, undefine, cpp } = &self.preprocessor;
        let preprocessor = PreprocessorOptions {
            when: *cpp,
            include: include.clone(),
            define: define.clone(),
            undefine: undefine.clone(),
        };
        Options { preprocessor, target: self.target.unwrap_or_default() }
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
        }
    }
}

fn target(name: &str) -> Result<Target, String> {
    let known = || Target::names().collect::<Vec<_>>().join(", ");
    Target::named(name).ok_or_else(|| format!("the machines are {}", known()))
}

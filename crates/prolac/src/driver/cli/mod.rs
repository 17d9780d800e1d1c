//! The command line of `prolacc`: the options that all of its commands share, and which commands there are.

mod build;
mod doc;
mod fmt;
mod run;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use super::messages::{Color, Messages, Warnings};
use super::{Compilation, Options, PreprocessorOptions, When, output};
use crate::program::Target;

/// Compile a Prolac program to C
///
/// Reads a whole program, removes dispatches and calls, and writes OUT.c and OUT.h. Without '-o' it only looks for errors.
/// The exit status is 0, or 1 after errors in the program, or 2 for a wrong command line. After errors no file is written.
#[derive(Parser, Debug)]
#[command(name = "prolacc", version, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
#[command(arg_required_else_help = true, subcommand_help_heading = "Commands instead of FILE")]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    build: build::Build,
}

const EXAMPLES: &str = "Examples:
  prolacc tcp.pc -o tcp.c                  compile a program
  prolacc base.pc ext.pc main.pc -o p.c    compile a program of several files, as if they were one
  prolacc @tcp.list -o tcp.c               the same with the names of the files in a list, one a line
  prolacc tcp.pc                           only look for errors
  prolacc tcp.pc --explain TCB.send-hook   every definition of a method and what calls it
  prolacc tcp.pc --emit=chain              what is derived from what
  prolacc doc tcp.pc -o tcp.html           an HTML reference of the program
  prolacc run fib.pc Fib.fib 10            call a method in the interpreter
  prolacc fmt --write tcp.pc               lay a file out in the canonical way";

#[derive(Subcommand, Debug)]
enum Command {
    Doc(doc::Doc),
    Fmt(fmt::Fmt),
    Run(run::Run),
}

/// Which program, and how messages about it look.
#[derive(clap::Args, Debug)]
struct Input {
    /// Files of the program in order; '@LIST' names a file that lists more, '-' is standard input
    #[arg(value_name = "FILE", required = true, allow_negative_numbers = true)]
    files: Vec<String>,
    /// The machine whose layouts count [default: this one]
    #[arg(long, value_name = "NAME", value_parser = target)]
    target: Option<Target>,
    #[command(flatten)]
    preprocessor: Preprocessor,
    #[command(flatten)]
    messages: MessageOptions,
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
    /// Run the C preprocessor ('cc -E', or the command in $CPP)
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
    in_large_stack(move || match cli.command {
        None => build::run(&cli.build),
        Some(Command::Doc(args)) => doc::run(&args),
        Some(Command::Fmt(args)) => fmt::run(&args),
        Some(Command::Run(args)) => run::run(args),
    })
}

/// Runs in a thread whose stack is large enough for any tree that the parser accepts.
fn in_large_stack(work: impl FnOnce() -> ExitCode + Send + 'static) -> ExitCode {
    let thread = std::thread::Builder::new().stack_size(super::run::STACK).spawn(work);
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(status)) => status,
        Ok(Err(_)) => {
            Messages::default().error("prolacc itself failed, as told above; the program is not to blame");
            ExitCode::from(3)
        }
        Err(error) => {
            Messages::default().error(&format!("cannot start a thread: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Files to write, each with its text.
type Files = Vec<(PathBuf, String)>;

impl MessageOptions {
    fn messages(&self) -> Messages {
        Messages { color: self.color, warnings: self.warnings }
    }
}

impl Input {
    fn messages(&self) -> Messages {
        self.messages.messages()
    }

    fn options(&self) -> Options {
        let Preprocessor { include, define, undefine, cpp } = &self.preprocessor;
        let preprocessor = PreprocessorOptions {
            when: *cpp,
            include: include.clone(),
            define: define.clone(),
            undefine: undefine.clone(),
        };
        Options { preprocessor, target: self.target.unwrap_or_default(), ..Options::default() }
    }

    /// Reads the program, lets `work` make text for standard output and files of it, and puts out messages, text and
    /// files; the last two only if there are no errors.
    fn compile(
        &self,
        options: Options,
        work: impl FnOnce(&mut Compilation) -> Option<(String, Files)>,
    ) -> ExitCode {
        let messages = self.messages();
        let mut compilation = Compilation::new(options);
        let made = compilation.read(&self.files).and_then(|()| work(&mut compilation));
        let usable = messages.print(&compilation.sources, &compilation.diagnostics);
        let Some((text, files)) = made.filter(|_| usable) else { return ExitCode::FAILURE };
        output::print(&text);
        let harmless = output::check_harmless(&files, &compilation.dependencies);
        match harmless.and_then(|()| output::write_all(&files)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                messages.error(&error);
                ExitCode::FAILURE
            }
        }
    }
}

fn target(name: &str) -> Result<Target, String> {
    let known = || Target::names().collect::<Vec<_>>().join(", ");
    Target::named(name).ok_or_else(|| format!("the machines are {}", known()))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}

//! The command line of `clickwork` itself: its subcommands.

use crate::links;
use crate::run;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Routers out of small readable parts
#[derive(Parser, Debug)]
#[command(name = "clickwork", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Run(run::Run),
    Links(links::Links),
}

/// Runs the program.
pub fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Run(args) => run::command(&args),
        Command::Links(args) => links::main(&args),
    }
}

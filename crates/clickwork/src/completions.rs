//! `clickwork completions`: scripts that let a shell complete commands and options.

use crate::{cli, output};
use clap_complete::Shell;
use std::process::ExitCode;

/// Print a script that makes a shell complete clickwork's commands and options
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

const EXAMPLES: &str = "Examples:
  source <(clickwork completions bash)
  clickwork completions zsh > ~/.zfunc/_clickwork
  clickwork completions fish > ~/.config/fish/completions/clickwork.fish";

/// Runs the subcommand.
pub fn main(args: &Completions) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut cli::command(), "clickwork", &mut script);
    output::print_bytes(&script);
    ExitCode::SUCCESS
}

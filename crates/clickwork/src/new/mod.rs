//! `clickwork new`: makes something to begin with.

mod element;

use clap::Subcommand;
use std::process::ExitCode;

/// Make a new package
#[derive(clap::Args, Debug)]
pub struct New {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    Element(element::NewElement),
}

/// Runs the subcommand.
pub fn main(args: &New) -> ExitCode {
    match &args.what {
        What::Element(args) => element::main(args),
    }
}

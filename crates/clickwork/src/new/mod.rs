//! `clickwork new`: makes something to begin with.

mod element;
mod ip_router;

use clap::Subcommand;
use std::process::ExitCode;

/// Make a new package, or the configuration of a router
#[derive(clap::Args, Debug)]
pub struct New {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    Element(element::NewElement),
    IpRouter(ip_router::NewIpRouter),
}

/// Runs the subcommand.
pub fn main(args: &New) -> ExitCode {
    match &args.what {
        What::Element(args) => element::main(args),
        What::IpRouter(args) => ip_router::main(args),
    }
}

//! The program `click`: Click's options, messages and formats, and packets in Click's exact order.

use crate::output;
use crate::packages;
use crate::report::Report;
use crate::run::{self, Packages, Presentation, RouterOptions};
use clap::Parser;
use std::ffi::OsString;
use std::process::ExitCode;

/// Run a Click router configuration
///
/// Installs the configuration, reports any errors to standard error, and then runs, generally until interrupted.
/// This is Clickwork under the name of Click: the options, messages and output formats are Click's, and packets move
/// one at a time in Click's order. 'clickwork run' takes the same options, is faster and says more.
#[derive(Parser, Debug)]
#[command(name = "click", disable_help_flag = true, disable_version_flag = true, infer_long_args = true)]
#[command(version = concat!("(Clickwork) ", env!("CARGO_PKG_VERSION")))]
struct Click {
    #[command(flatten)]
    options: RouterOptions,
    /// Print the version number and exit
    #[arg(short, long, action = clap::ArgAction::Version)]
    version: Option<bool>,
}

/// Runs the program.
pub fn main(args: Vec<OsString>) -> ExitCode {
    main_with(args, packages::ensure)
}

/// Runs the program as a minimal driver.
pub fn minimal_main(args: Vec<OsString>) -> ExitCode {
    main_with(args, run::no_packages)
}

fn main_with(args: Vec<OsString>, packages: Packages) -> ExitCode {
    match Click::try_parse_from(args) {
        Ok(click) => {
            let report = Report { warnings: click.options.warnings(), ..Report::click() };
            run::main(&click.options, &Presentation::click(report, packages))
        }
        Err(e) => output::usage(&e),
    }
}

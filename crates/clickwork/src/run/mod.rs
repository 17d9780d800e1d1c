//! `clickwork run` and `click`: makes a router of a configuration and runs it.
//!
//! [`options`] are those of Click's program, which both share. [`session`] is a run from start to end, [`reload`] the
//! replacement of a running configuration, [`handlers`] what `-h` and `-x` do at the end,
//! [`status`] and [`table`] what a person sees of it.

mod handlers;
mod options;
mod reload;
mod session;
mod status;
mod table;
mod usage;

pub use options::RouterOptions;
pub use status::ERASE;

use crate::report::Report;
use session::Session;
use std::io::IsTerminal;
use std::process::ExitCode;

/// Run a router
///
/// Reads a configuration in the Click language, checks it, and runs it until it stops itself or is interrupted
/// (Ctrl-C, or a TERM signal); then files are flushed and closed.
#[derive(clap::Args, Debug)]
#[command(disable_help_flag = true, after_help = EXAMPLES)]
pub struct Run {
    #[command(flatten)]
    options: RouterOptions,
    /// Move one packet at a time in Click's exact order, instead of batches
    #[arg(long)]
    ordered: bool,
    /// Print a table of all elements at the end even if this is no terminal
    #[arg(long)]
    table: bool,
    /// Print neither the status line nor the table
    #[arg(long, conflicts_with = "table")]
    quiet: bool,
}

const EXAMPLES: &str = "Examples:
  clickwork run router.click                     run a configuration
  clickwork run router.click DEV=eth0            with $DEV in it set to eth0
  clickwork run -e 'InfiniteSource(LIMIT 5) -> Print -> Discard'
  clickwork run router.click -h c.count          print the handler 'count' of element 'c' at the end
  clickwork run -p 7777 -R router.click          take commands on TCP port 7777, and new configurations";

/// How a run looks from outside.
#[derive(Clone, Copy, Debug)]
pub struct Presentation {
    /// Whether batches have one packet.
    pub ordered: bool,
    /// How messages are printed.
    pub report: Report,
    /// Whether a status line is shown while the router runs.
    pub status: bool,
    /// Whether a table of the elements is printed at the end.
    pub table: bool,
}

impl Presentation {
    /// As Click does it.
    pub fn click(report: Report) -> Presentation {
        Presentation { ordered: true, report, status: false, table: false }
    }
}

/// Runs the subcommand.
pub fn command(args: &Run) -> ExitCode {
    let report = Report { warnings: args.options.warnings(), ..Report::human() };
    let status = std::io::stderr().is_terminal() && !args.quiet;
    main(&args.options, &Presentation { ordered: args.ordered, report, status, table: status || args.table })
}

/// Makes and runs a router.
pub fn main(options: &RouterOptions, presentation: &Presentation) -> ExitCode {
    match Session::start(options, presentation) {
        Some(session) => ExitCode::from(session.run()),
        None => ExitCode::FAILURE,
    }
}

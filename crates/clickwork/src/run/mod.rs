//! `clickwork run` and `click`: makes a router of a configuration and runs it.
//!
//! [`compiled`] is machine code for a router, [`compiler`] makes it. [`options`] are those of Click's program, which both share. [`session`] is a run from start to end, [`reload`] the
//! replacement of a running configuration, [`handlers`] what `-h` and `-x` do at the end,
//! [`status`] and [`table`] what a person sees of it.

mod compiled;
mod compiler;
mod handlers;
mod options;
mod reload;
mod session;
mod status;
mod table;
mod usage;

pub use options::RouterOptions;
pub use status::ERASE;

use crate::config::Input;
use crate::input::InputOptions;
use crate::packages;
use crate::report::Report;
use clap::Parser;
use session::Session;
use std::io::IsTerminal;
use std::process::ExitCode;

/// Run a router
///
/// Reads a configuration in the Click language, checks it, and runs it until it stops itself or is interrupted
/// (Ctrl-C, or a TERM or HUP signal); then files are flushed and closed.
#[derive(clap::Args, Debug)]
#[command(disable_help_flag = true, after_help = EXAMPLES)]
pub struct Run {
    #[command(flatten)]
    options: RouterOptions,
    /// Move one packet at a time in Click's exact order, instead of batches
    #[arg(long)]
    ordered: bool,
    /// Compile the paths of packets to machine code with the Rust compiler, in the background, and use it as soon as it is there
    #[arg(long)]
    compiled: bool,
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
  clickwork run --compiled router.click          the same packets, several times faster
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
    /// What is done about packages that the configuration requires.
    pub packages: Packages,
    /// Whether a table of the elements is printed at the end.
    pub table: bool,
    /// Whether everything is compiled that can be.
    pub compiled: bool,
}

/// Something to do about what a configuration requires, before it is used.
pub type Packages = fn(&InputOptions, &Input, &Report) -> Result<(), String>;

impl Presentation {
    /// As Click does it.
    pub fn click(report: Report, packages: Packages) -> Presentation {
        Presentation { ordered: true, report, status: false, table: false, compiled: false, packages }
    }
}

/// Runs the subcommand.
pub fn command(args: &Run) -> ExitCode {
    command_with(args, packages::ensure)
}

fn command_with(args: &Run, packages: Packages) -> ExitCode {
    let report = Report { warnings: args.options.warnings(), ..Report::human() };
    let status = std::io::stderr().is_terminal() && !args.quiet;
    let (ordered, compiled, table) = (args.ordered, args.compiled, status || args.table);
    main(&args.options, &Presentation { ordered, report, status, table, compiled, packages })
}

/// Runs the router that is attached to this program: `clickwork build` made it.
pub fn built_main() -> ExitCode {
    command(&BuiltRouter::parse().run)
}

/// A router made by 'clickwork build'
///
/// Runs the configuration that it was built from, or another one, which is compiled as far as it agrees.
#[derive(Parser, Debug)]
#[command(version, disable_help_flag = true)]
struct BuiltRouter {
    #[command(flatten)]
    run: Run,
}

/// Runs a minimal driver, which does nothing else than run routers, and cannot have others built: `clickwork mkmindriver`
/// made it.
pub fn minimal_main() -> ExitCode {
    command_with(&MinimalDriver::parse().run, no_packages)
}

/// For a program that cannot get packages: what it lacks is reported when the router is made.
pub fn no_packages(_: &InputOptions, _: &Input, _: &Report) -> Result<(), String> {
    Ok(())
}

/// Run a router
///
/// This is a minimal driver: it has only the element classes that it was made with. 'clickwork mkmindriver' makes others.
#[derive(Parser, Debug)]
#[command(version, disable_help_flag = true)]
struct MinimalDriver {
    #[command(flatten)]
    run: Run,
}

/// Makes and runs a router.
pub fn main(options: &RouterOptions, presentation: &Presentation) -> ExitCode {
    match Session::start(options, presentation) {
        Some(session) => ExitCode::from(session.run()),
        None => ExitCode::FAILURE,
    }
}

//! `clickwork undead` and `click-undead`: a configuration without dead code.

use crate::report::Report;
use crate::tool::{self, ToolOptions};
use clickwork_passes::{Facts, undead::undead};
use std::ffi::OsString;
use std::process::ExitCode;

/// Remove what no packet reaches, what leads no packet anywhere, and what does nothing
///
/// Bypasses StaticSwitch, StaticPullSwitch, Null, PushNull and PullNull; removes Idle and elements that lie on no way from a
/// source of packets to a sink; takes unused ports from schedulers and tees. Elements that others call by name stay. The same
/// packets come out, but a removed ToDump no longer writes its file.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Undead {
    #[command(flatten)]
    tool: ToolOptions,
    /// Say what is removed, and why
    #[arg(short, long, visible_alias = "explain")]
    verbose: bool,
}

const EXAMPLES: &str = "Examples:
  clickwork undead -v router.click             what is dead in it, and what is left
  clickwork undead router.click LOG=0          with $LOG set, as in StaticSwitch($LOG)
  clickwork flatten router.click | clickwork undead | clickwork run -";

/// Runs as `click-undead`.
pub fn click_main(args: Vec<OsString>) -> ExitCode {
    tool::click_main("click-undead", args, tool::drivers, run)
}

/// Runs the subcommand.
pub fn main(args: &Undead) -> ExitCode {
    run(args, &Report::human())
}

fn run(args: &Undead, report: &Report) -> ExitCode {
    let report = Report { notes: args.verbose, ..*report };
    tool::transform(&args.tool, &report, |unit| {
        let registry = crate::classes::registry();
        let place = unit.place_of_tool("click-undead");
        let facts = Facts::new(&registry, &unit.files);
        Ok(undead(&mut unit.network, &facts, place))
    })
}

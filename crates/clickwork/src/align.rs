//! `clickwork align` and `click-align`: a configuration whose packets lie in memory as elements need them.

use crate::report::Report;
use crate::tool::{self, ToolOptions};
use clickwork_passes::{Facts, align::align};
use std::ffi::OsString;
use std::process::ExitCode;

/// Put in the Aligns that elements need, and take out those that they do not need
///
/// Some machines cannot read a word of memory at every address. This follows packets from their sources and finds out where
/// they begin when they reach elements that read words, such as CheckIPHeader and Classifier. Where that is wrong, it adds an
/// Align; where an Align does nothing, it removes it. An AlignmentInfo says how packets reach the elements that ask.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Align {
    #[command(flatten)]
    tool: ToolOptions,
    /// Say where Aligns are added, and why
    #[arg(short, long, visible_alias = "explain")]
    verbose: bool,
}

const EXAMPLES: &str = "Examples:
  clickwork align -v router.click                    where Aligns are needed, and the configuration with them
  clickwork align router.click | clickwork run -     run it so";

/// Runs as `click-align`.
pub fn click_main(args: Vec<OsString>) -> ExitCode {
    tool::click_main("click-align", args, tool::drivers, run)
}

/// Runs the subcommand.
pub fn main(args: &Align) -> ExitCode {
    run(args, &Report::human())
}

fn run(args: &Align, report: &Report) -> ExitCode {
    let report = Report { notes: args.verbose, ..*report };
    tool::transform(&args.tool, &report, |unit| {
        let registry = crate::classes::registry();
        let place = unit.place_of_tool("click-align");
        let facts = Facts::new(&registry, &unit.files);
        Ok(align(&mut unit.network, &facts, place))
    })
}

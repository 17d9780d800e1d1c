//! `clickwork flatten` and `click-flatten`: a configuration without compound elements.

use crate::report::Report;
use crate::tool::{self, ToolOptions};
use clickwork_passes::Unit;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::process::ExitCode;

/// Replace compound elements by what they consist of
///
/// Reads a configuration and writes an equivalent one that has no compound elements, in the canonical form that other
/// tools read. Element classes need not be known.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("config", |a| a.short(None).group("what")))]
pub struct Flatten {
    #[command(flatten)]
    tool: ToolOptions,
    /// List the element classes that the configuration uses
    #[arg(short, long, group = "what")]
    classes: bool,
    /// List the names of the elements
    #[arg(short = 'n', long, visible_alias = "elements", group = "what")]
    names: bool,
    /// List the declarations of the elements
    #[arg(short, long, visible_alias = "decls", group = "what")]
    declarations: bool,
    /// Replace global variables by their values
    #[arg(long)]
    expand_vars: bool,
    #[arg(long, hide = true, overrides_with = "expand_vars")]
    no_expand_vars: bool,
}

const EXAMPLES: &str = "Examples:
  clickwork flatten router.click --no-lines -o flat.click
  clickwork flatten --classes router.click        the classes that it needs
  clickwork flatten --expand-vars router.click DEV=eth1 -o eth1.click";

/// Runs as `click-flatten`.
pub fn click_main(args: Vec<OsString>) -> ExitCode {
    tool::click_main("click-flatten", args, |c| c, run)
}

/// Runs the subcommand.
pub fn main(args: &Flatten) -> ExitCode {
    run(args, &Report::human())
}

fn run(args: &Flatten, report: &Report) -> ExitCode {
    tool::finish(report, || {
        let unit = args.tool.read(report, args.expand_vars)?;
        match list(args, &unit) {
            Some(text) => args.tool.output.write_text(&text),
            None => args.tool.output.write(&unit),
        }
    })
}

/// The list that the options ask for instead of the configuration.
fn list(args: &Flatten, unit: &Unit) -> Option<String> {
    let elements = unit.network.elements().map(|(_, e)| e);
    if args.classes {
        Some(lines(elements.map(|e| e.class.clone())))
    } else if args.names {
        Some(lines(elements.map(|e| e.name.clone())))
    } else if args.declarations {
        Some(lines(elements.map(|e| format!("{} :: {}", e.name, e.class))))
    } else {
        None
    }
}

/// Sorted, one a line.
fn lines(items: impl Iterator<Item = String>) -> String {
    items.collect::<BTreeSet<_>>().into_iter().map(|s| s + "\n").collect()
}

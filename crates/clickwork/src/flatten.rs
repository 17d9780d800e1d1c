//! `clickwork flatten` and `click-flatten`: a configuration without compound elements.

use crate::input::InputOptions;
use crate::output;
use crate::report::Report;
use clap::{ArgAction, Parser};
use clickwork_lang::{Graph, elaborate};
use clickwork_source::Sources;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Replace compound elements by what they consist of
///
/// Reads a configuration and writes an equivalent one that has no compound elements, in the canonical form that other
/// tools read. Element classes need not be known.
#[derive(clap::Args, Debug)]
pub struct Flatten {
    #[command(flatten)]
    input: InputOptions,
    /// List the element classes that the configuration uses
    #[arg(short, long, group = "what")]
    classes: bool,
    /// List the names of the elements
    #[arg(short = 'n', long, visible_alias = "elements", group = "what")]
    names: bool,
    /// List the declarations of the elements
    #[arg(short, long, visible_alias = "decls", group = "what")]
    declarations: bool,
    /// Write the configuration alone, without an archive around it
    #[arg(long, group = "what")]
    config: bool,
    /// Replace global variables by their values
    #[arg(long)]
    expand_vars: bool,
    #[arg(long, hide = true, overrides_with = "expand_vars")]
    no_expand_vars: bool,
    /// Write to FILE instead of standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,
}

/// Remove compound elements from a Click configuration
#[derive(Parser, Debug)]
#[command(name = "click-flatten", disable_version_flag = true, infer_long_args = true)]
#[command(version = concat!("(Clickwork) ", env!("CARGO_PKG_VERSION")))]
struct ClickFlatten {
    #[command(flatten)]
    args: Flatten,
    /// Print the version number and exit
    #[arg(short, long, action = ArgAction::Version)]
    version: Option<bool>,
}

/// Runs as `click-flatten`.
pub fn click_main(args: Vec<OsString>) -> ExitCode {
    match ClickFlatten::try_parse_from(args) {
        Ok(tool) => run(&tool.args, &Report::click()),
        Err(e) => output::usage(&e),
    }
}

/// Runs the subcommand.
pub fn main(args: &Flatten) -> ExitCode {
    run(args, &Report::human())
}

fn run(args: &Flatten, report: &Report) -> ExitCode {
    let written = flat(args, report).and_then(|graph| output::write(&args.output, &text(args, &graph)));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            report.error(&e);
            ExitCode::FAILURE
        }
    }
}

fn flat(args: &Flatten, report: &Report) -> Result<Graph, String> {
    let input = args.input.input()?;
    let path = args.input.path();
    let mut sources = Sources::new();
    let file = sources.add(input.name.clone(), input.text);
    let mut options = clickwork_lang::Options::any_class();
    options.defines = args.input.defines();
    options.loader = &path;
    options.expand_defines = args.expand_vars;
    let (graph, diagnostics) = elaborate(&mut sources, file, &options);
    report.print(&sources, &diagnostics);
    if diagnostics.has_errors() {
        return Err(format!("{}: not a correct configuration", input.name));
    }
    Ok(graph)
}

/// What the options ask to be written.
fn text(args: &Flatten, graph: &Graph) -> String {
    let elements = graph.elements.iter();
    if args.classes {
        lines(elements.map(|e| e.class.clone()))
    } else if args.names {
        lines(elements.map(|e| e.name.clone()))
    } else if args.declarations {
        lines(elements.map(|e| format!("{} :: {}", e.name, e.class)))
    } else {
        clickwork_lang::print(graph)
    }
}

/// Sorted, one a line.
fn lines(items: impl Iterator<Item = String>) -> String {
    items.collect::<BTreeSet<_>>().into_iter().map(|s| s + "\n").collect()
}

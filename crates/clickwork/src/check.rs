//! `clickwork check` and `click-check`: whether a configuration is right, without opening a device or file.

use crate::config::Maker;
use crate::input::InputOptions;
use crate::packages;
use crate::report::Report;
use crate::{output, tool};
use clap::{ArgAction, Parser};
use clickwork_lang::archive::Archive;
use clickwork_passes::{Facts, Network, types};
use clickwork_router::Router;
use clickwork_source::Sources;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Check a configuration without running it
///
/// Reports everything that is wrong: syntax, unknown classes, ports, arguments, push connected to pull. Opens no device
/// and writes no file. With --types also packets are followed from element to element: Ethernet frames where an IP header
/// should be are an error. The exit status is 0 if the configuration is correct.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Check {
    #[command(flatten)]
    input: InputOptions,
    /// If it is correct, write the flat configuration to FILE
    #[arg(short, long, value_name = "FILE", conflicts_with = "filter")]
    output: Option<PathBuf>,
    /// If it is correct, write the flat configuration to standard output
    #[arg(short = 'p', long)]
    filter: bool,
    /// Print no warnings
    #[arg(short = 'w', long)]
    no_warnings: bool,
    /// Check what kind of packets reach each element, and whether it expects them
    #[arg(long)]
    types: bool,
    /// Print what is known of the packets on each connection
    #[arg(long, conflicts_with_all = ["filter", "output"])]
    show_types: bool,
}

const EXAMPLES: &str = "Examples:
  clickwork check router.click                 everything that is wrong with it
  clickwork check --types router.click         ... and packets that elements do not expect
  clickwork check --show-types router.click    what is known of the packets on each connection
  clickwork undead router.click | clickwork check -p -w | clickwork run -";

/// Check a Click configuration for errors
#[derive(Parser, Debug)]
#[command(name = "click-check", disable_version_flag = true, infer_long_args = true)]
#[command(version = concat!("(Clickwork) ", env!("CARGO_PKG_VERSION")))]
struct ClickCheck {
    #[command(flatten)]
    args: Check,
    /// Check for the user-level driver (there is no other)
    #[arg(short, long)]
    user: bool,
    /// Print the version number and exit
    #[arg(short, long, action = ArgAction::Version)]
    version: Option<bool>,
}

/// Runs as `click-check`.
pub fn click_main(args: Vec<OsString>) -> ExitCode {
    match ClickCheck::try_parse_from(args) {
        Ok(tool) => run(&tool.args, &Report::click()),
        Err(e) => output::usage(&e),
    }
}

/// Runs the subcommand.
pub fn main(args: &Check) -> ExitCode {
    run(args, &Report::human())
}

fn run(args: &Check, report: &Report) -> ExitCode {
    let report = Report { warnings: !args.no_warnings, ..*report };
    match check(args, &report) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            report.error(&e);
            ExitCode::FAILURE
        }
    }
}

/// Whether the configuration is correct.
fn check(args: &Check, report: &Report) -> Result<bool, String> {
    let input = args.input.read(report)?;
    packages::ensure(&args.input, &input, report)?;
    let maker = Maker { defines: args.input.defines(), path: args.input.path(), ..Maker::new() };
    let made = maker.check(&input);
    report.print(&made.sources, &made.diagnostics);
    let Some(router) = made.router.filter(|_| !made.diagnostics.has_errors()) else { return Ok(false) };
    let facts = Facts::new(&maker.registry, input.files.as_ref().unwrap_or(&Archive::default()));
    if (args.types || args.show_types) && !check_types(args, report, &facts, &made.sources, &router) {
        return Ok(false);
    }
    let wanted = args.output.as_deref().or(args.filter.then_some(Path::new("-")));
    match wanted {
        Some(file) => output::write_bytes(file, &flat(file, &router, &made.sources, input.files))?,
        None => {
            let _ = writeln!(std::io::stderr(), "{}", praise(&input.name, &router, report.click));
        }
    }
    Ok(true)
}

/// Whether all elements get the packets that they expect.
fn check_types(args: &Check, report: &Report, facts: &Facts<'_>, sources: &Sources, router: &Router) -> bool {
    let network = Network::new(router.to_graph());
    if args.show_types {
        let mut out = std::io::stdout().lock();
        for line in types::describe(&network, facts) {
            let _ = writeln!(out, "{line}");
        }
    }
    let mistakes = types::check(&network, facts);
    report.print(sources, &mistakes);
    !mistakes.has_errors()
}

/// The flat configuration as tools write it.
fn flat(file: &Path, router: &Router, sources: &Sources, files: Option<Archive>) -> Vec<u8> {
    let graph = router.to_graph();
    let text = match tool::is_for_person(file) {
        true => clickwork_lang::print(&graph),
        false => clickwork_lang::print_marked(&graph, sources),
    };
    match files {
        Some(files) => files.with_config(text),
        None => clickwork_source::text::into_bytes(text),
    }
}

fn praise(name: &str, router: &Router, click: bool) -> String {
    match click {
        true => format!("{name}: configuration OK in userlevel driver"),
        false => format!("{name}: correct, {} elements, {} connections", router.len(), router.links().len()),
    }
}

//! `clickwork fastclassifier` and `click-fastclassifier`: classifiers as code.

use crate::report::Report;
use crate::tool::{self, ToolOptions};
use clap::{Arg, ArgAction, Command};
use clickwork_passes::fastclassifier::alone::Alone;
use clickwork_passes::fastclassifier::{Diagram, Diagrams, Options, SOURCE, fastclassifier, reverse};
use clickwork_passes::{Facts, Unit};
use clickwork_router::{ElementId, Registry, Router};
use clickwork_source::Diagnostics;
use clickwork_source::text::decode;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

/// Merge adjacent Classifiers, and have classifiers compiled
///
/// Where a Classifier sends packets to another Classifier, one takes the place of both, if exactly the same packets come out.
/// Then every Classifier, IPClassifier and IPFilter gets a class that stands for its decision diagram, such as
/// FastClassifier@@NAME; elements with equal diagrams share one. 'clickwork build' and 'clickwork run --compiled' make code
/// of these elements; without a compiler they run as before, since they keep their configurations.
///
/// The output is an archive: the configuration, what other tools must know about the new classes, and the code, in Rust, for
/// people to read. Elements that others call by name are not merged; the drops of merged elements are counted by the one
/// that is left.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct FastClassifier {
    #[command(flatten)]
    tool: ToolOptions,
    /// Merge no Classifiers
    #[arg(short, long, overrides_with = "combine")]
    no_combine: bool,
    #[arg(long, hide = true, overrides_with = "no_combine")]
    combine: bool,
    /// Make no classes: only merge Classifiers
    #[arg(long, overrides_with = "classes")]
    no_classes: bool,
    #[arg(long, hide = true, overrides_with = "no_classes")]
    classes: bool,
    /// Write the code alone
    #[arg(short, long, conflicts_with_all = ["config", "reverse", "no_classes"])]
    source: bool,
    /// Give classifiers their own classes again; merged ones stay merged
    #[arg(short, long, overrides_with = "no_reverse")]
    reverse: bool,
    #[arg(long, hide = true, overrides_with = "reverse")]
    no_reverse: bool,
    /// Say what is merged, what shares a class, and what is not merged and why
    #[arg(short, long)]
    verbose: bool,
}

const EXAMPLES: &str = "Examples:
  clickwork fastclassifier router.click -o fast.click   an archive that runs like router.click
  clickwork run --compiled fast.click                   with its classifiers compiled
  clickwork fastclassifier -s router.click              their code, to read
  clickwork fastclassifier -v --config router.click     what was merged, and the new configuration
  clickwork fastclassifier --reverse fast.click         back to the classes of the library
  clickwork xform -p ip router.click | clickwork fastclassifier | clickwork undead | clickwork run -";

/// Runs as `click-fastclassifier`.
pub fn click_main(args: Vec<OsString>) -> ExitCode {
    tool::click_main("click-fastclassifier", args, click_options, run)
}

/// The options that Click's program has besides; it compiles by itself.
fn click_options(command: Command) -> Command {
    let quiet = Arg::new("quiet").long("quiet").short('q').action(ArgAction::SetTrue);
    tool::drivers(command).arg(quiet.help("Nothing is compiled here, so nothing is said about it"))
}

/// Runs the subcommand.
pub fn main(args: &FastClassifier) -> ExitCode {
    run(args, &Report::human())
}

fn run(args: &FastClassifier, report: &Report) -> ExitCode {
    let report = Report { notes: args.verbose, ..*report };
    if args.source {
        return tool::finish(&report, || write_source(args, &report));
    }
    tool::transform(&args.tool, &report, |unit| Ok(change(args, unit)))
}

fn change(args: &FastClassifier, unit: &mut Unit) -> Diagnostics {
    if args.reverse {
        return reverse(&mut unit.network, &mut unit.files);
    }
    let registry = crate::classes::registry();
    let facts = Facts::new(&registry, &unit.files);
    let options = Options { combine: !args.no_combine, classes: !args.no_classes };
    let read = |alone: &Alone| diagrams(alone, &registry);
    fastclassifier(&mut unit.network, &mut unit.files, &facts, options, read)
}

fn write_source(args: &FastClassifier, report: &Report) -> Result<(), String> {
    let mut unit = args.tool.read(report, false)?;
    let messages = change(args, &mut unit);
    report.print(&unit.sources, &messages);
    match unit.files.get(SOURCE) {
        Some(file) => args.tool.output.write_text(&decode(&*file.data)),
        None => {
            report.warning("no classifiers in the configuration");
            Ok(())
        }
    }
}

/// The diagrams of classifiers: configured, but not initialised.
fn diagrams(alone: &Alone, registry: &Arc<Registry>) -> Diagrams {
    let names = clickwork_elements::info::devices::names_of_devices();
    let options = clickwork_router::Options { names, ..clickwork_router::Options::default() };
    let (router, messages) = clickwork_router::check(&alone.graph, &alone.sources, registry, options);
    let Some(mut router) = router else { return Diagrams::new() };
    let mut found: Diagrams =
        alone.wrong(&messages).into_iter().map(|(name, why)| (name, Err(why))).collect();
    for id in router.ids() {
        let name = router.info(id).name.clone();
        if !found.contains_key(&name)
            && let Some(diagram) = diagram(&mut router, id)
        {
            found.insert(name, Ok(diagram));
        }
    }
    found
}

fn diagram(router: &mut Router, id: ElementId) -> Option<Diagram> {
    let code = router.fast_code(id).map(|code| code.source.into_owned());
    Some(Diagram { steps: router.read_handler(id, "program", "").ok()?.text(), code })
}

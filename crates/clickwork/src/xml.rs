//! `clickwork xml` and `click2xml`, `clickwork json`: a configuration for other programs.

use crate::input::InputOptions;
use crate::output;
use crate::packages;
use crate::report::Report;
use crate::tool;
use clickwork_lang::{Options, elaborate_structure};
use clickwork_passes::export::{json, xml};
use clickwork_passes::{Facts, Unit};
use clickwork_source::Sources;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write a configuration as XML
///
/// In the form of Click's click2xml. Compound classes stay unless --flatten is given; global variables are replaced by their
/// values. Element classes need not be known.
#[derive(clap::Args, Debug)]
#[command(after_help = XML_EXAMPLES)]
pub struct Xml {
    #[command(flatten)]
    export: Export,
    /// Replace compound elements by what they consist of
    #[arg(short = 'F', long, overrides_with = "no_flatten")]
    flatten: bool,
    #[arg(long, hide = true, overrides_with = "flatten")]
    no_flatten: bool,
    /// Write JSON instead, as `clickwork json` does
    #[arg(long)]
    json: bool,
}

const XML_EXAMPLES: &str = "Examples:
  clickwork xml router.click -o router.xml
  clickwork xml --flatten router.click | xmllint --xpath '//*[@classname=\"Queue\"]/@name' -";

/// Write a configuration as JSON
///
/// Elements without compounds around them, connections, requirements, and the facts about the classes used; docs/tools/export.md
/// describes the form. Global variables are replaced by their values. Element classes need not be known.
#[derive(clap::Args, Debug)]
#[command(after_help = JSON_EXAMPLES)]
pub struct Json {
    #[command(flatten)]
    export: Export,
}

const JSON_EXAMPLES: &str = "Examples:
  clickwork json router.click | jq -r '.elements[] | select(.class == \"Queue\") | .name'
  clickwork undead router.click | clickwork json -o router.json";

/// What is written, and where.
#[derive(clap::Args, Debug)]
struct Export {
    #[command(flatten)]
    input: InputOptions,
    /// Write to FILE instead of standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,
}

/// Runs as `click2xml`.
pub fn click_main(args: Vec<OsString>) -> ExitCode {
    tool::click_main("click2xml", args, tool::named_drivers, run_xml)
}

/// Runs `clickwork xml`.
pub fn xml_main(args: &Xml) -> ExitCode {
    run_xml(args, &Report::human())
}

/// Runs `clickwork json`.
pub fn json_main(args: &Json) -> ExitCode {
    run(&args.export, &Report::human(), as_json)
}

fn run_xml(args: &Xml, report: &Report) -> ExitCode {
    let form = match (args.json, args.flatten) {
        (true, _) => as_json,
        (false, true) => |read: &Read<'_>| xml::flat(&read.unit, read.facts()),
        (false, false) => as_nested_xml,
    };
    run(&args.export, report, form)
}

/// A configuration that was read.
struct Read<'a> {
    name: String,
    text: String,
    options: Options<'a>,
    unit: Unit,
    registry: std::sync::Arc<clickwork_router::Registry>,
}

impl Read<'_> {
    fn facts(&self) -> Facts<'_> {
        Facts::new(&self.registry, &self.unit.files)
    }
}

fn run(args: &Export, report: &Report, form: impl FnOnce(&Read<'_>) -> String) -> ExitCode {
    tool::finish(report, || {
        let input = args.input.read(report)?;
        packages::ensure_known(&args.input, &input, report)?;
        let path = args.input.path();
        let options = Options { defines: args.input.defines(), loader: &path, ..Options::any_class() };
        let files = input.files.unwrap_or_default();
        let (unit, messages) = Unit::new(&input.name, input.text.clone(), files, &options);
        report.print(&unit.sources, &messages);
        if messages.has_errors() {
            return Err(format!("{}: not a correct configuration", input.name));
        }
        let registry = crate::classes::registry();
        let text = form(&Read { name: input.name, text: input.text, options, unit, registry });
        // Both forms must be UTF-8, so bytes that are not stay the characters that stand for them.
        output::write_bytes(&args.output, text.as_bytes())
    })
}

fn as_json(read: &Read<'_>) -> String {
    json::write(&read.name, &read.unit, &read.facts())
}

fn as_nested_xml(read: &Read<'_>) -> String {
    let mut sources = Sources::new();
    let file = sources.add(read.name.clone(), read.text.clone());
    // What is wrong was said when the unit was read.
    let (structure, _) = elaborate_structure(&mut sources, file, &read.options);
    xml::nested(&structure, &sources, read.facts())
}

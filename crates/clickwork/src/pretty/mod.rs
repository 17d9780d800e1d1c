//! `clickwork pretty` and `click-pretty`: a configuration as a page of HTML.
//!
//! The page is one file without scripts. [`subject`] reads the configuration, [`names`] finds out what its names mean,
//! [`listing`] colours its text, [`tables`] lists elements and manuals; `template.html` says what stands where, and
//! [`template`] fills it in.

mod entries;
mod html;
mod listing;
mod manual;
mod names;
mod page;
mod subject;
mod tables;
mod tag;
mod template;

pub use html::{attribute, escape};
pub use listing::Links;
pub use manual::manual_sections;

use crate::input::InputOptions;
use crate::output;
use crate::report::Report;
use crate::tool;
use clickwork_router::Registry;
use clickwork_router::args::{HIDDEN, keys_in};
use page::{Documents, Page};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use subject::Subject;
use template::Template;

/// The style sheet of pages with configurations and manuals.
pub const STYLE: &str = include_str!("style.css");

/// Make a web page of a configuration
///
/// The page shows the text in colours, with links from names to declarations and to the manuals of element classes, which
/// are part of it; a drawing; and all elements with their ports, compound elements expanded. It needs no network and no
/// scripts.
#[derive(clap::Args, Debug)]
#[command(after_help = HELP)]
pub struct Pretty {
    #[command(flatten)]
    input: InputOptions,
    /// Write to FILE instead of standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,
    /// Fill in FILE instead of the page built in
    #[arg(short, long, value_name = "FILE")]
    template: Option<PathBuf>,
    /// Replace the tag <~NAME> of the template by TEXT
    #[arg(short, long, value_name = "NAME=TEXT")]
    define: Vec<String>,
    /// Link classes that have no manual here to URL, with the name of the class for %s in it
    #[arg(short = 'u', long, value_name = "URL")]
    class_docs: Option<String>,
    /// The same for classes of a package that the configuration requires
    #[arg(long, value_name = "PACKAGE=URL")]
    package_docs: Vec<String>,
    /// Write the template and nothing else
    #[arg(long)]
    write_template: bool,
}

const HELP: &str = "Tags of a template:
  <~title>     the name of the configuration        <~drawing>   the drawing
  <~style>     the style sheet                      <~tables>    elements in tables
  <~messages>  what is wrong with it, if anything   <~manuals>   manuals of the classes used
  <~config>    the text, with links                 <~elements>  elements as its attributes say, as in Click

Examples:
  clickwork pretty router.click -o router.html
  clickwork pretty --write-template > page.html     to change it, and then
  clickwork pretty -t page.html -d author=me router.click -o router.html";

/// Runs as `click-pretty`.
pub fn click_main(args: Vec<OsString>) -> ExitCode {
    tool::click_main("click-pretty", args, tool::named_drivers, run)
}

/// Runs the subcommand.
pub fn main(args: &Pretty) -> ExitCode {
    run(args, &Report::human())
}

fn run(args: &Pretty, report: &Report) -> ExitCode {
    tool::finish(report, || {
        let text = template_text(args.template.as_deref())?;
        if args.write_template {
            return output::write(&args.output, &text);
        }
        let defines = args.define.iter().map(|word| definition(word)).collect::<Result<_, _>>()?;
        let subject = Subject::read(&args.input, report)?;
        let registry = subject.classes();
        let documents = Documents { registry: &registry, outside: outside(args, &subject) };
        let facts = subject.facts(&registry);
        let kinds = subject.kinds(&facts);
        let used = subject.network.elements().map(|(_, e)| e.class.as_str()).collect();
        let libraries = page::libraries(&subject);
        let page =
            Page { subject: &subject, documents: &documents, facts: &facts, kinds: &kinds, libraries, used };
        let filled = Template { page: &page, defines }.fill(&text);
        output::write(&args.output, &without_keys(filled, &subject, &registry))?;
        match subject.mistakes.has_errors() {
            true => Err(format!(
                "{}: not a correct configuration; the page shows what was understood",
                subject.name
            )),
            false => Ok(()),
        }
    })
}

/// A page without the keys of the configuration, wherever it shows them.
fn without_keys(mut page: String, subject: &Subject, registry: &Registry) -> String {
    let mut keys: Vec<&str> = subject
        .network
        .elements()
        .filter_map(|(_, e)| Some(keys_in(registry.get(&e.class)?.args, &e.config)))
        .flatten()
        .collect();
    keys.sort_by_key(|key| std::cmp::Reverse(key.len()));
    keys.dedup();
    for key in keys {
        page = page.replace(&escape(key), HIDDEN);
    }
    page
}

/// Where classes are described that have no manual here: a package's, if the configuration requires one.
fn outside<'a>(args: &'a Pretty, subject: &Subject) -> Option<&'a str> {
    let required = |package: &str| {
        subject.network.requirements.iter().any(|r| r.kind == "package" && r.value == package)
    };
    let packages = args.package_docs.iter().filter_map(|word| word.split_once('='));
    let mut urls = packages.filter(|(package, _)| required(package)).map(|(_, url)| url);
    urls.next().or(args.class_docs.as_deref())
}

fn template_text(file: Option<&Path>) -> Result<String, String> {
    let Some(file) = file else { return Ok(include_str!("template.html").to_string()) };
    std::fs::read(file)
        .map(clickwork_source::text::decode_file)
        .map_err(|e| format!("{}: {}", file.display(), output::reason(&e)))
}

fn definition(word: &str) -> Result<(String, String), String> {
    match word.split_once('=') {
        Some((name, text)) if !name.is_empty() => Ok((name.to_lowercase(), text.to_string())),
        _ => Err(format!("'{word}' defines no tag: write NAME=TEXT")),
    }
}

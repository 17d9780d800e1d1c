//! `clickwork combine` and `click-combine`: several routers and the links between them as one configuration.

use crate::config::{ClickPath, Input};
use crate::input::text;
use crate::report::Report;
use crate::tool::{self, OutputOptions};
use clap::{ArgMatches, Args, Command, FromArgMatches};
use clickwork_lang::{Options, elaborate};
use clickwork_passes::Unit;
use clickwork_passes::combine::{self, Component, spec::LinkSpec};
use clickwork_source::text::to_path;
use clickwork_source::{Diagnostic, Diagnostics, Span};
use std::ffi::OsString;
use std::process::ExitCode;

/// The command line. The order of its words matters: a name is that of the router after it.
#[derive(Debug)]
pub struct Combine {
    options: CombineOptions,
    /// What the command line says about routers and links, in its order.
    words: Vec<Word>,
}

/// Combine routers into one configuration, so that tools see the whole network
///
/// In the result the elements of router NAME are called NAME/..., and where a packet that one router sends arrives at another,
/// a RouterLink element stands for both devices. 'clickwork uncombine' takes a router out again. A combination can be run: a
/// RouterLink carries packets as a wire does.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
struct CombineOptions {
    /// A router, called NAME if that is given, or a link
    #[arg(value_name = "[NAME=]FILE | LINK", value_parser = text())]
    words: Vec<String>,
    /// Call the next router NAME instead of 'router1', 'router2' and so on
    #[arg(short, long, value_name = "NAME")]
    name: Vec<String>,
    /// Read a router from FILE
    #[arg(short, long, value_name = "FILE", value_parser = text())]
    file: Vec<String>,
    /// Use TEXT as a router
    #[arg(short, long, value_name = "TEXT", value_parser = text(), allow_hyphen_values = true)]
    expression: Vec<String>,
    /// Packets that A sends through X arrive at B through Y: 'A.X -> B.Y' or 'A.X = B.Y', with names of elements or devices
    #[arg(short, long, value_name = "LINK")]
    link: Vec<String>,
    /// Look for libraries in the directories of PATH, separated by colons, instead of $CLICKPATH
    #[arg(short = 'C', long, value_name = "PATH", value_parser = text())]
    clickpath: Option<String>,
    #[command(flatten)]
    output: OutputOptions,
}

const EXAMPLES: &str = "Examples:
  clickwork combine a=a.click b=b.click 'a.eth0 -> b.eth1' 'b.eth1 -> a.eth0' -o both.click
  clickwork combine a=a.click b=b.click a.eth0=b.eth1 | clickwork undead | clickwork uncombine -n a";

#[derive(Clone, Debug)]
enum Word {
    Plain(String),
    Name(String),
    File(String),
    Expression(String),
    Link(String),
}

impl FromArgMatches for Combine {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Combine { options: CombineOptions::from_arg_matches(matches)?, words: words(matches) })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Combine::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Combine {
    fn augment_args(command: Command) -> Command {
        CombineOptions::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        CombineOptions::augment_args_for_update(command)
    }
}

/// The words about routers and links in the order of the command line.
fn words(matches: &ArgMatches) -> Vec<Word> {
    type Kind = (&'static str, fn(String) -> Word);
    let kinds: [Kind; 5] = [
        ("words", Word::Plain),
        ("name", Word::Name),
        ("file", Word::File),
        ("expression", Word::Expression),
        ("link", Word::Link),
    ];
    let mut words = Vec::new();
    for (id, kind) in kinds {
        let places = matches.indices_of(id).into_iter().flatten();
        let values = matches.get_many::<String>(id).into_iter().flatten();
        words.extend(places.zip(values.map(|v| kind(v.clone()))));
    }
    words.sort_by_key(|(place, _)| *place);
    words.into_iter().map(|(_, word)| word).collect()
}

/// Runs as `click-combine`.
pub fn click_main(args: Vec<OsString>) -> ExitCode {
    tool::click_main("click-combine", args, |c| c, run)
}

/// Runs the subcommand.
pub fn main(args: &Combine) -> ExitCode {
    run(args, &Report::human())
}

fn run(args: &Combine, report: &Report) -> ExitCode {
    tool::finish(report, || {
        let path = ClickPath::new(args.options.clickpath.as_deref());
        let mut routers = Routers { report, path, unit: Unit::default(), found: Vec::new(), next_name: None };
        let links = routers.read(&args.words)?;
        let Routers { found, mut unit, .. } = routers;
        if found.is_empty() {
            return Err("no routers specified: name files, as in 'a=a.click b=b.click'".to_string());
        }
        let place = unit.place_of_tool("click-combine");
        let combined = combine::combine(&found, &links, place);
        let (network, files, messages) = combined.map_err(|messages| {
            report.print(&unit.sources, &messages);
            "the routers were not combined".to_string()
        })?;
        report.print(&unit.sources, &messages);
        (unit.network, unit.files) = (network, files);
        args.options.output.write(&unit)
    })
}

/// The routers read so far.
struct Routers<'a> {
    report: &'a Report,
    path: ClickPath,
    /// Keeps the texts.
    unit: Unit,
    found: Vec<Component>,
    next_name: Option<String>,
}

impl Routers<'_> {
    /// Reads all routers. Gives the links.
    fn read(&mut self, words: &[Word]) -> Result<Vec<LinkSpec>, String> {
        let mut links = Vec::new();
        for word in words {
            match word {
                Word::Name(name) => self.name(name),
                Word::File(file) => self.add(Input::read(&to_path(file))?)?,
                Word::Expression(text) => self.add(Input::expression(text)?)?,
                Word::Link(text) => links.push(LinkSpec::parse(text)?),
                Word::Plain(text) if is_link(text) => links.push(LinkSpec::parse(text)?),
                Word::Plain(text) => match text.split_once([':', '=']) {
                    Some((name, file)) => {
                        self.name(name);
                        self.add(Input::read(&to_path(file))?)?;
                    }
                    None => self.add(Input::read(&to_path(text))?)?,
                },
            }
        }
        Ok(links)
    }

    fn name(&mut self, name: &str) {
        if let Some(before) = &self.next_name {
            self.warn(&format!("router name specified twice ('{before}' and '{name}')"));
        }
        self.next_name = Some(name.to_string());
    }

    fn warn(&self, message: &str) {
        let warning = Diagnostics::from(Diagnostic::warning(Span::NONE, message));
        self.report.print(&self.unit.sources, &warning);
    }

    fn add(&mut self, input: Input) -> Result<(), String> {
        let file = self.unit.sources.add(input.name.clone(), input.text);
        let options = Options { loader: &self.path, ..Options::any_class() };
        let (graph, messages) = elaborate(&mut self.unit.sources, file, &options);
        self.report.print(&self.unit.sources, &messages);
        if messages.has_errors() {
            return Err(format!("{}: not a correct configuration", input.name));
        }
        let name = self.next_name.take().unwrap_or_else(|| format!("router{}", self.found.len() + 1));
        self.found.push(Component { name, graph, files: input.files.unwrap_or_default() });
        Ok(())
    }
}

/// Whether a word is a link rather than a file: there is an arrow, or a router and an element before `=`.
fn is_link(word: &str) -> bool {
    word.contains("->")
        || !word.contains(':') && word.split_once('=').is_some_and(|(from, _)| from.contains('.'))
}

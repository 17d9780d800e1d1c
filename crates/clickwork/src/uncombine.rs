//! `clickwork uncombine` and `click-uncombine`: one router of a combination.

use crate::config::Input;
use crate::input::{self, text};
use crate::report::Report;
use crate::tool::{self, OutputOptions};
use clickwork_lang::Options;
use clickwork_passes::{Unit, combine};
use clickwork_source::text::to_path;
use std::ffi::OsString;
use std::process::ExitCode;

/// Take a router out of a combination that 'clickwork combine' made
///
/// The devices that links stood for are put back, and what tools did to the router in the meantime stays.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Uncombine {
    /// The combination ("-" for standard input), and the name of the router in it
    #[arg(value_name = "FILE [NAME]", value_parser = text())]
    words: Vec<String>,
    /// Read the combination from FILE
    #[arg(short, long, value_name = "FILE", value_parser = text())]
    file: Option<String>,
    /// The router to take out; of a combination of combinations, NAME/NAME
    #[arg(short, long, value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    output: OutputOptions,
}

const EXAMPLES: &str = "Examples:
  clickwork uncombine both.click a -o a.click
  clickwork combine a=a.click b=b.click a.eth0=b.eth1 | clickwork undead | clickwork uncombine -n a";

/// Runs as `click-uncombine`.
pub fn click_main(args: Vec<OsString>) -> ExitCode {
    tool::click_main("click-uncombine", args, |c| c, run)
}

/// Runs the subcommand.
pub fn main(args: &Uncombine) -> ExitCode {
    run(args, &Report::human())
}

fn run(args: &Uncombine, report: &Report) -> ExitCode {
    tool::finish(report, || {
        let (file, name) = what(args)?;
        let input = file.map_or_else(input::unnamed, |file| Input::read(&to_path(file)))?;
        let options = Options { expand_defines: false, ..Options::any_class() };
        let (mut unit, messages) =
            Unit::new(&input.name, input.text, input.files.unwrap_or_default(), &options);
        report.print(&unit.sources, &messages);
        if messages.has_errors() {
            return Err(format!("{}: not a correct configuration", input.name));
        }
        let Some(names) = combine::components(&unit.files) else {
            let remedy = if report.click { "" } else { "; 'clickwork combine' makes combinations" };
            return Err(format!(
                "{}: not created by 'click-combine' (no 'componentmap'){remedy}",
                input.name
            ));
        };
        let Some(name) = name else {
            return Err(format!("no component specified; there are {}", names.join(", ")));
        };
        let place = unit.place_of_tool("click-uncombine");
        if let Err(messages) = combine::uncombine(&mut unit.network, &mut unit.files, name, place) {
            report.print(&unit.sources, &messages);
            return Err(format!("{}: '{name}' was not taken out", input.name));
        }
        args.output.write(&unit)
    })
}

/// The file and the component that are meant.
fn what(args: &Uncombine) -> Result<(Option<&str>, Option<&str>), String> {
    let mut words = args.words.iter().map(String::as_str);
    let file = args.file.as_deref().or_else(|| words.next());
    let name = match (args.name.as_deref(), words.next()) {
        (Some(_), Some(_)) => return Err("component name specified twice".to_string()),
        (name, word) => name.or(word),
    };
    match words.next() {
        Some(extra) => Err(format!("'{extra}': only a file and the name of a component can be given")),
        None => Ok((file, name)),
    }
}

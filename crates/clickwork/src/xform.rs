//! `clickwork xform` and `click-xform`: what patterns describe is replaced by something equivalent.

use crate::config::Input;
use crate::input::text;
use crate::output;
use crate::report::Report;
use crate::tool::{self, ToolOptions};
use clickwork_lang::Options;

use clickwork_passes::xform::shipped::{self, SHIPPED};
use clickwork_passes::xform::{Called, Patterns, Replaced, xform};
use clickwork_passes::{Facts, Unit};
use clickwork_source::text::{encode, to_path};
use clickwork_source::{Diagnostic, Diagnostics, Span};
use std::ffi::OsString;
use std::process::ExitCode;

/// Replace groups of elements by others, as patterns say
///
/// A pattern is a compound class NAME, and its replacement a class NAME_Replacement with as many inputs and outputs.
/// Wherever the elements of the pattern occur, connected with each other and with the rest of the configuration as
/// there, they are replaced, until there is no such place any more. In configurations of patterns, '$x' stands for any
/// argument or word, and '$x...' for any number of them; the replacement gets the same.
///
/// Files after the first are pattern files.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Xform {
    #[command(flatten)]
    tool: ToolOptions,
    /// Use the patterns in FILE, or those that come with the program under that name (see --list)
    #[arg(short, long, value_name = "FILE", value_parser = text())]
    patterns: Vec<String>,
    /// Use the patterns in TEXT
    #[arg(short = 'x', long, value_name = "TEXT", value_parser = text(), allow_hyphen_values = true)]
    replace: Vec<String>,
    /// Put the patterns in place of the replacements
    #[arg(short, long, overrides_with = "no_reverse")]
    reverse: bool,
    #[arg(long, hide = true, overrides_with = "reverse")]
    no_reverse: bool,
    /// Say what is replaced
    #[arg(short, long)]
    verbose: bool,
    /// List the patterns that come with the program
    #[arg(long)]
    list: bool,
}

const EXAMPLES: &str = "Examples:
  clickwork xform --list                                 the patterns that come with the program
  clickwork xform -v -p ip router.click -o fast.click    combination elements for an IP router
  clickwork xform -p mine.clickpat router.click | clickwork check
  clickwork xform -r -p mine.clickpat router.click       the other way round";

/// Runs as `click-xform`.
pub fn click_main(args: Vec<OsString>) -> ExitCode {
    tool::click_main("click-xform", args, |command| command, run)
}

/// Runs the subcommand.
pub fn main(args: &Xform) -> ExitCode {
    run(args, &Report::human())
}

fn run(args: &Xform, report: &Report) -> ExitCode {
    if args.list {
        SHIPPED.iter().for_each(|file| output::print(&format!("{:<16} {}\n", file.name, file.help)));
        return ExitCode::SUCCESS;
    }
    let mut options = args.tool.clone();
    let mut files = args.patterns.clone();
    files.extend(options.input.take_files_after_first());
    if files.is_empty() && args.replace.is_empty() {
        report.warning(match report.click {
            true => "no patterns read",
            false => "no patterns read: name them with '-p FILE', or one of those that '--list' lists",
        });
    }
    let report = Report { notes: args.verbose, ..*report };
    tool::transform(&options, &report, |unit| {
        let mut texts = files.iter().map(|file| find(file)).collect::<Result<Vec<_>, _>>()?;
        for (number, text) in args.replace.iter().enumerate() {
            let name = format!("<pattern {}>", number + 1);
            texts.push(Input::new(name, encode(text).into_owned())?);
        }
        let (replaced, messages) = replace(args, unit, texts);
        let mut all = if args.verbose { told(&replaced) } else { Diagnostics::new() };
        all.extend(messages);
        Ok(all)
    })
}

/// A pattern file: one of the user's, or one that comes with the program.
fn find(name: &str) -> Result<Input, String> {
    let error = match Input::read(&to_path(name)) {
        Ok(input) => return Ok(input),
        Err(error) => error,
    };
    match shipped::find(name) {
        Some(file) => Input::new(file.name.to_string(), file.text.as_bytes().to_vec()),
        None if name.contains('/') => Err(error),
        None => {
            let names: Vec<&str> = SHIPPED.iter().map(|file| file.name).collect();
            let names = names.join(" and ");
            Err(format!("{error}\n  (The pattern files that come with the program are {names}.)"))
        }
    }
}

fn replace(args: &Xform, unit: &mut Unit, texts: Vec<Input>) -> (Vec<Replaced>, Diagnostics) {
    let path = args.tool.input.path();
    let options = Options { loader: &path, ..Options::any_class() };
    let mut patterns = Patterns::default();
    let mut messages = Diagnostics::new();
    for Input { name, text, .. } in texts {
        let file = unit.sources.add(name, text);
        messages.extend(patterns.read(&mut unit.sources, file, &options));
    }
    if args.reverse {
        patterns.reverse();
    }
    let (patterns, doubts) = patterns.prepare(&unit.sources);
    messages.extend(doubts);
    if messages.has_errors() {
        return (Vec::new(), messages);
    }
    let registry = crate::classes::registry();
    let called = Called::new(&unit.network, &Facts::new(&registry, &unit.files));
    match xform(&mut unit.network, &mut unit.sources, &patterns) {
        Ok(replaced) => {
            messages.extend(called.warn(&unit.network, &replaced));
            (replaced, messages)
        }
        Err(error) => {
            messages.push(error);
            (Vec::new(), messages)
        }
    }
}

/// What was replaced, as remarks.
fn told(replaced: &[Replaced]) -> Diagnostics {
    let mut notes = Diagnostics::new();
    for Replaced { compound, elements, place, .. } in replaced {
        let message = format!("{compound} takes the place of {}", elements.join(", "));
        notes.push(Diagnostic::note(*place, message));
    }
    if replaced.is_empty() {
        notes.push(Diagnostic::note(Span::NONE, "nothing to replace"));
    }
    notes
}

//! `clickwork devirtualize` and `click-devirtualize`: elements specialised to their neighbours.

use crate::config::{Input, Made, Maker};
use crate::output::reason;
use crate::report::Report;
use crate::tool::{self, ToolOptions};
use clap::{Arg, ArgAction, Command};
use clickwork_compile::{Scope, plan, write};
use clickwork_lang::ElementDecl;
use clickwork_lang::archive::Member;
use clickwork_passes::devirtualize::{self, Choices, FILE, Sharing};
use clickwork_passes::{Facts, Unit};
use clickwork_router::Router;
use clickwork_router::fast::FastCode;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Specialise elements to their neighbours, to be compiled with direct calls
///
/// Each element gets a class that stands for its code, such as DecIPTTL@@NAME, where NAME is the first element that has it. Two
/// elements share one if they are of the same class, have the same ports, push and pull by the same of them, have the same
/// arguments as far as these are in the code, and call the same ports of elements that share code in turn. 'clickwork build'
/// and 'clickwork run --compiled' make code of these elements, in which one calls the next directly. Without a compiler they
/// run as before, since they keep their arguments.
///
/// All elements with ports are specialised, except RouterLinks. Those that have no code of their own for single packets, such as
/// queues, are then called with batches of packets as before.
///
/// The output is an archive: the configuration, what other tools must know about the new classes, and the code, in Rust, for
/// people to read. What an earlier run did is done anew.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Devirtualize {
    #[command(flatten)]
    tool: ToolOptions,
    /// Leave elements of class NAME alone, or the element NAME
    #[arg(short, long, value_name = "NAME")]
    no_devirtualize: Vec<String>,
    /// Do not leave NAME alone, although a file of instructions says so
    #[arg(long, value_name = "NAME")]
    devirtualize: Vec<String>,
    /// Read from FILE what to leave alone: lines with 'noclass' and names of classes
    #[arg(short, long, value_name = "FILE")]
    instructions: Vec<PathBuf>,
    /// List which elements share which class, what their code calls, and what tells classes apart
    #[arg(long, conflicts_with_all = ["source", "reverse"])]
    classes: bool,
    /// Write the code alone
    #[arg(short, long, overrides_with = "no_source", conflicts_with = "reverse")]
    source: bool,
    #[arg(long, hide = true, overrides_with = "source")]
    no_source: bool,
    /// Give elements the classes again that they had
    #[arg(short, long, overrides_with = "no_reverse")]
    reverse: bool,
    #[arg(long, hide = true, overrides_with = "reverse")]
    no_reverse: bool,
}

const EXAMPLES: &str = "Examples:
  clickwork devirtualize router.click -o fast.click   an archive that runs like router.click
  clickwork run --compiled fast.click                 with direct calls from element to element
  clickwork devirtualize --classes router.click       which elements share code, and why others do not
  clickwork devirtualize -s router.click              the code, to read
  clickwork devirtualize -n IPFragmenter -n rt router.click
  clickwork devirtualize --reverse fast.click         back to router.click
  clickwork fastclassifier router.click | clickwork devirtualize | clickwork run --compiled -";

/// Runs as `click-devirtualize`.
pub fn click_main(args: Vec<OsString>) -> ExitCode {
    tool::click_main("click-devirtualize", args, click_options, run)
}

fn click_options(command: Command) -> Command {
    let negation = |name: &'static str| Arg::new(name).long(name).hide(true).action(ArgAction::SetTrue);
    tool::drivers(command).args([negation("no-user"), negation("no-kernel")])
}

/// Runs the subcommand.
pub fn main(args: &Devirtualize) -> ExitCode {
    run(args, &Report::human())
}

fn run(args: &Devirtualize, report: &Report) -> ExitCode {
    tool::finish(report, || {
        let mut unit = args.tool.read(report, false)?;
        devirtualize::undo(&mut unit);
        if args.reverse {
            return args.tool.output.write(&unit);
        }
        let listing = specialise(args, report, &mut unit)?;
        if args.classes {
            return args.tool.output.write_text(&listing);
        }
        let source = source(args, &unit, &listing);
        match (args.source, source) {
            (true, Some(source)) => args.tool.output.write_text(&source),
            (true, None) => Err("there is no code: no element that is specialised has any".to_string()),
            (false, source) => {
                source.into_iter().for_each(|source| attach(&mut unit, source));
                args.tool.output.write(&unit)
            }
        }
    })
}

/// Gives elements their classes, and says which share one.
fn specialise(args: &Devirtualize, report: &Report, unit: &mut Unit) -> Result<String, String> {
    let left_out = left_out(args, report, unit)?;
    let codes = Codes::of(args, unit);
    if codes.is_none() {
        report.warning(
            "the configuration is not correct as it stands ('clickwork check' says why); \
             elements share code only if their arguments are written alike",
        );
    }
    let code = |e: &ElementDecl| match &codes {
        Some(Codes(codes)) => codes.get(&e.name).cloned(),
        None => Some(e.config.clone()),
    };
    let registry = crate::classes::registry();
    let facts = Facts::new(&registry, &unit.files);
    let sharing = Sharing::new(&unit.network, &facts, &Choices { left_out, code: &code });
    let specialised = devirtualize::specialise(unit, &facts, &sharing);
    Ok(devirtualize::listing(&unit.network, &sharing, &specialised))
}

/// What is to be left alone, as files, the configuration and the command line say.
fn left_out(args: &Devirtualize, report: &Report, unit: &Unit) -> Result<BTreeSet<String>, String> {
    let mut names = BTreeSet::new();
    for file in &args.instructions {
        let text = read_text(file)?;
        devirtualize::read_instructions(&text, &mut names).map_err(|e| format!("{}:{e}", file.display()))?;
    }
    devirtualize::in_configuration(&unit.network, &mut names)?;
    for name in &args.no_devirtualize {
        if !unit.network.elements().any(|(_, e)| [&e.name, &e.class].contains(&name)) {
            report.warning(&format!("nothing to leave alone: no element and no class is called '{name}'"));
        }
        names.insert(name.clone());
    }
    names.retain(|name| !args.devirtualize.contains(name));
    Ok(names)
}

fn read_text(file: &Path) -> Result<String, String> {
    let text = match file == Path::new("-") {
        true => std::io::read_to_string(std::io::stdin()),
        false => std::fs::read_to_string(file),
    };
    text.map_err(|e| format!("{}: {}", file.display(), reason(&e)))
}

/// The code of elements with their arguments, by name, in a form to compare.
struct Codes(BTreeMap<String, String>);

impl Codes {
    fn of(args: &Devirtualize, unit: &Unit) -> Option<Codes> {
        let router = router(args, unit)?;
        let name = |id| router.info(id).name.clone();
        let code = |id| router.fast_code(id).map(|code| (name(id), text(&code)));
        Some(Codes(router.ids().filter_map(code).collect()))
    }
}

/// Source texts that come with the program are known by the names of their modules.
fn text(code: &FastCode) -> String {
    let source = match &code.source {
        Cow::Borrowed(_) => "",
        Cow::Owned(source) => source,
    };
    format!("{}\n{}\n{source}", code.module, code.constants)
}

/// A router that has read its arguments, if they are correct. Variables have the values that they have now.
fn router(args: &Devirtualize, unit: &Unit) -> Option<Router> {
    let input = Input { name: String::new(), text: unit.to_text(), files: Some(unit.files.clone()) };
    let options = &args.tool.input;
    let maker = Maker { defines: options.defines(), path: options.path(), ..Maker::new() };
    let Made { router, diagnostics, .. } = maker.check(&input);
    router.filter(|_| !diagnostics.has_errors())
}

/// The code of a configuration with specialised classes, if there is any.
fn source(args: &Devirtualize, unit: &Unit, listing: &str) -> Option<String> {
    let router = router(args, unit)?;
    let segments = plan(&router, Scope::Specialised);
    if segments.is_empty() {
        return None;
    }
    let mut text = HEAD.to_string();
    listing.lines().for_each(|line| {
        let _ = writeln!(text, "{}", format!("//   {line}").trim_end());
    });
    Some(text + "\n" + &write(&router, &segments).source)
}

const HEAD: &str = "\
// The elements of this configuration as code, written by click-devirtualize for people to read. 'clickwork build' and
// 'clickwork run --compiled' make the same code again. Element classes and the elements that share them:
//
";

fn attach(unit: &mut Unit, source: String) {
    unit.files.set(Member {
        name: FILE.into(),
        modified: 0,
        mode: 0o600,
        data: clickwork_source::text::into_bytes(source),
    });
}

//! What all tools that read a configuration and write one have in common: options, reading, printing messages, writing.
//!
//! A tool is a struct of arguments with [`ToolOptions`] in it and a function that changes a [`Unit`]. It runs as a
//! subcommand through [`transform`], and under Click's name through [`click_main`] as well. Copy `undead.rs` to add one.

use crate::config::Input;
use crate::input::InputOptions;
use crate::output;
use crate::packages;
use crate::report::Report;
use clap::{Arg, ArgAction, Args, Command};
use clickwork_lang::{Options, print_marked};
use clickwork_passes::Unit;
use clickwork_source::Diagnostics;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What every tool can be told.
#[derive(Args, Debug, Clone)]
pub struct ToolOptions {
    #[command(flatten)]
    pub input: InputOptions,
    #[command(flatten)]
    pub output: OutputOptions,
}

/// The heading of these options in the help.
const WRITING: &str = "Writing";

/// Where a tool writes, and what besides the configuration.
#[derive(Args, Debug, Clone)]
pub struct OutputOptions {
    /// Write to FILE instead of standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true, help_heading = WRITING)]
    output: PathBuf,
    /// Write the configuration alone, without the files attached to it
    #[arg(short, long, help_heading = WRITING)]
    config: bool,
    /// Mark where everything came from, so that later messages point there [default, except on a terminal]
    #[arg(long, overrides_with = "no_lines", help_heading = WRITING)]
    lines: bool,
    /// Write no such marks
    #[arg(long, overrides_with = "lines", help_heading = WRITING)]
    no_lines: bool,
}

impl ToolOptions {
    /// Reads the configuration, with global variables replaced by their values if `expand`, and prints what is wrong
    /// with it.
    ///
    /// # Errors
    /// If it cannot be read, or is not correct.
    pub fn read(&self, report: &Report, expand: bool) -> Result<Unit, String> {
        self.parse(self.input.read(report)?, report, expand)
    }

    fn parse(&self, input: Input, report: &Report, expand: bool) -> Result<Unit, String> {
        let path = self.input.path();
        let options = Options {
            defines: self.input.defines(),
            loader: &path,
            expand_defines: expand,
            ..Options::any_class()
        };
        let (unit, messages) = Unit::new(&input.name, input.text, input.files.unwrap_or_default(), &options);
        report.print(&unit.sources, &messages);
        match messages.has_errors() {
            true => Err(format!("{}: not a correct configuration", input.name)),
            false => Ok(unit),
        }
    }
}

impl OutputOptions {
    /// Writes what a tool made.
    ///
    /// # Errors
    /// In Click's form, `FILE: reason`.
    pub fn write(&self, unit: &Unit) -> Result<(), String> {
        let text = match self.lines || (!self.no_lines && !is_for_person(&self.output)) {
            true => print_marked(&unit.graph(), &unit.sources),
            false => unit.to_text(),
        };
        let bytes = if self.config { clickwork_source::text::into_bytes(text) } else { unit.wrap(text) };
        output::write_bytes(&self.output, &bytes)
    }

    /// Writes a text that a tool was asked for instead of a configuration.
    ///
    /// # Errors
    /// In Click's form, `FILE: reason`.
    pub fn write_text(&self, text: &str) -> Result<(), String> {
        output::write(&self.output, text)
    }
}

/// Whether what is written to `file` appears on a terminal, where marks for later tools would only be in the way.
pub fn is_for_person(file: &Path) -> bool {
    file == Path::new("-") && std::io::stdout().is_terminal()
}

/// Runs a tool that has to do with element classes: reads, lets `pass` change the configuration, prints its messages, and writes unless there are errors.
pub fn transform(
    options: &ToolOptions,
    report: &Report,
    pass: impl FnOnce(&mut Unit) -> Result<Diagnostics, String>,
) -> ExitCode {
    finish(report, || {
        let input = options.input.read(report)?;
        packages::ensure_known(&options.input, &input, report)?;
        let mut unit = options.parse(input, report, false)?;
        let messages = pass(&mut unit)?;
        report.print(&unit.sources, &messages);
        match messages.has_errors() {
            true => Err("nothing was written".to_string()),
            false => options.output.write(&unit),
        }
    })
}

/// Runs `job`, prints the error that it ends with, and gives the exit status.
pub fn finish(report: &Report, job: impl FnOnce() -> Result<(), String>) -> ExitCode {
    match job() {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            report.error(&e);
            ExitCode::FAILURE
        }
    }
}

/// Runs a tool as Click's program `name`: with its form of messages, and with `-v` for `--version` where Click has it, so that
/// an option `--verbose` is `-V`. `more` adds options that only Click's program has.
pub fn click_main<T: Args>(
    name: &'static str,
    args: Vec<OsString>,
    more: impl FnOnce(Command) -> Command,
    run: impl FnOnce(&T, &Report) -> ExitCode,
) -> ExitCode {
    let parsed = more(click_command::<T>(name)).try_get_matches_from(args);
    match parsed.and_then(|matches| T::from_arg_matches(&matches)) {
        Ok(tool) => run(&tool, &Report::click()),
        Err(e) => output::usage(&e),
    }
}

/// The command line of one of Click's programs.
fn click_command<T: Args>(name: &'static str) -> Command {
    let version = Arg::new("version").short('v').long("version").action(ArgAction::Version);
    let command = T::augment_args(Command::new(name))
        .version(concat!("(Clickwork) ", env!("CARGO_PKG_VERSION")))
        .disable_version_flag(true)
        .infer_long_args(true);
    let has_verbose = command.get_arguments().any(|a| a.get_id() == "verbose");
    let command = match has_verbose {
        true => command.mut_arg("verbose", |a| a.short('V')),
        false => command,
    };
    command.arg(version.help("Print the version number and exit"))
}

/// The options `--user` and `--kernel`, by which Click's programs are told for which driver a configuration is.
pub fn drivers(command: Command) -> Command {
    let flag = |name, short| Arg::new(name).long(name).short(short).action(ArgAction::SetTrue);
    command
        .arg(flag("user", 'u').help("The configuration is for the user-level driver (there is no other)"))
        .arg(flag("kernel", 'k').hide(true))
}

/// The options `--userlevel`, `--linuxmodule` and `--bsdmodule`, by which others of Click's programs are told the same.
pub fn named_drivers(command: Command) -> Command {
    let flag = |name| Arg::new(name).long(name).action(ArgAction::SetTrue);
    let user = flag("userlevel").help("The configuration is for the user-level driver (there is no other)");
    let kernel = flag("linuxmodule").short('l').alias("kernel").short_alias('k').hide(true);
    command.arg(user).arg(kernel).arg(flag("bsdmodule").short('b').hide(true))
}

//! `clickwork build`: a router as one program, compiled.

use crate::built::Parts;
use crate::config::{Input, Made, Maker};
use crate::input::InputOptions;
use crate::output::{self, reason};
use crate::packages;
use crate::report::Report;
use crate::tool;
use clap::ValueEnum;
use clickwork_compile::{Leash, Scope, Text, compile, plan, text_of, write};
use clickwork_router::Router;
use clickwork_source::text::to_path;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Make a router a program of its own, compiled
///
/// The paths of packets through the configuration become Rust, and the Rust compiler makes machine code of them. The program has
/// the configuration in it and takes the options of 'clickwork run'; handlers, control sockets and hot swap are the same. It needs
/// neither this program nor a compiler. Variables of the configuration can be given now, or when it runs.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Build {
    #[command(flatten)]
    input: InputOptions,
    /// Write the program to FILE [default: the configuration's name without its ending]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write something else instead of the program
    #[arg(long, value_name = "WHAT")]
    emit: Option<Emit>,
}

/// What can be written instead.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Emit {
    /// The Rust source, to standard output or FILE
    Rust,
}

const EXAMPLES: &str = "Examples:
  clickwork build ip-router.click -o ip-router   then: ./ip-router -h '*.drops'
  clickwork build router.click DEV=eth1          with $DEV in it set to eth1; ./router DEV=eth2 can still change it
  clickwork build --emit=rust router.click       the code of its paths";

/// Runs the subcommand.
pub fn main(args: &Build) -> ExitCode {
    let report = Report::human();
    tool::finish(&report, || {
        let input = args.input.read(&report)?;
        packages::ensure(&args.input, &input, &report)?;
        let maker = Maker { defines: args.input.defines(), path: args.input.path(), ..Maker::new() };
        let mut router = check(&maker, &input, &report)?;
        let done = match args.emit {
            Some(Emit::Rust) => emit(args, &router),
            None => build(args, &maker, &input, text_of(&router, Scope::All).as_ref()),
        };
        router.cleanup();
        done
    })
}

/// The router, configured.
fn check(maker: &Maker, input: &Input, report: &Report) -> Result<Router, String> {
    let Made { sources, diagnostics, router, .. } = maker.check(input);
    report.print(&sources, &diagnostics);
    let router = router.filter(|_| !diagnostics.has_errors());
    router.ok_or_else(|| format!("{}: not a correct configuration", input.name))
}

fn emit(args: &Build, router: &Router) -> Result<(), String> {
    let text = write(router, &plan(router, Scope::All));
    output::write(args.output.as_deref().unwrap_or(Path::new("-")), &text.source)
}

fn build(args: &Build, maker: &Maker, input: &Input, text: Option<&Text>) -> Result<(), String> {
    let output = args.output.clone().map_or_else(|| default_output(input), Ok)?;
    let code = text.map_or(Ok(Vec::new()), compiled)?;
    let (defines, libraries) = (args.input.definition_words(), maker.path.libraries());
    let (name, config) = (&input.name, &input.to_bytes());
    let parts = Parts { name, config, defines: &defines, libraries: &libraries, code: &code };
    let program = parts.attach().map_err(|e| format!("this program cannot be copied: {}", reason(&e)))?;
    output::write_program(&output, &program)
}

/// The shared object with the code.
fn compiled(text: &Text) -> Result<Vec<u8>, String> {
    compile(text, &Leash::default()).map(|(_, code)| code).map_err(|e| e.to_string())
}

/// The configuration's file without its ending.
fn default_output(input: &Input) -> Result<PathBuf, String> {
    let path = to_path(&input.name);
    match path.extension().is_some_and(|ending| ending == "click") {
        true => Ok(path.with_extension("")),
        false => Err("say with -o where to write the program".to_string()),
    }
}

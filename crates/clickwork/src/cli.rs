//! The command line of `clickwork` itself: its subcommands.

use crate::{
    align, build, check, combine, completions, ctl, demo, devirtualize, doc, fastclassifier, flatten, fmt,
    graph, links, list, mkmindriver, new, overview, pretty, run, uncombine, undead, xform, xml,
};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::process::ExitCode;

/// Routers out of small readable parts
///
/// Clickwork runs routers written in the Click language. 'clickwork COMMAND --help' says more about a command; without a
/// command, the demonstration runs.
#[derive(Parser, Debug)]
#[command(name = "clickwork", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

const EXAMPLES: &str = "Examples:
  clickwork demo                           an IP router at work
  clickwork run router.click               run a router
  clickwork build router.click -o router   make it a program of its own, compiled
  clickwork check router.click             is it correct?
  clickwork graph router.click -o r.svg    draw it
  clickwork list                           which elements are there?
  clickwork doc Queue                      the manual of one
  clickwork ctl localhost:7777 read list   ask a running router";

#[derive(Subcommand, Debug)]
enum Command {
    Run(run::Run),
    Build(build::Build),
    #[command(name = "mkmindriver")]
    MkMinDriver(mkmindriver::MkMinDriver),
    Check(check::Check),
    Flatten(flatten::Flatten),
    Undead(undead::Undead),
    #[command(name = "fastclassifier")]
    FastClassifier(fastclassifier::FastClassifier),
    Combine(combine::Combine),
    Uncombine(uncombine::Uncombine),
    Align(align::Align),
    Devirtualize(devirtualize::Devirtualize),
    Xform(xform::Xform),
    Pretty(pretty::Pretty),
    Xml(xml::Xml),
    Json(xml::Json),
    Fmt(fmt::Fmt),
    Graph(graph::Graph),
    List(list::List),
    Doc(doc::Doc),
    Ctl(ctl::Ctl),
    Links(links::Links),
    Completions(completions::Completions),
    New(new::New),
    Demo(demo::Demo),
}

/// Runs the program.
pub fn main() -> ExitCode {
    match parsed().command.unwrap_or_else(|| Command::Demo(demo::Demo::default())) {
        Command::Run(args) => run::command(&args),
        Command::Build(args) => build::main(&args),
        Command::MkMinDriver(args) => mkmindriver::main(&args),
        Command::Check(args) => check::main(&args),
        Command::Flatten(args) => flatten::main(&args),
        Command::Undead(args) => undead::main(&args),
        Command::FastClassifier(args) => fastclassifier::main(&args),
        Command::Combine(args) => combine::main(&args),
        Command::Uncombine(args) => uncombine::main(&args),
        Command::Align(args) => align::main(&args),
        Command::Devirtualize(args) => devirtualize::main(&args),
        Command::Xform(args) => xform::main(&args),
        Command::Pretty(args) => pretty::main(&args),
        Command::Xml(args) => xml::xml_main(&args),
        Command::Json(args) => xml::json_main(&args),
        Command::Fmt(args) => fmt::main(&args),
        Command::Graph(args) => graph::main(&args),
        Command::List(args) => list::main(&args),
        Command::Doc(args) => doc::main(&args),
        Command::Ctl(args) => ctl::main(&args),
        Command::Links(args) => links::main(&args),
        Command::Completions(args) => completions::main(&args),
        Command::New(args) => new::main(&args),
        Command::Demo(args) => demo::main(&args),
    }
}

/// The definition of the command line.
pub fn command() -> clap::Command {
    overview::grouped(Cli::command())
}

fn parsed() -> Cli {
    let matches = command().get_matches();
    Cli::from_arg_matches(&matches).unwrap_or_else(|e| e.exit())
}

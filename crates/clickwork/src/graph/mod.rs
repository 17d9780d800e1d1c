//! `clickwork graph`: draws a configuration.
//!
//! [`model`] says what is drawn and how large its boxes are, [`layout`] places boxes and connections, [`nest`] uses it once
//! for each compound element; [`svg`] and [`dot`] write the result, and [`live`] reads counts from a running router.

mod dot;
mod layout;
mod legend;
mod live;
mod measure;
mod model;
mod nest;
mod svg;

pub use live::grouped;

use crate::config::{Input, Maker};
use crate::control::Client;
use crate::input::InputOptions;
use crate::output;
use crate::report::Report;
use clap::ValueEnum;
use clickwork_router::Router;
use live::Counts;
use model::Model;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Draw a configuration
///
/// Elements are boxes, compound elements dashed boxes around them. Ports look as in the Click papers: triangles are
/// inputs, rectangles outputs; black ports push, white ones pull, and a double outline marks agnostic ports. Point at a
/// box in a browser to see the whole declaration.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Graph {
    #[command(flatten)]
    input: InputOptions,
    /// Write to FILE; its ending says the format (default: standard output)
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,
    /// The format, if FILE does not say it
    #[arg(short = 'T', long, value_enum)]
    format: Option<Format>,
    /// Show the packet counts of the router that listens at SOCKET; without a configuration, draw that router's
    #[arg(long, value_name = "SOCKET")]
    live: Option<String>,
}

const EXAMPLES: &str = "Examples:
  clickwork graph router.click -o router.svg
  clickwork graph router.click -o router.dot && dot -Tpdf router.dot > router.pdf
  clickwork graph --live 7777 -o now.svg        a running router, with its packet counts";

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Format {
    /// A picture for browsers and documents
    Svg,
    /// A graph for Graphviz
    Dot,
}

/// Runs the subcommand.
pub fn main(args: &Graph) -> ExitCode {
    let report = Report::human();
    match draw(args, &report) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            report.error(&e);
            ExitCode::FAILURE
        }
    }
}

fn draw(args: &Graph, report: &Report) -> Result<(), String> {
    let format = args.format.map_or_else(|| format_of(&args.output), Ok)?;
    let mut running = args.live.as_deref().map(Client::connect).transpose()?;
    let counts = running.as_mut().map(Counts::read).transpose()?;
    let input = match running.as_mut().filter(|_| !args.input.is_given()) {
        Some(router) => configuration_of(router)?,
        None => args.input.input()?,
    };
    let maker = Maker { defines: args.input.defines(), path: args.input.path(), ..Maker::new() };
    let made = maker.check(&input);
    report.print(&made.sources, &made.diagnostics);
    let router = made.router.ok_or_else(|| format!("{}: no picture of this", input.name))?;
    let text = match format {
        Format::Svg => picture(&router, counts.as_ref(), &input.name, None),
        Format::Dot => dot::write(&Model::new(&router, counts.as_ref()), &input.name),
    };
    output::write(&args.output, &text)
}

fn picture(router: &Router, counts: Option<&Counts>, title: &str, links: Option<&str>) -> String {
    let model = Model::new(router, counts);
    svg::draw(&model, &nest::arrange(&model), title, links)
}

/// An SVG picture of a router at hand, with its packet counts.
pub fn counted(router: &Router, title: &str) -> String {
    picture(router, Some(&Counts::of(router)), title, None)
}

/// An SVG picture in which each element is a link to `prefix` and its name.
pub fn linked(router: &Router, title: &str, prefix: &str) -> String {
    picture(router, None, title, Some(prefix))
}

/// The configuration of a running router. Its variables are filled in already.
fn configuration_of(router: &mut Client) -> Result<Input, String> {
    let text = router.read("flatconfig", "")?;
    Input::new("running router".to_string(), text)
}

fn format_of(file: &Path) -> Result<Format, String> {
    match file.extension().and_then(|e| e.to_str()) {
        None | Some("svg") => Ok(Format::Svg),
        Some("dot" | "gv") => Ok(Format::Dot),
        Some(other) => Err(format!(
            "{}: cannot write .{other} files; write .svg, and convert it (rsvg-convert, inkscape)",
            file.display()
        )),
    }
}

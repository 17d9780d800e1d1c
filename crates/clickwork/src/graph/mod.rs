//! `clickwork graph`: draws a configuration.
//!
//! [`model`] says what is drawn and how large its boxes are; [`select`] leaves only a part of it, [`group`] finds groups in what
//! tools have written, and [`compare`] marks what another configuration has not. [`layout`] places boxes and connections,
//! [`nest`] uses it once for each compound element; [`svg`] and [`dot`] write the result, and [`live`] reads counts from a
//! running router.

mod compare;
mod dot;
mod group;
mod layout;
mod legend;
mod live;
mod measure;
mod model;
mod nest;
mod select;
mod svg;

pub use live::grouped;

use crate::config::{Input, Maker};
use crate::control::Client;
use crate::input::InputOptions;
use crate::output;
use crate::packages;
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
    /// Draw only these elements and compound elements, and where their connections lead; '*' stands for any letters
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    only: Vec<String>,
    /// Draw a box around elements whose names begin alike, 'eth0/...', as tools leave them of a compound element
    #[arg(long)]
    group: bool,
    /// Mark what the configuration in FILE does not have, or has otherwise; elements are compared by name
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Show the packet counts of the router that listens at SOCKET; without a configuration, draw that router's
    #[arg(long, value_name = "SOCKET")]
    live: Option<String>,
}

const EXAMPLES: &str = "Examples:
  clickwork graph router.click -o router.svg
  clickwork graph router.click -o router.dot && dot -Tpdf router.dot > router.pdf
  clickwork graph router.click --only eth0,routes -o part.svg
  clickwork undead router.click -o less.click && clickwork graph router.click --against less.click -o dead.svg
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
        None => args.input.read(report)?,
    };
    packages::ensure(&args.input, &input, report)?;
    let maker = Maker { defines: args.input.defines(), path: args.input.path(), ..Maker::new() };
    let is_running = running.is_some() && !args.input.is_given();
    let made = maker.check(&input);
    // A router that runs was understood. Who may only read gets no keys, which arguments would miss.
    if !is_running || made.router.is_none() {
        report.print(&made.sources, &made.diagnostics);
    }
    let router = made.router.ok_or_else(|| format!("{}: no picture of this", input.name))?;
    let model = view(Model::new(&router, counts.as_ref()), args, &maker, report)?;
    let text = match format {
        Format::Svg => picture(model, &input.name, None),
        Format::Dot => dot::write(&model.finished(), &input.name),
    };
    // Both forms must be UTF-8.
    output::write(&args.output, &clickwork_source::text::lossy(&text))
}

/// The model as the options want to see it.
fn view(mut model: Model, args: &Graph, maker: &Maker, report: &Report) -> Result<Model, String> {
    if args.group {
        group::by_name(&mut model);
    }
    if let Some(file) = &args.against {
        let other = Input::read(file)?;
        let (sources, graph, messages) = maker.elaborate_any(&other);
        report.print(&sources, &messages);
        if messages.has_errors() {
            return Err(format!("{}: not a correct configuration", other.name));
        }
        compare::mark(&mut model, &graph, file);
    }
    if !args.only.is_empty() {
        model = select::only(&model, &args.only)?;
    }
    Ok(model)
}

fn picture(model: Model, title: &str, links: Option<&str>) -> String {
    let model = model.finished();
    svg::draw(&model, &nest::arrange(&model), title, links)
}

/// An SVG picture of a router at hand, with its packet counts.
pub fn counted(router: &Router, title: &str) -> String {
    picture(Model::new(router, Some(&Counts::of(router))), title, None)
}

/// An SVG picture of a router.
pub fn plain(router: &Router, title: &str) -> String {
    picture(Model::new(router, None), title, None)
}

/// An SVG picture in which each element is a link to `prefix` and its name.
pub fn linked(router: &Router, title: &str, prefix: &str) -> String {
    picture(Model::new(router, None), title, Some(prefix))
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
        Some("html" | "htm") => {
            Err(format!("{}: write .svg; 'clickwork pretty' makes web pages", file.display()))
        }
        Some(other) => Err(format!(
            "{}: cannot write .{other} files; write .svg, and convert it (rsvg-convert, inkscape)",
            file.display()
        )),
    }
}

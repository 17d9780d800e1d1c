//! `clickwork demo`: the IP router of `examples/ip-router.click` and what it does with every kind of packet.
//!
//! [`traffic`] makes the packets (frame by frame with [`frame`]), [`offline`] runs the router on them, [`observe`] and
//! [`options`] judge what it sends, [`expect`] says what a router must do, and [`report`] prints both side by side.
//! [`live`] shows the router between kernel hosts instead.

mod expect;
mod fate;
mod frame;
mod live;
mod observe;
mod offline;
mod options;
mod report;
mod traffic;

use crate::{graph, output};
use report::Style;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Show what an IP router does with every kind of packet
///
/// Runs the two-interface IP router of the Click papers on a capture that contains every kind of packet a router has to
/// treat in its own way, compares what it does with what RFC 1812 demands, and leaves the captures and a picture of the
/// router. Needs no network and no privileges. The exit status is 0 if the router does what it should.
#[derive(clap::Args, Debug)]
pub struct Demo {
    /// Write the captures and the picture into DIR
    #[arg(short, long, value_name = "DIR", default_value = "clickwork-demo")]
    out: PathBuf,

    /// Show the router at work between two hosts that the kernel plays, in network namespaces (needs root)
    #[arg(long, conflicts_with = "out")]
    live: bool,
}

impl Default for Demo {
    fn default() -> Demo {
        Demo { out: PathBuf::from("clickwork-demo"), live: false }
    }
}

/// The file of the router's picture.
const PICTURE: &str = "ip-router.svg";

/// Runs the subcommand.
pub fn main(args: &Demo) -> ExitCode {
    if args.live {
        return live::main();
    }
    match show(&args.out) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => output::fail(e.trim_end()),
    }
}

/// Whether the router does what it should.
fn show(directory: &Path) -> Result<bool, String> {
    let style = Style { color: std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none() };
    let (findings, router) = offline::run(directory)?;
    output::write(&directory.join(PICTURE), &graph::counted(&router, offline::CONFIG_NAME))?;
    output::print(&report::text(&findings, style));
    output::print(&report::closing(directory, PICTURE, &program(), style));
    Ok(report::is_right(&findings))
}

/// How this program was called.
fn program() -> String {
    std::env::args().next().unwrap_or_else(|| "clickwork".to_string())
}

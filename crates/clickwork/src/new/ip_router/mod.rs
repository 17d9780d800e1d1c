//! `clickwork new ip-router`: the IP router of TOCS 2000, Figure 8, with any number of interfaces.
//!
//! `plan.rs` reads and checks what is wanted, `text.rs` writes it.

mod plan;
mod text;

use crate::report::Report;
use crate::{output, tool};
use plan::Plan;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use text::Form;

/// Make the configuration of an IP router
///
/// Writes a standards-compliant IP router (RFC 1812) between networks, the router of "The Click modular router" (TOCS 2000),
/// Figure 8, with as many interfaces as are named. It is complete, and yours to change.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "An interface is written as NAME=ADDRESS/LENGTH: the router's address there, and how many bits of it are the network's. Its
Ethernet address, and its MTU if it is not 1500, may follow after commas.

Examples:
  clickwork new ip-router eth0=10.0.0.1/24 eth1=10.0.1.1/24 -o router.click
  clickwork new ip-router lan=10.0.0.1/24 wan=192.0.2.2/30,1492 --route 0.0.0.0/0,192.0.2.1
  clickwork new ip-router a=10.0.0.1/24 b=10.0.1.1/24 --simulate -o router.click   reads in-a.pcap and in-b.pcap"
)]
pub struct NewIpRouter {
    /// The interfaces
    #[arg(value_name = "INTERFACE=ADDRESS/LENGTH", required = true)]
    interfaces: Vec<String>,
    /// A route: packets for the network DST/LEN go to the router GW, on the interface IF
    #[arg(long = "route", value_name = "DST/LEN,GW[,IF]")]
    routes: Vec<String>,
    /// Read and write captures in the place of network interfaces
    #[arg(long)]
    simulate: bool,
    /// Write to FILE, which must not exist, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Runs the subcommand.
pub fn main(args: &NewIpRouter) -> ExitCode {
    tool::finish(&Report::human(), || make(args))
}

fn make(args: &NewIpRouter) -> Result<(), String> {
    let plan = Plan::new(&args.interfaces, &args.routes)?;
    let form = if args.simulate { Form::Simulated } else { Form::Devices };
    let file = args.output.as_deref().unwrap_or(Path::new("-"));
    let to_file = file != Path::new("-");
    if to_file && file.exists() {
        return Err(format!("{}: it exists already", file.display()));
    }
    let shown = if to_file { file.to_string_lossy() } else { "ip-router.click".into() };
    output::write(file, &text::write(&plan, form, &shown))
}

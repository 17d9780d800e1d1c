//! `clickwork ctl`: reads and writes handlers of a running router.

use crate::config::Input;
use crate::control::Client;
use crate::input::text;
use crate::output;
use clap::Subcommand;
use clickwork_source::text::encode;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Read and write handlers of a running router
///
/// SOCKET is where the router listens for control connections: HOST:PORT, a PORT of this machine, or the path of a Unix
/// socket. The router needs a ControlSocket element, or the option -p or -u of 'clickwork run'.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Ctl {
    /// HOST:PORT, PORT, or the path of a Unix socket
    #[arg(value_name = "SOCKET", value_parser = text())]
    socket: String,
    #[command(subcommand)]
    call: Call,
}

#[derive(Subcommand, Debug)]
enum Call {
    /// Print the value of a read handler
    Read {
        /// The handler, ELEMENT.HANDLER, or HANDLER of the router itself
        #[arg(value_parser = text())]
        name: String,
        /// Its parameter, if it takes one
        #[arg(value_name = "PARAMETER", value_parser = text())]
        parameter: Vec<String>,
    },
    /// Write to a write handler
    Write {
        /// The handler, ELEMENT.HANDLER, or HANDLER of the router itself
        #[arg(value_parser = text())]
        name: String,
        /// What to write
        #[arg(value_parser = text(), allow_hyphen_values = true)]
        value: Vec<String>,
        /// Write what stands in FILE ("-" for standard input)
        #[arg(short, long, value_name = "FILE", conflicts_with = "value")]
        file: Option<PathBuf>,
    },
}

const EXAMPLES: &str = "Examples:
  clickwork ctl 7777 read list                             the names of all elements
  clickwork ctl 7777 read c.handlers                       what can be asked of element 'c'
  clickwork ctl router.sock read c.count
  clickwork ctl router.sock write c.reset
  clickwork ctl 7777 write hotconfig --file new.click      replace the configuration (run with -R)";

/// Runs the subcommand.
pub fn main(args: &Ctl) -> ExitCode {
    match call(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => output::fail(&e),
    }
}

fn call(args: &Ctl) -> Result<(), String> {
    match &args.call {
        Call::Read { name, parameter } => {
            let mut value = Client::connect(&args.socket)?.read(name, &parameter.join(" "))?;
            if value.last().is_some_and(|&b| b != b'\n') {
                value.push(b'\n');
            }
            output::print_bytes(&value);
        }
        Call::Write { name, value, file } => {
            let value = match file {
                Some(file) => Input::read(file)?.text,
                None => value.join(" "),
            };
            let remarks = Client::connect(&args.socket)?.write(name, &value)?;
            if !remarks.is_empty() {
                let _ = std::io::stderr().write_all(&encode(&format!("{remarks}\n")));
            }
        }
    }
    Ok(())
}

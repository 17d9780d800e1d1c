//! The options of Click's user-level program.

use crate::input::{InputOptions, text};
use clap::{ArgAction, Args};
use clickwork_packet::Timestamp;
use clickwork_router::clock::SIMULATION_START;
use std::net::IpAddr;
use std::path::PathBuf;

/// What Click's program can be told.
#[derive(Args, Debug, Clone)]
pub struct RouterOptions {
    #[command(flatten)]
    pub input: InputOptions,
    /// Ask for N threads; there is one, and it says so
    #[arg(short = 'j', long, value_name = "N", default_value_t = 1)]
    pub threads: usize,
    /// Pin threads to processors; one thread needs no place of its own
    #[arg(short, long, hide = true)]
    affinity: bool,
    /// Listen for control connections of this machine on TCP port PORT ("PORT+": or the next free one;
    /// "ADDRESS:PORT": of other machines, too)
    #[arg(short, long, value_name = "PORT", value_parser = port)]
    port: Vec<String>,
    /// Listen for control connections on Unix socket FILE
    #[arg(short, long, value_name = "FILE", value_parser = text())]
    unix_socket: Vec<String>,
    /// Take control connections from file descriptor FD
    #[arg(long, value_name = "FD")]
    socket: Vec<u32>,
    /// Let control connections replace the configuration, by the write handler 'hotconfig'
    #[arg(short = 'R', long, overrides_with = "no_allow_reconfigure")]
    allow_reconfigure: bool,
    #[arg(long, hide = true)]
    no_allow_reconfigure: bool,
    /// Print read handler H after the run ("ELEMENT.H", "PATTERN*.H", "CLASS.H", or "H" of the router)
    #[arg(short = 'h', long = "handler", value_name = "ELEMENT.H", value_parser = text())]
    pub handlers: Vec<String>,
    /// Use the value of read handler H as the exit status
    #[arg(short = 'x', long, value_name = "ELEMENT.H", value_parser = text())]
    pub exit_handler: Option<String>,
    /// Write the flat configuration to FILE ("-" for standard output)
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Make the router, but do not run it
    #[arg(short, long)]
    pub quit: bool,
    /// Print how much time the run took
    #[arg(short, long)]
    pub time: bool,
    /// Print no warnings
    #[arg(short = 'w', long, overrides_with = "warnings")]
    no_warnings: bool,
    #[arg(long, hide = true)]
    warnings: bool,
    /// Run in simulated time, which starts at T seconds and does not pass but for events
    #[arg(long, visible_alias = "simulation-time", value_name = "T", num_args = 0..=1, require_equals = true,
        default_missing_value = "", value_parser = seconds)]
    simtime: Option<Timestamp>,
    /// Print help
    #[arg(long, action = ArgAction::Help)]
    help: Option<bool>,
}

impl RouterOptions {
    /// Whether warnings are to be printed.
    pub fn warnings(&self) -> bool {
        !self.no_warnings
    }

    /// Whether the configuration of the running router may be replaced.
    pub fn allow_reconfigure(&self) -> bool {
        self.allow_reconfigure
    }

    /// The start of simulated time, if time is simulated.
    pub fn simulated(&self) -> Option<Timestamp> {
        self.simtime
    }

    /// The configuration strings of the control sockets asked for.
    pub fn sockets(&self) -> Vec<String> {
        let ports = self.port.iter().map(|p| format!("TCP, {p}"));
        let paths = self.unix_socket.iter().map(|p| format!("UNIX, {}", clickwork_router::args::quote(p)));
        let descriptors = self.socket.iter().map(|fd| format!("SOCKET, {fd}"));
        ports.chain(paths).chain(descriptors).collect()
    }
}

fn port(text: &str) -> Result<String, String> {
    let place = text.strip_suffix('+').unwrap_or(text);
    let (host, number) = place.rsplit_once(':').map_or((None, place), |(host, number)| (Some(host), number));
    if host.is_some_and(|h| h.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_err()) {
        return Err("the address before a port is an IP address".to_string());
    }
    match number.parse::<u16>() {
        Ok(n) if n > 0 => Ok(text.to_string()),
        _ => Err("a TCP port is a number from 1 to 65535".to_string()),
    }
}

fn seconds(text: &str) -> Result<Timestamp, String> {
    if text.is_empty() {
        return Ok(Timestamp::new(SIMULATION_START, 0));
    }
    match text.parse::<f64>() {
        Ok(t) if (0.0..=9e9).contains(&t) => {
            Ok(Timestamp::new(t.trunc() as i64, (t.fract() * 1e9).round() as u32))
        }
        _ => Err("simulated time starts at a number of seconds from 0 on".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_may_have_an_address() {
        for text in ["7777", "7777+", "0.0.0.0:7777", "[::1]:7777+"] {
            assert_eq!(port(text), Ok(text.to_string()));
        }
        assert!(["0", "70000", ":1", "localhost:1", "1.2.3.4", "1.2.3.4:0"].iter().all(|t| port(t).is_err()));
    }

    #[test]
    fn simulated_time_has_fractions() {
        assert_eq!(seconds("1.5"), Ok(Timestamp::new(1, 500_000_000)));
        assert_eq!(seconds(""), Ok(Timestamp::new(SIMULATION_START, 0)));
        assert!(seconds("-1").is_err() && seconds("x").is_err());
    }
}

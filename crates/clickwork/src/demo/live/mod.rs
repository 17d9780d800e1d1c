//! `clickwork demo --live`: the IP router of `examples/ip-router-live.click` at work between two kernel hosts, which are
//! network namespaces of this machine.
//!
//! The router is this program, run once more. [`lab`] makes the hosts and takes them away, [`tools`] runs `ping` and
//! `traceroute` on them, [`transfer`] sends a TCP stream through the router. Nothing outside the namespaces changes.

mod lab;
mod tools;
mod transfer;

use crate::output;
use lab::{Lab, Side};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tools::Answer;

/// The router's addresses towards both sides, and those of the hosts.
const ROUTER: [&str; 2] = ["10.0.0.1", "10.1.0.1"];
const HOST: [&str; 2] = ["10.0.0.2", "10.1.0.2"];
/// Bytes of the TCP transfer.
const STREAM: u64 = 256 << 20;

const PICTURE: &str = "
   left host             the router (this program)            right host
  10.0.0.2   <-------->  10.0.0.1      10.1.0.1   <-------->  10.1.0.2
              MTU 1500                             MTU 1400
";

/// Runs the demonstration.
pub fn main() -> ExitCode {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // Without a handler the signal ends us, and the namespaces stay until they are removed by hand.
        if let Err(e) = signal_hook::flag::register(signal, Arc::clone(&interrupted)) {
            return output::fail(&format!("cannot handle signals: {e}"));
        }
    }
    match show(&interrupted) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) if interrupted.load(Ordering::Relaxed) => {
            output::fail(&format!("interrupted ({e}); all is removed"))
        }
        Err(e) => output::fail(&e),
    }
}

/// Shows one thing; gives whether it went as it should.
type Step = fn(&Lab, &AtomicBool) -> Result<bool, String>;

/// Runs all steps; gives whether each went as it should.
fn show(interrupted: &AtomicBool) -> Result<bool, String> {
    let mut lab = Lab::make()?;
    say(&format!("Two hosts and a router between them, each in a network namespace of its own:\n{PICTURE}"));
    lab.start_router()?;
    transfer::wait_for_way(&lab, HOST[1], Duration::from_secs(5), interrupted)
        .map_err(|e| lab.router_failure().unwrap_or(e))?;
    let steps: [Step; 5] = [ping, ping_router, traceroute, path_mtu, tcp_transfer];
    let mut is_right = true;
    for step in steps {
        is_right &= step(&lab, interrupted)?;
        if interrupted.load(Ordering::Relaxed) {
            return Err("between two steps".to_string());
        }
    }
    headline("What the router did");
    // A handler's name and its value stand on two lines.
    say(&indented(&lab.stop_router()?.replace(":\n", ": ")));
    drop(lab);
    say(
        "The namespaces are removed. To run the router on your own interfaces: examples/ip-router-live.click",
    );
    Ok(is_right)
}

/// Shows what a program said, and whether that is what a router makes of it.
fn judge(answer: Answer, expected: &str, meaning: &str) -> bool {
    match answer {
        Answer::Missing(program) => {
            say(&format!("   skipped: `{program}` is not installed\n"));
            true
        }
        Answer::Said(text) => {
            say(&indented(&text));
            let is_right = text.contains(expected);
            say(&match is_right {
                true => format!("   -> {meaning}\n"),
                false => format!("   -> WRONG: '{expected}' should be in it\n"),
            });
            is_right
        }
    }
}

fn ping(lab: &Lab, _: &AtomicBool) -> Result<bool, String> {
    headline("ping: the left host asks the right host");
    let answer = tools::run(lab, Side::Left, "ping", &["-n", "-c", "3", "-i", "0.2", "-W", "2", HOST[1]])?;
    let meaning = "Both sides found their neighbour by ARP. The time to live came back as 63, not 64: one router on the way.";
    Ok(judge(answer, "ttl=63", meaning))
}

fn ping_router(lab: &Lab, _: &AtomicBool) -> Result<bool, String> {
    headline("ping: the left host asks the router itself, at its far address");
    let answer = tools::run(lab, Side::Left, "ping", &["-n", "-c", "1", "-W", "2", ROUTER[1]])?;
    Ok(judge(answer, "1 received", "ICMPPingResponder answered: no kernel has this address."))
}

fn traceroute(lab: &Lab, _: &AtomicBool) -> Result<bool, String> {
    headline("traceroute: which way is it?");
    let answer = tools::run(lab, Side::Left, "traceroute", &["-n", "-q", "1", "-w", "2", HOST[1]])?;
    let meaning =
        "The router is the first hop: it sent ICMP time exceeded for a packet that had come to its end.";
    if matches!(answer, Answer::Said(_)) {
        return Ok(judge(answer, &format!(" 1  {}", ROUTER[0]), meaning));
    }
    say("   `traceroute` is not installed; a ping with a time to live of 1 shows the same:");
    let answer = tools::run(lab, Side::Left, "ping", &["-n", "-c", "1", "-t", "1", "-W", "2", HOST[1]])?;
    Ok(judge(answer, &format!("From {}", ROUTER[0]), meaning))
}

fn path_mtu(lab: &Lab, _: &AtomicBool) -> Result<bool, String> {
    headline("Path-MTU discovery: 1500 bytes for a link that takes 1400, not to be fragmented");
    let whole = ["-n", "-c", "2", "-i", "0.2", "-W", "1", "-M", "do", "-s", "1472", HOST[1]];
    let answer = tools::run(lab, Side::Left, "ping", &whole)?;
    let first = judge(
        answer,
        "mtu = 1400",
        "ICMP fragmentation needed told the left host the right size (RFC 1191).",
    );
    let route = tools::run(lab, Side::Left, "ip", &["route", "get", HOST[1]])?;
    let second = judge(route, "mtu 1400", "Its kernel has learned it for this destination.");
    headline("Fragmentation: the same size, and may be fragmented");
    let parts = ["-n", "-c", "1", "-W", "2", "-M", "dont", "-s", "1472", HOST[1]];
    let answer = tools::run(lab, Side::Left, "ping", &parts)?;
    Ok(first & second & judge(answer, "1 received", "The right host put the fragments together again."))
}

fn tcp_transfer(lab: &Lab, interrupted: &AtomicBool) -> Result<bool, String> {
    headline(&format!("TCP: {} MB from the left host to the right", STREAM >> 20));
    let report = transfer::run(lab, HOST[1], STREAM, interrupted)?;
    let rate = report.bytes as f64 / report.time.as_secs_f64() / 1e6;
    say(&format!("   {} bytes in {:.2} s: {rate:.0} MB/s", report.bytes, report.time.as_secs_f64()));
    let is_right = report.bytes == STREAM && report.wrong == 0;
    say(if is_right {
        "   -> Every byte is right. The kernels left checksums to cards that do not exist, and merged segments to packets \
         of up\n      to 64 KB: FromDevice completed and cut them.\n"
    } else {
        "   -> WRONG: bytes are missing or damaged\n"
    });
    Ok(is_right)
}

fn headline(text: &str) {
    say(&format!("== {text}"));
}

fn indented(text: &str) -> String {
    text.lines().filter(|l| !l.trim().is_empty()).map(|l| format!("   {l}")).collect::<Vec<_>>().join("\n")
}

/// Shows a line at once: the demonstration takes seconds.
fn say(text: &str) {
    output::print(&format!("{text}\n"));
}

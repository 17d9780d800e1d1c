//! Writes of all sizes, with MSG_MORE, MSG_EOR, TCP_CORK and TCP_NODELAY: which segments they become. `writes.txt` is what the kernel did.
//!
//! ```text
//! window 32792               a connection, whose peer takes segments of 1000 bytes
//! send 100 more,eor          or: cork 1, nodelay 0, ack, shutdown
//! > . 1:101(100) ack 1       what is sent then
//! ```
//! PSH is left out: whether several segments leave together depends on how the text lies in memory.

use super::trace::{ALL, Trace};
use crate::driver::library::Stack;
use crate::driver::run::Mode;

const FILE: &str = "writes.txt";

/// A scenario: what is done.
type Scenario = Vec<String>;

pub fn on_ours() {
    compare(&super::ours(Mode::Ipv4));
}

pub fn on_kernel() {
    let stack = super::kernels(Mode::Ipv4);
    if !super::is_update() {
        return compare(&stack);
    }
    let text: Vec<String> =
        scenarios().iter().zip(1..).map(|(scenario, n)| played(&stack, scenario, n)).collect();
    std::fs::write(super::path(FILE), text.join("\n")).expect("it can be written");
}

fn text() -> String {
    std::fs::read_to_string(super::path(FILE)).expect("what was recorded")
}

fn scenarios() -> Vec<Scenario> {
    let done = |block: &str| block.lines().filter(|line| !line.starts_with('>')).map(str::to_owned).collect();
    text().split("\n\n").map(done).collect()
}

fn compare(stack: &Stack) {
    let text = text();
    let mut wrong = Vec::new();
    for ((scenario, expected), n) in scenarios().iter().zip(text.split("\n\n")).zip(1..) {
        let got = played(stack, scenario, n);
        if got.trim() != expected.trim() {
            wrong.push(format!("expected\n{expected}\nbut it was\n{got}"));
        }
    }
    assert!(wrong.is_empty(), "{} scenarios differ; the first:\n{}", wrong.len(), wrong[0]);
}

/// The scenario with what was sent.
fn played(stack: &Stack, scenario: &Scenario, number: u16) -> String {
    let mut trace = Trace::new(stack, Mode::Ipv4, 2000 + number, 20_000 + number);
    let mut text = String::new();
    for step in scenario {
        trace.play(&script(step)).unwrap_or_else(|error| panic!("{step}: {error}"));
        text += &format!("{step}\n");
        for line in trace.take().iter().filter(|line| line.starts_with('>') && !line.starts_with("> S")) {
            text += &line.replace('P', "");
            text.push('\n');
        }
    }
    text
}

/// A step as a script.
fn script(step: &str) -> String {
    let mut words = step.split_whitespace();
    let (what, argument) = (words.next().expect("a step"), words.next().unwrap_or(""));
    match what {
        "window" => format!(
            "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n\
             +0 < S 0:0(0) win {argument} <mss 1000>\n+0 < . 1:1(0) ack 1 win {argument}\n\
             +0 accept(3, ..., ...) = 4\n+0 close(3) = 0"
        ),
        "send" => {
            let flags = words.next().unwrap_or("").split(',').map(|flag| match flag {
                "more" => "|MSG_MORE",
                "eor" => "|MSG_EOR",
                _ => "",
            });
            format!("0 send(4, ..., {argument}, 0{}) = 0", flags.collect::<String>())
        }
        "cork" => format!("0 setsockopt(4, IPPROTO_TCP, TCP_CORK, [{argument}], 4) = 0"),
        "nodelay" => format!("0 setsockopt(4, IPPROTO_TCP, TCP_NODELAY, [{argument}], 4) = 0"),
        "ack" => format!("0 < . 1:1(0) ack {ALL} win 32792"),
        "shutdown" => "0 shutdown(4, SHUT_WR) = 0".to_owned(),
        other => panic!("no step {other:?}"),
    }
}

//! TCP_INFO: the fields that depend neither on the clock nor on how memory is counted, after some scenarios. `info.txt` is what the kernel said.

use std::fmt::Write as _;

use super::trace::Trace;
use crate::driver::library::Stack;
use crate::driver::run::Mode;

const FILE: &str = "info.txt";

const OPEN: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n0 bind(3, ..., ...) = 0\n0 listen(3, 5) = 0\n\
                    0 < S 0:0(0) win 32792 <mss 1000,sackOK>\n0.01 < . 1:1(0) ack 1 win 32792\n0 accept(3, ..., ...) = 4\n\
                    0 fcntl(4, F_SETFL, O_RDWR|O_NONBLOCK) = 0";

const SCENARIOS: &[(&str, &str)] = &[
    ("established", ""),
    ("text sent", "0 write(4, ..., 2500) = 2500"),
    ("text acknowledged", "0 write(4, ..., 2500) = 2500\n0.01 < . 1:1(0) ack 2501 win 30000"),
    ("text that waits", "0 write(4, ..., 20000) = 20000"),
    ("text received", "0 < P. 1:1001(1000) ack 1 win 32792\n0 < P. 1001:1101(100) ack 1 win 32792"),
    ("text read", "0 < P. 1:1001(1000) ack 1 win 32792\n0 read(4, ..., 2000) = 1000"),
    (
        "text that came early",
        "0 < P. 1001:2001(1000) ack 1 win 32792\n0 < P. 3001:4001(1000) ack 1 win 32792",
    ),
    ("text that came twice", "0 < P. 1:1001(1000) ack 1 win 32792\n0 < P. 1:1001(1000) ack 1 win 32792"),
    (
        "selectively acknowledged",
        "0 write(4, ..., 5000) = 5000\n0.01 < . 1:1(0) ack 1 win 32792 <sack 3001:4001,nop,nop>",
    ),
    ("lost", "0 write(4, ..., 5000) = 5000\n0.01 < . 1:1(0) ack 1 win 32792 <sack 2001:5001,nop,nop>"),
    ("timeout", "0 write(4, ..., 1000) = 1000\n0.45 < . 1:1(0) ack 1 win 32792"),
    (
        "window closed",
        "0 write(4, ..., 1000) = 1000\n0.01 < . 1:1(0) ack 1001 win 0\n0 write(4, ..., 3000) = 3000",
    ),
    ("shut down", "0 shutdown(4, SHUT_WR) = 0"),
    ("end of the peer", "0 < F. 1:1(0) ack 1 win 32792\n0.06 write(4, ..., 1) = 1"),
];

/// Name, offset and size.
const FIELDS: &[(&str, usize, usize)] = &[
    ("state", 0, 1),
    ("ca_state", 1, 1),
    ("retransmits", 2, 1),
    ("probes", 3, 1),
    ("backoff", 4, 1),
    ("options", 5, 1),
    ("scales", 6, 1),
    ("snd_mss", 16, 4),
    ("rcv_mss", 20, 4),
    ("unacked", 24, 4),
    ("sacked", 28, 4),
    ("lost", 32, 4),
    ("retrans", 36, 4),
    ("pmtu", 60, 4),
    ("snd_ssthresh", 76, 4),
    ("snd_cwnd", 80, 4),
    ("advmss", 84, 4),
    ("reordering", 88, 4),
    ("rcv_space", 96, 4),
    ("total_retrans", 100, 4),
    ("bytes_acked", 120, 8),
    ("bytes_received", 128, 8),
    ("segs_out", 136, 4),
    ("segs_in", 140, 4),
    ("notsent", 144, 4),
    ("data_segs_in", 152, 4),
    ("data_segs_out", 156, 4),
    ("delivered", 192, 4),
    ("delivered_ce", 196, 4),
    ("bytes_sent", 200, 8),
    ("bytes_retrans", 208, 8),
    ("dsack_dups", 216, 4),
    ("reord_seen", 220, 4),
    ("rcv_ooopack", 224, 4),
    ("snd_wnd", 228, 4),
    ("total_rto", 240, 2),
    ("total_rto_recoveries", 242, 2),
];

pub fn on_ours() {
    assert_eq!(recorded(&super::ours(Mode::Ipv4), 0).trim(), expected().trim());
}

/// Its timers may come between: then it is asked again.
pub fn on_kernel() {
    let kernel = super::kernels(Mode::Ipv4);
    if super::is_update() {
        return std::fs::write(super::path(FILE), recorded(&kernel, 0)).expect("it can be written");
    }
    let rounds: Vec<String> =
        (0..6).map(|round| recorded(&kernel, round)).take_while(|got| *got != expected()).collect();
    assert!(rounds.len() < 6, "expected\n{}\nbut it was\n{}", expected(), rounds[0]);
}

fn expected() -> String {
    std::fs::read_to_string(super::path(FILE)).expect("what was recorded")
}

/// The values of all fields, scenario by scenario.
fn recorded(stack: &Stack, round: u16) -> String {
    let (first, mut text) = (2000 + 100 * round, String::new());
    for ((name, script), port) in SCENARIOS.iter().zip(first..) {
        writeln!(text, "{name}").unwrap();
        for ((field, ..), value) in FIELDS.iter().zip(values(stack, script, port)) {
            writeln!(text, "{field}: {value}").unwrap();
        }
        text.push('\n');
    }
    text
}

fn values(stack: &Stack, script: &str, port: u16) -> Vec<u64> {
    let mut trace = Trace::new(stack, Mode::Ipv4, port, 20_000 + port);
    trace.play(OPEN).and_then(|()| trace.play(script)).expect("it is played");
    let info = trace.info(4);
    let value = |at: usize, size: usize| {
        info[at..at + size].iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte))
    };
    FIELDS.iter().map(|(_, at, size)| value(*at, *size)).collect()
}

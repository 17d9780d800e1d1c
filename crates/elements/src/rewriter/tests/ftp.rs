//! FTP clients behind a rewriter.

use super::*;

const CLIENT: End = ("10.0.0.1", 1111);
const OUTSIDE: End = ("1.0.0.1", 2000);
const SERVER: End = ("9.9.9.9", 21);
const CONFIG: &str = "in :: Source -> f :: FTPPortMapper(rw, rw, 1) -> [0] rw :: IPRewriter(pattern 1.0.0.1 2000 - - 0 1, \
                      pattern 1.0.0.1 40000-40010# - - 0 1, drop); i :: Idle -> [1] rw; back :: Source -> [2] rw; \
                      rw -> a :: Sink; rw[1] -> b :: Sink";

fn control(sequence: u32, data: &[u8]) -> Packet {
    segment(CLIENT, SERVER, flag::ACK, (sequence, 500), data).packet()
}

#[test]
fn a_port_command_is_rewritten_and_the_server_can_connect() {
    let mut t = Harness::new(CONFIG);
    let command = b"PORT 10,0,0,1,4,87\r\n";
    let new = b"PORT 1,0,0,1,156,64\r\n";
    t.push("in", 0, [control(100, b"USER me\r\n"), control(109, command), control(129, b"LIST\r\n")]);
    // The last is shifted by the byte that the command grew.
    let expected = [(100, &b"USER me\r\n"[..]), (109, new), (130, b"LIST\r\n")]
        .map(|(sequence, data)| segment(OUTSIDE, SERVER, flag::ACK, (sequence, 500), data).bytes());
    assert_eq!(t.bytes("a"), expected);
    t.push("back", 0, [segment(SERVER, OUTSIDE, flag::ACK, (500, 136), b"ok").packet()]);
    assert_eq!(t.bytes("b"), [segment(SERVER, CLIENT, flag::ACK, (500, 135), b"ok").bytes()]);
    assert!(t.read("rw.tcp_table").contains("(1.0.0.1, 2000, 9.9.9.9, 21) seq +1 [*0 1] i0 exp"));
    t.push("back", 0, [tcp(("9.9.9.9", 20), ("1.0.0.1", 40_000), flag::SYN, b"").packet()]);
    assert_eq!(t.bytes("b"), [tcp(("9.9.9.9", 20), ("10.0.0.1", 1111), flag::SYN, b"").bytes()]);
    // The same command again is the same, and shifts nothing more.
    t.push("in", 0, [control(109, command), control(129, b"LIST\r\n")]);
    assert_eq!(t.bytes("a"), expected[1..]);
    assert_eq!(t.read("rw.nmappings"), "2");
}

#[test]
fn other_packets_pass_as_they_are() {
    let mut t = Harness::new(CONFIG);
    t.push("in", 0, [control(100, b"")]);
    t.take("a");
    let texts: [&[u8]; 9] = [
        b"PORT 10,0,0,1,4,256\r\n",
        b"PORT 10,0,0,1,4\r\n",
        b"PORT 10,0,0,1,4,87,9\r\n",
        b"PORT 10,0,0,1,4,87",
        b"PORT 99999999999999999999,0,0,1,4,87\r\n",
        b"PORT",
        b"PORT ",
        b"PORT a,b,c,d,e,f\r\n",
        b"RETR PORT 10,0,0,1,4,87\r\n",
    ];
    t.push("in", 0, texts.map(|text| control(100, text)));
    let expected = texts.map(|text| segment(OUTSIDE, SERVER, flag::ACK, (100, 500), text).bytes());
    assert_eq!((t.bytes("a"), t.read("rw.nmappings")), (expected.to_vec(), "1".into()));
    // Nor is anything done about connections that are not known yet.
    t.write("rw.clear").unwrap();
    t.push(
        "in",
        0,
        [control(100, b"PORT 10,0,0,1,4,87\r\n"), udp(CLIENT, SERVER, b"PORT 1,1,1,1,1,1\r\n").packet()],
    );
    assert_eq!(t.read("rw.nmappings"), "2");
    t.push("in", 0, [Packet::new(b"PORT "), tcp(CLIENT, SERVER, 0, b"").fragment(3).packet()]);
}

#[test]
fn the_argument_may_become_shorter() {
    let mut t = Harness::new(&CONFIG.replace("40000-40010#", "1-9#"));
    t.push(
        "in",
        0,
        [control(100, b""), control(100, b"port  010,000,000,001,004,087\r\nNOOP\r\n"), control(140, b"x")],
    );
    let expected = [(100, &b""[..]), (100, b"port  1,0,0,1,0,1\r\nNOOP\r\n"), (128, b"x")]
        .map(|(sequence, data)| segment(OUTSIDE, SERVER, flag::ACK, (sequence, 500), data).bytes());
    assert_eq!(t.bytes("a"), expected);
}

#[test]
fn the_rewriters_must_be_such() {
    let rewriters = "i :: Idle; u :: UDPRewriter(drop); t :: TCPRewriter(drop); Idle -> u -> Discard; Idle -> t -> Discard;";
    for (arguments, wrong) in [
        ("u, t, 0", "CONTROL_REWRITER: element type mismatch, expected TCPRewriter"),
        ("t, nobody, 0", "DATA_REWRITER: does not name an element"),
        ("t, i, 0", "DATA_REWRITER: element type mismatch, expected IPRewriterBase"),
        ("t, u, -1", "DATA_REWRITER_INPUT out of range"),
        ("t, u, 1", "DATA_REWRITER_INPUT out of range"),
        ("t, u", "DATA_REWRITER_INPUT"),
    ] {
        let e = Harness::errors(&format!("{rewriters} Idle -> FTPPortMapper({arguments}) -> Discard"));
        assert!(e.contains(wrong), "{arguments}: {e}");
    }
}

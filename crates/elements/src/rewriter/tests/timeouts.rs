//! How long mappings last.

use super::*;
use std::time::Duration;

fn exp(t: &mut Harness, table: &str) -> Vec<u32> {
    let text = t.read(table);
    text.lines().map(|line| line.rsplit("exp").next().unwrap().parse().unwrap()).collect()
}

const SERVER: End = ("9.9.9.9", 80);

#[test]
fn mappings_end_when_they_are_looked_for() {
    let mut t = Harness::new(&with_two("UDPRewriter(keep 0 1, drop, TIMEOUT 20, REAP_INTERVAL 60)"));
    let packet = || udp(("10.0.0.1", 1), SERVER, b"").packet();
    t.push("in", 0, [packet()]);
    t.run_for(Duration::from_secs(45));
    // It has ended, but is still there, as in Click, with a time left that has wrapped.
    assert_eq!((t.read("rw.size"), exp(&mut t, "rw.table")[0] > 4_000_000), ("1".into(), true));
    t.run_for(Duration::from_secs(20));
    assert_eq!((t.read("rw.size"), t.read("rw.nmappings")), ("0".into(), "0".into()));
    // A packet in time makes it last.
    t.push("in", 0, [packet()]);
    t.run_for(Duration::from_secs(35));
    t.push("in", 0, [packet()]);
    t.run_for(Duration::from_secs(5));
    assert_eq!(t.read("rw.size"), "1");
}

#[test]
fn connections_last_by_their_state() {
    let client = ("10.0.0.1", 1);
    let config =
        with_two("IPRewriter(keep 0 1, drop, TCP_NODATA_TIMEOUT 100, TCP_TIMEOUT 1000, TCP_DONE_TIMEOUT 50)");
    let mut t = Harness::new(&config);
    let left = |t: &mut Harness| {
        let both = exp(t, "rw.tcp_table");
        assert_eq!(both[0], both[1]);
        // Ten seconds pass after each packet.
        both[0] + 10
    };
    let go =
        |t: &mut Harness, flags, data: &[u8]| t.push("in", 0, [tcp(client, SERVER, flags, data).packet()]);
    let come =
        |t: &mut Harness, flags, data: &[u8]| t.push("back", 0, [tcp(SERVER, client, flags, data).packet()]);
    go(&mut t, flag::SYN, b"");
    assert_eq!(left(&mut t), 100);
    go(&mut t, flag::ACK, b"data");
    assert_eq!(left(&mut t), 100);
    come(&mut t, flag::ACK, b"data");
    assert_eq!(left(&mut t), 1000);
    go(&mut t, flag::FIN | flag::ACK, b"");
    assert_eq!(left(&mut t), 1000);
    come(&mut t, flag::FIN | flag::ACK, b"");
    assert_eq!(left(&mut t), 50);
    // Data after the end, and a new beginning, open it again.
    come(&mut t, flag::ACK, b"more");
    assert_eq!(left(&mut t), 1000);
    go(&mut t, flag::RST, b"");
    assert_eq!(left(&mut t), 50);
    go(&mut t, flag::SYN, b"");
    assert_eq!(left(&mut t), 1000);
}

#[test]
fn a_connection_that_has_ended_goes_early_even_if_it_was_held_for_long() {
    for guarantee in [0, 5] {
        let mut t = Harness::new(&with_two(&format!(
            "TCPRewriter(keep 0 1, drop, TCP_TIMEOUT 10000, TCP_DONE_TIMEOUT 50, GUARANTEE {guarantee}, REAP_INTERVAL 20)"
        )));
        let client = ("10.0.0.1", 1);
        t.push("in", 0, [tcp(client, SERVER, flag::ACK, b"x").packet()]);
        t.push("back", 0, [tcp(SERVER, client, flag::ACK, b"x").packet()]);
        t.run_for(Duration::from_secs(40));
        t.push("in", 0, [tcp(client, SERVER, flag::RST, b"").packet()]);
        t.run_for(Duration::from_secs(30));
        assert_eq!(t.read("rw.size"), "1");
        t.run_for(Duration::from_secs(40));
        assert_eq!(t.read("rw.size"), "0", "{guarantee}");
    }
}

#[test]
fn streams_of_udp_may_last_longer_than_questions() {
    let client = ("10.0.0.1", 1);
    for (kind, table) in [("IPRewriter", "rw.udp_table"), ("UDPRewriter", "rw.table")] {
        let mut t = Harness::new(&with_two(&format!(
            "{kind}(keep 0 1, drop, UDP_TIMEOUT 60, UDP_STREAMING_TIMEOUT 600)"
        )));
        let mut left = Vec::new();
        for (source, from, to) in [("in", client, SERVER), ("back", SERVER, client), ("in", client, SERVER)] {
            t.push(source, 0, [udp(from, to, b"").packet()]);
            left.push(exp(&mut t, table)[0] + 10);
        }
        assert_eq!(left, [60, 60, 600], "{kind}");
    }
    // Three packets without an answer are no stream.
    let mut t = Harness::new(&with_two("UDPRewriter(keep 0 1, drop, TIMEOUT 60, STREAMING_TIMEOUT 600)"));
    t.push("in", 0, (0..9).map(|_| udp(client, SERVER, b"").packet()));
    assert_eq!(exp(&mut t, "rw.table")[0], 50);
}

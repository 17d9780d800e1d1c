//! RFC 8899: the size of the path found by probes when no ICMP message comes. (RFC 1191 is in `icmp.rs`.)

use crate::support::*;

const BY_ICMP: u32 = 1;
const AFTER_BLACK_HOLE: u32 = 2;
const ALWAYS: u32 = 4;

/// A path that carries so many bytes and says nothing of what it drops. Acknowledges all that comes through until `goal`
/// bytes have, or nothing more is sent; the largest segment that came through.
fn carry(t: &mut Peer, mtu: usize, goal: u32) -> usize {
    let (mut next, mut largest) = (1, 0);
    let mut held = std::collections::BTreeMap::new();
    for _ in 0..20_000 {
        t.run_until_sent();
        for (place, length) in t.pieces() {
            if length + 40 <= mtu {
                largest = largest.max(length);
                held.insert(place, length as u32);
            }
        }
        while let Some((&place, &length)) = held.iter().find(|&(&p, &l)| p <= next && p + l > next) {
            next = place + length;
        }
        if next > goal {
            return largest;
        }
        t.pass(10 * MS);
        t.inject(&format!(". n ack {next}"));
    }
    panic!("only {next} came through\n{}", t.story());
}

/// §4.3: a black hole is noticed, and text comes through in smaller segments.
#[test]
fn black_hole() {
    let mut t = Peer::established_with(|config| config.path_mtu = BY_ICMP | AFTER_BLACK_HOLE, "<mss 1460>");
    t.write(20_000);
    let largest = carry(&mut t, 1300, 20_000);
    assert!((500..=1260).contains(&largest), "{largest}");
    assert!(t.status().path_mtu <= 1300);
}

/// Without it the connection would starve, as RFC 2923 §2.1 says.
#[test]
fn small_segments_are_not_a_black_hole() {
    let mut t = Peer::established_with(|config| config.path_mtu = BY_ICMP | AFTER_BLACK_HOLE, "<mss 1460>");
    t.write(100);
    t.pass(30 * SECOND);
    assert_eq!(t.status().send_mss, 1460);
}

/// §5.3: by probes from the start, from a size that any path carries to what this one does.
#[test]
fn search() {
    let mut t = Peer::established_with(|config| config.path_mtu = ALWAYS, "<mss 1460>");
    t.fill();
    let largest = carry(&mut t, 1400, 100_000);
    assert!((1024..=1360).contains(&largest), "{largest}");
}

/// §4.4: a probe that is lost is no congestion.
#[test]
fn lost_probe_is_no_congestion() {
    let mut t = Peer::established_with(|config| config.path_mtu = ALWAYS, "<mss 1460>");
    t.fill();
    let before = t.status().congestion_window;
    carry(&mut t, 1400, 60_000);
    assert!(t.status().congestion_window >= before, "{} of {before}", t.status().congestion_window);
}

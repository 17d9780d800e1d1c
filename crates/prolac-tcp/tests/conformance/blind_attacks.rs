//! RFC 5961: what blind attackers cannot do. The checks of segments are in `arrives_reset.rs`, `arrives_syn.rs` and
//! `arrives_ack.rs`, state by state.

use crate::support::*;

/// §3.2: of a thousand guesses in the window none resets.
#[test]
fn guessed_resets() {
    let mut t = Peer::established();
    for n in 1..1000 {
        t.inject(&format!("R n+{n}"));
    }
    t.inject_all(&["R n-10(20)", "R n-10(10)", "RF n-1", "RS n-1", "RS n-1(5)"]);
    t.is(state::ESTABLISHED);
}

/// §7: challenges are few.
#[test]
fn challenges_are_limited() {
    let mut t = Peer::established();
    for n in 1..1000 {
        t.inject(&format!("R n+{n}"));
    }
    let first = t.all().len();
    assert!((1..=2).contains(&first), "as Linux, one in half a second for a connection: {first}");
    let mut t = Peer::with(|config| config.challenge_acks = 5).handshake("<mss 1000>");
    for n in 1..1000 {
        t.inject(&format!("S n+{n}"));
    }
    let few = t.all().len();
    assert!((1..=10).contains(&few), "{few}");
}

/// §7: all connections share the limit.
#[test]
fn challenges_of_all_are_limited() {
    let mut t = Peer::with(|config| config.challenge_acks = 5);
    t.listen(100);
    let mut answered = 0;
    for port in 6000..6050 {
        t.remote.set_port(port);
        t.peer_side.next = t.peer_side.first;
        t.inject("S 0");
        t.inject(". 1 ack 1");
        t.all();
        t.inject("R n+1");
        answered += t.all().len();
    }
    assert!((1..=10).contains(&answered), "{answered}");
}

/// §7: and come again later.
#[test]
fn challenges_come_again() {
    let mut t = Peer::with(|config| config.challenge_acks = 5).handshake("<mss 1000>");
    for _ in 0..5 {
        for n in 1..100 {
            t.inject(&format!("R n+{n}"));
        }
        assert!(!t.all().is_empty());
        t.pass(3 * SECOND);
    }
}

/// §5.2: text with an acknowledgment that cannot be is not taken.
#[test]
fn injected_text() {
    let mut t = Peer::established();
    for ack in ["n+1", "n+1000000", "n-100000", "n-1000000000"] {
        t.inject(&format!("P. 1(100) ack {ack}"));
    }
    assert_eq!(t.read_all(), 0);
}

/// §5.2: the edge of the range: SND.UNA - MAX.SND.WND.
#[test]
fn edge_of_the_range() {
    let mut t = Peer::new();
    t.default_window = 2000;
    let mut t = t.handshake("<mss 1000>");
    for _ in 0..5 {
        t.write(1000);
        t.all();
        t.inject(". n");
    }
    t.inject("P. 1(100) ack n-2001");
    assert_eq!(t.read_all(), 0);
    t.peer_side.next = t.peer_side.first.wrapping_add(1);
    t.inject("P. 1(100) ack n-2000");
    assert_eq!(t.read_all(), 100);
}

/// §4.2: a SYN never resets, wherever it stands.
#[test]
fn guessed_syns() {
    let mut t = Peer::established();
    for place in ["n", "n+1", "n+30000", "n+1000000", "n-1", "n-1000000"] {
        t.inject(&format!("S {place}"));
        t.inject(&format!("S. {place}"));
    }
    t.is(state::ESTABLISHED);
    t.all();
    t.inject("P. n(10)");
    assert_eq!(t.read_all(), 10);
}

/// The peer that restarted: our challenge brings its reset, and that one counts (§4.1).
#[test]
fn restarted_peer() {
    let mut t = Peer::established();
    t.inject("S n+5000");
    let challenge = t.expect(". 1 ack 1");
    assert_eq!(challenge.acknowledgment, t.peer_side.next);
    t.inject("R n");
    t.is(state::CLOSED);
}

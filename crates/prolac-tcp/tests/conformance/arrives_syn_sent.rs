//! RFC 9293 §3.10.7.3: segments in SYN-SENT.

use crate::support::errno::*;
use crate::support::states::to;
use crate::support::*;

#[test]
fn ack_of_nothing() {
    let mut t = to::syn_sent();
    t.inject("S. 0 ack 0");
    t.expect("R 0");
    t.inject(". 1 ack 0");
    t.expect("R 0");
    t.is(state::SYN_SENT);
}

#[test]
fn ack_of_too_much() {
    let mut t = to::syn_sent();
    t.inject("S. 0 ack 2");
    t.expect("R 2");
    t.inject(". 1 ack 1000");
    t.expect("R 1000");
    t.is(state::SYN_SENT);
}

#[test]
fn bad_ack_with_reset() {
    let mut t = to::syn_sent();
    t.inject_all(&["R. 0 ack 0", "R. 0 ack 2", "R. 0 ack 77777"]);
    t.nothing();
    t.is(state::SYN_SENT);
}

#[test]
fn reset() {
    let mut t = to::syn_sent();
    t.inject("R. 0 ack 1");
    t.nothing();
    t.is(state::CLOSED);
    assert_eq!(t.error(), ECONNREFUSED);
}

#[test]
fn reset_without_ack() {
    let mut t = to::syn_sent();
    t.inject("R 0");
    t.nothing();
    t.is(state::SYN_SENT);
}

#[test]
fn syn_and_ack() {
    let mut t = to::syn_sent();
    t.inject("S. 0 ack 1 <mss 1000>");
    t.expect(". 1 ack 1");
    t.nothing();
    t.is(state::ESTABLISHED);
    assert!(t.reported(|e| matches!(e, Event::Connected(_))));
}

#[test]
fn syn_and_ack_with_text() {
    let mut t = to::syn_sent();
    t.inject("SP. 0(10) ack 1 <mss 1000>");
    let answer = t.expect_ack(". 1");
    // The acknowledgment of the SYN may come first.
    if answer.acknowledgment == t.peer_side.first.wrapping_add(1) && t.read_all() == 10 {
        t.expect_ack(". 1 ack 11");
    }
    // Text that was dropped would be sent again.
    t.inject("P. 1(10) ack 1");
    t.read_all();
    t.pass(SECOND);
    assert_eq!(t.status().bytes_received, 10);
}

#[test]
fn syn_and_ack_with_fin() {
    let mut t = to::syn_sent();
    t.inject("SF. 0 ack 1");
    t.pass(SECOND);
    if t.state() == state::ESTABLISHED {
        // Dropping the FIN is allowed as long as its repetition is taken.
        t.inject("F. 1 ack 1");
    }
    t.is(state::CLOSE_WAIT);
}

#[test]
fn syn_and_ack_with_urgent_text() {
    let mut t = to::syn_sent();
    t.inject("SU. 0(3) ack 1 urg 3");
    t.pass(SECOND);
    if !t.reported(|e| matches!(e, Event::Urgent(_))) {
        t.inject("UP. 1(3) ack 1 urg 3");
        assert!(t.reported(|e| matches!(e, Event::Urgent(_))));
    }
    t.is(state::ESTABLISHED);
}

/// Simultaneous open.
#[test]
fn syn_alone() {
    let mut t = to::syn_sent();
    t.inject("S 0 <mss 1000>");
    t.expect("S. 0 ack 1");
    t.is(state::SYN_RECEIVED);
    t.inject("S. 0 ack 1");
    t.is(state::ESTABLISHED);
}

#[test]
fn neither_syn_nor_reset() {
    let mut t = to::syn_sent();
    t.inject_all(&[". 1 ack 1", "P. 1(10) ack 1", "F. 1 ack 1", "- 1", "P 1(10)"]);
    t.nothing();
    t.is(state::SYN_SENT);
}

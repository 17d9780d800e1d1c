//! RFC 9293 §3.10.7.4, eighth step: the FIN bit.

use crate::support::states::to;
use crate::support::*;

in_states! {
    /// Its repetition is acknowledged, nothing else.
    repeated(t, state) [close_wait, closing, last_ack, time_wait] {
        let acknowledgment = if state == state::TIME_WAIT { 2 } else { 1 };
        t.inject(&format!("F. 1 ack {acknowledgment}"));
        t.expect(". n ack 2");
        t.nothing();
        t.is(state);
    }

    /// The user sees the end, once all before it is read.
    end_of_text(t, state) [established, fin_wait_1, fin_wait_2] {
        t.inject("FP. 1(10)");
        assert_eq!(t.try_read(100).ok(), Some(10));
        assert_eq!(t.try_read(100).ok(), Some(0));
    }

    /// A FIN ahead of text that is missing waits for it.
    ahead(t, state) [established, fin_wait_1, fin_wait_2] {
        t.inject("F. 11 ack 1");
        t.expect(". n ack 1");
        t.is(state);
        t.inject("P. 1(10) ack 1");
        assert_eq!(t.read_all(), 10);
        t.expect_ack(". n ack 12");
    }

    /// What came of text beyond it is none: neither delivered nor acknowledged.
    no_text_beyond(t, state) [established, fin_wait_1, fin_wait_2] {
        t.inject("P. 11(10) ack 1");
        t.expect(". n ack 1");
        t.inject("FP. 1(10) ack 1");
        assert_eq!(t.read_all(), 10);
        t.expect_ack(". n ack 12");
    }
}

#[test]
fn syn_sent_drops_it() {
    let mut t = to::syn_sent();
    t.inject_all(&["F 0", "F. 1 ack 1"]);
    t.nothing();
    t.is(state::SYN_SENT);
}

#[test]
fn syn_received() {
    let mut t = to::syn_received();
    t.inject("F. 1 ack 1");
    t.expect_ack(". 1 ack 2");
    t.is(state::CLOSE_WAIT);
}

#[test]
fn established() {
    let mut t = Peer::established();
    t.inject("F. 1");
    t.expect_ack(". 1 ack 2");
    t.is(state::CLOSE_WAIT);
    assert!(t.reported(|e| matches!(e, Event::Readable(_))));
}

#[test]
fn fin_wait_1_acknowledged() {
    let mut t = to::fin_wait_1();
    t.inject("F. 1 ack 2");
    t.expect(". 2 ack 2");
    t.is(state::TIME_WAIT);
}

#[test]
fn fin_wait_1_not_acknowledged() {
    let mut t = to::fin_wait_1();
    t.inject("F. 1 ack 1");
    t.expect(". 2 ack 2");
    t.is(state::CLOSING);
}

#[test]
fn fin_wait_2() {
    let mut t = to::fin_wait_2();
    t.inject("F. 1 ack 2");
    t.expect(". 2 ack 2");
    t.is(state::TIME_WAIT);
}

/// Other timers are off.
#[test]
fn time_wait_is_quiet() {
    let mut t = to::time_wait();
    t.quiet(59 * SECOND);
    t.is(state::TIME_WAIT);
}

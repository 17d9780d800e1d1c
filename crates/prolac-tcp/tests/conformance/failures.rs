//! RFC 9293 §3.8.3 and §3.8.4: connections that fail, and keep-alives.

use crate::support::errno::*;
use crate::support::states::to;
use crate::support::*;

/// MUST-20, SHLD-11: R2 is at least 100 seconds.
#[test]
fn gives_up_after_r2() {
    let mut t = Peer::established();
    t.write(10);
    t.pass(100 * SECOND);
    t.is(state::ESTABLISHED);
    t.pass(4000 * SECOND);
    t.is(state::CLOSED);
    assert_eq!(t.error(), ETIMEDOUT);
}

/// MUST-21.
#[test]
fn r2_can_be_set() {
    let mut t = Peer::established();
    t.set(option::USER_TIMEOUT, 10_000);
    t.write(10);
    t.pass(9 * SECOND);
    t.is(state::ESTABLISHED);
    t.pass(30 * SECOND);
    t.is(state::CLOSED);
}

/// Progress begins it anew, and so does new text after a pause.
#[test]
fn r2_is_for_what_waits() {
    let mut t = Peer::established();
    t.set(option::USER_TIMEOUT, 5_000);
    t.write(20_000);
    for n in 1..=10 {
        t.pass(3 * SECOND);
        t.inject(&format!(". 1 ack {}", n * 1000 + 1));
        t.is(state::ESTABLISHED);
    }
    while t.status().unacked > 0 {
        t.inject(". 1");
    }
    t.pass(60 * SECOND);
    t.all();
    t.write(10);
    t.pass(3 * SECOND);
    t.is(state::ESTABLISHED);
}

/// As Linux: a connection that its user has left is given up sooner.
#[test]
fn orphans_give_up_sooner() {
    let mut t = Peer::established();
    t.write(10);
    t.close();
    t.pass(200 * SECOND);
    assert_eq!(t.stack.connections().count(), 0);
}

/// SHLD-9, SHLD-10: retransmissions can be seen before that.
#[test]
fn retransmissions_are_told() {
    let mut t = Peer::established();
    t.write(10);
    t.pass(5 * SECOND);
    assert!(t.status().retransmits >= 3, "{}", t.status().retransmits);
}

/// MUST-22.
#[test]
fn syn_gives_up() {
    let mut t = to::syn_sent();
    t.pass(132 * SECOND);
    t.is(state::CLOSED);
    assert_eq!(t.error(), ETIMEDOUT);
    assert_eq!(t.all().len(), 10);
}

/// MUST-23: three minutes, if the user asks for a repetition more than Linux's six.
#[test]
fn syn_for_three_minutes() {
    let mut t = Peer::new();
    t.connect();
    t.set(option::SYN_COUNT, 7);
    t.pass(200 * SECOND);
    t.is(state::SYN_SENT);
    t.pass(100 * SECOND);
    t.is(state::CLOSED);
}

fn kept_alive() -> Peer {
    let mut t = Peer::established();
    t.set(option::KEEP_ALIVE, 1);
    t.set(option::KEEP_IDLE, 10_000);
    t.set(option::KEEP_INTERVAL, 2_000);
    t.set(option::KEEP_COUNT, 3);
    t
}

/// MUST-25: off.
#[test]
fn keep_alive_is_off() {
    let mut t = Peer::established();
    t.quiet(100_000 * SECOND);
    t.is(state::ESTABLISHED);
}

/// MUST-24, MUST-27, SHLD-12: a segment without text, one below what was acknowledged.
#[test]
fn keep_alive_on_request() {
    let mut t = kept_alive();
    t.expect_within(9 * SECOND..=11 * SECOND, ". 0 ack 1");
    t.inject(". 1 ack 1");
    t.expect_within(9 * SECOND..=11 * SECOND, ". 0 ack 1");
}

/// MUST-26: only when nothing was received for the interval.
#[test]
fn keep_alive_only_if_idle() {
    let mut t = kept_alive();
    for _ in 0..10 {
        t.pass(5 * SECOND);
        t.inject("P. n(1)");
        t.read_all();
    }
    assert!(t.all().iter().all(|s| s.sequence != t.stack_side.first));
}

/// MUST-28.
#[test]
fn keep_alive_default_is_two_hours() {
    let mut t = Peer::established();
    t.set(option::KEEP_ALIVE, 1);
    t.quiet(7199 * SECOND);
    t.expect_within(0..=2 * SECOND, ". 0 ack 1");
}

/// MUST-29: one that is not answered does not end the connection; all of them do.
#[test]
fn keep_alive_is_tolerant() {
    let mut t = kept_alive();
    t.expect_within(9 * SECOND..=11 * SECOND, ". 0 ack 1");
    t.expect_within(SECOND..=3 * SECOND, ". 0 ack 1");
    t.is(state::ESTABLISHED);
    t.inject(". 1 ack 1");
    t.expect_within(9 * SECOND..=11 * SECOND, ". 0 ack 1");
    t.pass(20 * SECOND);
    t.is(state::CLOSED);
    assert_eq!(t.error(), ETIMEDOUT);
    assert!(t.all().last().is_some_and(|s| s.has(crate::support::notation::RST)), "as Linux, it says so");
}

/// The other side of it.
#[test]
fn keep_alive_is_answered() {
    let mut t = Peer::established();
    t.inject(". n-1");
    t.expect(". 1 ack 1");
    t.pass(SECOND);
    t.inject(". n-1(1)");
    t.expect(". 1 ack 1");
}

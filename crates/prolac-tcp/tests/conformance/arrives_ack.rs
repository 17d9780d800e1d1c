//! RFC 9293 §3.10.7.4, fifth step: the ACK field, with the range of RFC 5961 §5.

use crate::support::states::to;
use crate::support::*;

in_states! {
    /// A segment without ACK is dropped.
    missing(t, state) [
        syn_received, syn_received_actively, established, fin_wait_1, fin_wait_2, close_wait, closing, last_ack, time_wait,
    ] {
        t.inject_all(&["P n(10)", "F n", "U n(1) urg 1"]);
        t.quiet(10 * MS);
        t.is(state);
    }

    /// As Linux, also outside of the window: no answer to what no TCP sends.
    missing_outside(t, state) [
        syn_received_actively, established, fin_wait_1, fin_wait_2, close_wait, closing, last_ack,
    ] {
        t.inject_all(&["P n-50(10)", "F n-1", "P n-5(10)", "F n+100000"]);
        t.quiet(10 * MS);
        t.is(state);
    }

    /// An acknowledgment of what was never sent: an answer, and the segment is dropped.
    of_the_future(t, state) [established, fin_wait_1, fin_wait_2, close_wait, closing, last_ack] {
        t.inject("P. n(10) ack n+1");
        t.expect(". n ack n-10");
        t.nothing();
        t.is(state);
    }

    /// One far too old is answered and dropped (RFC 5961 §5).
    of_the_distant_past(t, state) [established, fin_wait_1, fin_wait_2, close_wait, closing, last_ack] {
        t.inject("P. n(10) ack n-100000");
        t.expect(". n ack n-10");
        t.nothing();
        t.is(state);
    }

    /// A reset, and the handshake goes on.
    syn_received_refuses(t, state) [syn_received, syn_received_actively] {
        t.inject(". 1 ack 0");
        t.expect("R 0");
        t.inject(". 1 ack 2");
        t.expect("R 2");
        t.is(state);
    }

    syn_received_accepts(t, state) [syn_received, syn_received_actively] {
        t.inject(". 1 ack 1 win 7777");
        t.nothing();
        t.is(state::ESTABLISHED);
        assert_eq!(t.status().send_window, 7777);
    }

    /// What is acknowledged leaves the queue, and the user may write again.
    frees(t, state) [established, close_wait] {
        t.write(100);
        t.expect("P. 1(100)");
        t.inject(". n ack 51");
        t.inject(". n ack 101");
        assert_eq!(t.status().unacked, 0);
        t.quiet(100 * SECOND);
    }

    duplicate_is_ignored(t, state) [established, close_wait] {
        t.write(100);
        t.expect("P. 1(100)");
        t.inject(". n ack 101");
        t.inject(". n ack 1");
        t.quiet(100 * SECOND);
        t.is(state);
    }
}

#[test]
fn tells_the_user_of_room() {
    let mut t = Peer::established();
    t.fill();
    t.reported(|_| true);
    for _ in 0..10_000 {
        t.all();
        t.inject(". 1");
        if t.reported(|e| matches!(e, Event::Writable(_))) {
            return assert!(t.try_write(1).is_ok());
        }
    }
    panic!("no room was ever reported");
}

/// SND.WL1 and SND.WL2: windows of old segments are not taken.
#[test]
fn window_of_old_segments() {
    let mut t = Peer::established();
    t.inject("P. 1(10) ack 1 win 2000");
    assert_eq!(t.status().send_window, 2000);
    t.inject(". 1 ack 1 win 9000");
    assert_eq!(t.status().send_window, 2000, "an older sequence number");
    t.inject(". 11 ack 1 win 3000");
    assert_eq!(t.status().send_window, 3000, "the same numbers");
    t.write(100);
    t.inject(". 11 ack 101 win 4000");
    t.inject(". 11 ack 51 win 100");
    assert_eq!(t.status().send_window, 4000, "an older acknowledgment");
}

#[test]
fn fin_wait_1_of_the_fin() {
    let mut t = to::fin_wait_1();
    t.inject(". 1 ack 2");
    t.is(state::FIN_WAIT_2);
    t.quiet(10 * SECOND);
}

#[test]
fn fin_wait_1_of_text_only() {
    let mut t = Peer::established();
    t.write(100);
    t.expect("P. 1(100)");
    t.shutdown();
    t.expect("F. 101");
    t.inject(". 1 ack 101");
    t.is(state::FIN_WAIT_1);
    t.inject(". 1 ack 102");
    t.is(state::FIN_WAIT_2);
}

#[test]
fn fin_wait_2_stays() {
    let mut t = to::fin_wait_2();
    t.inject(". 1 ack 2");
    t.quiet(10 * MS);
    t.is(state::FIN_WAIT_2);
}

#[test]
fn closing_of_the_fin() {
    let mut t = to::closing();
    t.inject(". 2 ack 2");
    t.nothing();
    t.is(state::TIME_WAIT);
}

#[test]
fn closing_of_less() {
    let mut t = to::closing();
    t.inject(". 2 ack 1");
    t.is(state::CLOSING);
}

#[test]
fn last_ack_of_the_fin() {
    let mut t = to::last_ack();
    t.inject(". 2 ack 2");
    t.quiet(100 * SECOND);
    t.is(state::CLOSED);
}

#[test]
fn last_ack_of_less() {
    let mut t = to::last_ack();
    t.inject(". 2 ack 1");
    t.is(state::LAST_ACK);
}

/// The FIN again: it is acknowledged, and the time begins anew.
#[test]
fn time_wait_restarts() {
    let mut t = to::time_wait();
    t.pass(40 * SECOND);
    t.inject("F. 1 ack 2");
    t.expect(". 2 ack 2");
    t.quiet(40 * SECOND);
    t.is(state::TIME_WAIT);
    t.quiet(30 * SECOND);
    t.is(state::CLOSED);
}

/// Nothing but an old acknowledgment of our FIN is expected: whatever else comes with an acknowledgment is answered, wherever it lies in
/// the window, and the time begins anew.
#[test]
fn time_wait_answers_what_lies_in_the_window() {
    for segment in ["F. n", ". n+50", "P. n(10)", "P. n+50(10)", "F. n+50", "S. n", "FS. n-1"] {
        let mut t = to::time_wait();
        t.pass(40 * SECOND);
        t.inject(segment);
        t.expect(". 2 ack 2");
        t.quiet(40 * SECOND);
        t.is(state::TIME_WAIT);
        t.quiet(30 * SECOND);
        t.is(state::CLOSED);
    }
}

/// The plain acknowledgment of our FIN begins the time anew and says nothing.
#[test]
fn time_wait_takes_a_plain_acknowledgment() {
    let mut t = to::time_wait();
    t.pass(40 * SECOND);
    t.inject(". n");
    t.quiet(40 * SECOND);
    t.is(state::TIME_WAIT);
}

/// An old SYN is challenged, and is no reason to wait longer: anybody may send it.
#[test]
fn time_wait_challenges_old_syns() {
    for segment in ["S n", "FS n-1", "S n-1"] {
        let mut t = to::time_wait();
        t.pass(40 * SECOND);
        t.inject(segment);
        t.expect(". 2 ack 2");
        t.quiet(30 * SECOND);
        t.is(state::CLOSED);
    }
}

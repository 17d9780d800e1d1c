//! RFC 9293 §3.10.7.4, fourth step: the SYN bit in states that have seen one, with the answers of RFC 5961 §4.

use crate::support::states::to;
use crate::support::*;

in_states! {
    /// In the window: a challenge.
    in_window(t, state) [
        syn_received_actively, established, fin_wait_1, fin_wait_2, close_wait, closing, last_ack,
    ] {
        t.inject("S n+10");
        t.expect(". n ack n");
        t.nothing();
        t.is(state);
    }

    /// Anywhere else: the same.
    outside_window(t, state) [established, fin_wait_1, fin_wait_2, close_wait, closing, last_ack, time_wait] {
        t.inject("S n-1000");
        t.expect(". n ack n");
        t.nothing();
        t.is(state);
    }

    /// Across the window's left edge: text behind it is not taken.
    across_the_edge(t, state) [established, fin_wait_1, fin_wait_2, close_wait, closing, last_ack] {
        t.inject("S. n-5(10)");
        t.expect(". n ack n");
        t.nothing();
        t.is(state);
        assert_eq!(t.read_all(), 0);
    }

    /// With an acknowledgment, too.
    with_ack(t, state) [established, fin_wait_1, fin_wait_2, close_wait, closing, last_ack, time_wait] {
        t.inject("S. n-1000");
        t.expect(". n ack n");
        t.nothing();
        t.is(state);
    }
}

#[test]
fn syn_received_returns_to_listen() {
    let mut t = to::syn_received();
    t.inject("S 10");
    assert_eq!(t.stack.connections().count(), 0);
    t.all();
    t.remote.set_port(6000);
    t.inject("S 0");
    t.next().expect("it listens still");
}

/// The peer has not seen our SYN-ACK.
#[test]
fn syn_received_answers_a_repetition() {
    let mut t = to::syn_received();
    t.inject("S 0 <mss 1000>");
    t.expect("S. 0 ack 1");
    t.is(state::SYN_RECEIVED);
}

/// A SYN-ACK is no answer to ours, since we did not begin.
#[test]
fn syn_received_is_not_established_by_a_syn() {
    let mut t = to::syn_received();
    t.inject("S. 0 ack 1");
    t.expect(". 1 ack 1");
    t.is(state::SYN_RECEIVED);
    t.pass(SECOND / 2);
    t.inject("SR 0");
    t.nothing();
    t.is(state::SYN_RECEIVED);
}

/// MAY-2 and RFC 1122 §4.2.2.13.
#[test]
fn time_wait_opens_anew() {
    let mut t = to::time_wait();
    t.id = None;
    t.inject("S n+100000");
    let answer = t.next().expect("a SYN-ACK");
    assert_eq!(answer.flags, 0x12, "{}", t.story());
}

/// And our numbers begin beyond all that the old connection has used, however fast it was.
#[test]
fn time_wait_opens_beyond_old_numbers() {
    let mut t = Peer::established();
    for _ in 0..100 {
        t.write(40_000);
        t.run_until_sent();
        t.all();
        t.inject(". n");
    }
    t.shutdown();
    let end = t.expect("F. n").end();
    t.inject("F. n");
    t.all();
    t.is(state::TIME_WAIT);
    t.id = None;
    t.inject("S n+100000");
    let ahead = t.next().expect("a SYN-ACK").sequence.wrapping_sub(end);
    assert!((1..1 << 20).contains(&ahead), "{ahead}");
}

/// RFC 6191: a newer timestamp is enough.
#[test]
fn time_wait_opens_anew_by_timestamp() {
    let mut t = Peer::new().handshake("<mss 1000,ts 100 0>");
    t.default_options = vec!["ts 101 @".into()];
    t.shutdown();
    t.expect("F. 1 ack 1");
    t.inject("F. 1 ack 2");
    t.expect_ack(". 2 ack 2");
    t.is(state::TIME_WAIT);
    t.id = None;
    t.pass(2 * SECOND);
    t.inject("S n-500 <mss 1000,ts 3000 0>");
    let answer = t.next().expect("a SYN-ACK");
    assert_eq!(answer.flags, 0x12, "{}", t.story());
}

//! RFC 9293 §3.10.8: user timeout, retransmission, TIME-WAIT.

use crate::support::errno::*;
use crate::support::states::to;
use crate::support::*;

in_states! {
    /// The user timeout ends the connection, wherever it is.
    user(t, state) [syn_sent, syn_received_actively, established, fin_wait_1, close_wait, closing, last_ack] {
        t.set(option::USER_TIMEOUT, 5000);
        if matches!(state, state::ESTABLISHED | state::CLOSE_WAIT) {
            t.write(100);
        }
        t.pass(4 * SECOND);
        t.is(state);
        t.pass(60 * SECOND);
        t.is(state::CLOSED);
        assert_eq!(t.error(), ETIMEDOUT);
        t.all();
        t.quiet(1000 * SECOND);
    }

    /// What is first in the queue is sent again, and again later.
    retransmission(t, state) [
        syn_sent, syn_received, syn_received_actively, established, fin_wait_1, close_wait, closing, last_ack,
    ] {
        let what = match state {
            state::SYN_SENT => "S 0",
            state::SYN_RECEIVED => "S. 0 ack 1",
            state::FIN_WAIT_1 => "F. 1 ack 1",
            state::CLOSING | state::LAST_ACK => "F. 1 ack 2",
            _ => {
                t.write(100);
                t.expect("P. 1(100)");
                "P. 1(100) ack n"
            }
        };
        t.expect_within(100 * MS..=3 * SECOND, what);
        t.expect_within(100 * MS..=8 * SECOND, what);
        t.is(state);
    }

    /// There is an end to it.
    gives_up(t, state) [
        syn_sent, syn_received, syn_received_actively, established, fin_wait_1, close_wait, closing, last_ack,
    ] {
        if matches!(state, state::ESTABLISHED | state::CLOSE_WAIT) {
            t.write(100);
        }
        t.pass(4000 * SECOND);
        t.is(state::CLOSED);
        if t.id.is_some() && state != state::SYN_RECEIVED {
            assert_eq!(t.error(), ETIMEDOUT);
        }
    }
}

#[test]
fn time_wait() {
    let mut t = to::time_wait();
    t.quiet(59 * SECOND);
    t.is(state::TIME_WAIT);
    t.quiet(2 * SECOND);
    t.is(state::CLOSED);
    t.close();
    assert_eq!(t.stack.connections().count(), 0);
}

/// As Linux: one that its user has left does not wait for ever.
#[test]
fn fin_wait_2() {
    let mut t = Peer::established();
    t.close();
    t.expect("F. 1");
    t.inject(". 1 ack 2");
    t.is(state::FIN_WAIT_2);
    t.quiet(130 * SECOND);
    t.is(state::CLOSED);
}

/// But one that is only half closed does.
#[test]
fn fin_wait_2_half_closed() {
    let mut t = to::fin_wait_2();
    t.quiet(1000 * SECOND);
    t.is(state::FIN_WAIT_2);
}

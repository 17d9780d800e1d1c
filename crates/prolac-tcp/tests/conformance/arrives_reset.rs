//! RFC 9293 §3.10.7.4, second step: the RST bit, with the tests of RFC 5961 §3.

use crate::support::errno::*;
use crate::support::states::to;
use crate::support::*;

in_states! {
    /// Exactly the number that is expected next.
    exact(t, state) [established, fin_wait_1, fin_wait_2, close_wait, closing, last_ack, time_wait] {
        t.inject("R n");
        t.quiet(100 * SECOND);
        t.is(state::CLOSED);
    }

    exact_with_ack(t, state) [established, fin_wait_1, fin_wait_2, close_wait, closing, last_ack, time_wait] {
        t.inject("R. n");
        t.quiet(100 * SECOND);
        t.is(state::CLOSED);
    }

    /// In the window, but not the next: a challenge.
    in_window(t, state) [
        syn_received, syn_received_actively, established, fin_wait_1, fin_wait_2, close_wait, closing, last_ack, time_wait,
    ] {
        t.inject("R n+1");
        t.expect(". n ack n");
        t.nothing();
        t.is(state);
    }

    tells_the_user(t, state) [established, fin_wait_1, fin_wait_2] {
        t.inject("R n");
        assert!(t.reported(|e| matches!(e, Event::Error(_) | Event::Closed(_))));
        assert_eq!(t.error(), ECONNRESET);
    }

    /// A RST may carry text, which is not for the user (SHLD-2).
    with_text(t, state) [established, fin_wait_1, fin_wait_2, close_wait] {
        t.inject("R n(20)");
        t.nothing();
        t.is(state::CLOSED);
    }
}

#[test]
fn syn_received_returns_to_listen() {
    let mut t = to::syn_received();
    t.inject("R 1");
    t.nothing();
    assert_eq!(t.stack.connections().count(), 0);
    t.remote.set_port(6000);
    t.inject("S 0");
    t.next().expect("it listens still");
}

#[test]
fn syn_received_actively_is_refused() {
    let mut t = to::syn_received_actively();
    t.inject("R 1");
    t.nothing();
    t.is(state::CLOSED);
    assert_eq!(t.error(), ECONNREFUSED);
}

/// As Linux, which has read the FIN and says that there is no one to write to.
#[test]
fn close_wait_tells_the_user() {
    let mut t = to::close_wait();
    t.inject("R 2");
    t.is(state::CLOSED);
    assert_eq!(t.error(), EPIPE);
}

#[test]
fn flushes_the_queues() {
    let mut t = Peer::established();
    t.write(5000);
    t.all();
    t.inject("P. 1(10) ack 1");
    t.all();
    t.inject("R n");
    t.quiet(1000 * SECOND);
}

/// As Linux: what was written has not arrived, or its arrival was not told.
#[test]
fn closing_and_last_ack_tell_the_user() {
    for mut t in [to::last_ack(), to::closing()] {
        t.inject("R n");
        t.is(state::CLOSED);
        assert_eq!(t.error(), ECONNRESET);
    }
    let mut t = to::close_wait();
    t.write(100);
    t.shutdown();
    t.all();
    t.inject("R n");
    assert_eq!(t.error(), ECONNRESET);
}

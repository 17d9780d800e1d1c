//! RFC 9293 §3.10.7.4, first step: the sequence number.

use crate::support::*;

in_states! {
    /// Beyond the window: an acknowledgment, and nothing of it is used.
    beyond_window(t, state) [
        syn_received, syn_received_actively, established, fin_wait_1, fin_wait_2, close_wait, closing, last_ack, time_wait,
    ] {
        t.inject("FP. n+1000000(10)");
        t.expect(". n ack n");
        t.nothing();
        t.is(state);
    }

    /// Before the window: the same.
    old_duplicate(t, state) [
        syn_received, syn_received_actively, established, fin_wait_1, fin_wait_2, close_wait, closing, last_ack, time_wait,
    ] {
        t.inject("P. n-20(10)");
        t.expect(". n ack n");
        t.nothing();
        t.is(state);
    }

    /// Empty and beyond the window.
    empty_beyond_window(t, state) [established, fin_wait_1, fin_wait_2, close_wait, closing, last_ack, time_wait] {
        t.inject(". n+1000000");
        t.expect(". n ack n");
        t.nothing();
        t.is(state);
    }

    /// Before the window and with RST: silence.
    reset_outside_window(t, state) [
        syn_received, syn_received_actively, established, fin_wait_1, fin_wait_2, close_wait, closing, last_ack, time_wait,
    ] {
        t.inject_all(&["R n-1", "R. n-1000", "R n+1000000", "R. n+1000000"]);
        t.nothing();
        t.is(state);
    }

    /// Only what is new of a segment is used.
    partly_old(t, state) [established, fin_wait_1, fin_wait_2] {
        t.inject("P. n(100)");
        t.inject("P. 51(100)");
        assert_eq!(t.read_all(), 150);
    }

    /// Only what fits of a segment is used.
    partly_beyond_window(t, state) [established, fin_wait_1, fin_wait_2] {
        let window = t.status().receive_window;
        let mut place = 1;
        while place < window {
            let length = (window + 500 - place).min(1400);
            t.inject(&format!("P. {place}({length})"));
            place += length;
        }
        t.pass(SECOND);
        let sent = t.all();
        let right = sent.iter().map(|s| s.acknowledgment.wrapping_sub(t.peer_side.first)).max().expect("acknowledgments");
        assert!(right <= 1 + window + 500, "{right}");
        assert_eq!(t.read_all(), right as usize - 1);
    }

    /// A segment ahead of its time is held.
    held(t, state) [established, fin_wait_1, fin_wait_2] {
        t.inject("P. n+100(100)");
        t.expect(". n ack n");
        assert_eq!(t.read_all(), 0);
        t.inject("P. n(100)");
        t.expect_ack(". n ack 201");
        assert_eq!(t.read_all(), 200);
    }
}

/// A segment of no length is acceptable at the edge of a window of nothing.
#[test]
fn zero_window_takes_acknowledgments() {
    let mut t = zero_window();
    t.write(10);
    t.expect("P. 1(10)");
    t.inject(". n ack 11");
    assert_eq!(t.status().unacked, 0);
    t.nothing();
}

#[test]
fn zero_window_refuses_text() {
    let mut t = zero_window();
    t.inject("P. n(1)");
    t.expect(". 1 win 0");
    let refused = t.status().receive_next;
    t.inject("P. n(1)");
    t.pass(SECOND);
    assert_eq!(t.status().receive_next, refused);
}

/// The receive buffer is full.
pub fn zero_window() -> Peer {
    let mut t = Peer::with(|config| {
        config.receive_buffer = 4096;
        config.receive_buffer_max = 4096;
    })
    .handshake("<mss 1000>");
    for _ in 0..1000 {
        let window = u32::from(t.last_window());
        if window == 0 {
            t.all();
            return t;
        }
        t.inject(&format!("P. n({})", window.min(1000)));
        t.pass(SECOND);
    }
    panic!("the window never closes\n{}", t.story());
}

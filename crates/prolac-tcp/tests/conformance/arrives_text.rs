//! RFC 9293 §3.10.7.4, sixth and seventh step: urgent data and text.

use crate::support::states::to;
use crate::support::*;

/// Sixth: the URG bit.
mod urgent {
    use super::*;

    in_states! {
        /// The user is told, once for one stretch of urgent data.
        told_once(t, state) [established, fin_wait_1, fin_wait_2] {
            t.inject("U. n(10) urg 100");
            assert!(t.reported(|e| matches!(e, Event::Urgent(_))));
            t.inject("U. n(10) urg 90");
            assert!(!t.reported(|e| matches!(e, Event::Urgent(_))));
        }

        /// After the FIN there can be none.
        ignored(t, state) [close_wait, closing, last_ack, time_wait] {
            t.inject("U. n ack 1 urg 10");
            t.pass(10 * MS);
            assert!(!t.reported(|e| matches!(e, Event::Urgent(_))));
            t.is(state);
        }
    }
}

/// Seventh: the text.
mod text {
    use super::*;

    in_states! {
        delivered(t, state) [established, fin_wait_1, fin_wait_2] {
            t.inject("P. n(1000) ack 1");
            t.expect_ack(". n ack n");
            assert_eq!(t.read_all(), 1000);
            t.is(state);
        }

        /// In the segment that ends the handshake.
        delivered_with_handshake(t, state) [syn_received, syn_received_actively] {
            t.inject("P. 1(100) ack 1");
            t.is(state::ESTABLISHED);
            t.expect_ack(". 1 ack 101");
            if state == t.state() { return }
            assert_eq!(t.read_all(), 100);
        }

        /// There is nothing after the FIN.
        ignored(t, state) [close_wait, closing, last_ack, time_wait] {
            t.inject("P. n(10)");
            t.pass(10 * MS);
            let received = t.status().receive_next;
            assert_eq!(received, t.peer_side.next.wrapping_sub(10), "RCV.NXT");
        }
    }

    /// RCV.NXT + RCV.WND never goes back.
    #[test]
    fn right_edge_stays() {
        let mut t = Peer::with(|config| {
            config.receive_buffer = 8192;
            config.receive_buffer_max = 8192;
        })
        .handshake("<mss 1000>");
        let mut edge = 0;
        for round in 0..40 {
            t.inject(&format!("P. n({})", 1 + round * 17 % 300));
            if round % 3 == 0 {
                t.try_read(150).ok();
            }
            t.pass(50 * MS);
            for s in t.all() {
                let right = s.acknowledgment.wrapping_sub(t.peer_side.first) + u32::from(s.window);
                assert!(right >= edge, "{right} after {edge}\n{}", t.story());
                edge = right;
            }
        }
    }

    #[test]
    fn acknowledgment_goes_with_text() {
        let mut t = Peer::established();
        t.inject("P. 1(2000)");
        t.all();
        t.inject("P. n(10)");
        t.write(10);
        let last = t.all().pop().expect("text");
        assert_eq!(last.acknowledgment, t.peer_side.next);
        assert_eq!(last.text.len(), 10);
    }

    #[test]
    fn of_a_connection_left_by_its_user() {
        let mut t = to::established();
        t.close();
        t.expect("F. 1 ack 1");
        t.inject("P. 1(10) ack 2");
        t.expect("R 2");
        t.is(state::CLOSED);
    }

    /// A FIN ahead says that there is text before it; and the reset is the last word.
    #[test]
    fn unwanted_text_is_reset_once() {
        for segment in ["F. 11 ack 2", "P. -4(10) ack 2", "P. 5(10) ack 2"] {
            let mut t = to::established();
            t.close();
            t.expect("F. 1 ack 1");
            t.inject(segment);
            t.expect("R 2");
            t.quiet(SECOND);
            t.is(state::CLOSED);
        }
    }
}

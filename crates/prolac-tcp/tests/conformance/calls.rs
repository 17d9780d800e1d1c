//! RFC 9293 §3.10.1 to §3.10.6: what the user's calls do in each state.

use crate::support::errno::*;
use crate::support::*;

/// §3.10.1
mod open {
    use super::*;

    #[test]
    fn passive() {
        let mut t = Peer::new();
        t.listen(1);
        t.quiet(10 * SECOND);
        t.inject("S 0");
        t.expect("S. 0 ack 1");
    }

    #[test]
    fn active() {
        let mut t = Peer::new();
        t.connect();
        t.expect("S 0");
        t.nothing();
        t.is(state::SYN_SENT);
    }

    /// The port is taken, as for the calls of BSD; another is not.
    #[test]
    fn active_beside_a_listener() {
        let mut t = to::listen();
        assert!(t.stack.connect(t.now, Some(t.local), t.remote, &Options::default()).is_err());
        t.local.set_port(81);
        t.connect();
        t.expect("S 0");
        t.is(state::SYN_SENT);
    }

    in_states! {
        /// The connection exists already.
        again(t, state) [syn_sent, syn_received, established, fin_wait_1, fin_wait_2, close_wait, closing, last_ack, time_wait] {
            let second = t.stack.connect(t.now, Some(t.local), t.remote, &Options::default());
            assert!(second.is_err());
            t.is(state);
            t.nothing();
        }
    }
}

use crate::support::states::to;

/// §3.10.2
mod send {
    use super::*;

    #[test]
    fn closed() {
        let mut t = Peer::established();
        t.abort();
        assert!(t.try_write(1).is_err());
    }

    in_states! {
        /// Text waits for the connection.
        queued(t, state) [syn_sent, syn_received, syn_received_actively] {
            t.write(100);
            t.nothing();
            match state {
                state::SYN_SENT => t.inject("S. 0 ack 1 <mss 1000>"),
                _ => t.inject(". 1 ack 1"),
            }
            if state == state::SYN_SENT && t.state() == state::ESTABLISHED {
                // The acknowledgment of the SYN may go with the text or before it.
                let first = t.next().expect("an acknowledgment");
                if !first.text.is_empty() {
                    return;
                }
            }
            t.expect("P. 1(100) ack 1");
        }

        sent(t, state) [established, close_wait] {
            t.write(100);
            t.expect("P. n(100) ack n");
            t.nothing();
        }

        refused(t, state) [fin_wait_1, fin_wait_2, closing, last_ack, time_wait] {
            assert_eq!(t.try_write(1).err().map(|e| e.0), Some(EPIPE));
            t.nothing();
            t.is(state);
        }

        /// The buffer has an end.
        no_room(t, state) [syn_sent, syn_received, established, close_wait] {
            let mut total = 0;
            while let Ok(count) = t.try_write(65536) {
                total += count;
                assert!(total < 1 << 28);
            }
            assert_eq!(t.try_write(1).err().map(|e| e.0), Some(EAGAIN));
        }
    }

    #[test]
    fn urgent() {
        let mut t = Peer::established();
        t.write_urgent(10);
        t.expect("UP. 1(10) ack 1 urg 10");
    }
}

/// §3.10.3
mod receive {
    use super::*;

    #[test]
    fn closed() {
        let mut t = Peer::established();
        t.abort();
        assert!(t.try_read(1).is_err());
    }

    in_states! {
        waits(t, state) [syn_sent, syn_received, established, fin_wait_1, fin_wait_2] {
            let error = t.try_read(10).err().map(|e| e.0);
            assert!(error == Some(EAGAIN) || error == Some(ENOTCONN) && state == state::SYN_SENT, "{error:?}");
        }

        text(t, state) [established, fin_wait_1, fin_wait_2] {
            t.inject_all(&["P. n(100)", "P. n(50)"]);
            assert!(t.reported(|e| matches!(e, Event::Readable(_))));
            assert_eq!(t.try_read(120).ok(), Some(120));
            assert_eq!(t.try_read(120).ok(), Some(30));
            assert_eq!(t.try_read(120).err().map(|e| e.0), Some(EAGAIN));
        }

        /// What came before the FIN, then the end.
        the_rest(t, state) [established, fin_wait_1, fin_wait_2] {
            t.inject("FP. n(100)");
            assert_eq!(t.try_read(60).ok(), Some(60));
            assert_eq!(t.try_read(60).ok(), Some(40));
            assert_eq!(t.try_read(60).ok(), Some(0));
        }

        end(t, state) [close_wait, closing, last_ack, time_wait] {
            assert_eq!(t.try_read(10).ok(), Some(0));
        }
    }

    #[test]
    fn tells_of_urgent_data() {
        let mut t = Peer::established();
        t.inject("UP. 1(10) ack 1 urg 10");
        assert!(t.reported(|e| matches!(e, Event::Urgent(_))));
        let id = t.id();
        assert!(t.stack.read_urgent(t.now, id).is_ok());
    }
}

/// §3.10.4
mod close {
    use super::*;

    #[test]
    fn listen() {
        let mut t = to::listen();
        let listener = t.listener.take().expect("a listener");
        t.stack.close_listener(t.now, listener);
        t.inject("S 0");
        t.expect("R. 0 ack 1");
    }

    #[test]
    fn syn_sent() {
        let mut t = to::syn_sent();
        t.close();
        t.nothing();
        t.is(state::CLOSED);
        t.inject("S. 0 ack 1");
        t.expect("R 1");
    }

    #[test]
    fn syn_received() {
        let mut t = to::syn_received_actively();
        t.close();
        t.expect("F. 1 ack 1");
        t.is(state::FIN_WAIT_1);
    }

    #[test]
    fn syn_received_with_text() {
        let mut t = to::syn_received_actively();
        t.write(100);
        t.close();
        t.inject(". 1 ack 1");
        t.expect("FP. 1(100) ack 1");
        t.is(state::FIN_WAIT_1);
    }

    #[test]
    fn established() {
        let mut t = Peer::established();
        t.close();
        t.expect("F. 1 ack 1");
        t.is(state::FIN_WAIT_1);
    }

    #[test]
    fn after_what_is_queued() {
        let mut t = Peer::established();
        t.inject(". 1 ack 1 win 1000");
        t.write(1500);
        t.expect(". 1(1000) ack 1");
        t.close();
        t.nothing();
        t.is(state::FIN_WAIT_1);
        t.inject(". 1 ack 1001 win 1000");
        t.expect("FP. 1001(500) ack 1");
    }

    in_states! {
        /// No second FIN.
        again(t, state) [fin_wait_1, fin_wait_2, closing, last_ack, time_wait] {
            t.shutdown_again();
            t.nothing();
            t.is(state);
        }
    }

    #[test]
    fn close_wait() {
        let mut t = to::close_wait();
        t.close();
        t.expect("F. 1 ack 2");
        t.is(state::LAST_ACK);
    }
}

/// §3.10.5
mod abort {
    use super::*;

    in_states! {
        resets(t, state) [syn_received, syn_received_actively, established, fin_wait_1, fin_wait_2, close_wait] {
            t.abort();
            t.expect("R. n");
            t.is(state::CLOSED);
            t.quiet(100 * SECOND);
        }

        silent(t, state) [syn_sent, closing, last_ack, time_wait] {
            t.abort();
            t.quiet(100 * SECOND);
            t.is(state::CLOSED);
        }
    }

    #[test]
    fn flushes_what_is_queued() {
        let mut t = Peer::established();
        t.inject(". 1 ack 1 win 100");
        t.write(1000);
        t.pass(SECOND);
        t.all();
        t.abort();
        t.expect("R. n");
        t.quiet(100 * SECOND);
    }
}

/// §3.10.6
mod status {
    use super::*;

    in_states! {
        tells(t, state) [syn_sent, syn_received, established, fin_wait_1, fin_wait_2, close_wait, closing, last_ack, time_wait] {
            assert_eq!(t.status().state, state);
        }
    }

    #[test]
    fn closed() {
        let mut t = Peer::established();
        t.abort();
        let id = t.id();
        assert!(t.stack.status(t.now, id).is_err());
    }
}

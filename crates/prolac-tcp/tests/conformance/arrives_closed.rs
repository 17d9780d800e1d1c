//! RFC 9293 §3.10.7.1 and §3.10.7.2: segments for ports where nothing is, and where someone listens.

use crate::support::states::to;
use crate::support::*;

/// No connection and no listener.
mod closed {
    use super::*;

    #[test]
    fn reset_is_dropped() {
        let mut t = Peer::new();
        t.inject_all(&["R 0", "R. 0 ack 5"]);
        t.quiet(SECOND);
    }

    #[test]
    fn without_ack() {
        let mut t = Peer::new();
        t.inject("S 0");
        t.expect("R. 0 ack 1");
        t.inject("P 100(10)");
        t.expect("R. 0 ack 110");
        t.inject("FS 0(10)");
        t.expect("R. 0 ack 12");
        t.nothing();
    }

    #[test]
    fn with_ack() {
        let mut t = Peer::new();
        t.inject("P. 1(10) ack 4711");
        t.expect("R 4711");
        t.inject("S. 0 ack 12");
        t.expect("R 12");
        t.nothing();
    }
}

/// Someone listens.
mod listen {
    use super::*;

    #[test]
    fn reset_is_ignored() {
        let mut t = to::listen();
        t.inject("R 0");
        t.inject("RS 0");
        t.quiet(SECOND);
        t.inject("S 0");
        t.expect("S. 0 ack 1");
    }

    #[test]
    fn ack_is_reset() {
        let mut t = to::listen();
        t.inject(". 1 ack 99");
        t.expect("R 99");
        t.inject("S. 0 ack 5");
        t.expect("R 5");
        t.inject("F. 1 ack 7");
        t.expect("R 7");
        assert_eq!(t.stack.connections().count(), 0);
    }

    #[test]
    fn syn() {
        let mut t = to::listen();
        t.inject("S 0 <mss 1000>");
        t.expect("S. 0 ack 1");
        t.is(state::SYN_RECEIVED);
        assert!(t.stack.accept(t.listener.expect("a listener")).is_err());
    }

    /// Text in the SYN may be kept or dropped, but must come through in the end.
    #[test]
    fn syn_with_text() {
        let mut t = to::listen();
        t.inject("S 0(10)");
        let answer = t.expect("S. 0");
        let taken = answer.acknowledgment.wrapping_sub(t.peer_side.first);
        assert!(taken == 1 || taken == 11, "{taken}");
        t.inject("P. 1(10) ack 1");
        t.accept();
        assert_eq!(t.read_all(), 10);
    }

    #[test]
    fn other_is_dropped() {
        let mut t = to::listen();
        t.inject_all(&["- 0", "F 0", "P 0(10)", "U 5(3) urg 3", "FS 0", "FS 0(10)"]);
        t.quiet(SECOND);
        assert_eq!(t.stack.connections().count(), 0);
    }

    /// Without SYN cookies, who does not fit is not answered, and tries again.
    #[test]
    fn queue_of_half_open_is_full() {
        let mut t = without_cookies(2);
        let answered = (1..20).filter(|&port| knock(&mut t, port)).count();
        assert_eq!(answered, 3);
        t.remote.set_port(1);
        t.inject("R 1");
        assert!(knock(&mut t, 50), "there is room again");
        assert!(!knock(&mut t, 51));
    }

    /// Those who wait to be accepted count, too.
    #[test]
    fn queue_of_established_is_full() {
        let mut t = without_cookies(2);
        let complete = |t: &mut Peer, port| {
            let answered = knock(t, port);
            t.inject(". 1 ack 1");
            answered
        };
        let answered = (1..20).filter(|&port| complete(&mut t, port)).count();
        assert_eq!(answered, 3);
        t.accept();
        assert!(knock(&mut t, 50), "there is room again");
    }

    /// Connections that come and go leave nothing behind.
    #[test]
    fn counts_right() {
        let mut t = without_cookies(2);
        for port in 1..50 {
            assert!(knock(&mut t, port), "{port}");
            t.inject(". 1 ack 1");
            t.accept();
            t.abort();
            t.all();
            assert!(knock(&mut t, 1000 + port), "{port}");
            t.inject("R 1");
        }
        assert_eq!(t.stack.connections().count(), 0);
    }

    fn without_cookies(backlog: u32) -> Peer {
        let mut t = Peer::with(|config| config.syn_cookies = 0);
        t.listen(backlog);
        t
    }

    /// A SYN from a port; whether it is answered.
    fn knock(t: &mut Peer, port: u16) -> bool {
        t.all();
        t.remote.set_port(port);
        t.peer_side.next = t.peer_side.first;
        t.inject("S 0");
        t.next().is_some()
    }

    #[test]
    fn stays_for_others() {
        let mut t = to::syn_received();
        t.remote.set_port(6000);
        t.inject("S 0 <mss 1000>");
        t.next().expect("a second SYN-ACK");
        assert_eq!(t.stack.connections().count(), 2);
    }
}

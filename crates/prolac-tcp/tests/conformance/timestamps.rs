//! RFC 7323: window scaling, timestamps, PAWS.

use crate::support::*;

/// §2: scaling.
mod scaling {
    use super::*;

    /// §2.2: offered, and given back if the peer offers it.
    #[test]
    fn offered() {
        let mut t = Peer::new();
        t.connect();
        t.expect("S 0 <mss 1460,sackOK,ts * 0,ws *>");
        let mut t = Peer::new();
        t.listen(1);
        t.inject("S 0 <mss 1000,ws 3>");
        t.expect("S. 0 ack 1 <mss 1460,ws *>");
    }

    /// §2.2: not unless both do.
    #[test]
    fn not_offered() {
        let mut t = Peer::new();
        t.listen(1);
        t.inject("S 0 <mss 1000>");
        t.expect("S. 0 ack 1 <mss 1460>");
        let mut t = Peer::new().connected("<mss 1000>");
        t.inject("P. 1(100) win 5000");
        assert_eq!(t.status().send_window, 5000);
        let ack = t.expect_ack(". 1 ack 101");
        assert!(ack.window > 10_000, "{}", ack.window);
    }

    /// §2.2: the window of a SYN is not scaled.
    #[test]
    fn not_in_syn() {
        let mut t = Peer::new();
        t.listen(1);
        t.inject("S 0 win 1000 <mss 1000,ws 7>");
        let syn = t.expect("S. 0 ack 1");
        assert_eq!(t.status().send_window, 1000);
        assert!(syn.window > 30_000, "{}", syn.window);
        t.inject(". 1 ack 1 win 1000");
        assert_eq!(t.status().send_window, 128_000);
    }

    /// §2.3: ours is.
    #[test]
    fn in_all_others() {
        let mut t = Peer::established_with(|_| (), "<mss 1000,ws 0>");
        t.inject("P. 1(100)");
        let scale = t.status().receive_scale;
        let ack = t.expect_ack(". 1 ack 101");
        let offered = u32::from(ack.window) << scale;
        assert!(scale > 0 && (30_000..200_000).contains(&offered), "{scale} {offered}");
    }

    /// §2.3: above 14 it counts as 14.
    #[test]
    fn at_most_14() {
        let mut t = Peer::established_with(|_| (), "<mss 1000,ws 40>");
        t.inject(". 1 ack 1 win 3");
        assert_eq!(t.status().send_window, 3 << 14);
    }

    /// §2.2: the option outside of SYNs is nothing.
    #[test]
    fn ignored_outside_of_syn() {
        let mut t = Peer::established_with(|_| (), "<mss 1000,ws 2>");
        t.inject(". 1 ack 1 win 1000 <ws 7>");
        t.inject(". 1 ack 1 win 1000 <ws 7>");
        assert_eq!(t.status().send_window, 4000);
    }

    /// §2.4: the offered edge does not go back by rounding.
    #[test]
    fn edge_does_not_go_back() {
        let mut t = Peer::established_with(|_| (), "<mss 1000,ws 0>");
        let scale = t.status().receive_scale;
        let mut edge = 0;
        for _ in 0..200 {
            t.inject("P. n(37)");
            t.pass(300 * MS);
            for s in t.all() {
                let right = s.acknowledgment.wrapping_sub(t.peer_side.first) + (u32::from(s.window) << scale);
                assert!(right >= edge || edge - right < 1 << scale, "{right} after {edge}");
                edge = edge.max(right);
            }
        }
    }
}

fn stamped() -> Peer {
    let mut t = Peer::established_with(|_| (), "<mss 1000,ts 1000 0>");
    t.default_options = vec!["ts 1000 @".into()];
    t
}

/// As Linux: a SYN-ACK that echoes what was never sent answers another SYN.
#[test]
fn echo_in_syn_ack_is_ours() {
    let mut t = Peer::new();
    t.connect();
    t.expect("S 0");
    t.inject("S. 0 ack 1 <mss 1000,ts 5 12345>");
    t.expect("R 1");
    t.is(state::SYN_SENT);
    t.inject("S. 0 ack 1 <mss 1000,ts 5 @>");
    t.is(state::ESTABLISHED);
}

/// §3.2: in every segment, once agreed.
#[test]
fn in_every_segment() {
    let mut t = stamped();
    t.write(100);
    t.expect("P. 1(100) <ts * 1000>");
    t.inject(". 1");
    t.inject("P. 1(10)");
    t.expect_ack(". 101 ack 11 <ts * 1000>");
    t.shutdown();
    t.expect("F. 101 <ts * 1000>");
}

/// §3.2: not unless both sent it in their SYN.
#[test]
fn not_unless_agreed() {
    let mut t = Peer::established();
    t.inject("P. 1(10) <ts 5 0>");
    t.expect_ack(". 1 ack 11 <>");
    let mut t = Peer::with(|config| config.timestamps = 0);
    t.listen(1);
    t.inject("S 0 <mss 1000,ts 5 0>");
    t.expect("S. 0 ack 1 <mss 1460>");
}

/// §3.2: the echo field is 0 in a segment without ACK.
#[test]
fn echo_is_zero_in_syn() {
    let mut t = Peer::new();
    t.connect();
    t.expect("S 0 <mss *,sackOK,ts * 0,...>");
}

/// §4.3 (2), (3): what is echoed: that of the segment at the left edge.
#[test]
fn echo_of_the_left_edge() {
    let mut t = stamped();
    t.inject("P. 101(100) <ts 1500 @>");
    t.expect(". 1 ack 1 <ts * 1000>");
    t.inject("P. 1(100) <ts 1400 @>");
    t.expect_ack(". 1 ack 201 <ts * 1400>");
}

/// §4.3: the earliest of those that a delayed acknowledgment covers.
#[test]
fn echo_of_the_earliest() {
    let mut t = Peer::established_with(|_| (), "<mss 1000,ts 1000 0>");
    for n in 0..40 {
        t.inject(&format!("P. n(100) <ts {} @>", 1001 + n));
        t.write(10);
        t.pass(20 * MS);
        t.inject(&format!(". n <ts {} @>", 1001 + n));
    }
    t.pass(50 * MS);
    t.all();
    t.inject("P. n(10) <ts 2000 @>");
    t.inject("P. n(10) <ts 2001 @>");
    t.expect_within(0..500 * MS, ". n ack n <ts * 2000>");
}

/// §4.1: the clock ticks once a millisecond to once a second.
#[test]
fn clock() {
    let mut t = stamped();
    t.write(10);
    let first = t.next().and_then(|s| s.timestamp()).expect("a timestamp");
    t.inject(". n");
    t.pass(10 * SECOND);
    t.write(10);
    let second = t.next().and_then(|s| s.timestamp()).expect("a timestamp");
    let ticks = second.wrapping_sub(first);
    assert!((10..=10_000).contains(&ticks), "{ticks}");
}

/// §7.1 and RFC 6528: another start for each connection.
#[test]
fn clock_has_an_offset() {
    let stamp = |port| {
        let mut t = Peer::new();
        t.remote.set_port(port);
        t.connect();
        t.next().and_then(|s| s.timestamp()).expect("a timestamp")
    };
    assert_ne!(stamp(1000), stamp(1001));
}

/// §4.1: round trips are measured by it, also of what was sent twice.
#[test]
fn measures_round_trips() {
    let mut t = stamped();
    for _ in 0..40 {
        t.write(10);
        t.all();
        t.pass(100 * MS);
        t.inject(". n");
    }
    let rtt = t.status().rtt;
    assert!((90_000..=110_000).contains(&rtt), "{rtt}");
}

/// §4.1: of what was sent twice the echo says which of the two it was.
#[test]
fn measures_what_was_sent_twice() {
    let mut t = Peer::new();
    t.default_options = vec!["ts 1000 @".into()];
    t.listen(16);
    t.inject("S 0 <mss 1000,ts 1000 0>");
    t.expect("S. 0 ack 1");
    t.pass(20 * MS);
    t.inject(". 1 ack 1");
    t.accept();
    t.write(10);
    t.expect("P. 1(10)");
    t.expect_within(100 * MS..SECOND, "P. 1(10)");
    t.pass(150 * MS);
    t.inject(". n");
    let rtt = t.status().rtt;
    assert!((30_000..=45_000).contains(&rtt), "an eighth of the way from 20 to 150 ms: {rtt}");
}

/// §5.3 R1: an older timestamp is answered and dropped.
#[test]
fn paws() {
    let mut t = stamped();
    t.inject("P. 1(10) <ts 2000 @>");
    t.expect_ack(". 1 ack 11 <ts * 2000>");
    t.inject("P. 11(10) <ts 1999 @>");
    t.expect(". 1 ack 11 <ts * 2000>");
    t.nothing();
    assert_eq!(t.read_all(), 10);
}

/// §5.2: numbers wrap.
#[test]
fn paws_wraps() {
    let mut t = Peer::established_with(|_| (), "<mss 1000,ts 4294967290 0>");
    t.inject("P. 1(10) <ts 5 @>");
    t.expect_ack(". 1 ack 11 <ts * 5>");
    t.inject("P. 11(10) <ts 4294967295 @>");
    t.expect(". 1 ack 11 <ts * 5>");
    assert_eq!(t.read_all(), 10);
}

/// §5.5: after 24 days of silence old values mean nothing.
#[test]
fn paws_after_24_days() {
    let mut t = stamped();
    t.inject("P. 1(10) <ts 2000 @>");
    t.expect_ack(". 1 ack 11");
    t.pass(25 * 24 * 3600 * SECOND);
    t.inject("P. 11(10) <ts 1 @>");
    t.expect_ack(". 1 ack 21 <ts * 1>");
}

/// §5.2: resets are not held to it.
#[test]
fn paws_lets_resets_through() {
    let mut t = stamped();
    t.inject("P. 1(10) <ts 2000 @>");
    t.inject("R 11 <ts 1 0>");
    t.is(state::CLOSED);
}

/// §5.3 R1: a reset is never answered, whatever its timestamp.
#[test]
fn reset_is_not_answered() {
    let mut t = stamped();
    t.inject("P. 1(10) <ts 2000 @>");
    t.pass(SECOND);
    t.all();
    t.inject("R. 500 <ts 1 0>");
    assert!(t.all().len() <= 1);
    t.is(state::ESTABLISHED);
}

/// §3.2: a segment without the option that was agreed on does not end the connection.
#[test]
fn missing_ends_nothing() {
    let mut t = stamped();
    t.inject("P. 1(10) <>");
    t.is(state::ESTABLISHED);
    t.pass(SECOND);
    t.all();
    t.inject("P. 11(10)");
    t.expect_ack(". 1 ack 21");
}

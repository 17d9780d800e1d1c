//! RFC 8985 (RACK-TLP) and RFC 6937 (PRR).

use crate::support::*;

/// Round trips of 100 ms, measured, with selective acknowledgments.
fn measured() -> Peer {
    let mut t = Peer::with(|config| config.congestion_control = 0);
    t.listen(16);
    t.inject("S 0 <mss 1000,sackOK,ws 7>");
    t.expect("S. 0 ack 1");
    t.pass(100 * MS);
    t.inject(". 1 ack 1");
    t.accept();
    for _ in 0..10 {
        t.write(10);
        t.all();
        t.pass(100 * MS);
        t.inject(". n");
    }
    t.all();
    t
}

/// Where the stack's next byte stands.
fn next(t: &Peer) -> u32 {
    t.stack_side.next.wrapping_sub(t.stack_side.first)
}

/// RACK.
mod loss {
    use super::*;

    /// §6.2: a later segment has arrived, and more time than the window for reordering is over.
    #[test]
    fn lost_by_time() {
        let mut t = measured();
        let start = next(&t);
        t.write(3000);
        t.pieces();
        t.pass(100 * MS);
        t.inject(&format!(". n ack {start} <sack {}-{}>", start + 1000, start + 2000));
        t.run_until_sent();
        let waited = t.now;
        assert_eq!(t.pieces().first().map(|p| p.0), Some(start), "{}", t.story());
        assert!(t.status().backoff == 0, "not by the retransmission timer, at {waited}");
        assert!(t.status().send_threshold <= 5, "it is congestion: {}", t.status().send_threshold);
    }

    /// §6.2.2: reordering by less than a quarter of the round trip is no loss.
    #[test]
    fn small_reordering() {
        let mut t = measured();
        let start = next(&t);
        t.write(3000);
        t.pieces();
        t.pass(100 * MS);
        t.inject(&format!(". n ack {start} <sack {}-{}>", start + 1000, start + 2000));
        t.pass(5 * MS);
        t.inject(&format!(". n ack {}", start + 3000));
        t.quiet(10 * SECOND);
        assert_eq!(t.status().total_retransmissions, 0);
    }

    /// §6.2: a repetition that is lost is noticed without a timeout.
    #[test]
    fn lost_again() {
        let mut t = measured();
        let start = next(&t);
        t.write(20_000);
        t.pieces();
        t.pass(100 * MS);
        t.inject(&format!(". n ack {start} <sack {}-{}>", start + 1000, start + 5000));
        assert_eq!(t.pieces().first().map(|p| p.0), Some(start), "{}", t.story());
        t.pass(100 * MS);
        t.inject(&format!(". n ack {start} <sack {}-{}>", start + 1000, start + 10_000));
        assert!(t.pieces().iter().all(|p| p.0 > start), "{}", t.story());
        t.pass(100 * MS);
        let end = next(&t);
        t.inject(&format!(". n ack {start} <sack {}-{end}>", start + 1000));
        t.pass(60 * MS);
        assert!(t.pieces().iter().any(|p| p.0 == start), "what came was sent after it\n{}", t.story());
        assert_eq!(t.status().backoff, 0);
    }

    /// §6.2.1: after reordering and D-SACKs more of it is no loss.
    #[test]
    fn window_widens() {
        let mut t = measured();
        reorder(&mut t, 5 * MS);
        let first = (0..4).map(|_| reorder(&mut t, 45 * MS)).collect::<Vec<_>>();
        assert_eq!((first[0], first[3]), (true, false), "{first:?}");
    }

    /// The first of three segments comes late; whether it was sent again. If so, the peer says that it has both.
    fn reorder(t: &mut Peer, late: u64) -> bool {
        let start = next(t);
        t.write(3000);
        t.pieces();
        t.pass(100 * MS);
        t.inject(&format!(". n ack {start} <sack {}-{}>", start + 1000, start + 2000));
        t.pass(late);
        let was_repeated = t.pieces().iter().any(|p| p.0 == start);
        t.inject(&format!(". n ack {}", start + 3000));
        if was_repeated {
            t.inject(&format!(". n ack {} <sack {start}-{}>", start + 3000, start + 1000));
        }
        t.pass(100 * MS);
        was_repeated
    }

    /// §6.2.1: D-SACKs widen the window for reordering.
    #[test]
    fn learns_of_reordering() {
        let mut t = measured();
        for _ in 0..3 {
            let start = next(&t);
            t.write(5000);
            t.pieces();
            t.pass(100 * MS);
            t.inject(&format!(". n ack {start} <sack {}-{}>", start + 1000, start + 5000));
            t.pass(50 * MS);
            t.pieces();
            t.inject(&format!(". n ack {}", start + 5000));
            t.inject(&format!(". n ack {} <sack {start}-{}>", start + 5000, start + 1000));
            t.pass(100 * MS);
            t.all();
        }
        assert!(t.status().duplicate_sacks >= 1, "{}", t.status().duplicate_sacks);
    }
}

/// Tail loss probes.
mod tlp {
    use super::*;

    /// §7.2: after two round trips, not after the retransmission timeout.
    #[test]
    fn probe() {
        let mut t = measured();
        let start = next(&t);
        t.write(3000);
        t.pieces();
        let from = t.now;
        t.run_until_sent();
        let piece = t.pieces();
        assert_eq!(piece, [(start + 2000, 1000)], "the last segment\n{}", t.story());
        let after = t.now - from;
        assert!((180 * MS..300 * MS).contains(&after), "{after}");
    }

    /// §7.2: one segment alone may be waiting for a delayed acknowledgment.
    #[test]
    fn probe_of_one_segment() {
        let mut t = measured();
        let start = next(&t);
        t.write(1000);
        t.pieces();
        let from = t.now;
        t.run_until_sent();
        assert_eq!(t.pieces(), [(start, 1000)]);
        let after = t.now - from;
        assert!((280 * MS..=600 * MS).contains(&after), "{after}");
    }

    /// §7.3: new text, if there is some.
    #[test]
    fn probe_with_new_text() {
        let mut t = measured();
        t.default_window = 65535;
        let start = next(&t);
        t.write(30_000);
        let sent = t.pieces().len() as u32;
        t.run_until_sent();
        assert_eq!(t.pieces(), [(start + sent * 1000, 1000)], "{}", t.story());
    }

    /// §7.3: one probe, then the retransmission timeout.
    #[test]
    fn only_one() {
        let mut t = measured();
        let start = next(&t);
        t.write(3000);
        t.pieces();
        t.run_until_sent();
        t.pieces();
        t.run_until_sent();
        assert_eq!(t.pieces().first(), Some(&(start, 1000)), "{}", t.story());
        assert!(t.status().backoff >= 1);
    }

    /// §7.3: also if it carried new text.
    #[test]
    fn only_one_with_new_text() {
        let mut t = measured();
        let start = next(&t);
        t.write(30_000);
        let sent = t.pieces().len() as u32;
        t.run_until_sent();
        assert_eq!(t.pieces(), [(start + sent * 1000, 1000)]);
        t.run_until_sent();
        assert_eq!(t.pieces().first(), Some(&(start, 1000)), "{}", t.story());
        assert_eq!(t.status().backoff, 1);
    }

    /// §7.4: a probe that repaired a loss costs half of the window; one that was not needed costs nothing.
    #[test]
    fn repaired_loss() {
        let mut t = measured();
        let start = next(&t);
        t.write(3000);
        t.pieces();
        t.run_until_sent();
        t.pieces();
        let window = t.status().congestion_window;
        t.pass(100 * MS);
        t.inject(&format!(". n ack {}", start + 3000));
        t.write(1000);
        t.pass(100 * MS);
        t.inject(&format!(". n ack {}", start + 4000));
        assert!(t.status().congestion_window < window, "{} of {window}", t.status().congestion_window);
    }

    /// §7.4.2.
    #[test]
    fn needless_probe() {
        let mut t = measured();
        let start = next(&t);
        t.write(3000);
        t.pieces();
        t.run_until_sent();
        t.pieces();
        let window = t.status().congestion_window;
        t.inject(&format!(". n ack {}", start + 3000));
        t.inject(&format!(". n ack {} <sack {}-{}>", start + 3000, start + 2000, start + 3000));
        t.pass(100 * MS);
        assert!(t.status().congestion_window >= window, "{} of {window}", t.status().congestion_window);
    }

    /// §7.4.2: the report of the duplicate may come with later acknowledgments.
    #[test]
    fn needless_probe_is_told_late() {
        let mut t = measured();
        let start = next(&t);
        t.write(3000);
        t.pieces();
        t.run_until_sent();
        t.pieces();
        let window = t.status().congestion_window;
        t.write(1000);
        t.pass(100 * MS);
        t.inject(&format!(". n ack {} <sack {}-{}>", start + 4000, start + 2000, start + 3000));
        assert!(t.status().congestion_window >= window, "{} of {window}", t.status().congestion_window);
    }

    /// §7.1: only with selective acknowledgments.
    #[test]
    fn not_without_sack() {
        let mut t = Peer::established();
        for _ in 0..10 {
            t.write(10);
            t.all();
            t.pass(100 * MS);
            t.inject(". n");
        }
        let start = next(&t);
        t.write(3000);
        t.pieces();
        t.run_until_sent();
        assert_eq!(t.pieces().first().map(|p| p.0), Some(start));
        assert_eq!(t.status().backoff, 1);
    }
}

/// RFC 6937.
mod prr {
    use super::*;

    /// Twenty segments on their way, the first is lost; what each selective acknowledgment sends.
    fn recovery() -> (Peer, u32, Vec<usize>) {
        let mut t = Peer::established_with(|config| config.congestion_control = 0, "<mss 1000,sackOK,ws 7>");
        t.fill();
        let sent = t.pieces();
        let sent = t.acknowledge_each(&sent);
        let start = sent[0].0;
        let per_ack = (1..sent.len() as u32)
            .map(|n| {
                t.inject(&format!(". n ack {start} <sack {}-{}>", start + 1000, start + 1000 + n * 1000));
                t.pieces().len()
            })
            .collect();
        (t, start, per_ack)
    }

    /// §3: what leaves is in proportion to what arrives; no bursts, no long silence.
    #[test]
    fn in_proportion() {
        let (mut t, _, per_ack) = recovery();
        assert!(per_ack.iter().all(|&count| count <= 2), "{per_ack:?}");
        let total: usize = per_ack.iter().sum();
        assert!((8..=14).contains(&total), "{per_ack:?}\n{}", t.story());
        let silence = per_ack.split(|&count| count > 0).map(<[usize]>::len).max();
        assert!(silence <= Some(4), "{per_ack:?}");
        t.is(state::ESTABLISHED);
    }

    /// §3: when more was lost than the window came down, it grows back as what is sent again arrives.
    #[test]
    fn rebuilds() {
        let mut t = Peer::established_with(|config| config.congestion_control = 0, "<mss 1000,sackOK,ws 7>");
        t.fill();
        let sent = t.pieces();
        let sent = t.acknowledge_each(&sent);
        assert_eq!(sent.len(), 20);
        let start = sent[0].0;
        let mut count = 0;
        for n in 0..6 {
            t.inject(&format!(". n ack {start} <sack {}-{}>", start + 14_000, start + 15_000 + n * 1000));
            let pieces = t.pieces().len();
            assert!(pieces <= 3, "a burst of {pieces}");
            count += pieces;
        }
        assert!((6..=10).contains(&count), "{count}\n{}", t.story());
    }

    /// §3: at the end the window is the threshold.
    #[test]
    fn ends_at_the_threshold() {
        let (mut t, start, _) = recovery();
        t.inject(&format!(". n ack {}", start + 20_000));
        let status = t.status();
        assert!(
            status.congestion_window.abs_diff(status.send_threshold) <= 1,
            "{} {}",
            status.congestion_window,
            status.send_threshold
        );
        assert_eq!(status.send_threshold, 10);
    }

    /// §3: the first repetition goes out at once.
    #[test]
    fn first_repetition_at_once() {
        let mut t = Peer::established_with(|config| config.congestion_control = 0, "<mss 1000,sackOK,ws 7>");
        t.write(10_000);
        t.pieces();
        t.inject(". n ack 1 <sack 1001-4001>");
        assert!(t.pieces().contains(&(1, 1000)));
    }
}

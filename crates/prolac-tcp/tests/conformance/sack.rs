//! RFC 2018 (selective acknowledgments), RFC 2883 (duplicates reported), RFC 6675 (what the sender makes of them).

use crate::support::*;

fn with_sack() -> Peer {
    Peer::established_with(|config| config.congestion_control = 0, "<mss 1000,sackOK>")
}

/// The receiver's side.
mod receiver {
    use super::*;

    /// RFC 2018 §2: the option in the SYN, if both want it.
    #[test]
    fn permitted() {
        let mut t = Peer::new();
        t.listen(1);
        t.inject("S 0 <mss 1000,sackOK>");
        t.expect("S. 0 ack 1 <mss 1460,sackOK>");
        let mut t = Peer::with(|config| config.sack = 0);
        t.listen(1);
        t.inject("S 0 <mss 1000,sackOK>");
        t.expect("S. 0 ack 1 <mss 1460>");
    }

    /// RFC 2018 §3: never without permission.
    #[test]
    fn not_permitted() {
        let mut t = Peer::established();
        t.inject(". 1001(1000)");
        t.expect(". 1 ack 1 <>");
    }

    /// RFC 2018 §4: the first block has the segment that was last received.
    #[test]
    fn newest_first() {
        let mut t = with_sack();
        t.inject(". 1001(1000)");
        t.expect(". 1 ack 1 <sack 1001-2001>");
        t.inject(". 3001(1000)");
        t.expect(". 1 ack 1 <sack 3001-4001 1001-2001>");
        t.inject(". 5001(1000)");
        t.expect(". 1 ack 1 <sack 5001-6001 3001-4001 1001-2001>");
        t.inject(". 2001(1000)");
        t.expect(". 1 ack 1 <sack 1001-4001 5001-6001>");
    }

    /// RFC 2018 §4: as many as there is room for, the latest.
    #[test]
    fn as_many_as_fit() {
        let mut t = with_sack();
        for n in 0..6 {
            t.inject(&format!(". {}(1000)", 1001 + n * 2000));
        }
        let last = t.all().pop().expect("an acknowledgment");
        let options = last.option_words(crate::support::options::Base { sack: t.peer_side.first, echo: 0 });
        assert_eq!(options, ["sack 11001-12001 9001-10001 7001-8001 5001-6001"]);
    }

    /// RFC 2018 §3: three beside timestamps.
    #[test]
    fn three_beside_timestamps() {
        let mut t = Peer::established_with(|_| (), "<mss 1000,sackOK,ts 10 0>");
        t.default_options = vec!["ts 11 @".into()];
        for n in 0..6 {
            t.inject(&format!(". {}(1000)", 1001 + n * 2000));
        }
        t.all();
        t.inject(". 13001(1000)");
        t.expect(". 1 ack 1 <ts * *,sack 13001-14001 11001-12001 9001-10001>");
    }

    /// RFC 2018 §4: gone when the gap is filled.
    #[test]
    fn gone_when_filled() {
        let mut t = with_sack();
        t.inject(". 1001(1000)");
        t.expect(". 1 ack 1 <sack 1001-2001>");
        t.inject(". 1(1000)");
        t.expect(". 1 ack 2001 <>");
    }

    /// RFC 2883 §4.1.1: a segment that was there already.
    #[test]
    fn duplicate_segment() {
        let mut t = with_sack();
        t.inject(". 1(1000)");
        t.expect_ack(". 1 ack 1001");
        t.inject(". 1(1000)");
        t.expect(". 1 ack 1001 <sack 1-1001>");
        t.inject(". 1001(1000)");
        t.expect_ack(". 1 ack 2001 <>");
    }

    /// RFC 2883 §4.1.2: one beyond a gap; the second block is where it belongs.
    #[test]
    fn duplicate_beyond_a_gap() {
        let mut t = with_sack();
        t.inject(". 1001(1000)");
        t.expect(". 1 ack 1 <sack 1001-2001>");
        t.inject(". 1001(1000)");
        t.expect(". 1 ack 1 <sack 1001-2001 1001-2001>");
    }

    /// RFC 2883 §4.2: part of a segment.
    #[test]
    fn duplicate_part() {
        let mut t = with_sack();
        t.inject(". 1(1000)");
        t.expect_ack(". 1 ack 1001");
        t.inject(". 501(1000)");
        t.expect(". 1 ack 1501 <sack 501-1001>");
    }
}

/// The sender's side.
mod sender {
    use super::*;

    fn ten() -> Peer {
        let mut t = with_sack();
        t.write(60_000);
        assert_eq!(t.pieces().len(), 10);
        t
    }

    /// RFC 2018 §5, RFC 6675 §5 (4.3): what was reported is not sent again.
    #[test]
    fn repeats_only_holes() {
        let mut t = ten();
        t.inject(". n ack 1 <sack 1001-4001>");
        t.inject(". n ack 1 <sack 5001-8001 1001-4001>");
        t.inject(". n ack 1 <sack 5001-10001 1001-4001>");
        t.pass(50 * MS);
        let again: Vec<_> = t.pieces().into_iter().map(|p| p.0).filter(|&p| p < 10_001).collect();
        assert!(again.contains(&1), "{again:?}\n{}", t.story());
        assert!(again.iter().all(|p| [1, 4001].contains(p)), "{again:?}\n{}", t.story());
    }

    /// RFC 6675 §4, IsLost: three segments reported above it.
    #[test]
    fn lost_after_three() {
        let mut t = ten();
        t.inject(". n ack 1 <sack 1001-4001>");
        assert_eq!(t.pieces().first(), Some(&(1, 1000)), "{}", t.story());
        assert!(t.status().send_threshold <= 5);
    }

    /// RFC 6675 §5 (4): the window is halved once a recovery, however many holes.
    #[test]
    fn one_reduction() {
        let mut t = ten();
        t.inject(". n ack 1 <sack 1001-4001>");
        let threshold = t.status().send_threshold;
        t.inject(". n ack 1 <sack 6001-10001 1001-4001>");
        t.inject(". n ack 4001 <sack 6001-10001>");
        assert_eq!(t.status().send_threshold, threshold);
    }

    /// RFC 6675 §5 (C): not more in flight than the window.
    #[test]
    fn pipe_is_kept_to() {
        let mut t = ten();
        t.inject(". n ack 1 <sack 1001-10001>");
        let sent = t.pieces().len();
        assert!(sent <= 6, "{sent}");
    }

    /// RFC 2018 §5.1: after a timeout reports are forgotten, unless the receiver keeps to them; all comes through.
    #[test]
    fn timeout_sends_all_that_is_needed() {
        let mut t = ten();
        t.inject(". n ack 1 <sack 9001-10001>");
        t.all();
        let mut have = std::collections::BTreeSet::from([9001u32]);
        for _ in 0..100 {
            t.run_until_sent();
            have.extend(t.pieces().into_iter().map(|p| p.0));
            let next = (0..).map(|n| 1 + n * 1000).find(|p| !have.contains(p)).expect("an end");
            t.inject(&format!(". n ack {next}"));
            if next > 30_000 {
                return;
            }
        }
        panic!("{}", t.story());
    }

    /// RFC 2018 §8: reports may be taken back; data stays until it is acknowledged.
    #[test]
    fn reneging() {
        let mut t = ten();
        t.inject(". n ack 1 <sack 1001-10001>");
        t.pieces();
        t.inject(". n ack 1001");
        let mut again = t.pieces();
        for _ in 0..10 {
            t.run_until_sent();
            again.extend(t.pieces());
            if again.iter().any(|p| p.0 == 1001) {
                return;
            }
        }
        panic!("1001 is never sent again\n{}", t.story());
    }

    /// RFC 2883 §4: reports of what came twice, below the acknowledgment or within the second block, are understood.
    #[test]
    fn duplicate_reports() {
        let mut t = ten();
        t.inject(". n ack 2001 <sack 1-1001>");
        assert_eq!(t.status().duplicate_sacks, 1);
        t.inject(". n ack 2001 <sack 4001-5001 3001-6001>");
        assert_eq!(t.status().duplicate_sacks, 2);
        t.inject(". n ack 2001 <sack 6001-7001 3001-6001>");
        assert_eq!(t.status().duplicate_sacks, 2);
    }

    /// Blocks that cannot be: beyond what was sent, before what is acknowledged, turned round.
    #[test]
    fn nonsense_blocks() {
        let mut t = ten();
        for block in ["sack 50001-60001", "sack 4001-2001", "sack 1-50001", "raw 0506ffffffff", "raw 0502"] {
            t.inject(&format!(". n ack 1 <{block}>"));
            assert_eq!((t.status().sacked, t.status().duplicate_sacks), (0, 0), "{block}");
        }
        let again: Vec<_> = t.pieces().into_iter().map(|p| p.0).filter(|&p| p < 10_001).collect();
        assert_eq!(again, []);
        t.inject(". n ack 10001");
        assert_eq!(t.status().sacked, 0);
    }
}

//! RFC 5681 (Reno), RFC 6928 (the initial window), RFC 6582 (NewReno) and RFC 3042 (limited transmit), without SACK.

use crate::support::*;

fn reno() -> Peer {
    Peer::established_with(|config| config.congestion_control = 0, "<mss 1000>")
}

/// Ten segments on their way.
fn ten() -> Peer {
    let mut t = reno();
    t.write(60_000);
    assert_eq!(t.pieces().len(), 10, "{}", t.story());
    t
}

/// Duplicate acknowledgments.
fn duplicates(t: &mut Peer, count: usize) {
    let at = t.status().send_unacked.wrapping_sub(t.stack_side.first);
    for _ in 0..count {
        t.inject(&format!(". n ack {at}"));
    }
}

/// RFC 6928 §2: ten segments, or 14600 bytes.
#[test]
fn initial_window() {
    let mut t = reno();
    t.write(60_000);
    assert_eq!(t.pieces(), (0..10).map(|n| (1 + n * 1000, 1000)).collect::<Vec<_>>());
}

/// RFC 5681 §3.1: nothing is known of the network yet.
#[test]
fn threshold_begins_high() {
    let mut t = reno();
    assert!(t.status().send_threshold >= 0x7fff_ffff / 1000, "{}", t.status().send_threshold);
}

/// RFC 5681 §3.1, RFC 6928 §2: after a SYN that was lost more than once, one segment.
#[test]
fn initial_window_after_loss() {
    let mut t = Peer::with(|config| config.congestion_control = 0);
    t.connect();
    t.pass(8 * SECOND);
    t.all();
    t.inject("S. 0 ack 1 <mss 1000>");
    t.write(60_000);
    assert_eq!(t.pieces().len(), 1, "{}", t.story());
}

/// RFC 5681 §3.1: at most a segment more for each acknowledgment of new data.
#[test]
fn slow_start() {
    let mut t = ten();
    t.inject(". 1 ack 1001");
    assert_eq!(t.pieces().len(), 2);
    t.inject(". 1 ack 2001");
    assert_eq!(t.pieces().len(), 2);
    assert_eq!(t.status().congestion_window, 12);
}

/// RFC 3465 §2.1: by what was acknowledged, also where one acknowledgment is for many segments.
#[test]
fn stretched_acknowledgments() {
    let mut t = ten();
    t.inject(". 1 ack 8001");
    assert_eq!(t.status().congestion_window, 18);
}

/// RFC 5681 §3.1, RFC 3465: by what was acknowledged, not by the number of acknowledgments.
#[test]
fn divided_acknowledgments() {
    let mut t = ten();
    for byte in (101..=1001).step_by(100) {
        t.inject(&format!(". 1 ack {byte}"));
    }
    assert!(t.status().congestion_window <= 11, "{}", t.status().congestion_window);
}

/// RFC 5681 §3.1: no growth by what the application does not use.
#[test]
fn unused_window_does_not_grow() {
    let mut t = reno();
    for _ in 0..50 {
        t.write(1000);
        let sent = t.pieces();
        t.acknowledge_each(&sent);
    }
    assert!(t.status().congestion_window <= 12, "{}", t.status().congestion_window);
}

/// RFC 5681 §3.1 (4): half of what was in flight; one segment is sent.
#[test]
fn timeout() {
    let mut t = ten();
    t.run_until_sent();
    assert_eq!(t.pieces(), [(1, 1000)]);
    let status = t.status();
    assert_eq!((status.send_threshold, status.congestion_window), (5, 1));
}

/// RFC 5681 §3.1: the threshold does not fall again while the same segment is repeated.
#[test]
fn timeout_twice() {
    let mut t = ten();
    t.run_until_sent();
    t.pieces();
    t.run_until_sent();
    assert_eq!(t.pieces(), [(1, 1000)]);
    assert_eq!(t.status().send_threshold, 5);
}

/// RFC 5681 §3.1: slow start is over at the threshold, also in the midst of an acknowledgment.
#[test]
fn slow_start_ends_at_the_threshold() {
    let mut t = ten();
    t.run_until_sent();
    t.pieces();
    assert_eq!(t.status().send_threshold, 5);
    t.inject(". n ack 10001");
    let window = t.status().congestion_window;
    assert!((5..=6).contains(&window), "{window}");
}

/// RFC 5681 §3.1: at least two segments.
#[test]
fn threshold_has_a_floor() {
    let mut t = reno();
    t.write(1000);
    t.pieces();
    t.run_until_sent();
    assert!(t.status().send_threshold >= 2);
}

/// RFC 5681 §3.1 (2), (3): above the threshold a segment a round trip.
#[test]
fn avoidance() {
    let mut t = reno();
    t.fill();
    t.pieces();
    t.run_until_sent();
    let mut sent = t.pieces();
    t.inject(&format!(". 1 ack {}", 10_001));
    sent.extend(t.pieces());
    let mut windows = vec![];
    for _ in 0..12 {
        t.pass(50 * MS);
        let round: Vec<_> = sent.iter().copied().filter(|(place, _)| *place > 10_000).collect();
        sent = t.acknowledge_each(&round);
        windows.push(t.status().congestion_window);
    }
    let threshold = t.status().send_threshold;
    let above: Vec<_> = windows.into_iter().filter(|&w| w > threshold).collect();
    assert!(above.len() >= 4, "{above:?} {}", t.story());
    assert!(above.windows(2).all(|w| w[1] <= w[0] + 1), "{above:?}");
    assert!(above.last() > above.first(), "{above:?}");
}

/// RFC 5681 §3.2 (2), (3): the third duplicate repeats the segment.
#[test]
fn fast_retransmit() {
    let mut t = ten();
    duplicates(&mut t, 2);
    assert!(t.pieces().iter().all(|p| p.0 != 1), "{}", t.story());
    duplicates(&mut t, 1);
    assert_eq!(t.pieces().first(), Some(&(1, 1000)));
    assert_eq!(t.status().send_threshold, 5);
}

/// RFC 5681 §2: what moves the window or carries text is no duplicate.
#[test]
fn what_is_no_duplicate() {
    let mut t = ten();
    for window in [65000, 64000, 63000, 62000, 61000] {
        t.inject(&format!(". n ack 1 win {window}"));
    }
    for _ in 0..5 {
        t.inject(". n(10) ack 1 win 61000");
    }
    assert!(t.pieces().iter().all(|p| p.0 != 1), "{}", t.story());
}

/// RFC 5681 §3.2 (6): a loss costs half of the window, not all.
#[test]
fn fast_recovery() {
    let mut t = ten();
    duplicates(&mut t, 9);
    t.pieces();
    let end = t.stack_side.next.wrapping_sub(t.stack_side.first);
    t.inject(&format!(". n ack {end}"));
    let window = t.status().congestion_window;
    assert!((2..=6).contains(&window), "{window}");
    assert!(t.pieces().len() as u32 <= window + 1);
}

/// RFC 3042 §2: each of the first two duplicates sends one new segment, and the window stays.
#[test]
fn limited_transmit() {
    let mut t = ten();
    duplicates(&mut t, 1);
    assert_eq!(t.pieces(), [(10_001, 1000)]);
    duplicates(&mut t, 1);
    assert_eq!(t.pieces(), [(11_001, 1000)]);
    assert_eq!(t.status().congestion_window, 10);
}

/// RFC 3042 §2: only as far as the receiver's window goes.
#[test]
fn limited_transmit_keeps_to_the_window() {
    let mut t = reno();
    t.default_window = 10_000;
    t.inject(". 1 ack 1");
    t.write(60_000);
    assert_eq!(t.pieces().len(), 10);
    duplicates(&mut t, 2);
    assert_eq!(t.pieces(), []);
}

/// RFC 6582 §3.2 (3): a partial acknowledgment repeats the next hole at once.
#[test]
fn partial_acknowledgment() {
    let mut t = ten();
    duplicates(&mut t, 3);
    t.pieces();
    t.inject(". n ack 4001");
    assert!(t.pieces().contains(&(4001, 1000)), "{}", t.story());
    t.inject(". n ack 7001");
    assert!(t.pieces().contains(&(7001, 1000)), "{}", t.story());
}

/// RFC 6582 §3.2 (3): recovery ends when all is acknowledged that was sent before it, at half the window.
#[test]
fn full_acknowledgment() {
    let mut t = ten();
    duplicates(&mut t, 9);
    let sent = t.pieces();
    let end = sent.iter().map(|p| p.0 + p.1 as u32).max().expect("text").max(10_001);
    t.inject(&format!(". n ack {end}"));
    let status = t.status();
    assert!(status.congestion_window <= status.send_threshold + 1, "{}", status.congestion_window);
}

/// RFC 6582 §4: duplicates of what a timeout has repeated begin nothing.
#[test]
fn no_fast_retransmit_after_timeout() {
    let mut t = ten();
    t.run_until_sent();
    assert_eq!(t.pieces(), [(1, 1000)]);
    t.inject(". n ack 1001");
    t.pieces();
    let threshold = t.status().send_threshold;
    duplicates(&mut t, 3);
    assert_eq!(t.status().send_threshold, threshold, "{}", t.story());
}

/// RFC 6582 §3.2 (1): nor duplicates of what recovery has repeated.
#[test]
fn no_fast_retransmit_after_recovery() {
    let mut t = ten();
    duplicates(&mut t, 3);
    let end = t.stack_side.next.wrapping_sub(t.stack_side.first);
    t.inject(&format!(". n ack {end}"));
    t.pieces();
    let threshold = t.status().send_threshold;
    duplicates(&mut t, 4);
    assert!(t.pieces().iter().all(|p| p.0 != end), "{}", t.story());
    assert_eq!(t.status().send_threshold, threshold);
}

/// RFC 5681 §4.1: after a pause longer than a timeout at most the restart window.
#[test]
fn restart_after_idle() {
    let mut t = reno();
    t.write(100_000);
    let mut sent = t.pieces();
    while !sent.is_empty() {
        t.pass(10 * MS);
        sent = t.acknowledge_each(&sent);
    }
    assert!(t.status().congestion_window > 20);
    t.pass(60 * SECOND);
    t.write(60_000);
    assert!(t.pieces().len() <= 10, "{}", t.story());
}

/// RFC 5681 §3.1: never more in flight than the smaller of both windows.
#[test]
fn smaller_of_both_windows() {
    let mut t = reno();
    t.inject(". 1 ack 1 win 4000");
    t.write(60_000);
    assert_eq!(t.pieces().len(), 4);
}

//! RFC 9293 §3.8.6.3 and RFC 5681 §4.2: when acknowledgments are sent.

use crate::support::*;

/// A connection that has received enough for Linux's quick acknowledgments to be over, and answers now and then.
fn settled() -> Peer {
    let mut t = Peer::established_with(|_| (), "<mss 1460>");
    for _ in 0..40 {
        t.inject("P. n(100)");
        t.write(10);
        t.pass(20 * MS);
        t.inject(". n");
    }
    t.read_all();
    t.pass(50 * MS);
    t.all();
    t
}

/// SHLD-18, MUST-40: delayed, by less than half a second.
#[test]
fn delayed() {
    let mut t = settled();
    t.inject("P. n(100)");
    t.expect_within(1..500 * MS, ". n ack n");
}

/// Linux: not at the beginning, when the peer is in slow start,
#[test]
fn quick_at_the_beginning() {
    let mut t = Peer::established_with(|_| (), "<mss 1460>");
    for _ in 0..8 {
        t.inject(". n(1460)");
        t.expect(". n ack n");
    }
}

/// nor after a pause.
#[test]
fn quick_after_a_pause() {
    let mut t = settled();
    t.pass(10 * SECOND);
    t.inject("P. n(100)");
    t.pass(10 * SECOND);
    t.all();
    t.inject("P. n(100)");
    t.expect(". n ack n");
}

/// SHLD-19: every second full-sized segment at once, on a long transfer.
#[test]
fn every_second() {
    let mut t = settled();
    let mut count = 0;
    for _ in 0..100 {
        t.inject(". n(1460)");
        t.inject(". n(1460)");
        count += t.all().len();
        t.read_all();
        t.all();
        t.pass(MS);
    }
    assert!(count >= 98, "{count}");
}

/// RFC 5681 §4.2: out of order, at once.
#[test]
fn out_of_order_at_once() {
    let mut t = settled();
    t.inject(". n+1000(1000)");
    t.expect(". n ack n");
    t.inject(". n+3000(1000)");
    t.expect(". n ack n");
}

/// RFC 5681 §4.2: what fills a gap, at once.
#[test]
fn gap_filled_at_once() {
    let mut t = settled();
    t.inject(". n+1000(1000)");
    t.expect(". n ack n");
    t.inject(". n(1000)");
    t.expect(". n ack n+1000");
}

/// SHLD-31, MUST-59: one acknowledgment for all that is in the queue.
#[test]
fn queue_is_acknowledged_together() {
    let mut t = settled();
    let start = t.peer_side.next.wrapping_sub(t.peer_side.first);
    for n in (1..10).rev() {
        t.inject(&format!(". {}(100)", start + n * 100));
        t.expect(". n ack n");
    }
    t.inject(&format!(". {start}(100)"));
    t.expect(". n ack n+900");
    t.nothing();
    assert_eq!(t.read_all(), 1000);
}

/// MUST-58: with text that is to be sent anyway.
#[test]
fn goes_with_text() {
    let mut t = settled();
    t.inject("P. n(100)");
    t.write(10);
    t.expect("P. n(10) ack n");
    t.inject(". n");
    t.quiet(SECOND);
}

/// Segments that overlap in every way come out whole.
#[test]
fn overlaps() {
    let mut t = Peer::established();
    for (start, length) in
        [(500, 100), (300, 100), (350, 200), (100, 50), (90, 300), (700, 10), (650, 100), (1, 100), (580, 90)]
    {
        t.inject(&format!(". {start}({length})"));
    }
    assert_eq!(t.read_all(), 749);
}

/// RFC 5681 §4.2: never more than one acknowledgment for a segment.
#[test]
fn one_each() {
    let mut t = Peer::established_with(|_| (), "<mss 1000,sackOK>");
    for start in [1, 1, 2001, 2001, 5001, 1001, 4001, 3001, 1, 9001] {
        t.inject(&format!("P. {start}(1000)"));
        assert!(t.all().len() <= 1, "{start}\n{}", t.story());
    }
}

/// What waits out of order is bounded, however it is cut.
#[test]
fn queue_is_bounded() {
    let mut t = Peer::established();
    for n in 0..20_000 {
        t.inject(&format!(". {}(1)", 3 + n * 2));
        t.all();
    }
    assert!(t.stack.segments_in_use() < 2_000, "{}", t.stack.segments_in_use());
    t.inject("R n");
    t.close();
    assert_eq!(t.stack.segments_in_use(), 0);
}

/// RFC 9293 §3.8.6.3: no acknowledgments of acknowledgments.
#[test]
fn none_for_acknowledgments() {
    let mut t = Peer::established();
    t.inject_all(&[". 1", ". 1", ". 1 win 500"]);
    t.quiet(10 * SECOND);
}

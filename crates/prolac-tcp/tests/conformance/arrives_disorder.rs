//! RFC 9293 §3.10.7.4, seventh and eighth: segments in any order, which overlap and may not agree about where the end is.
//!
//! The first FIN in sequence is the end. What a peer sends behind it is not taken, whether it came before or after the FIN.

use std::collections::BTreeSet;

use crate::support::states::to;
use crate::support::*;

#[test]
fn nothing_behind_an_early_end() {
    let mut t = to::established();
    t.inject("F. 11(10)");
    t.inject(". 16(20)");
    t.inject(". 30(10)");
    t.inject(". 1(10)");
    assert_eq!(t.all().pop().expect("an acknowledgment").acknowledgment, t.peer_side.first.wrapping_add(22));
    assert_eq!(t.read_all(), 20);
    t.is(state::CLOSE_WAIT);
}

#[test]
fn end_before_what_came_early() {
    let mut t = to::established();
    t.inject(". 16(20)");
    t.inject("F. 11(10)");
    t.inject(". 1(10)");
    assert_eq!(t.all().pop().expect("an acknowledgment").acknowledgment, t.peer_side.first.wrapping_add(22));
    assert_eq!(t.read_all(), 20);
    t.is(state::CLOSE_WAIT);
}

#[test]
fn longer_segment_without_the_end() {
    let mut t = to::established();
    t.inject("F. 11(10)");
    t.inject(". 6(30)");
    t.inject(". 1(5)");
    assert_eq!(t.read_all(), 20);
    t.is(state::CLOSE_WAIT);
}

#[test]
fn blocks_end_with_the_text() {
    let mut t = Peer::established_with(|_| (), "<mss 1000,sackOK>");
    t.inject(". 101(100)");
    t.inject(". 301(100)");
    t.all();
    t.inject("F. 201(50)");
    t.expect(". 1 ack 1 <sack 101-252>");
}

#[test]
fn any_order() {
    (0..300).for_each(|seed| Disorder::new(seed).run());
}

/// What a receive queue is, in small: bytes by their numbers.
struct Disorder {
    random: u64,
    next: u32,
    early: BTreeSet<u32>,
    end: Option<u32>,
    read: u32,
}

impl Disorder {
    const SPACE: u32 = 60;

    fn new(seed: u64) -> Disorder {
        Disorder { random: seed * 2 + 1, next: 1, early: BTreeSet::new(), end: None, read: 0 }
    }

    fn below(&mut self, limit: u32) -> u32 {
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.random >> 33) % u64::from(limit)) as u32
    }

    fn run(&mut self) {
        let mut t = to::established();
        for _ in 0..60 {
            let (left, length, fin) = (1 + self.below(Self::SPACE), self.below(15), self.below(12) == 0);
            if self.is_closed() || (length == 0 && !fin) {
                continue;
            }
            t.inject(&format!("{}. {left}({length})", if fin { "F" } else { "" }));
            self.take(left, left + length, fin);
            self.compare(&mut t);
        }
    }

    fn is_closed(&self) -> bool {
        self.end.is_some_and(|end| self.next > end)
    }

    fn take(&mut self, left: u32, right: u32, fin: bool) {
        self.early.extend(left.max(self.next)..right);
        if fin && right >= self.next && self.end.is_none_or(|end| right < end) {
            self.end = Some(right);
        }
        if let Some(end) = self.end {
            self.early.retain(|place| *place < end);
        }
        while self.early.remove(&self.next) {
            self.next += 1;
            self.read += 1;
        }
        self.next += u32::from(self.end == Some(self.next));
    }

    fn compare(&self, t: &mut Peer) {
        t.pass(600_000);
        t.all();
        let status = t.status();
        let next = status.receive_next.wrapping_sub(t.peer_side.first);
        assert_eq!(next, self.next, "RCV.NXT\n{}", t.story());
        let closed = if self.is_closed() { state::CLOSE_WAIT } else { state::ESTABLISHED };
        t.is(closed);
        if self.is_closed() {
            assert_eq!(t.read_all() as u32, self.read, "{}", t.story());
        }
    }
}

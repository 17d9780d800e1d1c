//! One direction of a link in simulated time: delay, rate with a finite queue, loss, reordering, duplication, corruption.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::offload;
use crate::random::Random;

/// What a direction of a link does to packets. Chances are in thousandths, times in microseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behaviour {
    pub delay: u64,
    /// Added to the delay at random, without changing the order.
    pub jitter: u64,
    /// Bytes a second; 0: no limit.
    pub rate: u64,
    /// Bytes that may wait for the rate.
    pub queue: u64,
    pub loss: u32,
    pub duplicate: u32,
    pub corrupt: u32,
    pub reorder: u32,
    /// Marked as having met congestion, if they say that they may be (RFC 3168 §5).
    pub mark: u32,
    /// By how much a packet that is reordered comes later, at most.
    pub reorder_by: u64,
    /// From these times on, the delay is another one.
    pub delays: Vec<(u64, u64)>,
    /// Between these times everything is lost.
    pub outage: Option<(u64, u64)>,
    /// Packets longer than this do not pass; 0: all do. An ICMP message says so, unless the link is silent.
    pub largest: usize,
    pub silent: bool,
}

impl Default for Behaviour {
    fn default() -> Behaviour {
        Behaviour {
            delay: 5_000,
            jitter: 0,
            rate: 0,
            queue: u64::MAX,
            loss: 0,
            duplicate: 0,
            corrupt: 0,
            reorder: 0,
            mark: 0,
            reorder_by: 0,
            delays: Vec::new(),
            outage: None,
            largest: 0,
            silent: false,
        }
    }
}

impl Behaviour {
    /// Whether every packet arrives once, in order, whole, and after about the same time.
    pub fn is_clean(&self) -> bool {
        let lossless = self.loss + self.duplicate + self.corrupt + self.reorder == 0;
        let steady = self.rate == 0 && self.delays.is_empty() && self.outage.is_none();
        lossless && steady && self.largest == 0 && self.delay < 100_000 && self.jitter <= 1_000
    }

    /// Whether a connection may break because of it: so much may be lost that all retransmissions are.
    pub fn may_break(&self) -> bool {
        self.loss + self.corrupt > 100 || self.outage.is_some()
    }
}

/// A packet under way. `id` is the caller's; copies have the same.
#[derive(Debug, PartialEq, Eq)]
pub struct Arrival {
    pub bytes: Vec<u8>,
    pub id: u64,
    pub corrupt: bool,
}

/// One direction.
#[derive(Debug)]
pub struct Direction {
    behaviour: Behaviour,
    random: Random,
    /// By time of arrival, then order of sending.
    under_way: BinaryHeap<Reverse<(u64, u64)>>,
    packets: std::collections::HashMap<u64, Arrival>,
    sent: u64,
    /// When the last byte in the queue will have left.
    busy_until: u64,
    /// Those that keep the order arrive no earlier.
    last_arrival: u64,
}

impl Direction {
    pub fn new(behaviour: Behaviour, random: Random) -> Direction {
        Direction {
            behaviour,
            random,
            under_way: BinaryHeap::new(),
            packets: Default::default(),
            sent: 0,
            busy_until: 0,
            last_arrival: 0,
        }
    }

    /// Sends a packet, or loses it. What comes back is the ICMP message about one that is too large.
    pub fn send(&mut self, now: u64, bytes: Vec<u8>, id: u64) -> Option<Vec<u8>> {
        let b = &self.behaviour;
        if b.largest != 0 && bytes.len() > b.largest {
            return (!b.silent).then(|| offload::too_large(&bytes, b.largest));
        }
        self.send_fitting(now, bytes, id);
        None
    }

    fn send_fitting(&mut self, now: u64, bytes: Vec<u8>, id: u64) {
        let b = &self.behaviour;
        let (loss, duplicate) = (b.loss, b.duplicate);
        if b.outage.is_some_and(|(from, to)| (from..to).contains(&now)) {
            return;
        }
        let Some(left) = self.leaves(now, bytes.len() as u64) else { return };
        if self.random.chance(loss) {
            return;
        }
        if self.random.chance(duplicate) {
            self.carry(left, bytes.clone(), id);
        }
        self.carry(left, bytes, id);
    }

    /// When the last byte is on the wire; none if the queue is full.
    fn leaves(&mut self, now: u64, length: u64) -> Option<u64> {
        if self.behaviour.rate == 0 {
            return Some(now);
        }
        let waiting = self.busy_until.saturating_sub(now) * self.behaviour.rate / 1_000_000;
        if waiting + length > self.behaviour.queue.max(length) {
            return None;
        }
        self.busy_until = self.busy_until.max(now) + (length * 1_000_000 / self.behaviour.rate).max(1);
        Some(self.busy_until)
    }

    fn carry(&mut self, left: u64, mut bytes: Vec<u8>, id: u64) {
        let b = &self.behaviour;
        let delay = b.delays.iter().rev().find(|(from, _)| *from <= left).map_or(b.delay, |d| d.1);
        let (jitter, reorder, reorder_by) = (b.jitter, b.reorder, b.reorder_by);
        let (corrupt, mark) = (b.corrupt, b.mark);
        let mut at = left + delay + self.random.below(jitter + 1);
        if self.random.chance(reorder) {
            at += self.random.between(1, reorder_by.max(1));
        } else {
            at = at.max(self.last_arrival);
            self.last_arrival = at;
        }
        if self.random.chance(mark) {
            offload::mark(&mut bytes);
        }
        let corrupt = self.random.chance(corrupt);
        if corrupt {
            // The checksums find every change within a byte, but IPv6 has none for half of its header.
            let unprotected = if bytes[0] >> 4 == 6 { 8 } else { 0 };
            let at = self.random.between(unprotected, bytes.len() as u64 - 1) as usize;
            bytes[at] ^= self.random.between(1, 255) as u8;
        }
        self.sent += 1;
        self.under_way.push(Reverse((at, self.sent)));
        self.packets.insert(self.sent, Arrival { bytes, id, corrupt });
    }

    /// When the next packet arrives.
    pub fn deadline(&self) -> Option<u64> {
        self.under_way.peek().map(|Reverse((at, _))| *at)
    }

    /// The next packet that has arrived.
    pub fn arrival(&mut self, now: u64) -> Option<Arrival> {
        if self.deadline()? > now {
            return None;
        }
        let Reverse((_, number)) = self.under_way.pop()?;
        self.packets.remove(&number)
    }
}

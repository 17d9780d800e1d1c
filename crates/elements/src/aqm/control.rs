//! The CoDel algorithm, for one queue: when packets are to be dropped so that they do not wait longer than need be.
//!
//! Read first: RFC 8289 §4 (the ideas) and §5 (the algorithm). It knows no element: where packets come from, and what
//! becomes of those it drops, is a [`Source`]'s business.

use clickwork_packet::{Packet, Timestamp};
use std::time::Duration;

/// The two parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameters {
    /// The standing delay that is acceptable.
    pub target: Duration,
    /// The time within which the delay must fall below it: a round trip, more or less.
    pub interval: Duration,
}

impl Default for Parameters {
    /// RFC 8289 §4.2 and §4.3.
    fn default() -> Parameters {
        Parameters { target: Duration::from_millis(5), interval: Duration::from_millis(100) }
    }
}

/// A packet that leaves the queue.
pub(super) struct Departure {
    pub packet: Packet,
    /// How long it was in the queue; none if that is not known, then it is not dropped.
    pub sojourn: Option<Duration>,
    /// Whether so little is left in the queue that a drop could leave the link idle.
    pub is_last: bool,
}

/// A queue under control.
pub(super) trait Source {
    /// The next packet.
    fn take(&mut self) -> Option<Departure>;

    /// Drops a packet. If it could be marked instead, it comes back and is sent.
    fn discard(&mut self, p: Packet) -> Option<Packet>;
}

/// What is known about a queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Control {
    /// When the delay will have been above the target for an interval; none while it is below.
    first_above: Option<Timestamp>,
    /// When the next packet is to be dropped, in the dropping state.
    drop_next: Timestamp,
    dropping: bool,
    /// Drops since the dropping state began, and how many there were when it last began.
    count: u32,
    last_count: u32,
}

/// A dropping state that begins so many intervals after the last one goes on from its rate (RFC 8289 §5.5).
const REMEMBERED: u32 = 16;

impl Control {
    /// The next packet that is not dropped.
    pub fn next(&mut self, p: &Parameters, now: Timestamp, source: &mut impl Source) -> Option<Packet> {
        let (mut packet, mut may_drop) = self.look(p, now, source);
        if !self.dropping {
            if may_drop {
                self.begin(p, now);
                match source.discard(packet?) {
                    None => packet = self.look(p, now, source).0,
                    marked => packet = marked,
                }
            }
            return packet;
        }
        self.dropping = may_drop;
        while self.dropping && now >= self.drop_next {
            self.count = self.count.saturating_add(1);
            self.drop_next = self.control_law(p, self.drop_next);
            if let Some(marked) = source.discard(packet?) {
                return Some(marked);
            }
            (packet, may_drop) = self.look(p, now, source);
            self.dropping = may_drop;
        }
        packet
    }

    /// Takes a packet and says whether it may be dropped: if the delay has been above the target for an interval.
    fn look(&mut self, p: &Parameters, now: Timestamp, source: &mut impl Source) -> (Option<Packet>, bool) {
        let Some(Departure { packet, sojourn, is_last }) = source.take() else {
            self.first_above = None;
            return (None, false);
        };
        let is_above = sojourn.is_some_and(|time| time >= p.target) && !is_last;
        let may_drop = is_above && self.first_above.is_some_and(|at| now >= at);
        self.first_above = is_above.then(|| self.first_above.unwrap_or(now + p.interval));
        (Some(packet), may_drop)
    }

    /// Enters the dropping state. If it was left a short time ago it goes on from the rate of drops that was right then.
    fn begin(&mut self, p: &Parameters, now: Timestamp) {
        let recent = now.since(self.drop_next) < p.interval * REMEMBERED;
        let grown = self.count.saturating_sub(self.last_count);
        self.count = if grown > 1 && recent { grown } else { 1 };
        self.last_count = self.count;
        self.dropping = true;
        self.drop_next = self.control_law(p, now);
    }

    /// When to drop next (RFC 8289 §5.6): intervals shrink with the square root of the number of drops.
    fn control_law(&self, p: &Parameters, from: Timestamp) -> Timestamp {
        from + p.interval.div_f64(f64::from(self.count.max(1)).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A queue in which every packet has waited for the same time.
    struct Always {
        sojourn: Duration,
        is_last: bool,
        dropped: usize,
        marks: bool,
    }

    impl Source for Always {
        fn take(&mut self) -> Option<Departure> {
            let (sojourn, is_last) = (Some(self.sojourn), self.is_last);
            Some(Departure { packet: Packet::new(b"x"), sojourn, is_last })
        }

        fn discard(&mut self, p: Packet) -> Option<Packet> {
            self.dropped += 1;
            self.marks.then_some(p)
        }
    }

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_nanos((10_000 + ms) * 1_000_000)
    }

    /// The milliseconds at which packets were dropped, when one leaves each millisecond.
    fn drops(control: &mut Control, source: &mut Always, times: std::ops::Range<i64>) -> Vec<i64> {
        let mut drops = Vec::new();
        for ms in times {
            let before = source.dropped;
            assert!(control.next(&Parameters::default(), at(ms), source).is_some());
            (before..source.dropped).for_each(|_| drops.push(ms));
        }
        drops
    }

    #[test]
    fn drops_follow_the_control_law() {
        for marks in [false, true] {
            let mut source = Always { sojourn: Duration::from_millis(20), is_last: false, dropped: 0, marks };
            let got = drops(&mut Control::default(), &mut source, 0..1000);
            // One interval above the target, then at the sums of 100 / sqrt(n).
            let mut expected = vec![100];
            let mut time = 100.0;
            for n in 1.. {
                time += 100.0 / f64::from(n).sqrt();
                if time > 999.0 {
                    break;
                }
                expected.push(time.ceil() as i64);
            }
            assert_eq!(got, expected, "{marks}");
        }
    }

    #[test]
    fn short_delays_and_last_packets_are_spared() {
        for (ms, is_last) in [(4, false), (50, true)] {
            let mut source = Always { sojourn: Duration::from_millis(ms), is_last, dropped: 0, marks: false };
            assert_eq!(drops(&mut Control::default(), &mut source, 0..1000), []);
        }
    }

    #[test]
    fn it_goes_on_where_it_left_off() {
        let mut control = Control::default();
        let mut source =
            Always { sojourn: Duration::from_millis(20), is_last: false, dropped: 0, marks: false };
        let first = drops(&mut control, &mut source, 0..1000);
        source.sojourn = Duration::from_millis(1);
        assert_eq!(drops(&mut control, &mut source, 1000..1100), []);
        source.sojourn = Duration::from_millis(20);
        let second = drops(&mut control, &mut source, 1100..1400);
        // The gap after the first drop is not an interval, but as short as it was before.
        let gap = second[1] - second[0];
        let expected = (100.0 / ((first.len() - 1) as f64).sqrt()).ceil() as i64;
        assert_eq!((second[0], gap), (1200, expected));
        // After a long time it begins anew.
        source.sojourn = Duration::from_millis(1);
        assert_eq!(drops(&mut control, &mut source, 1400..4000), []);
        source.sojourn = Duration::from_millis(20);
        let third = drops(&mut control, &mut source, 4000..4300);
        assert_eq!(third[..2], [4100, 4200]);
    }
}

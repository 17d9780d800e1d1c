//! Rates of traffic from and to addresses, kept for whole networks until they are high, then for the parts of these.
//!
//! A level has a counter for each value of a byte of the address. A counter whose rates reach the threshold gets a level
//! below it for the next byte, as long as there is memory; levels of low rates are folded up again.

use crate::rate::Average;
use clickwork_packet::Timestamp;
use clickwork_router::args::format_real2;

/// Averages are brought up to date in periods of 8 ms, as Click has them.
const PERIOD_NANOS: i64 = 8_000_000;
pub(super) const PERIODS_PER_SECOND: i64 = 1_000_000_000 / PERIOD_NANOS;
const STABILITY: u32 = 5;
const SCALE: u32 = 10;

/// The number of the period of a point in time.
pub(super) fn period(now: Timestamp) -> i64 {
    now.nanos() / PERIOD_NANOS
}

/// What a counter and a level count as, in bytes: what they take in Click.
const COUNTER: usize = 40;
const LEVEL: usize = 2080;

/// Forward and reverse rate.
#[derive(Clone, Copy)]
struct Rates {
    period: i64,
    counted: [i64; 2],
    averages: [Average; 2],
}

impl Rates {
    fn new(period: i64) -> Rates {
        Rates { period, counted: [0; 2], averages: [Average::new(STABILITY, SCALE); 2] }
    }

    fn catch_up(&mut self, period: i64) {
        if period == self.period {
            return;
        }
        for (average, counted) in self.averages.iter_mut().zip(&mut self.counted) {
            average.add(*counted);
            average.decay(period - self.period - 1);
            *counted = 0;
        }
        self.period = period;
    }

    /// Per second, whole numbers.
    fn per_second(&self) -> [i64; 2] {
        self.averages.map(|a| (a.scaled() * PERIODS_PER_SECOND) >> SCALE)
    }

    fn text(&self, which: usize) -> String {
        format_real2(self.averages[which].scaled() * PERIODS_PER_SECOND, SCALE)
    }
}

struct Counter {
    rates: Rates,
    below: Option<Box<Level>>,
    /// Until this period it gets no level.
    held_until: i64,
}

struct Level {
    counters: Vec<Option<Box<Counter>>>,
    /// A number that grows from level to level.
    born: u64,
}

impl Level {
    fn new(born: u64) -> Level {
        let mut counters = Vec::new();
        counters.resize_with(256, || None);
        Level { counters, born }
    }

    fn bytes(&self) -> usize {
        let counters = self.counters.iter().flatten();
        LEVEL + counters.map(|c| COUNTER + c.below.as_ref().map_or(0, |l| l.bytes())).sum::<usize>()
    }

    fn counter_at(&mut self, path: &[u8]) -> Option<&mut Counter> {
        let (first, rest) = path.split_first()?;
        let counter = self.counters[usize::from(*first)].as_deref_mut()?;
        if rest.is_empty() { Some(counter) } else { counter.below.as_mut()?.counter_at(rest) }
    }

    /// The paths to the counters with levels below them, with the numbers of these.
    fn branches(&self, path: &mut Vec<u8>, found: &mut Vec<(u64, Vec<u8>)>) {
        for (byte, counter) in (0..=255u8).zip(&self.counters) {
            let Some(below) = counter.as_ref().and_then(|c| c.below.as_ref()) else { continue };
            path.push(byte);
            found.push((below.born, path.clone()));
            below.branches(path, found);
            path.pop();
        }
    }

    fn print(&mut self, prefix: &str, period: i64, text: &mut String) {
        for (byte, counter) in self.counters.iter_mut().enumerate() {
            let Some(counter) = counter else { continue };
            if counter.rates.averages.iter().all(|a| a.scaled() <= 0) {
                continue;
            }
            let address = if prefix.is_empty() { byte.to_string() } else { format!("{prefix}.{byte}") };
            counter.rates.catch_up(period);
            *text += &format!("{address}\t{}\t{}\n", counter.rates.text(0), counter.rates.text(1));
            if let Some(below) = &mut counter.below {
                below.print(&format!("\t{address}"), period, text);
            }
        }
    }
}

/// The tree.
pub(super) struct RateTree {
    top: Level,
    /// Bytes that it counts as, and may count as.
    bytes: usize,
    pub most_bytes: usize,
    /// Rate per second from which on a counter is split.
    pub threshold: i64,
    born: u64,
    last_fold: i64,
}

impl RateTree {
    pub fn new(threshold: i64, most_bytes: usize) -> RateTree {
        RateTree { top: Level::new(0), bytes: LEVEL, most_bytes, threshold, born: 0, last_fold: 0 }
    }

    /// Bytes that it counts as.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Counts `n` for an address, if `counts`, and returns the rates per second of the smallest network known that has it.
    pub fn update(
        &mut self,
        address: [u8; 4],
        which: usize,
        n: i64,
        counts: bool,
        now: i64,
    ) -> Option<[i64; 2]> {
        let (mut level, mut depth) = (&mut self.top, 0);
        let counter = loop {
            let slot = &mut level.counters[usize::from(address[depth])];
            if slot.is_none() {
                if self.bytes + COUNTER > self.most_bytes {
                    return None;
                }
                self.bytes += COUNTER;
                *slot = Some(Box::new(Counter { rates: Rates::new(now), below: None, held_until: 0 }));
            }
            let counter = slot.as_deref_mut()?;
            if counts {
                counter.rates.catch_up(now);
                counter.rates.counted[which] += n;
            }
            if counter.below.is_none() {
                break counter;
            }
            (level, depth) = (counter.below.as_mut()?, depth + 1);
        };
        let rates = counter.rates.per_second();
        let is_high = rates.iter().any(|&r| r >= self.threshold);
        let fits = self.bytes + COUNTER + LEVEL <= self.most_bytes;
        if is_high && depth < 3 && counter.held_until < now && fits {
            self.born += 1;
            let mut below = Level::new(self.born);
            // The part begins with the rates of the whole.
            let part = Counter { rates: counter.rates, below: None, held_until: 0 };
            below.counters[usize::from(address[depth + 1])] = Some(Box::new(part));
            counter.below = Some(Box::new(below));
            self.bytes += COUNTER + LEVEL;
        }
        Some(rates)
    }

    /// Whether a second has passed since the last regular fold.
    pub fn is_fold_due(&mut self, now: i64) -> bool {
        let due = now - self.last_fold >= PERIODS_PER_SECOND;
        if due {
            self.last_fold = now;
        }
        due
    }

    /// Folds levels of low rates, from the oldest on or from the youngest, until there is room. As in Click the averages of
    /// 8 ms are what is compared with the threshold, so that a level lives until the rate is far below it.
    pub fn fold(&mut self, threshold: i64, oldest_first: bool, enough: usize, now: i64) {
        let mut branches = Vec::new();
        self.top.branches(&mut Vec::new(), &mut branches);
        branches.sort_unstable();
        if !oldest_first {
            branches.reverse();
        }
        for (_, path) in branches {
            let Some(counter) = self.top.counter_at(&path) else { continue };
            counter.rates.catch_up(now);
            if counter.rates.averages.iter().all(|a| a.scaled() < threshold) {
                self.bytes -= counter.below.take().map_or(0, |level| level.bytes());
                if self.bytes < enough {
                    break;
                }
            }
        }
    }

    /// Folds whatever is needed to come down to the limit.
    pub fn fold_to_limit(&mut self, now: i64) {
        let step = (self.threshold / 5).max(1);
        let mut threshold = self.threshold.max(1);
        while self.bytes > self.most_bytes && self.bytes > LEVEL + 256 * COUNTER {
            self.fold(threshold, true, self.most_bytes, now);
            threshold = threshold.saturating_mul(2).max(threshold + step);
        }
    }

    /// Keeps the network of `level` + 1 bytes that has an address whole until a period.
    pub fn hold(&mut self, address: [u8; 4], level: usize, until: i64) {
        if let Some(counter) = self.top.counter_at(&address[..=level]) {
            counter.held_until = until;
            self.bytes -= counter.below.take().map_or(0, |level| level.bytes());
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        (self.top, self.bytes) = (Level::new(0), LEVEL);
    }

    /// All rates, as Click prints them.
    pub fn text(&mut self, now: i64) -> String {
        let mut text = String::new();
        self.top.print("", now, &mut text);
        text
    }
}

//! Rates by address, at first for each first byte, then finer where there is much traffic.
//!
//! A *table* has a counter for each value of one byte of the address. A counter whose rate exceeds the threshold gets a
//! table of its own, for the next byte; a table whose rate has fallen is folded up again.

use crate::rate::Average;
use clickwork_packet::Timestamp;
use clickwork_router::args::format_real2;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Rates are averaged over periods of eight milliseconds.
const PERIODS_PER_SECOND: i64 = 125;
const PERIOD: i64 = 1_000_000_000 / PERIODS_PER_SECOND;
const SCALE: u32 = 10;
const STABILITY: u32 = 5;

/// What Click's tables and counters take, in bytes; limits and handlers count in it.
const TABLE_SIZE: usize = 2080;
const COUNTER_SIZE: usize = 40;
/// The limit if none is given.
const HARD_LIMIT: usize = 256 << 20;
/// Without a limit, one round of folding frees so much of what there is.
const FOLD_PERCENT: usize = 90;

/// A period's number.
pub fn period(now: Timestamp) -> i64 {
    now.nanos() / PERIOD
}

/// Periods in so many seconds.
pub fn periods(seconds: i64) -> i64 {
    seconds.saturating_mul(PERIODS_PER_SECOND)
}

/// The rates of one address or network, from it and to it.
#[derive(Clone, Copy)]
struct Rates {
    period: i64,
    counted: [i64; 2],
    averages: [Average; 2],
}

impl Rates {
    fn new(now: i64) -> Rates {
        Rates { period: now, counted: [0; 2], averages: [Average::new(STABILITY, SCALE); 2] }
    }

    /// Ends the period, and the empty ones up to `now`.
    fn advance(&mut self, now: i64) {
        if now == self.period {
            return;
        }
        for (average, counted) in self.averages.iter_mut().zip(&mut self.counted) {
            average.add(std::mem::take(counted));
            average.decay(now - self.period - 1);
        }
        self.period = now;
    }

    fn per_second(&self) -> [u32; 2] {
        self.averages.map(|average| ((average.scaled() * PERIODS_PER_SECOND) >> SCALE) as u32)
    }
}

struct Counter {
    rates: Rates,
    /// The table of the next byte.
    table: Option<u32>,
    /// Until when this is not to be split.
    fixed_until: i64,
}

/// The counters of one byte.
struct Table {
    /// The table and byte of the counter that this belongs to; none for the first table.
    parent: Option<(u32, u8)>,
    counters: HashMap<u8, Counter>,
}

/// All tables.
pub struct Zoom {
    tables: HashMap<u32, Table>,
    /// The tables but the first, in the order in which they were made.
    ages: Vec<u32>,
    next: u32,
    memory: usize,
    /// In bytes; 0 for none.
    pub limit: usize,
    /// Packets or bytes per second.
    pub threshold: i64,
    last_fold: Option<i64>,
}

const FIRST: u32 = 0;

impl Default for Zoom {
    fn default() -> Zoom {
        let first = Table { parent: None, counters: HashMap::new() };
        Zoom {
            tables: HashMap::from([(FIRST, first)]),
            ages: Vec::new(),
            next: FIRST + 1,
            memory: TABLE_SIZE,
            limit: 0,
            threshold: 1,
            last_fold: None,
        }
    }
}

impl Zoom {
    /// Memory used, in Click's bytes.
    pub fn memory(&self) -> usize {
        self.memory
    }

    fn has_room(&self, more: usize) -> bool {
        let limit = if self.limit == 0 { HARD_LIMIT } else { self.limit };
        self.memory + more <= limit
    }

    /// Counts `amount` of traffic from (0) or to (1) an address, if `measured`. Returns both rates per second.
    pub fn update(
        &mut self,
        address: [u8; 4],
        amount: i64,
        direction: usize,
        measured: bool,
        now: i64,
    ) -> Option<[u32; 2]> {
        let (table, level) = self.descend(address, amount, direction, measured, now)?;
        let counter = self.tables.get(&table)?.counters.get(&address[level])?;
        let rates = counter.rates.per_second();
        let is_busy = rates.iter().any(|&rate| i64::from(rate) >= self.threshold);
        if counter.fixed_until < now && is_busy && level < 3 && self.has_room(TABLE_SIZE + COUNTER_SIZE) {
            self.split(table, address[level], address[level + 1]);
        }
        Some(rates)
    }

    /// Counts at every level; returns the last table and the byte's place. None if there is no room.
    fn descend(
        &mut self,
        address: [u8; 4],
        amount: i64,
        direction: usize,
        measured: bool,
        now: i64,
    ) -> Option<(u32, usize)> {
        let mut at = FIRST;
        for (level, byte) in address.into_iter().enumerate() {
            let has_room = self.has_room(COUNTER_SIZE);
            let counters = &mut self.tables.get_mut(&at)?.counters;
            let counter = match counters.entry(byte) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(_) if !has_room => return None,
                Entry::Vacant(entry) => {
                    self.memory += COUNTER_SIZE;
                    entry.insert(Counter { rates: Rates::new(now), table: None, fixed_until: 0 })
                }
            };
            if measured {
                counter.rates.advance(now);
                counter.rates.counted[direction] += amount;
            }
            match counter.table {
                Some(table) => at = table,
                None => return Some((at, level)),
            }
        }
        None
    }

    /// Gives a counter a table, in which the next byte begins with its rates.
    fn split(&mut self, table: u32, byte: u8, next_byte: u8) {
        let made = self.next;
        let counter = self.tables.get_mut(&table).and_then(|table| table.counters.get_mut(&byte));
        let Some(counter) = counter else { return };
        counter.table = Some(made);
        let first = Counter { rates: counter.rates, table: None, fixed_until: 0 };
        let counters = HashMap::from([(next_byte, first)]);
        self.tables.insert(made, Table { parent: Some((table, byte)), counters });
        self.ages.push(made);
        self.next = self.next.wrapping_add(1).max(1);
        self.memory += TABLE_SIZE + COUNTER_SIZE;
    }

    /// Removes a table and those below it.
    fn remove(&mut self, table: u32) {
        let Some(removed) = self.tables.remove(&table) else { return };
        self.memory -= TABLE_SIZE + COUNTER_SIZE * removed.counters.len();
        if let Some((parent, byte)) = removed.parent
            && let Some(counter) = self.tables.get_mut(&parent).and_then(|t| t.counters.get_mut(&byte))
        {
            counter.table = None;
        }
        for below in removed.counters.values().filter_map(|counter| counter.table) {
            self.remove(below);
        }
    }

    /// Folds tables once a second.
    pub fn fold_in_time(&mut self, now: i64, forward: impl FnOnce() -> bool) {
        if now - *self.last_fold.get_or_insert(now) >= PERIODS_PER_SECOND {
            self.fold(self.threshold, now, forward());
            self.last_fold = Some(now);
        }
    }

    /// Removes tables whose rates are below the threshold, from the oldest or from the youngest, until memory is below
    /// the limit.
    fn fold(&mut self, threshold: i64, now: i64, forward: bool) {
        let target = if self.limit == 0 { self.memory / 100 * FOLD_PERCENT } else { self.limit };
        let mut ages = std::mem::take(&mut self.ages);
        let mut order: Vec<u32> = ages.clone();
        if !forward {
            order.reverse();
        }
        for table in order {
            let Some((parent, byte)) = self.tables.get(&table).and_then(|table| table.parent) else {
                continue;
            };
            let counter = self.tables.get_mut(&parent).and_then(|table| table.counters.get_mut(&byte));
            let Some(counter) = counter else { continue };
            counter.rates.advance(now);
            if counter.rates.averages.iter().all(|average| average.scaled() < threshold) {
                self.remove(table);
                if self.memory < target {
                    break;
                }
            }
        }
        ages.retain(|table| self.tables.contains_key(table));
        self.ages = ages;
    }

    /// Folds until memory is within the limit, however busy the tables are.
    pub fn fold_to_limit(&mut self, now: i64, forward: bool) {
        let step = (self.threshold / 5).max(1);
        let mut threshold = self.threshold;
        while self.limit > 0 && self.memory > self.limit && !self.ages.is_empty() {
            self.fold(threshold, now, forward);
            threshold = threshold.saturating_add(step).saturating_mul(2);
        }
    }

    /// The counter of an address is not split at `level` for a time.
    pub fn fix(&mut self, address: [u8; 4], level: usize, until: i64) {
        let mut at = FIRST;
        for (n, byte) in address.into_iter().enumerate() {
            let counter = self.tables.get_mut(&at).and_then(|table| table.counters.get_mut(&byte));
            let Some(counter) = counter else { return };
            let below = counter.table;
            if n == level {
                counter.fixed_until = until;
                below.into_iter().for_each(|table| self.remove(table));
                return;
            }
            match below {
                Some(table) => at = table,
                None => return,
            }
        }
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        *self = Zoom {
            limit: self.limit,
            threshold: self.threshold,
            last_fold: self.last_fold,
            ..Zoom::default()
        };
    }

    /// A line for each address or network with traffic, finer ones indented below coarser ones.
    pub fn text(&mut self, now: i64) -> String {
        let mut text = String::new();
        self.print(FIRST, "", now, &mut text);
        text
    }

    fn print(&mut self, table: u32, prefix: &str, now: i64, text: &mut String) {
        for byte in 0..=u8::MAX {
            let counter = self.tables.get_mut(&table).and_then(|table| table.counters.get_mut(&byte));
            let Some(counter) =
                counter.filter(|c| c.rates.averages.iter().any(|average| average.scaled() > 0))
            else {
                continue;
            };
            let name = if prefix.is_empty() { byte.to_string() } else { format!("{prefix}.{byte}") };
            counter.rates.advance(now);
            let [from, to] = counter
                .rates
                .averages
                .map(|average| format_real2(average.scaled() * PERIODS_PER_SECOND, SCALE));
            text.push_str(&format!("{name}\t{from}\t{to}\n"));
            if let Some(below) = counter.table {
                self.print(below, &format!("\t{name}"), now, text);
            }
        }
    }
}

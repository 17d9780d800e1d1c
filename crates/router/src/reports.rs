//! What elements say about packets, which whoever sends packets can bring about as often as he likes: the first times it
//! is printed, then it is counted, and the count is printed once in a while, ever less often. What happens seldom is
//! printed each time.
//!
//! What is printed because it was asked for (Print, an argument VERBOSE or DEBUG) is not of this kind.

use crate::router::{ElementId, Router};
use clickwork_packet::Timestamp;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

/// How many messages of a kind are printed before they are counted.
pub const REPORTED: u32 = 5;
/// How long messages are first counted before their number is printed.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// How long at most.
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);

/// The messages of all elements, by element and kind.
#[derive(Debug, Default)]
pub(crate) struct Reports(RefCell<BTreeMap<(u32, &'static str), Report>>);

/// The messages of one element and kind.
#[derive(Debug)]
struct Report {
    printed: u32,
    /// Messages that were not printed since the last that was.
    counted: u64,
    /// Steady time from which on the count is printed.
    due: Timestamp,
    pause: Duration,
}

impl Report {
    fn new() -> Report {
        Report { printed: 0, counted: 0, due: Timestamp::ZERO, pause: FIRST_PAUSE }
    }

    /// Notes a message. If it is to be printed, returns how many were not before it.
    fn note(&mut self, now: Timestamp) -> Option<u64> {
        if self.printed < REPORTED {
            self.printed += 1;
            self.due = now + self.pause;
            return Some(0);
        }
        if now < self.due {
            self.counted += 1;
            return None;
        }
        self.pause = if self.counted > 0 { (self.pause * 2).min(LONGEST_PAUSE) } else { FIRST_PAUSE };
        self.due = now + self.pause;
        Some(std::mem::take(&mut self.counted))
    }
}

impl Router {
    /// Reports something about a packet on behalf of an element. Messages of one kind are counted together.
    #[cold]
    pub fn report(&self, id: ElementId, kind: &'static str, line: impl FnOnce() -> String) {
        let now = if self.clock.is_simulated() { self.clock.peek() } else { self.recent };
        let noted = {
            let mut all = self.reports.0.borrow_mut();
            all.entry((id.0, kind)).or_insert_with(Report::new).note(now)
        };
        let Some(more) = noted else { return };
        if more > 0 {
            self.print_count(id, kind, more);
        }
        self.log.line(&line());
    }

    /// Prints the counts of what was not printed.
    pub(crate) fn finish_reports(&self) {
        for ((id, kind), report) in std::mem::take(&mut *self.reports.0.borrow_mut()) {
            if report.counted > 0 {
                self.print_count(ElementId(id), kind, report.counted);
            }
        }
    }

    fn print_count(&self, id: ElementId, kind: &str, count: u64) {
        let info = self.info(id);
        self.log.line(&format!("{} :: {}: {count} more: {kind}", info.name, info.class_name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_are_printed_and_then_counts_ever_less_often() {
        let mut report = Report::new();
        let notes: Vec<(i64, u64)> = (0..200u64)
            .filter_map(|tenth| {
                let now = Timestamp::ZERO + Duration::from_millis(100 * tenth);
                report.note(now).map(|count| (tenth as i64, count))
            })
            .collect();
        // The fifth is at 0.4 s; counts come 1 s after it, then after 2, 4, 8 s.
        assert_eq!(notes, [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (14, 9), (34, 19), (74, 39), (154, 79)]);
        // What comes once an hour is seen each time.
        let hourly = |n: u64| Timestamp::ZERO + Duration::from_secs(3600 * n);
        assert_eq!(report.note(hourly(1)), Some(45));
        assert_eq!([report.note(hourly(2)), report.note(hourly(3))], [Some(0), Some(0)]);
    }
}

//! The line at the bottom of the terminal while a router runs: packets, rates, drops.
//!
//! The line is redrawn in place. Messages of elements take it away first, by [`ERASE`]. On a terminal that takes nothing the
//! line stands still.

use crate::graph::grouped;
use clickwork_router::Router;
use clickwork_router::outlet::is_writable;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// How often the line is redrawn.
pub const PERIOD: Duration = Duration::from_millis(250);

/// Takes the line away: to the first column, and erases to the right.
pub const ERASE: &[u8] = b"\r\x1b[K";

/// What has been counted so far.
#[derive(Clone, Copy)]
struct Counts {
    packets: u64,
    drops: u64,
}

impl Counts {
    /// Packets that came into the router, and packets that elements dropped.
    fn of(router: &Router) -> Counts {
        let sources = router.ids().map(|id| router.info(id)).filter(|i| i.inputs.is_empty());
        Counts { packets: sources.map(|i| i.packets).sum(), drops: router.total_drops() }
    }
}

/// The status line.
pub struct Status {
    begin: Instant,
    last: Counts,
    last_at: Instant,
}

impl Status {
    /// For a router that begins to run.
    pub fn new(router: &Router) -> Status {
        let now = Instant::now();
        let status = Status { begin: now, last: Counts::of(router), last_at: now };
        status.print(&line(&status.last, &status.last, PERIOD, Duration::ZERO));
        status
    }

    /// Redraws the line, unless it was drawn just before: in simulated time a period passes quickly.
    pub fn show(&mut self, router: &Router) {
        let now = Instant::now();
        if now - self.last_at < PERIOD / 2 {
            return;
        }
        let counts = Counts::of(router);
        self.print(&line(&self.last, &counts, now - self.last_at, now - self.begin));
        (self.last, self.last_at) = (counts, now);
    }

    fn print(&self, line: &str) {
        if !is_writable(io::stderr().as_fd(), Duration::ZERO) {
            return;
        }
        let text = [ERASE, line.as_bytes()].concat();
        let mut err = io::stderr().lock();
        let _ = err.write_all(&text).and_then(|()| err.flush());
    }

    /// Takes the line away.
    pub fn hide(&self) {
        let _ = io::stderr().lock().write_all(ERASE);
    }
}

fn line(before: &Counts, now: &Counts, period: Duration, total: Duration) -> String {
    let rate = |a: u64, b: u64| {
        grouped((b.saturating_sub(a) as f64 / period.as_secs_f64().max(1e-3)).round() as u64)
    };
    let seconds = total.as_secs();
    format!(
        "{}:{:02}  {} packets, {}/s; {} dropped, {}/s",
        seconds / 60,
        seconds % 60,
        grouped(now.packets),
        rate(before.packets, now.packets),
        grouped(now.drops),
        rate(before.drops, now.drops)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_the_last_period() {
        let before = Counts { packets: 1000, drops: 10 };
        let now = Counts { packets: 601_000, drops: 10 };
        let text = line(&before, &now, Duration::from_millis(500), Duration::from_secs(75));
        assert_eq!(text, "1:15  601,000 packets, 1,200,000/s; 10 dropped, 0/s");
    }
}

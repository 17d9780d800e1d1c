//! AverageCounter: counts packets and gives their average rate since the first.

use clickwork_packet::{Packet, Timestamp};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, SimpleElement, Verdict, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "counts packets and measures their average rate",
    manual: "Passes every packet on and counts it, but for those of the first IGNORE seconds. The handlers give the \
             numbers of packets and bytes, and the rates per second over the time between the first and the last packet.",
    example: "InfiniteSource(LIMIT 10, STOP true) -> c :: AverageCounter -> Discard; DriverManager(wait_stop, print c.count)",
    args: &[ArgSpec::positional(
        "IGNORE",
        ArgType::U32,
        "0",
        "seconds at the beginning that are not counted",
    )],
    handlers: &[
        read_handler!("count", "packets counted", |e: &mut AverageCounter, _| e.count),
        read_handler!("byte_count", "bytes counted", |e: &mut AverageCounter, _| e.byte_count),
        read_handler!("rate", "packets per second", |e: &mut AverageCounter, _| e.rate(e.count)),
        read_handler!("byte_rate", "bytes per second", |e: &mut AverageCounter, _| e.rate(e.byte_count)),
        write_handler!("reset", "begins anew", |e: &mut AverageCounter, _, _| {
            *e = AverageCounter { ignore: e.ignore, ..AverageCounter::default() };
        })
        .flags("b"),
    ],
    ..Class::new("AverageCounter", "standard", || Box::<AverageCounter>::default())
};

#[derive(Default)]
struct AverageCounter {
    /// Milliseconds that are not counted.
    ignore: i64,
    count: u64,
    byte_count: u64,
    /// When the first packet came, in milliseconds; 0 before it.
    first: i64,
    last: i64,
}

impl AverageCounter {
    /// `n` per second of the time that is counted.
    fn rate(&self, n: u64) -> String {
        let milliseconds = (self.last - self.first - self.ignore).max(1);
        twelve_digits(n as f64 * 1000.0 / milliseconds as f64)
    }
}

/// A number with at most twelve digits that matter, as Click prints real numbers.
fn twelve_digits(x: f64) -> String {
    let magnitude = if x > 0.0 { x.log10().floor() as i32 + 1 } else { 1 };
    let text = format!("{x:.*}", usize::try_from(12 - magnitude).unwrap_or(0).min(16));
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

fn milliseconds(t: Timestamp) -> i64 {
    t.nanos() / 1_000_000
}

impl SimpleElement for AverageCounter {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        self.ignore = i64::from(args.get::<u32>("IGNORE").unwrap_or(0)) * 1000;
    }

    fn prepare(&mut self, batch: &[Packet], cx: &mut Cx<'_>) {
        let now = milliseconds(cx.recent());
        if batch.is_empty() {
            return;
        }
        if self.first == 0 {
            self.first = now;
        }
        if now - self.first >= self.ignore {
            self.count += batch.len() as u64;
            self.byte_count += batch.iter().map(|p| p.len() as u64).sum::<u64>();
        }
        self.last = now;
    }

    fn simple_action(&mut self, _: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        Verdict::PASS
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<AverageCounter>(old) {
            (self.count, self.byte_count, self.first, self.last) =
                (old.count, old.byte_count, old.first, old.last);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use std::time::Duration;

    fn send(t: &mut Harness, n: usize) {
        for _ in 0..n {
            t.push("s", 0, [Packet::new(b"abcd")]);
            let next = t.router.clock().peek() + Duration::from_millis(100);
            t.router.clock().jump_to(next);
        }
    }

    #[test]
    fn the_rate_is_an_average_over_the_time_since_the_first_packet() {
        let mut t = Harness::new("s :: Source -> c :: AverageCounter -> Discard");
        assert_eq!(t.read("c.rate"), "0");
        send(&mut t, 31);
        assert_eq!([t.read("c.count"), t.read("c.byte_count")], ["31", "124"]);
        assert_eq!([t.read("c.rate"), t.read("c.byte_rate")], ["10.3333333333", "41.3333333333"]);
        t.write("c.reset").unwrap();
        assert_eq!(t.read("c.count"), "0");
    }

    #[test]
    fn the_beginning_can_be_left_out() {
        let mut t = Harness::new("s :: Source -> c :: AverageCounter(IGNORE 1) -> Discard");
        send(&mut t, 31);
        assert_eq!([t.read("c.count"), t.read("c.rate")], ["21", "10.5"]);
    }
}

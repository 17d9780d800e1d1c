//! Burster: pulls bursts of packets at fixed intervals and pushes them on.

use super::timed_unqueue::{TimedUnqueue, class};
use clickwork_router::Class;
use clickwork_router::args::{ArgSpec, ArgType};

/// The class facts.
pub static CLASS: Class = Class {
    help: "pulls bursts of packets at fixed intervals and pushes them on",
    manual: "As TimedUnqueue, but eight packets make a burst unless BURST is given.",
    example: "InfiniteSource(LIMIT 5, STOP false) -> Queue -> Burster(10ms, 2) -> Discard; \
              DriverManager(wait 1s, stop)",
    args: &[
        ArgSpec::required("INTERVAL", ArgType::Seconds, "time between bursts"),
        ArgSpec::positional("BURST", ArgType::I32, "8", "packets in a burst"),
    ],
    ..class("Burster", || Box::new(TimedUnqueue::with_burst(8)))
};

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_router::Outcome;

    /// Seconds at which packets left, in tenths, after `count` of them came at once.
    fn tenths(arguments: &str, count: u8) -> Vec<i64> {
        let config = format!("s :: Source -> Queue -> Burster({arguments}) -> SetTimestamp -> k :: Sink");
        let mut t = Harness::new(&config);
        assert_eq!(t.run(), Outcome::Exhausted);
        let start = t.router.clock().peek();
        t.push_batch("s", 0, (0..count).map(|i| Packet::new(&[i])));
        assert_eq!(t.run(), Outcome::Exhausted);
        t.take("k").iter().map(|p| (p.timestamp() - start).nanos() / 100_000_000).collect()
    }

    #[test]
    fn the_first_burst_leaves_at_once_as_with_timed_unqueue() {
        assert_eq!(tenths("0.5, 2", 5), [0, 0, 5, 5, 10]);
    }

    #[test]
    fn a_burst_has_eight_packets() {
        assert_eq!(tenths("1", 10), [0, 0, 0, 0, 0, 0, 0, 0, 10, 10]);
    }

    #[test]
    fn arguments_are_checked() {
        assert!(Harness::errors("Idle -> Burster(1, 0) -> Discard").contains("bad BURST"));
    }
}

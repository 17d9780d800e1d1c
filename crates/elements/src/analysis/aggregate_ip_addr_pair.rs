//! AggregateIPAddrPair: the two hosts of a packet become its aggregate.

use super::host_pair::{HostPair, PairOrder};
use super::notifier::{Event, Notifier};
use clickwork_packet::headers::Ipv4;
use clickwork_packet::{Packet, anno};
use clickwork_router::args::{ArgSpec, ArgType, Args, SecondsIn};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, SimpleElement, Verdict, write_handler};
use std::collections::HashMap;
use std::sync::Arc;

/// The class facts.
pub static CLASS: Class = Class {
    help: "sets the aggregate annotation to the number of the pair of hosts",
    manual: "Numbers pairs of hosts from 1 and sets each IP packet's aggregate annotation to the number of its pair, whoever \
             sends, and its paint to 0 if it goes in the direction of the pair's first packet, else to 1. With TIMEOUT a pair \
             that has been silent for so many seconds, by the time of the packets, gets another number. Every REAP seconds \
             silent pairs are forgotten. Packets without a marked IP header leave by output 1 or are dropped. Elements such \
             as AggregateLast, with this one as their NOTIFIER, learn when pairs begin and end.\n\n\
             At most CAPACITY pairs are known at a time; packets of others leave by output 1 or are dropped.",
    example: "InfiniteSource(LIMIT 3, STOP true) -> SetTimestamp -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) \
              -> AggregateIPAddrPair -> a :: AggregateCounter -> Discard; DriverManager(wait_stop, print a.nagg)",
    ports: "1/1-2",
    processing: "a/ah",
    packets: "ip/ip,any",
    args: &[
        ArgSpec::keyword(
            "TIMEOUT",
            ArgType::Seconds,
            "0",
            "seconds after which a silent pair is over; 0: never",
        ),
        ArgSpec::keyword("REAP", ArgType::Seconds, "1200", "how often pairs that are over are forgotten"),
        ArgSpec::keyword("CAPACITY", ArgType::U32, "1048576", "how many pairs are known at most"),
    ],
    handlers: &[write_handler!("clear", "forgets all pairs", |e: &mut Pairs, _, cx| {
        e.reap(END_OF_TIME, cx);
    })],
    ..Class::new("AggregateIPAddrPair", "analysis", || Box::<Pairs>::default())
};

/// A time, in seconds, after all others.
const END_OF_TIME: i64 = 0x7fff_ffff;

struct Pair {
    aggregate: u32,
    /// Whether its first packet came from host `b`.
    reverse: bool,
    /// Seconds of its last packet's time.
    last: i64,
}

#[derive(Default)]
struct Pairs {
    timeout: u32,
    reap_interval: u32,
    capacity: usize,
    pairs: HashMap<HostPair, Pair>,
    order: PairOrder,
    notifier: Arc<Notifier>,
    /// The last number given.
    last_number: u32,
    reap_at: i64,
    has_warned: bool,
}

impl Pairs {
    fn stamp(&mut self, p: &mut Packet, cx: &Cx<'_>) {
        if !p.timestamp().is_zero() {
            return;
        }
        if !self.has_warned {
            self.has_warned = true;
            let (name, class) = (cx.name(), CLASS.name);
            cx.chatter(&format!("{name} :: {class}: warning: packet received without timestamp"));
        }
        p.set_timestamp(cx.now());
    }

    /// Forgets pairs that are silent at `now`.
    fn reap(&mut self, now: i64, cx: &mut Cx<'_>) {
        let before = now - i64::from(self.timeout);
        for hosts in self.order.pairs() {
            if let Some(pair) = self.pairs.get(&hosts).filter(|pair| pair.last < before) {
                self.notifier.tell(pair.aggregate, Event::Deleted, cx);
                self.pairs.remove(&hosts);
                self.order.forget(&hosts);
            }
        }
    }

    /// Number and direction of the pair; none if there is no room for it.
    fn number(&mut self, hosts: HostPair, reverse: bool, now: i64, cx: &mut Cx<'_>) -> Option<(u32, bool)> {
        let timeout = i64::from(self.timeout);
        if let Some(pair) = self.pairs.get_mut(&hosts) {
            if timeout == 0 || pair.last >= now - timeout {
                pair.last = if timeout > 0 { now } else { 0 };
                return Some((pair.aggregate, pair.reverse));
            }
            self.notifier.tell(pair.aggregate, Event::Deleted, cx);
        } else if self.pairs.len() >= self.capacity {
            return None;
        }
        self.last_number = self.last_number.wrapping_add(1).max(1);
        let aggregate = self.last_number;
        self.notifier.tell(aggregate, Event::New, cx);
        self.order.note(hosts);
        self.pairs.insert(hosts, Pair { aggregate, reverse, last: if timeout > 0 { now } else { 0 } });
        Some((aggregate, reverse))
    }
}

impl SimpleElement for Pairs {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let mut capacity = 1u32 << 20;
        self.reap_interval = 20 * 60;
        args.read_with("TIMEOUT", SecondsIn(0), &mut self.timeout)
            .read_with("REAP", SecondsIn(0), &mut self.reap_interval)
            .read("CAPACITY", &mut capacity);
        self.capacity = capacity as usize;
        cx.export(Arc::clone(&self.notifier));
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let Some(ip) = p.network_bytes().and_then(Ipv4::new) else {
            return cx.out_or_drop(1, "no IP header");
        };
        let (source, destination) = (ip.source(), ip.destination());
        let hosts = HostPair::new(source, destination);
        let reverse = hosts.a != source;
        if self.timeout > 0 {
            self.stamp(p, cx);
        }
        let now = p.timestamp().seconds();
        let Some((aggregate, first_was_reverse)) = self.number(hosts, reverse, now, cx) else {
            return cx.out_or_drop(1, "too many pairs");
        };
        if self.timeout > 0 && now > self.reap_at {
            if self.reap_at != 0 {
                self.reap(now, cx);
            }
            self.reap_at = now + i64::from(self.reap_interval);
        }
        p.set_anno_u32(anno::AGGREGATE, aggregate);
        p.set_paint(u8::from(reverse != first_was_reverse));
        Verdict::PASS
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<Pairs>(old) {
            self.pairs = std::mem::take(&mut old.pairs);
            self.order = std::mem::take(&mut old.order);
            (self.last_number, self.reap_at) = (old.last_number, old.reap_at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::udp;
    use crate::testing::Harness;
    use clickwork_packet::{Packet, anno};

    fn pairs(args: &str) -> Harness {
        Harness::new(&format!(
            "s :: Source -> f :: AggregateIPAddrPair({args}) -> k :: Sink; f [1] -> bad :: Sink"
        ))
    }

    fn packet(from: &str, to: &str, seconds: i64) -> Packet {
        udp((from, 1), (to, 2), seconds * 1000)
    }

    fn marks(t: &mut Harness) -> Vec<(u32, u8)> {
        t.take("k").iter().map(|p| (p.anno_u32(anno::AGGREGATE), p.paint())).collect()
    }

    #[test]
    fn pairs_are_numbered_and_directions_painted() {
        let mut t = pairs("");
        let (a, b, c) = ("10.0.0.1", "9.0.0.2", "1.1.1.1");
        t.push(
            "s",
            0,
            [packet(a, b, 1), packet(b, a, 9999), packet(c, a, 2), packet(a, c, 3), packet(c, c, 4)],
        );
        assert_eq!(marks(&mut t), [(1, 0), (1, 1), (2, 0), (2, 1), (3, 0)]);
        t.write("f.clear").unwrap();
        t.push("s", 0, [packet(b, a, 1), Packet::new(b"none")]);
        assert_eq!(marks(&mut t), [(4, 0)]);
        assert_eq!(t.take("bad").len(), 1);
    }

    #[test]
    fn silent_pairs_get_another_number() {
        let mut t = pairs("TIMEOUT 5s");
        t.push("s", 0, [1, 6, 12, 11].map(|at| packet("1.1.1.1", "2.2.2.2", at)));
        assert_eq!(marks(&mut t), [(1, 0), (1, 0), (2, 0), (2, 0)]);
    }

    #[test]
    fn the_capacity_bounds_the_pairs() {
        let mut t = pairs("CAPACITY 3, TIMEOUT 10, REAP 20");
        let flood = |at| (0..10).map(move |n| packet(&format!("1.0.0.{n}"), "2.2.2.2", at));
        t.push("s", 0, flood(1));
        assert_eq!((t.take("k").len(), t.take("bad").len()), (3, 7));
        t.push("s", 0, flood(100).take(1));
        t.push("s", 0, flood(100).skip(5).take(2));
        assert_eq!(t.take("k").len(), 3);
    }
}

//! CoDel: drops packets that leave queues in which packets wait too long.

use super::control::{Control, Departure, Parameters, Source};
use super::nearby::Queues;
use crate::ages::Ages;
use crate::sched::{gather, pull_packet};
use clickwork_packet::{Batch, Packet, Timestamp, anno};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, read_handler, write_handler};
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "drops packets so that queues do not delay them for long",
    manual: "Controlled Delay (RFC 8289): packets that are pulled through it have come from the nearest queues upstream, or \
             from those named in QUEUES. When they have waited there for TARGET or longer throughout an INTERVAL, one is \
             dropped, then another after ever shorter times, until the wait is short again. A packet behind which \
             nothing waits is spared.\n\n\
             How long a packet has waited is known from its \"first timestamp\" annotation: put SetTimestamp(FIRST true) in \
             front of the queues. Packets without it pass.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> SetTimestamp(FIRST true) -> Queue -> CoDel(0.005, 0.1) -> Unqueue \
              -> Discard",
    ports: "1/1",
    processing: "l/l",
    packets: "any/each",
    args: &[
        ArgSpec::positional("TARGET", ArgType::Seconds, "0.005", "the wait that is acceptable"),
        ArgSpec::positional("INTERVAL", ArgType::Seconds, "0.1", "the time within which it must be reached"),
        super::red::QUEUES,
    ],
    handlers: &[
        read_handler!("drops", "packets dropped", |e: &mut CoDel, _| e.drops),
        read_handler!("codel_target", "TARGET as it was given", |e: &mut CoDel, _| e.given[0].clone())
            .and_write(write_handler!("", "", |e: &mut CoDel, text, cx| e.set(0, "TARGET", text, cx))),
        read_handler!("codel_interval", "INTERVAL as it was given", |e: &mut CoDel, _| e.given[1].clone())
            .and_write(write_handler!("", "", |e: &mut CoDel, text, cx| e.set(1, "INTERVAL", text, cx))),
        read_handler!("stats", "length and drops", |e: &mut CoDel, _| format!(
            "{} current queue\n{} drops\n",
            e.queues.length(),
            e.drops
        )),
        read_handler!("queues", "the queues that count", |e: &mut CoDel, _| e.queues.list()),
        read_handler!("config", "the parameters", |e: &mut CoDel, _| {
            let seconds = |d: Duration| Timestamp::ZERO + d;
            format!("{}s, {} s, ", seconds(e.parameters.target), seconds(e.parameters.interval))
        })
        .flags("."),
    ],
    ..Class::new("CoDel", "aqm", || Box::<CoDel>::default())
};

#[derive(Default)]
struct CoDel {
    parameters: Parameters,
    /// TARGET and INTERVAL as they were given.
    given: [String; 2],
    control: Control,
    queues: Queues,
    drops: u64,
    ages: Ages,
}

/// The queues upstream.
struct Upstream<'a, 'r> {
    cx: &'a mut Cx<'r>,
    queues: &'a Queues,
    drops: &'a mut u64,
    now: Timestamp,
    ages: &'a Ages,
}

impl Source for Upstream<'_, '_> {
    fn take(&mut self) -> Option<Departure> {
        let packet = pull_packet(0, self.cx)?;
        let stamp = packet.anno_bytes(anno::FIRST_TIMESTAMP).try_into().map_or(0, i64::from_ne_bytes);
        let entered = Timestamp::from_nanos(stamp);
        let sojourn = (entered.seconds() != 0).then(|| self.now.since(self.ages.steady_time(entered)));
        Some(Departure { packet, sojourn, is_last: self.queues.length() == 0 })
    }

    fn discard(&mut self, p: Packet) -> Option<Packet> {
        *self.drops += 1;
        self.cx.drop(p, "waited too long");
        None
    }
}

impl CoDel {
    fn set(&mut self, at: usize, name: &str, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        let time = crate::values::parse(text, "").map_err(|_| format!("{name}: parse error"))?;
        let slot = if at == 0 { &mut self.parameters.target } else { &mut self.parameters.interval };
        *slot = time;
        self.given[at] = text.trim().to_string();
        cx.set_argument(at, name, text.trim());
        Ok(())
    }

    fn pull_one(&mut self, cx: &mut Cx<'_>) -> Option<Batch> {
        let now = cx.steady();
        self.ages.look(cx.router().clock());
        let (queues, drops, ages) = (&self.queues, &mut self.drops, &self.ages);
        let mut source = Upstream { cx, queues, drops, now, ages };
        self.control.next(&self.parameters, now, &mut source).map(Batch::one)
    }
}

impl Element for CoDel {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        args.read("TARGET", &mut self.parameters.target).read("INTERVAL", &mut self.parameters.interval);
        self.given = ["TARGET", "INTERVAL"].map(|name| args.raw(name).unwrap_or_default().to_string());
        self.queues.read(args, cx);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.queues.find(false, cx)
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        gather(limit, cx, |cx| self.pull_one(cx))
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<CoDel>(old) {
            (self.control, self.drops, self.ages) = (old.control, old.drops, old.ages);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use std::time::Duration;

    #[test]
    fn a_standing_queue_of_a_source_that_does_not_care_loses_packets() {
        // 1200 packets a second into 1000: without drops the queue would grow by 200 a second.
        let mut t = Harness::new(
            "RatedSource(RATE 1200) -> SetTimestamp(FIRST true) -> q :: Queue(100000) -> c :: CoDel -> RatedUnqueue(1000) \
             -> n :: Counter -> Discard",
        );
        t.run_for(Duration::from_secs(40));
        let number = |t: &mut Harness, name: &str| t.read(name).parse::<f64>().unwrap();
        let (drops, length) = (number(&mut t, "c.drops"), number(&mut t, "q.length"));
        assert!((39_900.0..40_100.0).contains(&number(&mut t, "n.count")));
        assert!(length < 1500.0 && drops > 6_500.0, "{length} packets, {drops} drops");
    }

    #[test]
    fn packets_without_a_time_pass() {
        let mut t =
            Harness::new("RatedSource(RATE 200) -> q :: Queue -> c :: CoDel -> RatedUnqueue(100) -> Discard");
        t.run_for(Duration::from_secs(5));
        assert_eq!(t.read("c.drops"), "0");
        assert!(t.read("q.length").parse::<i32>().unwrap() > 400);
    }

    #[test]
    fn prints_as_click_does() {
        let mut t = Harness::new("s :: Source -> q :: Queue -> c :: CoDel(TARGET 10ms) -> Idle");
        t.push("s", 0, [Packet::new(b"x")]);
        assert_eq!([t.read("c.stats"), t.read("c.queues")], ["1 current queue\n0 drops\n", "q\n"]);
        assert_eq!(t.read("c.config"), "0.010000s, 0.100000 s, ");
        t.write("c.codel_interval 0.25").unwrap();
        assert_eq!([t.read("c.codel_target"), t.read("c.codel_interval")], ["10ms", "0.25"]);
        assert_eq!(t.read("c.config"), "0.010000s, 0.250000 s, ");
        assert!(t.write("c.codel_target x").is_err());
        assert!(Harness::errors("Idle -> CoDel -> Unqueue -> Discard").contains("no nearby Queues"));
        let e = Harness::errors("Idle -> Queue -> CoDel(QUEUES x) -> Unqueue -> Discard");
        assert!(e.contains("no element named 'x'"), "{e}");
    }
}

//! ICMPPingSource: sends pings, and reports on the replies, as the program `ping` does.

use super::ping_replies::Replies;
use crate::ages::Ages;
use crate::ip::prepend::prepend;
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::headers::icmp::icmp_type;
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::{Header, Icmp, IcmpHeader, IcmpMut, Ipv4, Ipv4Header};
use clickwork_packet::{Batch, Packet, Timestamp};
use clickwork_router::args::{ArgSpec, ArgType, Args, SecondsIn};
use clickwork_router::handler::Listed;
use clickwork_router::notify::{NotifierId, NotifierKind, Search};
use clickwork_router::{Class, Cx, Element, Handler, read_handler, write_handler};
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "sends ICMP echo requests and reports on the replies",
    manual: "Sends an echo request from SRC to DST every INTERVAL, or, if its output is pull, whenever it is asked. The \
             sequence number and the IP identification count up from 1; the headers are marked and the destination \
             annotation is set. After LIMIT requests it ends, and stops the driver if STOP is true.\n\n\
             Replies that come in at the optional input are counted and timed by the timestamps of requests and \
             replies, and printed if VERBOSE; there is a summary at the end. With MIRROR each reply is sent out again \
             at once as the next request, whatever the LIMIT.\n\n\
             As in Click, IDENTIFIER stands in the packet in the byte order of the machine.",
    example: "p :: ICMPPingSource(1.0.0.1, 2.0.0.2, INTERVAL 0.1, LIMIT 3, STOP true) -> ICMPPingResponder -> p",
    ports: "0-1/1",
    processing: "h/a",
    packets: "any/new icmp",
    args: ARGS,
    handlers: HANDLERS,
    ..Class::new("ICMPPingSource", "icmp", || Box::<IcmpPingSource>::default())
};

/// The class under its older name.
pub static OLDER: Class = Class { name: "ICMPSendPings", ..CLASS };

const ARGS: &[ArgSpec] = &[
    ArgSpec::required("SRC", ArgType::IpAddr, "source address"),
    ArgSpec::required("DST", ArgType::IpAddr, "destination address"),
    ArgSpec::keyword("INTERVAL", ArgType::Seconds, "1", "time between requests"),
    ArgSpec::keyword("IDENTIFIER", ArgType::U16, "0", "identifier of the requests"),
    ArgSpec::keyword("DATA", ArgType::Data, "", "what the requests carry"),
    ArgSpec::keyword("LIMIT", ArgType::I32, "-1", "requests to send; negative for no end"),
    ArgSpec::keyword("ACTIVE", ArgType::Bool, "true", "whether it sends"),
    ArgSpec::keyword("VERBOSE", ArgType::Bool, "true", "whether it prints replies and the summary"),
    ArgSpec::keyword("STOP", ArgType::Bool, "false", "whether the driver stops at the end"),
    ArgSpec::keyword("MIRROR", ArgType::Bool, "false", "whether a reply becomes the next request at once"),
];

const HANDLERS: &[Handler] = &[
    read_handler!("active", "whether it sends", |e: &mut IcmpPingSource, _| e.active)
        .flags("c")
        .and_write(write_handler!("", "", |e: &mut IcmpPingSource, text, cx| e.set_active(text, cx))),
    read_handler!("src", "source address", |e: &mut IcmpPingSource, _| e.source.to_string())
        .flags(".")
        .and_write(write_handler!("", "", |e: &mut IcmpPingSource, text, _| set(&mut e.source, text))),
    read_handler!("dst", "destination address", |e: &mut IcmpPingSource, _| e.destination.to_string())
        .flags(".")
        .and_write(write_handler!("", "", |e: &mut IcmpPingSource, text, _| set(&mut e.destination, text))),
    read_handler!("count", "requests sent", |e: &mut IcmpPingSource, _| e.count),
    write_handler!("limit", "sets how many requests to send", |e: &mut IcmpPingSource, text, cx| {
        e.limit = crate::values::parse(text, "").map_err(|_| "'limit' should be integer")?;
        e.resume(e.interval, cx);
        Ok::<(), String>(())
    })
    .flags("."),
    write_handler!("interval", "sets the time between requests", |e: &mut IcmpPingSource, text, _| {
        let wrong = |_| "'interval' should be an interval".to_string();
        e.interval = crate::values::parse::<Duration>(text, "").map_err(wrong)?;
        Ok::<(), String>(())
    }),
    write_handler!("reset_counts", "forgets requests and replies", |e: &mut IcmpPingSource, _, cx| {
        e.count = 0;
        e.replies.iter_mut().for_each(|r| *r = Replies::default());
        e.resume(e.interval, cx);
    })
    .flags("b"),
    read_handler!(
        "summary",
        "requests, replies and times, as ping prints them",
        |e: &mut IcmpPingSource, _| {
            let count = e.count;
            e.received().map(|r| r.summary(count))
        }
    )
    .listed(Listed::IfInputs),
    read_handler!("rtt_min", "shortest time to a reply", |e: &mut IcmpPingSource, _| e
        .received()
        .map(Replies::shortest))
    .listed(Listed::IfInputs),
    read_handler!("rtt_avg", "average time to a reply", |e: &mut IcmpPingSource, _| e
        .received()
        .map(Replies::average))
    .listed(Listed::IfInputs),
    read_handler!("rtt_max", "longest time to a reply", |e: &mut IcmpPingSource, _| e
        .received()
        .map(Replies::longest))
    .listed(Listed::IfInputs),
];

fn set(address: &mut Ipv4Address, text: &str) -> Result<(), String> {
    crate::values::store(address, text, "").map_err(|_| "syntax error".to_string())
}

/// Time to live of requests.
const TTL: u8 = 200;
/// Bytes in front of the data.
const HEADERS: usize = size_of::<Ipv4Header>() + size_of::<IcmpHeader>();
/// The longest data that fit into a packet.
const MAX_DATA: usize = 65_535 - HEADERS;

struct IcmpPingSource {
    source: Ipv4Address,
    destination: Ipv4Address,
    interval: Duration,
    identifier: u16,
    data: Vec<u8>,
    limit: i32,
    active: bool,
    verbose: bool,
    stop: bool,
    mirror: bool,
    count: i32,
    /// What came back, if there is an input.
    replies: Option<Replies>,
    ages: Ages,
    /// When the timer expires, so that delays do not add up.
    due: Timestamp,
    /// Active while an element that pulls can have packets.
    empty: Option<NotifierId>,
}

impl Default for IcmpPingSource {
    fn default() -> IcmpPingSource {
        IcmpPingSource {
            source: Ipv4Address::UNSPECIFIED,
            destination: Ipv4Address::UNSPECIFIED,
            interval: Duration::from_secs(1),
            identifier: 0,
            data: Vec::new(),
            limit: -1,
            active: true,
            verbose: true,
            stop: false,
            mirror: false,
            count: 0,
            replies: None,
            ages: Ages::default(),
            due: Timestamp::ZERO,
            empty: None,
        }
    }
}

impl IcmpPingSource {
    fn is_at_limit(&self) -> bool {
        self.limit >= 0 && self.count >= self.limit
    }

    fn received(&self) -> Result<&Replies, String> {
        self.replies.as_ref().ok_or_else(|| "there is no input for replies".to_string())
    }

    fn set_active(&mut self, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        self.active = crate::values::parse(text, "").map_err(|_| "type mismatch")?;
        if self.active {
            self.resume(Duration::ZERO, cx);
        } else {
            cx.unschedule_timer(0);
        }
        Ok(())
    }

    /// Goes on after `delay` if there is anything left to send.
    fn resume(&mut self, delay: Duration, cx: &mut Cx<'_>) {
        if !self.active || self.is_at_limit() {
            return;
        }
        if !cx.output_is_push(0) {
            self.empty.into_iter().for_each(|empty| cx.wake(empty));
        } else if cx.timer_expiry(0).is_none() {
            self.due = cx.steady() + delay;
            cx.schedule_timer_at(0, self.due);
        }
    }

    /// A new request with the data.
    fn request(&mut self, cx: &Cx<'_>) -> Packet {
        let mut p = Packet::with_room(64, &self.data, 0);
        self.encapsulate(&mut p, cx);
        p
    }

    /// Puts the headers of the next request in front of its data.
    fn encapsulate(&mut self, p: &mut Packet, cx: &Cx<'_>) -> Option<()> {
        let now = cx.steady();
        let number = (self.count % 0xFFFF) as u16 + 1;
        let mut header = Ipv4Header::default();
        (header.protocol, header.ttl) = (protocol::ICMP, TTL);
        header.set_source(self.source);
        header.set_destination(self.destination);
        header.set_identification(number);
        let (_, message) = prepend(p, header, size_of::<IcmpHeader>())?;
        *IcmpHeader::peek_mut(message)? = IcmpHeader::new(icmp_type::ECHO, 0);
        let mut icmp = IcmpMut::new(message)?;
        icmp.set_identifier(self.identifier);
        icmp.set_sequence(number);
        icmp.fill_checksum();
        p.set_timestamp(cx.router().clock().wall_at(now));
        self.count = self.count.wrapping_add(1).max(0);
        if let Some(replies) = &mut self.replies {
            replies.note_request(number, now);
        }
        Some(())
    }

    /// Looks at what came in. True if it is a reply to one of our requests.
    fn note_reply(&mut self, p: &Packet, cx: &Cx<'_>) -> bool {
        let (Some(ip), Some(replies)) = (p.network_header().and_then(Ipv4::new), &mut self.replies) else {
            return false;
        };
        let Some(icmp) = p.transport_header().and_then(Icmp::new).filter(|_| ip.protocol == protocol::ICMP)
        else {
            return false;
        };
        if icmp.icmp_type != icmp_type::ECHO_REPLY || icmp.identifier() != self.identifier {
            return false;
        }
        self.ages.look(cx.router().clock());
        let received = Some(p.timestamp()).filter(|t| !t.is_zero()).map(|t| self.ages.steady_time(t));
        let time = replies.note_reply(icmp.sequence(), received);
        if let Some(micros) = time.filter(|_| self.verbose) {
            let bytes = i64::from(ip.total_len()) - ip.ihl() as i64 - size_of::<IcmpHeader>() as i64;
            cx.chatter(&format!(
                "{} :: {}: {bytes} bytes from {}: icmp_seq={} ttl={} time={}.{:03} ms",
                cx.name(),
                CLASS.name,
                ip.source(),
                icmp.sequence(),
                ip.ttl,
                micros / 1000,
                micros % 1000
            ));
        }
        true
    }

    /// Makes a reply the next request.
    fn turn(&mut self, mut p: Packet, cx: &mut Cx<'_>) {
        let start = usize::try_from(p.network_offset().unwrap_or(0)).unwrap_or(0) + HEADERS;
        if p.len() < start {
            return cx.drop(p, "not an echo reply");
        }
        p.pull(start);
        match self.encapsulate(&mut p, cx) {
            Some(()) => cx.emit(0, p),
            None => cx.drop(p, "too long for IP"),
        }
    }

    fn end(&mut self, cx: &mut Cx<'_>) {
        if self.stop {
            cx.stop_driver();
        }
    }
}

impl Element for IcmpPingSource {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        args.read("SRC", &mut self.source).read("DST", &mut self.destination).read("DATA", &mut self.data);
        args.read("LIMIT", &mut self.limit).read("ACTIVE", &mut self.active).read("STOP", &mut self.stop);
        args.read("VERBOSE", &mut self.verbose).read("MIRROR", &mut self.mirror);
        self.identifier = args.get::<u16>("IDENTIFIER").unwrap_or(0).swap_bytes();
        let given = args.has("INTERVAL");
        let millis = args.get_with("INTERVAL", SecondsIn(3)).unwrap_or(1000);
        self.interval = Duration::from_millis(millis.into());
        if millis == 0 {
            args.warn("INTERVAL so small that it is zero");
        }
        if !cx.output_is_push(0) && given {
            args.warn("element is pull, INTERVAL parameter will be ignored");
        }
        if !cx.output_is_push(0) && self.mirror {
            args.error("MIRROR invalid on pull element");
        }
        if self.data.len() > MAX_DATA {
            args.error_in("DATA", format!("must be at most {MAX_DATA} bytes"));
        }
        self.empty = Some(cx.export_notifier(NotifierKind::Empty, Search::Stop));
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.replies = (cx.inputs() == 1).then(Replies::default);
        self.resume(self.interval, cx);
        Ok(())
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        for p in batch.take() {
            if self.note_reply(&p, cx) && self.mirror {
                self.turn(p, cx);
            }
        }
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        if self.is_at_limit() {
            return self.end(cx);
        }
        let p = self.request(cx);
        cx.emit(0, p);
        self.due = self.due + self.interval;
        cx.schedule_timer_at(0, self.due);
    }

    fn pull(&mut self, _: usize, _: usize, cx: &mut Cx<'_>) -> Batch {
        if self.active && !self.is_at_limit() {
            return Batch::one(self.request(cx));
        }
        if let Some(empty) = self.empty {
            cx.sleep(empty);
        }
        if self.active {
            self.end(cx);
            self.stop = false;
        }
        Batch::new()
    }

    fn cleanup(&mut self, cx: &mut Cx<'_>) {
        if let Some(replies) = self.replies.take().filter(|_| self.verbose) {
            let summary = replies.summary(self.count);
            summary.lines().for_each(|line| cx.chatter(&format!("{} :: {}: {line}", cx.name(), CLASS.name)));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::headers::{Icmp, Ipv4};
    use clickwork_router::Outcome;
    use std::time::Duration;

    #[test]
    fn requests_come_at_the_interval_and_are_numbered() {
        let mut t = Harness::new(
            "p :: ICMPPingSource(1.0.0.1, 2.0.0.2, INTERVAL 0.5, IDENTIFIER 258, DATA abc, LIMIT 3, STOP true) \
             -> CheckIPHeader -> CheckICMPHeader -> k :: Sink",
        );
        let start = t.router.clock().peek();
        assert_eq!(t.run(), Outcome::Stopped);
        // As in Click, the end is noticed when another request would be due.
        assert_eq!((t.router.clock().peek() - start).nanos() / 1_000_000, 2000);
        let packets = t.take("k");
        for (i, p) in packets.iter().enumerate() {
            let ip = Ipv4::new(p.data()).unwrap();
            let icmp = Icmp::new(ip.payload()).unwrap();
            assert_eq!((ip.identification(), icmp.sequence()), (i as u16 + 1, i as u16 + 1));
            assert_eq!(
                (ip.ttl, icmp.icmp_type, &ip.payload()[4..6], icmp.payload()),
                (200, 8, &[2, 1][..], &b"abc"[..])
            );
            assert_eq!(
                (p.dst_ip().to_string(), p.timestamp()),
                ("2.0.0.2".into(), start + Duration::from_millis(500) * (i as u32 + 1))
            );
        }
        assert_eq!((packets.len(), t.read("p.count")), (3, "3".into()));
    }

    /// Pings that are answered after `delay`.
    fn answered(options: &str, delay: &str, after: &str) -> Harness {
        Harness::new(&format!(
            "p :: ICMPPingSource(1.0.0.1, 2.0.0.2, INTERVAL 0.5{options}) -> Queue -> DelayUnqueue({delay}) \
             -> ICMPPingResponder {after} -> [0] p"
        ))
    }

    #[test]
    fn replies_are_timed_and_reported() {
        let mut t = answered(", LIMIT 2", "0.025", "-> SetTimestamp");
        t.run();
        let printed = t.printed();
        assert_eq!(printed.lines().count(), 2);
        assert!(
            printed.starts_with("p :: ICMPPingSource: 0 bytes from 2.0.0.2: icmp_seq=1 ttl=255 time=25.0"),
            "{printed}"
        );
        let summary = t.read("p.summary");
        assert!(
            summary.starts_with(
                "2 packets transmitted, 2 received, 0% packet loss\nrtt min/avg/max/mdev = 25.0"
            ),
            "{summary}"
        );
        assert!(t.read("p.rtt_min").starts_with("0.025"));
        t.router.cleanup();
        let end = t.printed();
        assert!(end.starts_with("p :: ICMPPingSource: 2 packets transmitted, 2 received"), "{end}");
        assert!(end.contains("\np :: ICMPPingSource: rtt min"), "{end}");
    }

    #[test]
    fn losses_and_duplicates_are_counted() {
        let mut t =
            answered(", LIMIT 4, VERBOSE false", "0.01", "-> x :: RoundRobinSwitch; x[1] -> Discard; x");
        t.run();
        assert!(t.read("p.summary").starts_with("4 packets transmitted, 2 received, 50% packet loss\n"));
        let mut t = answered(", LIMIT 4, VERBOSE false", "0.01", "-> tee :: Tee; tee[1] -> [0] p; tee[0]");
        t.run();
        assert!(t.read("p.summary").starts_with("4 packets transmitted, 4 received, +4 duplicates, "));
        t.write("p.reset_counts").unwrap();
        assert_eq!(t.read("p.summary"), "0 packets transmitted, 0 received");
        assert_eq!(t.printed(), "");
        t.run();
        assert_eq!(t.read("p.count"), "4");
    }

    #[test]
    fn other_packets_are_no_replies() {
        let mut t = answered(", LIMIT 3, IDENTIFIER 7", "0.01", "-> StoreData(25, \\<01>)");
        t.run();
        assert_eq!((t.read("p.count"), t.printed()), ("3".into(), String::new()));
        assert_eq!(t.read("p.rtt_max"), "0s");
    }

    #[test]
    fn a_mirror_goes_on_at_once() {
        let config = "p :: ICMPPingSource(1.0.0.1, 2.0.0.2, DATA hello, INTERVAL 1, LIMIT 1, MIRROR true, VERBOSE false) \
                      -> Tee => k :: Sink, r :: Null; r -> Queue -> DelayUnqueue(0.1) -> ICMPPingResponder -> p";
        let mut t = Harness::new(config);
        t.run_for(Duration::from_millis(1550));
        let sent = t.take("k");
        assert_eq!(sent.len(), 6);
        for (i, p) in sent.iter().enumerate() {
            let ip = Ipv4::new(p.data()).unwrap();
            let icmp = Icmp::new(ip.payload()).unwrap();
            assert_eq!(
                (ip.source().to_string(), icmp.sequence(), icmp.payload()),
                ("1.0.0.1".into(), i as u16 + 1, &b"hello"[..])
            );
            assert!(ip.checksum_is_right() && icmp.checksum_is_right());
        }
    }

    #[test]
    fn it_can_be_pulled_and_changed() {
        let mut t = Harness::new("p :: ICMPPingSource(1.0.0.1, 2.0.0.2, LIMIT 3) -> Unqueue -> k :: Sink");
        assert_eq!((t.run(), t.take("k").len()), (Outcome::Exhausted, 3));
        t.write("p.dst 3.0.0.3").unwrap();
        t.write("p.limit 4").unwrap();
        t.run();
        assert_eq!(t.take("k")[0].dst_ip().to_string(), "3.0.0.3");
        assert_eq!(t.write("p.src x").unwrap_err(), "syntax error");
        assert_eq!(t.write("p.limit x").unwrap_err(), "'limit' should be integer");
        assert_eq!(t.write("p.active x").unwrap_err(), "type mismatch");
        assert_eq!(t.write("p.interval x").unwrap_err(), "'interval' should be an interval");
        let e = Harness::errors("ICMPPingSource(1.0.0.1, 2.0.0.2, MIRROR true) -> Unqueue -> Discard");
        assert!(e.contains("MIRROR invalid on pull element"), "{e}");
    }

    #[test]
    fn it_can_be_paused() {
        let mut t = Harness::new("p :: ICMPSendPings(1.0.0.1, 2.0.0.2, ACTIVE false) -> k :: Sink");
        assert_eq!((t.run(), t.take("k").len()), (Outcome::Exhausted, 0));
        t.write("p.active true").unwrap();
        t.run_for(Duration::from_millis(2500));
        assert_eq!((t.take("k").len(), t.read("p.active")), (3, "true".into()));
        t.write("p.active false").unwrap();
        t.run();
        assert_eq!(t.take("k").len(), 0);
    }
}

//! ARPQuerier: puts IP packets into Ethernet frames, asking by ARP for the addresses (RFC 826, RFC 1122 §2.3.2).

use super::arp_cache::{Answer, ArpCache};
use super::arp_table::{self, LIMIT_ARGS};
use super::ether_encap::{encapsulate, ethernet_header};
use super::shared_cache::Cache;
use crate::named::element_of;
use clickwork_packet::addr::{EtherAddress, Ipv4Address, Ipv4Prefix};
use clickwork_packet::headers::arp::{Arp, ArpHeader, operation};
use clickwork_packet::headers::ethernet::ethertype;
use clickwork_packet::{BATCH_SIZE, Batch, DEFAULT_HEADROOM, Packet, Timestamp, anno};
use clickwork_router::args::{ArgSpec, ArgType, Args, HostOrPrefix};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, ElementId, read_handler, write_handler};
use std::sync::Arc;
use std::time::Duration;
use zerocopy::IntoBytes;

/// The class facts.
pub static CLASS: Class = Class {
    help: "encapsulates IP packets in Ethernet frames, found by ARP",
    manual: "Input 0 takes IP packets whose destination-address annotation says the next hop; each leaves output 0 with an \
             Ethernet header. While the next hop's Ethernet address is not known the packet waits, and an ARP query is \
             sent (by output 1 if connected, otherwise output 0), at most ten times a second. Input 1 takes ARP \
             responses. Broadcast addresses are sent to the Ethernet broadcast address, IP groups to their Ethernet \
             groups; responses that claim such an address, or the querier's own, are dropped. An address that has not been confirmed for POLL_TIMEOUT is asked for again while it is in use.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> SetIPAddress(10.0.0.2) -> q :: ARPQuerier(10.0.0.1, 2:0:0:0:0:1) -> Discard; \
              Idle -> [1] q; Script(write q.insert 10.0.0.2 2:0:0:0:0:2)",
    ports: "2/1-2",
    processing: "h/h",
    flow: "xy/x",
    packets: "ip@0,arp-reply/new ether-ip mark ip@14|new arp-query alone,new arp-query",
    args: &[
        LIMIT_ARGS[0],
        LIMIT_ARGS[1],
        LIMIT_ARGS[2],
        LIMIT_ARGS[3],
        LIMIT_ARGS[4],
        ArgSpec::keyword("BROADCAST", ArgType::IpAddr, "", "the local broadcast address"),
        ArgSpec::keyword("TABLE", ArgType::Element, "", "an ARPTable to use instead of a table of its own"),
        ArgSpec::keyword("POLL_TIMEOUT", ArgType::Seconds, "1m", "when to confirm an entry; 0: never"),
        ArgSpec::keyword(
            "BROADCAST_POLL",
            ArgType::Bool,
            "false",
            "whether confirming queries are broadcast",
        ),
        ArgSpec::required("IP", ArgType::IpAddrOrPrefix, "own IP address, perhaps with the network"),
        ArgSpec::positional(
            "ETH",
            ArgType::EtherAddr,
            "",
            "own Ethernet address; mandatory unless IP is a name that has one",
        ),
    ],
    handlers: &[
        read_handler!(
            "table",
            "addresses, whether known, Ethernet addresses, ages",
            |e: &mut ArpQuerier, cx| e.cache.hold().print(cx.steady())
        ),
        read_handler!("stats", "drops and queries in words", |e: &mut ArpQuerier, _| {
            format!("{} packets killed\n{} ARP queries sent\n", e.all_drops(), e.queries)
        }),
        read_handler!("queries", "ARP queries sent", |e: &mut ArpQuerier, _| e.queries),
        read_handler!("responses", "ARP responses received", |e: &mut ArpQuerier, _| e.responses),
        read_handler!(
            "drops",
            "packets dropped without waiting; 'stats' also counts those that waited in vain",
            |e: &mut ArpQuerier, _| e.drops
        ),
        read_handler!("count", "entries", |e: &mut ArpQuerier, _| e.cache.hold().count()),
        read_handler!("length", "packets that wait", |e: &mut ArpQuerier, _| e.cache.hold().length()),
        read_handler!("ipaddr", "own IP address", |e: &mut ArpQuerier, _| e.own.ip.to_string()).and_write(
            write_handler!("", "", |e: &mut ArpQuerier, text, cx| {
                e.own.ip = crate::values::parse_with(text, &cx.names(), "IP address")?;
                Ok::<(), String>(())
            }),
        ),
        read_handler!("broadcast", "local broadcast address", |e: &mut ArpQuerier, _| e
            .own
            .broadcast
            .to_string())
        .and_write(write_handler!("", "", |e: &mut ArpQuerier, text, cx| {
            e.own.broadcast = crate::values::parse_with(text, &cx.names(), "IP address")?;
            Ok::<(), String>(())
        })),
        write_handler!("insert", "adds an entry: IP ETHER", |e: &mut ArpQuerier, text, cx| {
            arp_table::insert(&mut e.cache.hold(), text, cx)
        }),
        write_handler!("delete", "forgets an address", |e: &mut ArpQuerier, text, cx| {
            arp_table::delete(&mut e.cache.hold(), text, cx)
        }),
        write_handler!(
            "clear",
            "removes all entries, and restarts the counts",
            |e: &mut ArpQuerier, _, cx| {
                (e.queries, e.responses, e.drops) = (0, 0, 0);
                e.losing(cx, |cache, _| cache.clear());
            }
        ),
    ],
    ..Class::new("ARPQuerier", "ethernet", || Box::<ArpQuerier>::default())
};

const ETHER: usize = 14;

/// What the configuration says about this side of the link.
#[derive(Clone, Copy)]
struct Own {
    ip: Ipv4Address,
    ether: EtherAddress,
    broadcast: Ipv4Address,
    poll_after: Duration,
    broadcast_poll: bool,
}

struct ArpQuerier {
    own: Own,
    cache: Cache,
    table: Option<ElementId>,
    queries: u64,
    responses: u64,
    drops: u64,
    zero_warned: bool,
}

impl Default for ArpQuerier {
    fn default() -> ArpQuerier {
        let own = Own {
            ip: Ipv4Address::default(),
            ether: EtherAddress::default(),
            broadcast: Ipv4Address::default(),
            poll_after: Duration::from_secs(60),
            broadcast_poll: false,
        };
        ArpQuerier {
            own,
            cache: Cache::default(),
            table: None,
            queries: 0,
            responses: 0,
            drops: 0,
            zero_warned: false,
        }
    }
}

/// A question to the network: who has this address?
struct Question {
    ip: Ipv4Address,
    /// Whom to ask.
    to: EtherAddress,
    /// From the packet that needs the answer.
    timestamp: Timestamp,
    vlan_tci: u16,
}

impl Question {
    fn about(p: &Packet, to: EtherAddress) -> Question {
        Question { ip: p.dst_ip(), to, timestamp: p.timestamp(), vlan_tci: p.anno_u16(anno::VLAN_TCI) }
    }
}

/// What became of a batch: which packets are not resolved, and what to ask.
struct Resolved {
    marks: [u16; BATCH_SIZE],
    all: bool,
    ask: Vec<Question>,
}

/// Marks a packet of a batch whose next hop is not known.
const UNRESOLVED: u16 = 1;

impl Own {
    /// The Ethernet address for an IP address that needs no ARP: a broadcast or a group.
    fn without_arp(&self, ip: Ipv4Address) -> Option<EtherAddress> {
        if ip == Ipv4Address::BROADCAST || ip == self.broadcast {
            Some(EtherAddress::BROADCAST)
        } else {
            ip.is_multicast().then(|| EtherAddress::ipv4_multicast(ip))
        }
    }

    /// Whether another station can have this address: nobody may claim ours, or what is sent to many.
    fn may_have_station(&self, ip: Ipv4Address) -> bool {
        ip != self.ip && !ip.is_unspecified() && self.without_arp(ip).is_none()
    }

    fn encapsulate(&self, p: &mut Packet, destination: EtherAddress) {
        encapsulate(p, &ethernet_header(destination, self.ether, ethertype::IPV4));
        p.set_mac_header(0, ETHER as u32);
    }

    fn find(
        &self,
        cache: &mut ArpCache,
        p: &Packet,
        now: Timestamp,
        ask_for: &mut Vec<Question>,
    ) -> Option<EtherAddress> {
        let ip = p.dst_ip();
        match cache.lookup(ip, now, self.poll_after) {
            Answer::Known { ether, ask } => {
                if ask {
                    let to = if self.broadcast_poll { EtherAddress::BROADCAST } else { ether };
                    ask_for.push(Question::about(p, to));
                }
                Some(ether)
            }
            Answer::Unknown => self.without_arp(ip),
        }
    }
}

impl ArpQuerier {
    fn all_drops(&mut self) -> u64 {
        self.drops + self.cache.hold().drops()
    }

    /// Encapsulates what can be, in place, and marks the rest. Also returns what should be asked for again.
    fn resolve(&mut self, batch: &mut Batch, now: Timestamp) -> Resolved {
        let mut r = Resolved { marks: [0; BATCH_SIZE], all: true, ask: Vec::new() };
        let mut cache = self.cache.hold();
        // Packets of a batch mostly have the same next hop.
        let mut last: Option<(Ipv4Address, EtherAddress)> = None;
        for (p, mark) in batch.iter_mut().zip(&mut r.marks) {
            let ip = p.dst_ip();
            let found = match last {
                Some((known, ether)) if known == ip => Some(ether),
                _ => self.own.find(&mut cache, p, now, &mut r.ask),
            };
            match found {
                Some(ether) => {
                    last = Some((ip, ether));
                    self.own.encapsulate(p, ether);
                }
                None => {
                    *mark = UNRESOLVED;
                    r.all = false;
                }
            }
        }
        r
    }

    /// Lets a packet wait for its next hop's address, and asks for it.
    fn wait(&mut self, p: Packet, cx: &mut Cx<'_>) {
        let ip = p.dst_ip();
        if ip.is_unspecified() {
            self.warn_of_zero(cx);
            self.drops += 1;
            return cx.drop(p, "no next hop");
        }
        let question = Question::about(&p, EtherAddress::BROADCAST);
        let ask = self.losing(cx, |cache, now| cache.wait(ip, p, now));
        if ask {
            self.query(&question, cx);
        }
    }

    fn warn_of_zero(&mut self, cx: &Cx<'_>) {
        if !std::mem::replace(&mut self.zero_warned, true) {
            let declaration = format!("{} :: {}", cx.name(), cx.info().class_name);
            cx.chatter(&format!("{declaration}: would query for 0.0.0.0; missing dest IP addr annotation?"));
        }
    }

    fn query(&mut self, question: &Question, cx: &mut Cx<'_>) {
        let wanted = (EtherAddress::default(), question.ip);
        let arp = ArpHeader::new(operation::REQUEST, (self.own.ether, self.own.ip), wanted);
        let mut q = Packet::with_room(DEFAULT_HEADROOM, arp.as_bytes(), 0);
        encapsulate(&mut q, &ethernet_header(question.to, self.own.ether, ethertype::ARP));
        q.set_mac_header(0, ETHER as u32);
        q.set_timestamp(question.timestamp);
        q.set_anno_u16(anno::VLAN_TCI, question.vlan_tci);
        self.queries += 1;
        cx.emit(cx.outputs() - 1, q);
    }

    /// Learns from an ARP response and sends what waited for it.
    fn learn(&mut self, p: &Packet, cx: &mut Cx<'_>) {
        if p.len() >= ETHER + size_of::<ArpHeader>() {
            self.responses += 1;
        }
        let Some(arp) = reply_in(p) else { return cx.count_drop("not an ARP reply", 1) };
        if !self.own.may_have_station(arp.sender_ip()) {
            return cx.count_drop("ARP reply for an address of no other station", 1);
        }
        self.losing(cx, |cache, now| cache.insert(arp.sender_ip(), arp.sender_ether, now));
        let waiting = self.cache.hold().take_waiting(arp.sender_ip());
        for mut p in waiting {
            self.own.encapsulate(&mut p, arp.sender_ether);
            cx.emit(0, p);
        }
    }

    /// Does something to the cache that may end packets that wait, and counts those.
    fn losing<R>(&mut self, cx: &mut Cx<'_>, change: impl FnOnce(&mut ArpCache, Timestamp) -> R) -> R {
        arp_table::losing(&mut self.cache.hold(), cx, change)
    }

    fn push_ip(&mut self, batch: &mut Batch, cx: &mut Cx<'_>) {
        if self.own.ip.is_unspecified() {
            self.drops += batch.len() as u64;
            return cx.drop_batch(batch, "own address not configured");
        }
        let Resolved { marks, all, ask } = self.resolve(batch, cx.recent());
        ask.iter().for_each(|question| self.query(question, cx));
        if !all {
            for (_, p) in batch.extract(&marks) {
                self.wait(p, cx);
            }
        }
    }
}

/// The ARP reply in a frame, if its sender can be learned.
fn reply_in(p: &Packet) -> Option<Arp<'_>> {
    let is_arp = p.data().get(12..ETHER)? == ethertype::ARP.to_be_bytes();
    Arp::new(&p.data()[ETHER..])
        .filter(|arp| is_arp && arp.operation() == operation::REPLY && !arp.sender_ether.is_multicast())
}

/// Whether an ARPQuerier of the router may use another's cache.
fn somebody_shares(cx: &Cx<'_>) -> bool {
    let router = cx.router();
    let queriers = router.ids().map(|id| router.info(id)).filter(|info| info.class.name == CLASS.name);
    queriers.into_iter().any(|info| info.config.contains("TABLE"))
}

impl Element for ArpQuerier {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let limits = arp_table::read_limits(args);
        args.read("POLL_TIMEOUT", &mut self.own.poll_after)
            .read("BROADCAST_POLL", &mut self.own.broadcast_poll);
        let has_table = |id| [arp_table::CLASS.name, CLASS.name].contains(&cx.router().info(id).class.name);
        self.table = element_of(args, "TABLE", arp_table::CLASS.name, has_table, cx);
        let own: Option<HostOrPrefix<Ipv4Prefix>> = args.get("IP");
        let ether = match args.has("ETH") {
            true => args.get("ETH"),
            // A name may stand for an IP and an Ethernet address at once.
            false => args.raw("IP").and_then(|name| args.names().ether(name)),
        };
        match ether {
            Some(ether) => self.own.ether = ether,
            // What stands for the IP address was to stand for this one too.
            None if !args.has("ETH") && args.has("IP") => args.error("ETH: parse error"),
            None if !args.has("ETH") => args.error("ETH: required argument missing"),
            None => {}
        }
        if let Some(own) = own {
            self.own.ip = own.0.address;
            self.own.broadcast = own.0.broadcast();
        }
        if self.own.broadcast == self.own.ip {
            self.own.broadcast = Ipv4Address::BROADCAST;
        }
        args.read("BROADCAST", &mut self.own.broadcast);
        self.cache.hold().limits = limits;
        if let Cache::Shared(cache) = &self.cache {
            cx.export(Arc::clone(cache));
        }
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        if let Some(id) = self.table {
            let missing = "TABLE: element type mismatch, expected ARPTable";
            self.cache = Cache::Shared(cx.exported(id).ok_or(missing)?);
            return Ok(());
        }
        if !somebody_shares(cx) {
            self.cache.make_own();
        }
        if let Some(interval) = arp_table::first_expiry(&self.cache.hold().limits) {
            cx.schedule_timer_after(0, interval);
        }
        Ok(())
    }

    fn push(&mut self, port: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        if port == 0 {
            return self.push_ip(batch, cx);
        }
        for p in batch.drain() {
            self.learn(&p, cx);
        }
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        let now = cx.steady();
        self.losing(cx, |cache, _| cache.expire(now));
        if let Some(interval) = arp_table::expiry_interval(&self.cache.hold().limits) {
            cx.schedule_timer_after(0, interval);
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<ArpQuerier>(old) {
            (self.queries, self.responses, self.drops) = (old.queries, old.responses, old.drops);
            let same = self.own.ip == old.own.ip && self.own.ether == old.own.ether;
            if same && self.table.is_none() && old.table.is_none() {
                arp_table::take_cache(&mut self.cache.hold(), &mut old.cache.hold());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Harness;
    use clickwork_packet::headers::EthernetHeader;

    const CONFIG: &str = "s :: Source -> q :: ARPQuerier(10.0.0.1/24, 2:0:0:0:0:1); r :: Source -> [1] q;
                          q[0] -> ip :: Sink; q[1] -> arp :: Sink";

    fn ip_to(last: u8) -> Packet {
        let mut p = Packet::new(&[0x45, last]);
        p.set_dst_ip(Ipv4Address::new(10, 0, 0, last));
        p
    }

    fn reply_from(last: u8) -> Packet {
        let me = (EtherAddress([2, 0, 0, 0, 0, 1]), Ipv4Address::new(10, 0, 0, 1));
        let who = (EtherAddress([2, 0, 0, 0, 0, last]), Ipv4Address::new(10, 0, 0, last));
        let mut bytes = EthernetHeader::new(me.0, who.0, ethertype::ARP).as_bytes().to_vec();
        bytes.extend_from_slice(ArpHeader::new(operation::REPLY, who, me).as_bytes());
        Packet::new(&bytes)
    }

    #[test]
    fn keywords_may_stand_before_the_addresses() {
        for args in ["TABLE t, 10.0.0.1, 2:0:0:0:0:1", "10.0.0.1, TIMEOUT 3, 2:0:0:0:0:1", "TABLE t, me"] {
            let mut t = Harness::new(&format!(
                "AddressInfo(me 10.0.0.1/24 2:0:0:0:0:1); t :: ARPTable; s :: Source -> q :: ARPQuerier({args}) -> k :: Sink;
                 Idle -> [1] q"
            ));
            t.push("s", 0, [ip_to(7)]);
            let query = t.bytes("k").remove(0);
            assert_eq!(
                (&query[6..12], &query[28..32]),
                (&[2, 0, 0, 0, 0, 1][..], &[10, 0, 0, 1][..]),
                "{args}"
            );
            assert_eq!(t.read("q.broadcast"), "255.255.255.255", "{args}");
        }
    }

    #[test]
    fn a_table_must_be_one() {
        for (table, message) in [
            ("nobody", "TABLE: does not name an element"),
            ("i", "TABLE: element type mismatch, expected ARPTable"),
        ] {
            let config = format!(
                "i :: Idle -> q :: ARPQuerier(10.0.0.1, 2:0:0:0:0:1, TABLE {table}) -> Discard; Idle -> [1] q"
            );
            let e = Harness::errors(&config);
            assert!(e.contains(message), "{e}");
        }
    }

    #[test]
    fn packets_wait_for_the_answer_and_leave_in_order() {
        for batched in [false, true] {
            let mut t = if batched { Harness::batched(CONFIG) } else { Harness::new(CONFIG) };
            t.push("s", 0, [ip_to(2), ip_to(3), ip_to(2)]);
            assert!(t.take("ip").is_empty());
            let queries = t.bytes("arp");
            assert_eq!(queries.len(), 2);
            assert_eq!(queries[0][..14], [255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 1, 8, 6]);
            assert_eq!(queries[0][38..], [10, 0, 0, 2]);
            t.push("q", 1, [reply_from(2)]);
            let sent = t.bytes("ip");
            assert_eq!(sent.len(), 2);
            assert_eq!(sent[1], [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 2]);
            assert_eq!([t.read("q.length"), t.read("q.queries"), t.read("q.responses")], ["1", "2", "1"]);
        }
    }

    #[test]
    fn a_mixed_batch_splits_into_known_and_waiting() {
        let mut t = Harness::batched(CONFIG);
        t.write("q.insert 10.0.0.2 2:0:0:0:0:2").unwrap();
        t.push_batch("s", 0, [ip_to(2), ip_to(9), ip_to(2), ip_to(255)]);
        let sent = t.bytes("ip");
        assert_eq!(sent.iter().map(|b| b[15]).collect::<Vec<_>>(), [2, 2, 255]);
        assert_eq!(sent[2][..6], [255; 6]);
        assert_eq!(t.read("q.length"), "1");
    }

    #[test]
    fn every_packet_that_ends_is_counted() {
        let mut t = Harness::new(CONFIG);
        let reply = reply_from(2).data().to_vec();
        let changed = |at: usize, to: u8| {
            let mut bytes = reply.clone();
            bytes[at] = to;
            Packet::new(&bytes)
        };
        t.push("q", 1, [Packet::new(&reply[..41]), changed(21, 1), changed(22, 1), changed(13, 0)]);
        assert_eq!((t.router.total_drops(), t.read("q.count").as_str()), (4, "0"));
        t.push("q", 1, [reply_from(2)]);
        assert_eq!(t.router.total_drops(), 4);
        t.push("s", 0, [ip_to(9), ip_to(9)]);
        t.run_for(Duration::from_secs(700));
        assert_eq!((t.router.total_drops(), t.read("q.length").as_str()), (6, "0"));
        t.push("s", 0, [ip_to(8)]);
        t.write("q.clear").unwrap();
        assert_eq!(t.router.total_drops(), 7);
    }

    #[test]
    fn a_missing_annotation_is_said_once() {
        let mut t = Harness::new(CONFIG);
        t.push("s", 0, [Packet::new(b"x"), Packet::new(b"y")]);
        assert_eq!(t.printed().lines().count(), 1);
        assert_eq!(t.read("q.drops"), "2");
    }

    /// A forged reply for one station replaces what is known (RFC 826), but touches nobody else's traffic.
    #[test]
    fn spoofed_replies_redirect_no_broadcasts_and_grow_nothing() {
        let config = CONFIG.replace("2:0:0:0:0:1)", "2:0:0:0:0:1, ENTRY_CAPACITY 50)");
        let mut t = Harness::new(&config);
        let reply = |ip: Ipv4Address| {
            let mut p = reply_from(66);
            p.data_mut()[28..32].copy_from_slice(&ip.octets());
            p
        };
        let mut forged: Vec<_> = ["10.0.0.255", "255.255.255.255", "224.0.0.1", "10.0.0.1", "0.0.0.0"]
            .map(|ip| reply(ip.parse().unwrap()))
            .into();
        t.push("q", 1, forged.drain(..));
        assert_eq!(t.read("q.count"), "0");
        assert_eq!(t.read("q.drop_reasons"), "5\tARP reply for an address of no other station\n");
        t.push("s", 0, [ip_to(255)]);
        assert_eq!(t.bytes("ip")[0][..6], [0xFF; 6]);
        t.push("q", 1, (0..2000u32).map(|n| reply(Ipv4Address::from_bits(0x0A00_0100 + n))));
        assert_eq!(t.read("q.count"), "50");
        t.push("q", 1, [reply_from(2)]);
        t.push("s", 0, [ip_to(2)]);
        assert_eq!(t.bytes("ip")[0][..6], [2, 0, 0, 0, 0, 2]);
    }

    #[test]
    fn hostile_responses_teach_nothing() {
        let mut t = Harness::new(CONFIG);
        t.push("s", 0, [ip_to(2)]);
        let mut group = reply_from(2);
        group.data_mut()[22] |= 1;
        let mut request = reply_from(2);
        request.data_mut()[21] = 1;
        let cut = Packet::new(&reply_from(2).data()[..41]);
        t.push("q", 1, [group, request, cut, Packet::new(b"")]);
        assert!(t.take("ip").is_empty());
        assert!(t.read("q.table").starts_with("10.0.0.2 0 "));
    }
}

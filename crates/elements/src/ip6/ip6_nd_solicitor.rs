//! IP6NDSolicitor: puts IPv6 packets into Ethernet frames, asking by neighbour discovery for the addresses (RFC 4861 §7.2).

use super::nd::cache::{Answer, Learned, Limits, NeighborCache};
use super::nd::message::{Message, flag, option, solicitation};
use crate::ethernet::ether_encap::{encapsulate, ethernet_header};
use clickwork_packet::addr::{EtherAddress, Ipv6Address};
use clickwork_packet::headers::ethernet::ethertype;
use clickwork_packet::headers::icmp6::icmp6_type;
use clickwork_packet::{BATCH_SIZE, Batch, Packet, Timestamp};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, read_handler, write_handler};
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "encapsulates IPv6 packets in Ethernet frames, found by neighbour discovery",
    manual: "Input 0 takes IPv6 packets whose destination annotation says the next hop; each leaves output 0 with an \
             Ethernet header. While the next hop's Ethernet address is not known the packet waits, the latest for each next \
             hop, and a neighbour solicitation is sent, by output 1 if connected, otherwise output 0: for each packet at \
             first, later once a second. Input 1 takes neighbour advertisements, with Ethernet headers. Those that are not \
             valid (RFC 4861 §7.1.2), that nobody asked for, or that would replace a known address without saying so, teach \
             nothing. An address is asked for again after a minute, and forgotten after two without an answer. Packets to \
             multicast groups need no answer.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> SetIP6Address(2001:db8::2) \
              -> q :: IP6NDSolicitor(2001:db8::1, 2:0:0:0:0:1) -> Discard; \
              Idle -> [1] q; Script(write q.insert 2001:db8::2 2:0:0:0:0:2)",
    ports: "2/1-2",
    processing: "h/h",
    flow: "xy/x",
    packets: "ip6@0,ether-ip6/new ether-ip6 mark ip6@14|new ether-ip6 alone,new ether-ip6",
    args: &[
        ArgSpec::required("IP", ArgType::Ip6Addr, "own IPv6 address"),
        ArgSpec::required("ETH", ArgType::EtherAddr, "own Ethernet address"),
        ArgSpec::keyword(
            "CAPACITY",
            ArgType::U32,
            "2048",
            "addresses asked for, each with a packet that waits",
        ),
        ArgSpec::keyword("ENTRY_CAPACITY", ArgType::U32, "131072", "addresses that are known"),
    ],
    handlers: &[
        read_handler!(
            "table",
            "addresses, whether known, Ethernet addresses",
            |e: &mut IP6NDSolicitor, _| e.cache.print()
        ),
        read_handler!("stats", "drops and solicitations in words", |e: &mut IP6NDSolicitor, _| {
            format!("{} packets killed\n{} ND Solicitation Message sent\n", e.cache.lost(), e.queries)
        }),
        read_handler!("count", "entries", |e: &mut IP6NDSolicitor, _| e.cache.count()),
        write_handler!("insert", "adds an entry: IP ETHER", |e: &mut IP6NDSolicitor, text, cx| {
            e.insert(text, cx)
        }),
        write_handler!("delete", "forgets an address", |e: &mut IP6NDSolicitor, text, cx| {
            let address = crate::values::parse_with(text, &cx.names(), "IPv6 address")?;
            e.losing(cx, |cache| cache.remove(address));
            Ok::<(), String>(())
        }),
        write_handler!("clear", "removes all entries", |e: &mut IP6NDSolicitor, _, cx| e
            .losing(cx, NeighborCache::clear)),
    ],
    ..Class::new("IP6NDSolicitor", "ip6", || Box::<IP6NDSolicitor>::default())
};

const INSERT_ARGS: &[ArgSpec] = &[
    ArgSpec::required("IP", ArgType::Ip6Addr, "the address"),
    ArgSpec::required("ETH", ArgType::EtherAddr, "its Ethernet address"),
];

/// How often entries are looked through.
const EXPIRY_INTERVAL: Duration = Duration::from_secs(15);

#[derive(Default)]
struct IP6NDSolicitor {
    ip: Ipv6Address,
    ether: EtherAddress,
    cache: NeighborCache,
    queries: u64,
}

/// Marks a packet of a batch whose next hop is not known.
const UNRESOLVED: u16 = 1;

impl IP6NDSolicitor {
    fn encapsulate(&self, p: &mut Packet, destination: EtherAddress) {
        encapsulate(p, &ethernet_header(destination, self.ether, ethertype::IPV6));
        p.set_mac_offset(0);
    }

    /// Does something to the cache that may end packets that wait, and counts those.
    fn losing<R>(&mut self, cx: &mut Cx<'_>, change: impl FnOnce(&mut NeighborCache) -> R) -> R {
        let before = self.cache.lost();
        let result = change(&mut self.cache);
        if self.cache.lost() > before {
            cx.count_drop("no answer from the next hop", self.cache.lost() - before);
        }
        result
    }

    fn insert(&mut self, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        let mut args = Args::from_words(INSERT_ARGS, text, &cx.names());
        let (ip, ether) = (args.get::<Ipv6Address>("IP"), args.get::<EtherAddress>("ETH"));
        args.finish().map_err(|e| e.to_string())?;
        let (Some(ip), Some(ether)) = (ip, ether) else { return Err("expected IP ETH".to_string()) };
        let now = cx.recent();
        if let Some(p) = self.losing(cx, |cache| cache.insert(ip, ether, now)) {
            self.send(p, ether, cx);
        }
        Ok(())
    }

    fn send(&self, mut p: Packet, ether: EtherAddress, cx: &mut Cx<'_>) {
        self.encapsulate(&mut p, ether);
        cx.emit(0, p);
    }

    fn query(&mut self, target: Ipv6Address, cx: &mut Cx<'_>) {
        self.queries += 1;
        cx.emit(cx.outputs() - 1, solicitation((self.ether, self.ip), target));
    }

    /// The Ethernet address of a next hop; `ask_for` gets it if it should be asked for all the same.
    fn find(&mut self, ip: Ipv6Address, ask_for: &mut Vec<Ipv6Address>) -> Option<EtherAddress> {
        if ip.is_multicast() {
            return Some(EtherAddress::ipv6_multicast(ip));
        }
        match self.cache.lookup(ip) {
            Answer::Known { ether, ask } => {
                if ask {
                    ask_for.push(ip);
                }
                Some(ether)
            }
            Answer::Unknown => None,
        }
    }

    /// Encapsulates what can be, in place; the others wait.
    fn push_ip(&mut self, batch: &mut Batch, cx: &mut Cx<'_>) {
        let mut marks = [0; BATCH_SIZE];
        let (mut ask_for, mut all) = (Vec::new(), true);
        // Packets of a batch mostly have the same next hop.
        let mut last: Option<(Ipv6Address, EtherAddress)> = None;
        for (p, mark) in batch.iter_mut().zip(&mut marks) {
            let ip = p.dst_ip6();
            let found = match last {
                Some((known, ether)) if known == ip => Some(ether),
                _ => self.find(ip, &mut ask_for),
            };
            match found {
                Some(ether) => {
                    last = Some((ip, ether));
                    self.encapsulate(p, ether);
                }
                None => (*mark, all) = (UNRESOLVED, false),
            }
        }
        ask_for.into_iter().for_each(|ip| self.query(ip, cx));
        if !all {
            let now = cx.recent();
            for (_, p) in batch.extract(&marks) {
                self.wait(p, now, cx);
            }
        }
    }

    /// Lets a packet wait for its next hop's address, and asks for it.
    fn wait(&mut self, p: Packet, now: Timestamp, cx: &mut Cx<'_>) {
        let ip = p.dst_ip6();
        if ip.is_unspecified() {
            return cx.drop(p, "no next hop");
        }
        if self.losing(cx, |cache| cache.wait(ip, p, now)) {
            self.query(ip, cx);
        }
    }

    /// Learns from an advertisement and sends what waited for it.
    fn learn(&mut self, p: &Packet, cx: &mut Cx<'_>) -> Result<(), &'static str> {
        let message = Message::parse(p.data(), icmp6_type::NEIGHBOR_ADVERTISEMENT)?;
        if message.ip.destination().is_multicast() && message.flags & flag::SOLICITED != 0 {
            return Err("malformed neighbour discovery");
        }
        let ether = message.link_address(option::TARGET_ADDRESS).ok_or("no link-layer address")?;
        if ether.is_multicast() || ether.is_zero() {
            return Err("malformed neighbour discovery");
        }
        let (target, overrides, now) = (message.target, message.flags & flag::OVERRIDE != 0, cx.recent());
        match self.losing(cx, |cache| cache.learn(target, ether, overrides, now)) {
            Learned::Ignored => Err("unwanted advertisement"),
            Learned::Known { changed, waiting } => {
                if changed {
                    cx.report("IP6NDSolicitor overwriting an entry", || {
                        "IP6NDSolicitor overwriting an entry".to_string()
                    });
                }
                waiting.into_iter().for_each(|p| self.send(p, ether, cx));
                Ok(())
            }
        }
    }
}

impl Element for IP6NDSolicitor {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let mut limits = Limits { known: 131_072, asked: 2048 };
        args.read("IP", &mut self.ip).read("ETH", &mut self.ether);
        args.read("CAPACITY", &mut limits.asked).read("ENTRY_CAPACITY", &mut limits.known);
        self.cache.limit(limits);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        cx.schedule_timer_after(0, EXPIRY_INTERVAL);
        Ok(())
    }

    fn push(&mut self, port: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        if port == 0 {
            return self.push_ip(batch, cx);
        }
        for p in batch.drain() {
            if let Err(reason) = self.learn(&p, cx) {
                cx.drop(p, reason);
            }
        }
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        let now = cx.steady();
        self.losing(cx, |cache| cache.expire(now));
        cx.schedule_timer_after(0, EXPIRY_INTERVAL);
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<IP6NDSolicitor>(old)
            && (self.ip, self.ether) == (old.ip, old.ether)
        {
            self.cache.take_entries(&mut old.cache);
            self.queries = old.queries;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::nd::message::tests::{advertisement, forgeries, host};
    use super::*;
    use crate::testing::Harness;

    const CONFIG: &str = "s :: Source -> q :: IP6NDSolicitor(2001:db8::1, 2:0:0:0:0:1); Idle -> [1] q;
                          q[0] -> ip :: Sink; q[1] -> nd :: Sink";

    fn to(last: u8) -> Packet {
        let mut p = Packet::new(&[0x60, last]);
        p.set_dst_ip6(host(last).1);
        p
    }

    fn answer(last: u8) -> Packet {
        advertisement(host(last), host(1), flag::SOLICITED | flag::OVERRIDE)
    }

    #[test]
    fn the_latest_packet_waits_for_the_answer() {
        for batched in [false, true] {
            let mut t = if batched { Harness::batched(CONFIG) } else { Harness::new(CONFIG) };
            t.push("s", 0, [to(2), to(3), to(2)]);
            assert!(t.take("ip").is_empty());
            let expected = [2, 3, 2].map(|n| solicitation(host(1), host(n).1).data().to_vec());
            assert_eq!(t.bytes("nd"), expected);
            t.push("q", 1, [answer(2)]);
            assert_eq!(t.bytes("ip"), [[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xdd, 0x60, 2]]);
            t.push("s", 0, [to(2)]);
            assert_eq!((t.bytes("ip").len(), t.bytes("nd").len()), (1, 0));
            assert_eq!(t.read("q.stats"), "1 packets killed\n3 ND Solicitation Message sent\n");
            let table = "2001:db8::2 1 02-00-00-00-00-02\n2001:db8::3 0 00-00-00-00-00-00\n";
            assert_eq!(t.read("q.table"), table);
        }
    }

    #[test]
    fn a_mixed_batch_splits_into_known_and_waiting() {
        let mut t = Harness::batched(CONFIG);
        t.write("q.insert 2001:db8::2 2:0:0:0:0:2").unwrap();
        let mut group = Packet::new(&[0x60, 77]);
        group.set_dst_ip6("ff02::1:2".parse().unwrap());
        t.push_batch("s", 0, [to(2), to(9), group, to(2), Packet::new(b"x")]);
        let sent = t.bytes("ip");
        assert_eq!(sent.iter().map(|b| b[15]).collect::<Vec<_>>(), [2, 77, 2]);
        assert_eq!(sent[1][..6], [0x33, 0x33, 0, 1, 0, 2]);
        assert_eq!(t.read("q.drop_reasons"), "1\tno next hop\n");
        // What waits goes as soon as the address is known.
        t.write("q.insert 2001:db8::9 2:0:0:0:0:9").unwrap();
        t.run();
        assert_eq!(t.bytes("ip")[0][15], 9);
        t.write("q.delete 2001:db8::9").unwrap();
        assert_eq!(t.read("q.count"), "1");
        t.write("q.clear").unwrap();
        assert_eq!(t.read("q.table"), "");
        assert!(t.write("q.insert 2001:db8::9").unwrap_err().contains("ETH"));
    }

    #[test]
    fn forged_advertisements_teach_nothing() {
        let mut t = Harness::new(CONFIG);
        t.push("s", 0, [to(2)]);
        let forged: Vec<Packet> = forgeries(&answer(2)).into_iter().map(|(p, _)| p).collect();
        let count = forged.len() as u64;
        t.push("q", 1, forged);
        let group = (EtherAddress([0x33, 0x33, 0, 0, 0, 1]), "ff02::1".parse().unwrap());
        let with_ether = |ether: [u8; 6]| {
            advertisement((EtherAddress(ether), host(2).1), host(1), flag::SOLICITED | flag::OVERRIDE)
        };
        t.push("q", 1, [advertisement(host(2), group, flag::SOLICITED)]);
        t.push("q", 1, [with_ether([0x33; 6]), with_ether([0xff; 6]), with_ether([0; 6]), answer(3)]);
        assert_eq!((t.bytes("ip").len(), t.router.total_drops()), (0, count + 5));
        assert_eq!(t.read("q.table"), "2001:db8::2 0 00-00-00-00-00-00\n");
        // Nobody can take over an address that is known without saying so.
        t.push("q", 1, [answer(2)]);
        t.push("q", 1, [advertisement((host(6).0, host(2).1), host(1), flag::SOLICITED)]);
        assert_eq!(t.read("q.table"), "2001:db8::2 1 02-00-00-00-00-02\n");
        assert_eq!(t.printed(), "");
        t.push("q", 1, [advertisement((host(6).0, host(2).1), host(1), flag::OVERRIDE)]);
        assert_eq!(t.printed(), "IP6NDSolicitor overwriting an entry\n");
    }

    #[test]
    fn a_flood_of_addresses_stays_within_the_capacity() {
        let config = CONFIG.replace("2:0:0:0:0:1)", "2:0:0:0:0:1, CAPACITY 16, ENTRY_CAPACITY 1)");
        let mut t = Harness::new(&config);
        t.write("q.insert 2001:db8::2 2:0:0:0:0:2").unwrap();
        let flood = (0..1000u128).map(|n| {
            let mut p = Packet::new(b"x");
            p.set_dst_ip6(Ipv6Address::from_bits(0x2001_0db8 << 96 | n << 16));
            p
        });
        t.push("s", 0, flood);
        assert_eq!((t.read("q.count"), t.router.total_drops()), ("17".into(), 984));
        t.push("s", 0, [to(2)]);
        assert_eq!(t.bytes("ip").len(), 1);
    }

    #[test]
    fn known_addresses_are_confirmed_and_forgotten_in_time() {
        let mut t = Harness::new(CONFIG);
        t.write("q.insert 2001:db8::2 2:0:0:0:0:2").unwrap();
        t.run_for(Duration::from_secs(80));
        t.push("s", 0, [to(2), to(2)]);
        assert_eq!((t.bytes("ip").len(), t.bytes("nd").len()), (2, 1));
        t.run_for(Duration::from_secs(80));
        t.push("s", 0, [to(2)]);
        assert_eq!((t.bytes("ip").len(), t.bytes("nd").len()), (0, 1));
        t.run_for(Duration::from_secs(100));
        assert_eq!((t.router.total_drops(), t.read("q.count")), (1, "0".into()));
    }

    #[test]
    fn a_hot_swap_keeps_what_is_known() {
        let mut old = Harness::new(CONFIG);
        old.write("q.insert 2001:db8::2 2:0:0:0:0:2").unwrap();
        let mut same = Harness::new(CONFIG);
        same.router.take_over(old.router);
        assert_eq!(same.read("q.count"), "1");
        let mut other = Harness::new(&CONFIG.replace("2001:db8::1", "2001:db8::7"));
        other.router.take_over(same.router);
        assert_eq!(other.read("q.count"), "0");
    }
}

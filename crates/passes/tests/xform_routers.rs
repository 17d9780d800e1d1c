//! The patterns that come with the program do no harm: random routers get random and adversarial packets, before and
//! after.
#![allow(missing_docs)]

mod common;

use clickwork_elements::registry;
use clickwork_lang::Options as LangOptions;
use clickwork_packet::checksum::checksum;
use clickwork_packet::{Batch, Packet, PacketType, anno};
use clickwork_passes::Unit;
use clickwork_passes::xform::{Patterns, Replaced, shipped, xform};
use clickwork_router::{Class, Cx, Driver, Element, Endpoint, Router};
use proptest::prelude::*;
use std::fmt::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Keeps what is pushed into it.
static SINK: Class = Class { ports: "1/0", ..Class::new("Sink", "testing", || Box::new(Sink::default())) };

#[derive(Default)]
struct Sink {
    kept: Arc<Kept>,
}

#[derive(Default)]
struct Kept(Mutex<Vec<Packet>>);

impl Element for Sink {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        cx.export(Arc::clone(&self.kept));
        Ok(())
    }

    fn push(&mut self, _: usize, batch: &mut Batch, _: &mut Cx<'_>) {
        self.kept.0.lock().unwrap().extend(batch.drain());
    }
}

/// Sends what is pushed into it.
static SOURCE: Class =
    Class { ports: "-/1", processing: "h/h", ..Class::new("Source", "testing", || Box::new(Source)) };

struct Source;

impl Element for Source {
    fn push(&mut self, _: usize, _: &mut Batch, _: &mut Cx<'_>) {}
}

fn transformed(text: &str, patterns: &str) -> (String, Vec<Replaced>) {
    let options = LangOptions::any_class();
    let (mut unit, messages) = Unit::read("t.click", text.into(), &options);
    assert!(messages.is_empty(), "{messages:?}");
    let mut all = Patterns::default();
    let shipped = shipped::find(patterns).unwrap();
    let file = unit.sources.add(shipped.name, shipped.text);
    let messages = all.read(&mut unit.sources, file, &options);
    assert!(messages.is_empty(), "{messages:?}");
    let (patterns, messages) = all.prepare(&unit.sources);
    assert!(messages.is_empty(), "{messages:?}");
    let replaced = xform(&mut unit.network, &mut unit.sources, &patterns).unwrap();
    (unit.to_text(), replaced)
}

fn router(text: &str, ordered: bool) -> Router {
    let mut registry = registry();
    registry.add([&SOURCE, &SINK]);
    common::start(text, ordered, &Arc::new(registry)).0
}

/// What came out of a sink: data, paint and destination annotations.
type Seen = Vec<(Vec<u8>, u8, String)>;

/// What a router does with packets: what comes to each sink, and how many packets are dropped.
fn behaviour(text: &str, batched: bool, sinks: usize, packets: &[(String, Packet)]) -> (Vec<Seen>, u64) {
    let mut router = router(text, !batched);
    let mut driver = Driver::default();
    for together in packets.chunk_by(|a, b| batched && a.0 == b.0) {
        let to = Endpoint { element: router.find(&together[0].0).unwrap(), port: 0 };
        router.push(to, together.iter().map(|(_, p)| p.clone()).collect());
        driver.run_for(&mut router, Duration::from_millis(10));
    }
    let seen = (0..sinks).map(|n| {
        let id = router.find(&format!("sink{n}")).unwrap();
        let kept = router.exported::<Kept>(id).unwrap();
        let look = |p: &Packet| (bytes(p, batched), p.paint(), p.dst_ip().to_string());
        let mut seen: Seen = kept.0.lock().unwrap().iter().map(look).collect();
        if batched {
            seen.sort();
        }
        seen
    });
    (seen.collect(), router.total_drops())
}

/// A packet without what depends on the order in which a batch is worked off: the numbers of ICMP errors.
fn bytes(p: &Packet, batched: bool) -> Vec<u8> {
    let mut bytes = p.data().to_vec();
    if batched && bytes.len() >= 20 {
        bytes[4..6].fill(0);
        bytes[10..12].fill(0);
    }
    bytes
}

/// An IP packet in an Ethernet frame; each field may be out of order.
#[derive(Clone, Debug)]
struct Frame {
    source: [u8; 4],
    destination: [u8; 4],
    ttl: u8,
    options: Vec<u8>,
    payload: usize,
    dont_fragment: bool,
    broadcast: bool,
    fix_source: bool,
    /// A byte of the header that is changed after the checksum is made, and how many bytes are cut off at the end.
    damage: Option<(usize, u8)>,
    cut: usize,
}

impl Frame {
    fn packet(&self) -> Packet {
        let header_len = 20 + self.options.len();
        let len = (header_len + self.payload) as u16;
        let mut ip = vec![0x40 | (header_len / 4) as u8, 0];
        ip.extend(len.to_be_bytes());
        ip.extend([0, 7, if self.dont_fragment { 0x40 } else { 0 }, 0, self.ttl, 17, 0, 0]);
        ip.extend(self.source);
        ip.extend(self.destination);
        ip.extend(&self.options);
        let sum = checksum(&ip).to_be_bytes();
        ip[10..12].copy_from_slice(&sum);
        if let Some((at, value)) = self.damage {
            ip[at % header_len] ^= value;
        }
        ip.extend((0..self.payload).map(|n| n as u8));
        ip.truncate(ip.len().saturating_sub(self.cut));
        let mut p = Packet::new(&[&[2; 12][..], &[8, 0], &ip].concat());
        if self.broadcast {
            p.set_packet_type(PacketType::Broadcast);
        }
        p.set_anno_u8(anno::FIX_IP_SRC.offset, u8::from(self.fix_source));
        p
    }
}

fn frames() -> impl Strategy<Value = Frame> {
    let source = prop_oneof![3 => Just([10, 9, 9, 9]), 1 => (0..3u8).prop_map(|n| [10, n, 0, 2]),
        1 => (0..3u8).prop_map(|n| [10, n, 0, 255]), 1 => Just([255; 4]), 1 => Just([0; 4])];
    let destination = (0..5u8, 0..3u8).prop_map(|(net, host)| [10, net, 0, [1, 2, 255][usize::from(host)]]);
    let options = prop_oneof![
        4 => Just(vec![]),
        1 => Just(vec![7, 7, 4, 0, 0, 0, 0, 0]),
        1 => Just(vec![68, 12, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        1 => Just(vec![68, 12, 5, 3, 10, 7, 0, 1, 0, 0, 0, 0]),
        1 => prop::collection::vec(any::<u8>(), 4..=4),
        1 => Just(vec![7, 2, 0, 0]),
    ];
    let damage = prop::option::weighted(0.15, (0..24usize, 1..=255u8));
    let cut = prop_oneof![8 => Just(0), 1 => 1..70usize];
    let flags = (any::<bool>(), prop::bool::weighted(0.1), prop::bool::weighted(0.2));
    let size = prop_oneof![4 => 8..60usize, 1 => 60..300usize];
    (source, destination, prop_oneof![1 => 0..3u8, 2 => 3..=255u8], options, size, flags, damage, cut)
        .prop_map(
            |(
                source,
                destination,
                ttl,
                options,
                payload,
                (dont_fragment, broadcast, fix_source),
                damage,
                cut,
            )| {
                Frame {
                    source,
                    destination,
                    ttl,
                    options,
                    payload,
                    dont_fragment,
                    broadcast,
                    fix_source,
                    damage,
                    cut,
                }
            },
        )
}

/// How one interface of a router is written; 0 is as the patterns have it.
#[derive(Clone, Debug)]
struct Interface {
    shared: bool,
    check: usize,
    output: usize,
    mtu: usize,
}

fn interfaces() -> impl Strategy<Value = Vec<Interface>> {
    let interface = (any::<bool>(), 0..CHECKS.len(), prop_oneof![3 => Just(0), 1 => 1..5usize], 60..200usize);
    let interface =
        interface.prop_map(|(shared, check, output, mtu)| Interface { shared, check, output, mtu });
    prop::collection::vec(interface, 1..4)
}

const CHECKS: [&str; 9] = [
    "",
    "INTERFACES 10.0.0.1/24 10.1.0.1/24",
    "BADSRC 10.0.0.255 10.1.0.255",
    "BADSRC 10.0.0.255, GOODDST 10.2.0.1",
    "10.0.0.255 10.1.0.255",
    "10.0.0.255, 0",
    "BADSRC 10.0.0.255, VERBOSE true",
    "0",
    "10.0.0.255, OFFSET 0",
];

/// How many of them, from the first on, the pattern has.
const KNOWN: usize = 6;

/// A router with an input `in0`, `in1`, ... for each interface, and sinks: `sink0` for the router itself.
fn configuration(interfaces: &[Interface]) -> String {
    let mut text = String::from("rt :: StaticIPLookup(0.0.0.0/0 0");
    for n in 0..interfaces.len() {
        let _ = write!(text, ", 10.{n}.0.0/24 {}", n + 1);
    }
    let _ = writeln!(
        text,
        ");\nrt -> sink0 :: Sink;\nall :: Strip(14) -> CheckIPHeader({}) -> GetIPAddress(16) -> rt;",
        CHECKS[interfaces[0].check]
    );
    for (n, interface) in interfaces.iter().enumerate() {
        let way = match interface.shared || n == 0 {
            true => "all".to_string(),
            false => {
                format!("Strip(14) -> CheckIPHeader({}) -> GetIPAddress(16) -> rt", CHECKS[interface.check])
            }
        };
        let _ = writeln!(text, "in{n} :: Source -> Paint({n}) -> {way};");
        text.push_str(&output(n, interface));
    }
    text
}

/// The way out; other ways than 0 and 2 differ from the pattern in one thing.
fn output(n: usize, interface: &Interface) -> String {
    let extra = |way: usize, text: &'static str| if interface.output == way { text } else { "" };
    format!(
        "rt [{port}] -> DropBroadcasts -> {null} cp{n} :: PaintTee({n}) -> gw{n} :: IPGWOptions(10.{n}.0.1{others})
            -> FixIPSrc(10.{fix}.0.1) -> dt{n} :: DecIPTTL{ttl} -> fr{n} :: IPFragmenter({mtu}) -> sink{port} :: Sink;
         cp{n} [1] -> ICMPError(10.{n}.0.1, redirect, host) -> rt;
         gw{n} [1] -> ICMPError(10.{n}.0.1, parameterproblem) -> rt;
         dt{n} [1] -> ICMPError(10.{n}.0.1, timeexceeded) -> rt;
         fr{n} [1] -> ICMPError(10.{n}.0.1, unreachable, needfrag, PMTU {mtu}) -> rt;\n",
        port = n + 1,
        null = extra(1, "Null ->"),
        others = extra(2, ", 10.7.0.1"),
        fix = if interface.output == 3 { 9 } else { n },
        ttl = extra(4, "(MULTICAST false)"),
        mtu = interface.mtu,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn ip_routers_do_the_same_with_combination_elements(
        interfaces in interfaces(),
        frames in prop::collection::vec((0..3usize, frames()), 1..60),
        batched in any::<bool>(),
    ) {
        let text = configuration(&interfaces);
        let (after, replaced) = transformed(&text, "ip");
        let own = |n: usize| !interfaces[n].shared && n > 0;
        let known = |n: usize| interfaces[if own(n) { n } else { 0 }].check < KNOWN;
        let ways_in = (0..interfaces.len()).filter(|&n| known(n)).count();
        let ways_out = interfaces.iter().filter(|i| [0, 2].contains(&i.output)).count();
        prop_assert_eq!(replaced.len(), ways_in + ways_out, "{}\n{}", text, after);
        let mut packets: Vec<(String, Packet)> =
            frames.iter().map(|(n, f)| (format!("in{}", n % interfaces.len()), f.packet())).collect();
        if batched {
            packets.sort_by(|a, b| a.0.cmp(&b.0));
        }
        let sinks = interfaces.len() + 1;
        prop_assert_eq!(
            behaviour(&text, batched, sinks, &packets),
            behaviour(&after, batched, sinks, &packets),
            "{}", after
        );
    }
}

/// Two routers with a link in each direction. KINDS are ARP queries, replies,
/// IP and the rest in one of two orders, which [`network`] fills in.
const NETWORK: &str = "
    A/arpq :: ARPQuerier(10.0.0.1, 0:0:0:0:0:a) -> A/q :: Queue(20) -> ab :: RouterLink(A out ToDevice, eth1, B in FromDevice, eth0) -> FILTER
        B/c :: Classifier(KINDS);
    B/arpq :: ARPQuerier(10.0.0.2, 0:0:0:0:0:b) -> B/q :: Queue(20) -> ba :: RouterLink(B out ToDevice, eth0, A in FromDevice, eth1)
        -> A/c :: Classifier(KINDS);
    A/c [QUERY] -> A/ar :: ARPResponder(10.0.0.1 0:0:0:0:0:a) -> A/q;
    A/c [REPLY] -> [1] A/arpq; A/c [IP] -> sink0 :: Sink; A/c [3] -> sink1 :: Sink;
    B/c [QUERY] -> B/ar :: ARPResponder(10.0.0.2 0:0:0:0:0:b) -> B/q;
    B/c [REPLY] -> [1] B/arpq; B/c [IP] -> sink2 :: Sink; B/c [3] -> sink3 :: Sink;
    ina :: Source -> GetIPAddress(16) -> A/arpq; inb :: Source -> GetIPAddress(16) -> B/arpq;";

/// The network with a filter behind one link, and classifiers that ask for IP first or last.
fn network(filter: &str, ip_first: bool) -> String {
    let (kinds, numbers) = match ip_first {
        true => ("12/0800, 12/0806 20/0001, 12/0806 20/0002, -", ["1", "2", "0"]),
        false => ("12/0806 20/0001, 12/0806 20/0002, 12/0800, -", ["0", "1", "2"]),
    };
    let text = NETWORK.replace("FILTER", filter).replace("KINDS", kinds);
    let ports = ["QUERY", "REPLY", "IP"].into_iter().zip(numbers);
    ports.fold(text, |text, (word, n)| text.replace(&format!("[{word}]"), &format!("[{n}]")))
}

#[test]
fn ip_packets_reach_the_other_router_without_arp() {
    let filters = ["", "HostEtherFilter(0:0:0:0:0:b) ->"];
    for (filter, ip_first) in filters.into_iter().flat_map(|f| [(f, false), (f, true)]) {
        let text = network(filter, ip_first);
        let (after, replaced) = transformed(&text, "arp");
        assert_eq!(replaced.len(), 2, "{after}");
        assert!(!after.contains("ARPQuerier"), "{after}");
        let ip = |to: u8, payload: usize| {
            let header =
                [0x45, 0, 0, 20 + payload as u8, 0, 0, 0, 0, 9, 17, 0, 0, 10, 0, 0, 3 - to, 10, 0, 0, to];
            Packet::new(&[&header[..], &vec![7; payload]].concat())
        };
        let packets: Vec<(String, Packet)> = (0..30)
            .map(|n| if n % 3 == 0 { ("inb".to_string(), ip(1, n)) } else { ("ina".to_string(), ip(2, n)) })
            .collect();
        for batched in [false, true] {
            let [before, after] = [&text, &after].map(|text| behaviour(text, batched, 4, &packets));
            assert_eq!(before, after);
            assert_eq!([before.0[0].len(), before.0[2].len()], [10, 20]);
        }
    }
}

#[test]
fn a_link_that_several_routers_share_keeps_arp() {
    let text = network("", false) + "ab -> third :: Sink;";
    let (_, replaced) = transformed(&text, "arp");
    assert_eq!(replaced.len(), 1, "only the way back is for two");
}

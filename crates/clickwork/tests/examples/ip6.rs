//! The IPv6 router on captures.

use super::frame::{Content, Station, arp};
use super::{ETHER_HEADER, Scratch, direct, example, read_capture, replaced, run, write_capture};
use clickwork_packet::addr::{EtherAddress, Ipv4Address, Ipv6Address};
use clickwork_packet::headers::{Header, Icmp, IcmpMut, Ipv4, Ipv6, Ipv6Header};

/// An IPv6 packet in a frame: Ethernet destination and source, addresses, next header, hop limit and payload.
struct Frame6<'a> {
    link: [u8; 12],
    way: [&'a str; 2],
    next_header: u8,
    hop_limit: u8,
    payload: Vec<u8>,
}

impl Frame6<'_> {
    fn build(&self) -> Vec<u8> {
        let mut ip = Ipv6Header::default();
        (ip.next_header, ip.hop_limit) = (self.next_header, self.hop_limit);
        ip.set_source(self.way[0].parse().unwrap());
        ip.set_destination(self.way[1].parse().unwrap());
        ip.set_payload_len(self.payload.len() as u16);
        let mut payload = self.payload.clone();
        if self.next_header == 58 {
            let sum = ip.pseudo_sum(58, payload.len() as u32).bytes(&payload).finish();
            payload[2..4].copy_from_slice(&sum.to_be_bytes());
        }
        let mut header = [0; 40];
        *Ipv6Header::peek_mut(&mut header).unwrap() = ip;
        [&self.link[..], &[0x86, 0xdd], &header, &payload].concat()
    }
}

/// Sender, receiver, hop limit, next header and the first two bytes behind the header of the packet in a frame.
fn seen6(frame: &[u8]) -> String {
    let ip = Ipv6::new(&frame[ETHER_HEADER..]).unwrap();
    let first = &ip.payload()[..2];
    if ip.next_header == 58 {
        assert_eq!(ip.pseudo_sum(58, ip.payload().len() as u32).bytes(ip.payload()).finish(), 0);
    }
    format!("{} {} {} {} {first:?}", ip.source(), ip.destination(), ip.hop_limit, ip.next_header)
}

/// An example that reads two captures in place of its interfaces, and writes two.
fn on_captures(name: &str, others: &[(&str, &str)]) -> String {
    let device = |n: usize| format!("FromDevice($DEV{n}, PROMISC true, SNIFFER false)");
    let parts = [
        (device(0), "FromDump(in0.pcap, TIMING true, STOP true)"),
        (device(1), "FromDump(in1.pcap, TIMING true, STOP true)"),
        ("ToDevice($DEV0)".to_string(), "ToDump(out0.pcap)"),
        ("ToDevice($DEV1)".to_string(), "ToDump(out1.pcap)"),
    ];
    let parts: Vec<(&str, &str)> = parts.iter().map(|(part, by)| (part.as_str(), *by)).collect();
    replaced(example(name), &[&parts, others].concat()) + "DriverManager(wait_stop 2, wait 10ms, stop);"
}

#[test]
fn the_translator_translates_between_two_captures() {
    let dir = Scratch::new("examples-nat64");
    let (router0, router1, host0, host1) =
        ([2, 0, 0, 0x0c, 0, 1], [2, 0, 0, 0x0c, 0, 2], [0, 0, 0x0c, 0, 0, 4], [0, 0, 0x0c, 0, 0, 3]);
    let link = |to: [u8; 6], from: [u8; 6]| -> [u8; 12] { [to, from].concat().try_into().unwrap() };
    let frame = |to: &'static str, next_header: u8, hop_limit: u8, payload: Vec<u8>| {
        let way = ["2001:db8::2", to];
        Frame6 { link: link(router0, host0), way, next_header, hop_limit, payload }.build()
    };
    let target = "2001:db8::2".parse::<Ipv6Address>().unwrap().octets();
    let known = [&[136, 0, 0, 0, 0x60, 0, 0, 0][..], &target, &[2, 1], &host0].concat();
    let ping = [128, 0, 0, 0, 0, 7, 0, 1].to_vec();
    write_capture(
        &dir.path("in0.pcap"),
        &[
            frame("2001:db8::1", 58, 64, ping.clone()),
            frame("2001:db8::1", 58, 255, known),
            frame("64:ff9b::c000:209", 58, 64, ping.clone()),
            frame("64:ff9b::c000:209", 58, 1, ping.clone()),
            frame("2001:db8:9::9", 58, 64, ping),
        ],
    );
    let router = Station { ether: EtherAddress(router1), ip: Ipv4Address::new(192, 0, 2, 1) };
    let host = Station { ether: EtherAddress(host1), ip: Ipv4Address::new(192, 0, 2, 9) };
    let mut reply = direct(host, router, Content::Echo(0, 8));
    // The identifier that the translator has given.
    let icmp = ETHER_HEADER + 20;
    reply[icmp + 4..icmp + 6].copy_from_slice(&1024u16.to_be_bytes());
    IcmpMut::new(&mut reply[icmp..icmp + 16]).unwrap().fill_checksum();
    let stranger = direct(host, router, Content::Udp(8));
    let answer = arp(false, host, router);
    write_capture(
        &dir.path("in1.pcap"),
        &[answer.clone(), answer.clone(), answer.clone(), answer, reply, stranger],
    );
    dir.write("nat64.click", &on_captures("nat64.click", &[]));
    run(&dir, &["nat64.click"]);
    let out = |file: &str| -> Vec<Vec<u8>> {
        read_capture(&dir.path(file)).into_iter().map(|(_, bytes)| bytes).collect()
    };
    assert_eq!(
        out("out0.pcap").iter().map(|f| seen6(f)).collect::<Vec<_>>(),
        [
            "2001:db8::1 ff02::1:ff00:2 255 58 [135, 0]",
            "2001:db8::1 2001:db8::2 255 58 [129, 0]",
            "2001:db8::1 2001:db8::2 255 58 [3, 0]",
            "2001:db8::1 2001:db8::2 255 58 [1, 0]",
            "64:ff9b::c000:209 2001:db8::2 128 58 [129, 0]",
        ]
    );
    let out1 = out("out1.pcap");
    let ip = Ipv4::new(&out1[0][ETHER_HEADER..]).unwrap();
    let icmp = Icmp::new(ip.payload()).unwrap();
    assert!(out1.len() == 1 && ip.checksum_is_right() && icmp.checksum_is_right());
    assert_eq!((ip.source(), ip.destination(), ip.ttl), (router.ip, host.ip, 63));
    assert_eq!((icmp.icmp_type, icmp.identifier()), (8, 1024));
}

#[test]
fn the_ipv6_router_routes_between_two_captures() {
    let dir = Scratch::new("examples-ip6-router");
    let (router0, router1, host0, host1) =
        ([2, 0, 0, 0x0c, 0, 1], [2, 0, 0, 0x0c, 0, 2], [0, 0, 0x0c, 0, 0, 4], [0, 0, 0x0c, 0, 0, 3]);
    let link = |to: [u8; 6], from: [u8; 6]| -> [u8; 12] { [to, from].concat().try_into().unwrap() };
    let neighbour = |icmp_type: u8, target: &str, kind: u8, ether: [u8; 6]| {
        let target = target.parse::<Ipv6Address>().unwrap().octets();
        [&[icmp_type, 0, 0, 0, 0x60, 0, 0, 0][..], &target, &[kind, 1], &ether].concat()
    };
    let frame = |to: &'static str, next_header: u8, hop_limit: u8, payload: Vec<u8>| {
        let way = ["2001:db8::2", to];
        Frame6 { link: link(router0, host0), way, next_header, hop_limit, payload }
    };
    let (udp, ping) = ([0, 9, 0, 9, 0, 8, 0, 0].to_vec(), [128, 0, 0, 0, 0, 7, 0, 1].to_vec());
    let from_elsewhere =
        |from: &'static str| Frame6 { way: [from, "2001:db8:1::2"], ..frame("::", 17, 64, udp.clone()) };
    let mut damaged = frame("2001:db8:1::2", 17, 64, udp.clone()).build();
    damaged[ETHER_HEADER] = 0x45;
    write_capture(
        &dir.path("in0.pcap"),
        &[
            frame("ff02::1:ff00:1", 58, 255, neighbour(135, "2001:db8::1", 1, host0)).build(),
            frame("2001:db8:1::2", 17, 1, udp.clone()).build(),
            frame("2001:db8::1", 58, 255, neighbour(136, "2001:db8::2", 2, host0)).build(),
            frame("2001:db8:1::2", 58, 64, ping.clone()).build(),
            frame("2001:db8:1::2", 17, 64, vec![7; 1300]).build(),
            frame("2001:db8::1", 58, 1, ping.clone()).build(),
            frame("fd00::1", 17, 64, udp.clone()).build(),
            frame("2001:db8:1::1", 17, 64, udp.clone()).build(),
            // To be dropped, one after the other: for a link, from nobody, from a group, and no IPv6 packet.
            frame("ff05::7", 17, 64, udp.clone()).build(),
            from_elsewhere("::").build(),
            from_elsewhere("::1").build(),
            from_elsewhere("ff02::1").build(),
            damaged,
            // Beyond the scope of its source, and sent back to where it came from.
            from_elsewhere("fe80::2").build(),
            frame("2001:db8::9", 17, 64, udp.clone()).build(),
        ],
    );
    let answer = neighbour(136, "2001:db8:1::2", 2, host1);
    let way = ["2001:db8:1::2", "2001:db8:1::1"];
    let answer = Frame6 { link: link(router1, host1), way, next_header: 58, hop_limit: 255, payload: answer };
    write_capture(&dir.path("in1.pcap"), &vec![answer.build(); 6]);
    dir.write("router.click", &on_captures("ip6-router.click", &[("$MTU1 1500", "$MTU1 1300")]));
    run(&dir, &["router.click"]);
    let out = |file: &str| -> Vec<Vec<u8>> {
        read_capture(&dir.path(file)).into_iter().map(|(_, bytes)| bytes).collect()
    };
    let out0 = out("out0.pcap");
    assert_eq!(
        out0.iter().map(|f| seen6(f)).collect::<Vec<_>>(),
        [
            "2001:db8::1 2001:db8::2 255 58 [136, 0]",
            "2001:db8::1 ff02::1:ff00:2 255 58 [135, 0]",
            "2001:db8::1 2001:db8::2 254 58 [3, 0]",
            "2001:db8::1 2001:db8::2 254 58 [2, 0]",
            "2001:db8::1 2001:db8::2 254 58 [129, 0]",
            "2001:db8::1 2001:db8::2 254 58 [1, 0]",
            "2001:db8::1 2001:db8::2 254 58 [1, 4]",
            // The packet beyond the scope of its source makes the router ask for who sent it.
            "2001:db8::1 ff02::1:ff00:2 255 58 [135, 0]",
            "fe80::1 2001:db8::2 255 58 [137, 0]",
            "2001:db8::1 ff02::1:ff00:9 255 58 [135, 0]",
        ]
    );
    // The length that fits, and the better next hop.
    assert_eq!(out0[3][ETHER_HEADER + 44..][..4], 1300u32.to_be_bytes());
    assert_eq!(out0[8][ETHER_HEADER + 48..][..16], "2001:db8::9".parse::<Ipv6Address>().unwrap().octets());
    assert_eq!(out0[0][..12], link(host0, router0));
    let out1 = out("out1.pcap");
    assert_eq!(
        out1.iter().map(|f| seen6(f)).collect::<Vec<_>>(),
        ["2001:db8:1::1 ff02::1:ff00:2 255 58 [135, 0]", "2001:db8::2 2001:db8:1::2 63 58 [128, 0]"]
    );
    assert_eq!(out1[1][..12], link(host1, router1));
}

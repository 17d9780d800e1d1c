//! The traffic of the demonstration: every kind of packet that an IP router has to treat in its own way.
//!
//! The network is that of the two-interface router: the router is 10.0.0.1 and 10.1.0.1, with a few hosts on each side.
//! Each packet carries the number of its class in the upper half of its IP identification, which survives forwarding,
//! fragmentation and quotation in ICMP errors; [`class_of`] reads it back from whatever comes out of the router.
//! Nothing here is random: every run makes the same bytes.

use clickwork_packet::addr::{EtherAddress, Ipv4Address};
use clickwork_packet::headers::ethernet::ethertype;
use clickwork_packet::headers::icmp::icmp_type;
use clickwork_packet::headers::ipv4::{DONT_FRAGMENT, MORE_FRAGMENTS, option, protocol};
use clickwork_packet::headers::{Arp, Ethernet, Icmp, Ipv4, tcp::flag};

use super::frame::{Content, ETHER_HEADER, IpFrame, Station, arp, ping};

/// The router's two interfaces.
pub const ROUTER: [Station; 2] = [station([10, 0, 0, 1], 0x01), station([10, 1, 0, 1], 0x02)];
/// One ordinary host on each network.
pub const HOST: [Station; 2] = [station([10, 0, 0, 2], 0x04), station([10, 1, 0, 2], 0x03)];
/// Another host on network 0, which host 0 needlessly addresses through the router.
pub const NEIGHBOUR: Station = station([10, 0, 0, 7], 0x07);
/// An address on network 1 where nobody is.
const NOBODY: Ipv4Address = Ipv4Address::new(10, 1, 0, 99);

const fn station(ip: [u8; 4], last: u8) -> Station {
    Station { ether: EtherAddress([0, 0, 0x0c, 0, 0, last]), ip: Ipv4Address::from_octets(ip) }
}

/// A kind of packet.
#[derive(Debug)]
pub struct Class {
    /// A short name.
    pub name: &'static str,
    make: fn(&mut Maker),
}

/// One packet of the capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Index into [`CLASSES`].
    pub class: usize,
    /// The interface of the router that it arrives at, 0 or 1.
    pub interface: usize,
    /// Nanoseconds since 1970.
    pub timestamp: u64,
    /// The Ethernet frame.
    pub bytes: Vec<u8>,
}

const fn class(name: &'static str, make: fn(&mut Maker)) -> Class {
    Class { name, make }
}

/// All classes, in the order of their packets in the capture; [`super::expect`] says what a router must do with each. Answers to the router's ARP queries come first, so that
/// it knows the hosts.
pub static CLASSES: &[Class] = &[
    class("arp-reply", arp_replies),
    class("arp-request", arp_requests),
    class("arp-other", arp_for_others),
    class("udp", udp),
    class("tcp", tcp),
    class("ping", pings),
    class("ping-router", pings_to_router),
    class("for-router", udp_to_router),
    class("fragment", fragments),
    class("bad-udp-checksum", bad_udp_checksum),
    class("ttl-expired", expired),
    class("bad-checksum", bad_checksum),
    class("bad-header", bad_header),
    class("bad-source", bad_source),
    class("oversized", oversized),
    class("oversized-df", oversized_df),
    class("record-route", record_route),
    class("timestamp", timestamp),
    class("source-route", source_route),
    class("bad-option", bad_option),
    class("link-broadcast", link_broadcast),
    class("broadcast", broadcast),
    class("redirect", redirected),
    class("unresolved", unresolved),
    class("not-ip", not_ip),
];

/// Makes the whole capture, in the order of time.
pub fn frames() -> Vec<Frame> {
    let mut maker = Maker { class: 0, sequence: 0, frames: Vec::new() };
    for (index, class) in CLASSES.iter().enumerate() {
        (maker.class, maker.sequence) = (index, 0);
        (class.make)(&mut maker);
    }
    maker.frames
}

/// The class of a frame that came out of the router, if it can be traced: of an ICMP error the class of the packet
/// that caused it, of ARP the class of what was asked or answered.
pub fn class_of(frame: &[u8]) -> Option<usize> {
    let ether = Ethernet::new(frame)?;
    match ether.ethertype() {
        ethertype::ARP => class_of_arp(ether.payload()),
        ethertype::IPV4 => class_of_ip(ether.payload()),
        _ => None,
    }
}

/// The class of an IP packet without link header.
pub fn class_of_ip(packet: &[u8]) -> Option<usize> {
    let ip = Ipv4::new(packet)?;
    if ip.protocol == protocol::ICMP && !ip.is_fragment() {
        let icmp = Icmp::new(ip.payload())?;
        if icmp.is_error() {
            return class_of_identification(Ipv4::new(icmp.payload())?.identification());
        }
        return class_of_identification(icmp.identifier());
    }
    class_of_identification(ip.identification())
}

fn class_of_identification(identification: u16) -> Option<usize> {
    Some(usize::from(identification >> 8)).filter(|class| *class < CLASSES.len())
}

fn class_of_arp(packet: &[u8]) -> Option<usize> {
    let arp = Arp::new(packet)?;
    let name = if arp.target_ip() == NOBODY { "unresolved" } else { "arp-request" };
    CLASSES.iter().position(|class| class.name == name)
}

/// Collects the packets of the class at hand.
struct Maker {
    class: usize,
    sequence: u16,
    frames: Vec<Frame>,
}

impl Maker {
    /// The identification of the next packet: class and number.
    fn identification(&self) -> u16 {
        (self.class as u16) << 8 | (self.sequence + 1)
    }

    /// A packet from a host to another through the router, arriving at `interface`.
    fn packet(&self, interface: usize, content: Content) -> IpFrame {
        self.packet_to(interface, HOST[1 - interface].ip, content)
    }

    fn packet_to(&self, interface: usize, to: Ipv4Address, content: Content) -> IpFrame {
        IpFrame::through(HOST[interface], ROUTER[interface].ether, to, self.identification(), content)
    }

    /// Adds a frame, a millisecond after the one before. The first two, one for each interface, come together, so that
    /// the captures of both interfaces begin at the same time and can be replayed side by side.
    fn add(&mut self, interface: usize, bytes: Vec<u8>) {
        /// 2001-01-01, 00:00 UTC.
        const START: u64 = 978_307_200_000_000_000;
        let timestamp = START + self.frames.len().saturating_sub(1) as u64 * 1_000_000;
        self.frames.push(Frame { class: self.class, interface, timestamp, bytes });
        self.sequence += 1;
    }

    /// Adds a packet, after `change` has been made to its IP packet.
    fn add_damaged(&mut self, interface: usize, change: impl FnOnce(&mut [u8])) {
        let mut bytes = self.packet(interface, Content::Udp(30)).build();
        change(&mut bytes[ETHER_HEADER..]);
        self.add(interface, bytes);
    }

    /// Adds a packet with IP options.
    fn add_with_options(&mut self, to: Ipv4Address, options: &[u8]) {
        let mut packet = self.packet_to(0, to, Content::Udp(30));
        packet.options = options.to_vec();
        self.add(0, packet.build());
    }
}

/// Makes the header checksum of a changed packet right again.
fn correct_checksum(packet: &mut [u8]) {
    let length = usize::from(packet[0] & 0xf) * 4;
    packet[10..12].fill(0);
    let checksum = clickwork_packet::checksum::checksum(&packet[..length]);
    packet[10..12].copy_from_slice(&checksum.to_be_bytes());
}

fn arp_replies(maker: &mut Maker) {
    for interface in [0, 1] {
        maker.add(interface, arp(false, HOST[interface], ROUTER[interface]));
    }
    maker.add(0, arp(false, NEIGHBOUR, ROUTER[0]));
}

fn arp_requests(maker: &mut Maker) {
    for interface in [0, 1] {
        maker.add(interface, arp(true, HOST[interface], ROUTER[interface]));
    }
}

fn arp_for_others(maker: &mut Maker) {
    maker.add(0, arp(true, HOST[0], NEIGHBOUR));
}

fn udp(maker: &mut Maker) {
    for number in 0..40 {
        let interface = number % 2;
        maker.add(interface, maker.packet(interface, Content::Udp(18 + 37 * number % 1400)).build());
    }
}

/// A connection from host 0: opened, used and closed.
fn tcp(maker: &mut Maker) {
    let segments = [
        (0, flag::SYN, 100, 0),
        (1, flag::SYN | flag::ACK, 900, 0),
        (0, flag::ACK, 101, 0),
        (0, flag::ACK | flag::PSH, 101, 300),
        (1, flag::ACK, 901, 1460),
        (1, flag::ACK | flag::PSH, 2361, 700),
        (0, flag::ACK, 401, 0),
        (0, flag::ACK | flag::FIN, 401, 0),
        (1, flag::ACK | flag::FIN, 3061, 0),
        (0, flag::ACK, 402, 0),
    ];
    for (interface, flags, sequence, data) in segments {
        let mut packet = maker.packet(interface, Content::Tcp(flags, sequence, data));
        packet.fragment = DONT_FRAGMENT;
        maker.add(interface, packet.build());
    }
}

fn pings(maker: &mut Maker) {
    for _ in 0..3 {
        maker.add(0, maker.packet(0, ping(56)).build());
        maker.add(1, maker.packet(1, Content::Echo(icmp_type::ECHO_REPLY, 56)).build());
    }
}

fn pings_to_router(maker: &mut Maker) {
    for address in [ROUTER[0].ip, ROUTER[1].ip] {
        maker.add(0, maker.packet_to(0, address, ping(56)).build());
    }
}

fn udp_to_router(maker: &mut Maker) {
    maker.add(0, maker.packet_to(0, ROUTER[0].ip, Content::Udp(20)).build());
    maker.add(1, maker.packet_to(1, ROUTER[0].ip, Content::Udp(20)).build());
}

/// A datagram that was fragmented before: all fragments have one identification.
fn fragments(maker: &mut Maker) {
    let identification = maker.identification();
    for field in [MORE_FRAGMENTS, MORE_FRAGMENTS | 13, 26] {
        let mut packet = maker.packet(0, Content::Udp(96));
        packet.identification = identification;
        packet.fragment = field;
        maker.add(0, packet.build());
    }
}

fn bad_udp_checksum(maker: &mut Maker) {
    maker.add_damaged(0, |packet| packet[26] ^= 0x55);
}

fn expired(maker: &mut Maker) {
    for (interface, ttl) in [(0, 1), (1, 1), (0, 0)] {
        let mut packet = maker.packet(interface, Content::Udp(20));
        packet.ttl = ttl;
        maker.add(interface, packet.build());
    }
}

fn bad_checksum(maker: &mut Maker) {
    maker.add_damaged(0, |packet| packet[10] ^= 0xff);
    maker.add_damaged(1, |packet| packet[19] ^= 1);
}

/// Wrong version, impossible header length, and a length of more than there is.
fn bad_header(maker: &mut Maker) {
    maker.add_damaged(0, |packet| packet[0] = 0x55);
    maker.add_damaged(0, |packet| packet[0] = 0x43);
    maker.add_damaged(0, |packet| {
        packet[2] = 4;
        correct_checksum(packet);
    });
}

/// Sources that no host can have: all ones, and the broadcast address of a network of the router.
fn bad_source(maker: &mut Maker) {
    for source in [[255, 255, 255, 255], [10, 0, 0, 255]] {
        let mut packet = maker.packet(0, Content::Udp(20));
        packet.source = Ipv4Address::from_octets(source);
        maker.add(0, packet.build());
    }
}

fn oversized(maker: &mut Maker) {
    for data in [1480, 4000] {
        maker.add(0, maker.packet(0, Content::Udp(data)).build());
    }
}

fn oversized_df(maker: &mut Maker) {
    for interface in [0, 1] {
        let mut packet = maker.packet(interface, Content::Udp(1480));
        packet.fragment = DONT_FRAGMENT;
        maker.add(interface, packet.build());
    }
}

/// Room for three addresses; and none left, which is no error (RFC 791 §3.1).
fn record_route(maker: &mut Maker) {
    maker.add_with_options(HOST[1].ip, &[option::RECORD_ROUTE, 15, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    maker.add_with_options(HOST[1].ip, &[option::RECORD_ROUTE, 7, 8, 10, 9, 9, 9, 0]);
}

/// Times alone, times with addresses, and a full option whose overflow counter has to be incremented.
fn timestamp(maker: &mut Maker) {
    maker.add_with_options(HOST[1].ip, &[option::TIMESTAMP, 12, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    maker.add_with_options(HOST[1].ip, &[option::TIMESTAMP, 12, 5, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    maker.add_with_options(HOST[1].ip, &[option::TIMESTAMP, 8, 9, 0, 0, 0, 0, 7]);
}

/// The destination is the router; the next hop is in the option.
fn source_route(maker: &mut Maker) {
    let [a, b, c, d] = HOST[1].ip.octets();
    for kind in [option::LOOSE_SOURCE_ROUTE, option::STRICT_SOURCE_ROUTE] {
        maker.add_with_options(ROUTER[0].ip, &[kind, 7, 4, a, b, c, d, 0]);
    }
}

/// A pointer before the first entry, and an option that is longer than the header.
fn bad_option(maker: &mut Maker) {
    maker.add_with_options(HOST[1].ip, &[option::RECORD_ROUTE, 7, 3, 0, 0, 0, 0, 0]);
    maker.add_with_options(HOST[1].ip, &[option::RECORD_ROUTE, 39, 4, 0]);
}

/// The configuration has to mark link broadcasts for DropBroadcasts, as FromDevice does: with HostEtherFilter.
fn link_broadcast(maker: &mut Maker) {
    let mut packet = maker.packet(0, Content::Udp(20));
    packet.link.1 = EtherAddress::BROADCAST;
    maker.add(0, packet.build());
}

/// To everyone, and to everyone on network 0.
fn broadcast(maker: &mut Maker) {
    for address in [Ipv4Address::BROADCAST, Ipv4Address::new(10, 0, 0, 255)] {
        let mut packet = maker.packet_to(0, address, Content::Udp(20));
        packet.link.1 = EtherAddress::BROADCAST;
        maker.add(0, packet.build());
    }
}

fn redirected(maker: &mut Maker) {
    maker.add(0, maker.packet_to(0, NEIGHBOUR.ip, Content::Udp(20)).build());
}

fn unresolved(maker: &mut Maker) {
    maker.add(0, maker.packet_to(0, NOBODY, Content::Udp(20)).build());
}

/// An 802.1Q-tagged frame and one of an unknown type.
fn not_ip(maker: &mut Maker) {
    for ethertype in [ethertype::VLAN, 0x88b5] {
        let mut bytes = maker.packet(0, Content::Udp(20)).build();
        bytes[12..14].copy_from_slice(&ethertype.to_be_bytes());
        maker.add(0, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clickwork_packet::headers::{Tcp, Udp};

    fn of(name: &str) -> impl Iterator<Item = Frame> {
        let class = CLASSES.iter().position(|class| class.name == name).unwrap();
        frames().into_iter().filter(move |frame| frame.class == class)
    }

    #[test]
    fn every_class_has_packets_and_every_run_the_same() {
        let all = frames();
        assert_eq!(all, frames());
        for class in CLASSES {
            assert!(of(class.name).next().is_some(), "{}", class.name);
        }
        assert_eq!((all[0].interface, all[1].interface, all[1].timestamp), (0, 1, all[0].timestamp));
        assert!(all[1..].windows(2).all(|pair| pair[0].timestamp < pair[1].timestamp));
    }

    #[test]
    fn classes_are_found_again() {
        for frame in frames() {
            let found = class_of(&frame.bytes).map(|class| CLASSES[class].name);
            match CLASSES[frame.class].name {
                "arp-reply" | "arp-other" => assert_eq!(found, Some("arp-request")),
                "not-ip" | "bad-header" => {}
                name => assert_eq!(found, Some(name)),
            }
        }
    }

    #[test]
    fn ordinary_packets_are_correct() {
        for name in
            ["udp", "tcp", "ping", "ttl-expired", "oversized", "oversized-df", "record-route", "redirect"]
        {
            for frame in of(name) {
                let ip = Ipv4::new(&frame.bytes[ETHER_HEADER..]).unwrap();
                let pseudo = ip.pseudo_sum(ip.payload().len() as u16);
                assert!(ip.checksum_is_right(), "{name}");
                let transport_is_right = match ip.protocol {
                    protocol::UDP => Udp::new(ip.payload()).unwrap().checksum_is_right(pseudo),
                    protocol::TCP => Tcp::new(ip.payload()).unwrap().checksum_is_right(pseudo),
                    _ => Icmp::new(ip.payload()).unwrap().checksum_is_right(),
                };
                assert!(transport_is_right, "{name}");
            }
        }
    }

    #[test]
    fn wrong_packets_are_wrong_in_the_way_intended() {
        assert!(
            of("bad-checksum").all(|f| !Ipv4::new(&f.bytes[ETHER_HEADER..]).unwrap().checksum_is_right())
        );
        assert!(of("bad-source").all(|f| Ipv4::new(&f.bytes[ETHER_HEADER..]).unwrap().checksum_is_right()));
        for frame in of("bad-udp-checksum") {
            let ip = Ipv4::new(&frame.bytes[ETHER_HEADER..]).unwrap();
            let pseudo = ip.pseudo_sum(ip.payload().len() as u16);
            assert!(ip.checksum_is_right() && !Udp::new(ip.payload()).unwrap().checksum_is_right(pseudo));
        }
    }
}

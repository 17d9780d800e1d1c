//! Builds test frames: Ethernet with ARP or IPv4 in it, correct unless told otherwise.
//!
//! Not a general packet builder: just what [`super::traffic`] needs, byte by byte, so that also wrong packets can be
//! made.

use clickwork_packet::addr::{EtherAddress, Ipv4Address};
use clickwork_packet::checksum::Sum;
use clickwork_packet::headers::ethernet::ethertype;
use clickwork_packet::headers::icmp::icmp_type;
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::{
    EthernetMut, Header, IcmpMut, Ipv4Header, Ipv4Mut, TcpMut, UdpMut, arp::operation,
};

/// Length of an Ethernet header.
pub const ETHER_HEADER: usize = 14;
/// The shortest Ethernet frame, without its check sequence.
const MIN_FRAME: usize = 60;

/// A station on a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Station {
    /// Its Ethernet address.
    pub ether: EtherAddress,
    /// Its IP address.
    pub ip: Ipv4Address,
}

/// What is inside an IP packet.
#[derive(Clone, Copy, Debug)]
pub enum Content {
    /// A UDP datagram of this much data.
    Udp(usize),
    /// A TCP segment with these flags, sequence number and this much data.
    Tcp(u8, u32, usize),
    /// An ICMP echo request, or its reply, of this much data.
    Echo(u8, usize),
}

/// An IP packet in a frame, to be built.
#[derive(Clone, Debug)]
pub struct IpFrame {
    /// Ethernet source and destination.
    pub link: (EtherAddress, EtherAddress),
    /// IP source.
    pub source: Ipv4Address,
    /// IP destination.
    pub destination: Ipv4Address,
    /// IP identification; echo messages use it as their identifier too.
    pub identification: u16,
    /// Flags and fragment offset.
    pub fragment: u16,
    /// Time to live.
    pub ttl: u8,
    /// IP options, a multiple of four bytes.
    pub options: Vec<u8>,
    /// What is inside.
    pub content: Content,
}

impl IpFrame {
    /// From one station to another, through the interface `gateway` of a router.
    pub fn through(
        from: Station,
        gateway: EtherAddress,
        to: Ipv4Address,
        identification: u16,
        content: Content,
    ) -> IpFrame {
        IpFrame {
            link: (from.ether, gateway),
            source: from.ip,
            destination: to,
            identification,
            fragment: 0,
            ttl: 64,
            options: Vec::new(),
            content,
        }
    }

    /// The bytes of the frame, with lengths and checksums.
    pub fn build(&self) -> Vec<u8> {
        let header = 20 + self.options.len();
        let transport = self.content.header_length() + self.content.data_length();
        let mut frame = vec![0; ETHER_HEADER + header + transport];
        put_ethernet(&mut frame, self.link.0, self.link.1, ethertype::IPV4);
        frame[ETHER_HEADER] = 0x40 | (header / 4) as u8;
        frame[ETHER_HEADER + 20..][..self.options.len()].copy_from_slice(&self.options);
        fill_data(&mut frame[ETHER_HEADER + header + self.content.header_length()..]);
        self.put_ip(&mut frame[ETHER_HEADER..], (header + transport) as u16);
        frame.resize(frame.len().max(MIN_FRAME), 0);
        frame
    }

    fn put_ip(&self, packet: &mut [u8], length: u16) {
        let Some(header) = Ipv4Header::peek_mut(packet) else { return };
        header.set_total_len(length);
        let Some(mut ip) = Ipv4Mut::new(packet) else { return };
        ip.set_identification(self.identification);
        ip.set_fragment_field(self.fragment);
        ip.ttl = self.ttl;
        ip.protocol = self.content.protocol();
        ip.set_source(self.source);
        ip.set_destination(self.destination);
        ip.fill_checksum();
        let pseudo = ip.pseudo_sum(length - ip.ihl() as u16);
        match self.content {
            Content::Udp(_) => put_udp(ip.payload_mut(), self.identification, pseudo),
            Content::Tcp(flags, sequence, _) => put_tcp(ip.payload_mut(), flags, sequence, pseudo),
            Content::Echo(kind, _) => put_echo(ip.payload_mut(), kind, self.identification),
        }
    }
}

impl Content {
    fn protocol(self) -> u8 {
        match self {
            Content::Udp(_) => protocol::UDP,
            Content::Tcp(..) => protocol::TCP,
            Content::Echo(..) => protocol::ICMP,
        }
    }

    fn header_length(self) -> usize {
        if matches!(self, Content::Tcp(..)) { 20 } else { 8 }
    }

    fn data_length(self) -> usize {
        match self {
            Content::Udp(length) | Content::Tcp(_, _, length) | Content::Echo(_, length) => length,
        }
    }
}

/// Data that a person recognises in a packet dump.
fn fill_data(data: &mut [u8]) {
    for (byte, letter) in data.iter_mut().zip((b'a'..=b'z').cycle()) {
        *byte = letter;
    }
}

fn put_ethernet(frame: &mut [u8], source: EtherAddress, destination: EtherAddress, ethertype: u16) {
    if let Some(mut ether) = EthernetMut::new(frame) {
        ether.source = source;
        ether.destination = destination;
        ether.set_ethertype(ethertype);
    }
}

fn put_udp(datagram: &mut [u8], identification: u16, pseudo: Sum) {
    let length = datagram.len() as u16;
    datagram[4..6].copy_from_slice(&length.to_be_bytes());
    if let Some(mut udp) = UdpMut::new(datagram) {
        udp.set_source_port(50_000 + (identification & 0xff));
        udp.set_destination_port(4242);
        udp.fill_checksum(pseudo);
    }
}

fn put_tcp(segment: &mut [u8], flags: u8, sequence: u32, pseudo: Sum) {
    segment[12] = 5 << 4;
    if let Some(mut tcp) = TcpMut::new(segment) {
        tcp.set_source_port(40_000);
        tcp.set_destination_port(80);
        tcp.set_sequence(sequence);
        tcp.set_window(8192);
        tcp.flags = flags;
        tcp.fill_checksum(pseudo);
    }
}

fn put_echo(message: &mut [u8], kind: u8, identification: u16) {
    if let Some(mut icmp) = IcmpMut::new(message) {
        icmp.icmp_type = kind;
        icmp.set_identifier(identification);
        icmp.set_sequence(identification & 0xff);
        icmp.fill_checksum();
    }
}

/// An ARP packet: `sender` asks for, or answers to, `target`.
pub fn arp(is_request: bool, sender: Station, target: Station) -> Vec<u8> {
    let mut frame = vec![0; MIN_FRAME];
    let destination = if is_request { EtherAddress::BROADCAST } else { target.ether };
    put_ethernet(&mut frame, sender.ether, destination, ethertype::ARP);
    let (operation, target_ether) = match is_request {
        true => (operation::REQUEST, EtherAddress([0; 6])),
        false => (operation::REPLY, target.ether),
    };
    frame[14..20].copy_from_slice(&[0, 1, 8, 0, 6, 4]);
    frame[20..22].copy_from_slice(&operation.to_be_bytes());
    frame[22..28].copy_from_slice(&sender.ether.0);
    frame[28..32].copy_from_slice(&sender.ip.octets());
    frame[32..38].copy_from_slice(&target_ether.0);
    frame[38..42].copy_from_slice(&target.ip.octets());
    frame
}

/// An echo request.
pub const fn ping(data: usize) -> Content {
    Content::Echo(icmp_type::ECHO, data)
}

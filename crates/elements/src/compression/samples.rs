//! Packets for tests: sides of TCP connections, and datagrams.

use crate::ip::samples::ip;
use clickwork_packet::headers::{Header, Ipv4Mut, Ipv6Header, TcpMut, UdpMut};

/// A side of a TCP connection; each field is that of the next packet.
#[derive(Clone, Debug)]
pub struct Talker {
    /// IPv6, not IPv4.
    pub is_ipv6: bool,
    pub port: u16,
    pub id: u16,
    pub sequence: u32,
    pub acknowledgment: u32,
    pub window: u16,
    pub urgent: u16,
    pub flags: u8,
    pub tos: u8,
    pub ttl: u8,
    pub reserved: u8,
    pub options: Vec<u8>,
}

/// The flag of an acknowledgment.
pub const ACK: u8 = 0x10;
/// The push flag.
pub const PSH: u8 = 0x08;

impl Talker {
    /// The talker at this port.
    pub fn new(port: u16) -> Talker {
        Talker {
            is_ipv6: false,
            port,
            id: 77,
            sequence: 0xffff_f000,
            acknowledgment: 5000,
            window: 30_000,
            urgent: 0,
            flags: ACK,
            tos: 0,
            ttl: 64,
            reserved: 0,
            options: vec![],
        }
    }

    /// The packet with this much data; what the next one has in any case is then different.
    pub fn say(&mut self, payload: usize) -> Vec<u8> {
        let mut segment = vec![0; 20];
        segment.extend(&self.options);
        segment.extend((0..payload).map(|n| (n * 7 + usize::from(self.id)) as u8));
        segment[12] = ((20 + self.options.len()) as u8) << 2 | self.reserved;
        segment[13] = self.flags;
        let mut tcp = TcpMut::new(&mut segment).unwrap();
        tcp.set_source_port(self.port);
        tcp.set_destination_port(80);
        tcp.set_sequence(self.sequence);
        tcp.set_acknowledgment(self.acknowledgment);
        tcp.set_window(self.window);
        tcp.set_urgent(self.urgent);
        let packet = if self.is_ipv6 { self.over_ipv6(segment) } else { self.over_ipv4(&segment) };
        self.id = self.id.wrapping_add(1);
        self.sequence = self.sequence.wrapping_add(payload as u32);
        packet
    }

    fn over_ipv4(&self, segment: &[u8]) -> Vec<u8> {
        let mut packet =
            ip("10.0.0.1", "10.0.0.2").ttl(self.ttl).fragment(0x4000).payload(6, segment).bytes();
        let mut header = Ipv4Mut::new(&mut packet).unwrap();
        header.set_identification(self.id);
        header.tos = self.tos;
        header.fill_checksum();
        let pseudo = header.pseudo_sum(segment.len() as u16);
        TcpMut::new(header.payload_mut()).unwrap().fill_checksum(pseudo);
        packet
    }

    fn over_ipv6(&self, segment: Vec<u8>) -> Vec<u8> {
        let mut packet = vec![0; 40];
        let header = Ipv6Header::peek_mut(&mut packet).unwrap();
        header.set_class_and_flow(self.tos, 0x12345);
        header.set_payload_len(segment.len() as u16);
        (header.next_header, header.hop_limit) = (6, self.ttl);
        header.set_destination("2001:db8::2".parse().unwrap());
        let pseudo = header.pseudo_sum(6, segment.len() as u32);
        packet.extend(segment);
        TcpMut::new(&mut packet[40..]).unwrap().fill_checksum(pseudo);
        packet
    }
}

/// A UDP packet; no checksum if `checksum` is 0.
pub fn datagram(id: u16, ttl: u8, checksum: u16, payload: usize) -> Vec<u8> {
    let mut udp = vec![0; 8];
    udp.extend((0..payload).map(|n| n as u8 ^ id as u8));
    let len = udp.len() as u16;
    let mut header = UdpMut::new(&mut udp).unwrap();
    header.set_source_port(5004);
    header.set_destination_port(5006);
    header.set_length(len);
    header.set_checksum(checksum);
    let mut packet = ip("10.0.0.1", "10.0.0.2").ttl(ttl).payload(17, &udp).bytes();
    let mut header = Ipv4Mut::new(&mut packet).unwrap();
    header.set_identification(id);
    header.fill_checksum();
    packet
}

//! IPv6 packets for tests.

use clickwork_packet::Packet;
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::{Header, Ipv6Header};
use zerocopy::IntoBytes;

/// An IPv6 packet in the making.
#[derive(Clone)]
pub struct Sample {
    header: Ipv6Header,
    payload: Vec<u8>,
}

/// A UDP packet with a hop limit of 64 and 8 zero bytes of payload.
pub fn ip6(source: &str, destination: &str) -> Sample {
    let mut header = Ipv6Header::default();
    header.set_source(source.parse().unwrap());
    header.set_destination(destination.parse().unwrap());
    (header.next_header, header.hop_limit) = (protocol::UDP, 64);
    Sample { header, payload: vec![0; 8] }
}

impl Sample {
    /// The same packet with another payload.
    pub fn payload(mut self, next_header: u8, payload: &[u8]) -> Sample {
        self.header.next_header = next_header;
        self.payload = payload.to_vec();
        self
    }

    /// The same packet with an ICMPv6 message of this type and code, whose checksum is right.
    pub fn icmp6(mut self, icmp_type: u8, code: u8, body: &[u8]) -> Sample {
        let mut message = [&[icmp_type, code, 0, 0], body].concat();
        let sum = self.header.pseudo_sum(protocol::ICMP6, message.len() as u32).bytes(&message).finish();
        message[2..4].copy_from_slice(&sum.to_be_bytes());
        self.header.next_header = protocol::ICMP6;
        self.payload = message;
        self
    }

    /// The same packet with another hop limit.
    pub fn hop_limit(mut self, hop_limit: u8) -> Sample {
        self.header.hop_limit = hop_limit;
        self
    }

    /// The packet's bytes, its length right.
    pub fn bytes(&self) -> Vec<u8> {
        let mut header = self.header;
        header.set_payload_len(self.payload.len() as u16);
        [header.as_bytes(), &self.payload].concat()
    }

    /// The packet, its headers not marked.
    pub fn packet(&self) -> Packet {
        Packet::new(&self.bytes())
    }

    /// The packet with its headers marked and the destination annotation set.
    pub fn marked(&self) -> Packet {
        let mut p = self.packet();
        p.set_network_header(0, 40);
        p.set_dst_ip6(self.header.destination());
        p
    }
}

/// The header at the front of some bytes.
pub fn header(bytes: &[u8]) -> &Ipv6Header {
    Ipv6Header::peek(bytes).unwrap()
}

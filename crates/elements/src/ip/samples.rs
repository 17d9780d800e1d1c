//! IP packets for tests.

use clickwork_packet::Packet;
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::{Ipv4Header, Ipv4Mut};

/// An IP packet in the making.
#[derive(Clone)]
pub struct Sample {
    header: Ipv4Header,
    options: Vec<u8>,
    payload: Vec<u8>,
}

/// A UDP packet with a time to live of 64 and 8 zero bytes of payload.
pub fn ip(source: &str, destination: &str) -> Sample {
    let mut header = Ipv4Header::default();
    header.set_source(source.parse().unwrap());
    header.set_destination(destination.parse().unwrap());
    header.protocol = protocol::UDP;
    header.ttl = 64;
    Sample { header, options: vec![], payload: vec![0; 8] }
}

impl Sample {
    /// The same packet with another payload.
    pub fn payload(mut self, protocol: u8, payload: &[u8]) -> Sample {
        self.header.protocol = protocol;
        self.payload = payload.to_vec();
        self
    }

    /// The same packet with these options, padded as need be.
    pub fn options(mut self, options: &[u8]) -> Sample {
        self.options = options.to_vec();
        self.options.resize(options.len().next_multiple_of(4), 0);
        self
    }

    /// The same packet with another time to live.
    pub fn ttl(mut self, ttl: u8) -> Sample {
        self.header.ttl = ttl;
        self
    }

    /// The same packet with flags and fragment offset.
    pub fn fragment(mut self, field: u16) -> Sample {
        self.header.set_fragment_field(field);
        self
    }

    /// The packet's bytes, with lengths and header checksum right.
    pub fn bytes(&self) -> Vec<u8> {
        let mut header = self.header;
        header.set_ihl(20 + self.options.len());
        header.set_total_len((20 + self.options.len() + self.payload.len()) as u16);
        let mut bytes = vec![0x40 | (header.ihl() / 4) as u8];
        bytes.resize(20, 0);
        bytes.extend(&self.options);
        bytes.extend(&self.payload);
        let mut ip = Ipv4Mut::new(&mut bytes).unwrap();
        *ip = header;
        ip.fill_checksum();
        bytes
    }

    /// The packet, its headers not marked.
    pub fn packet(&self) -> Packet {
        Packet::new(&self.bytes())
    }

    /// The packet with its headers marked.
    pub fn marked(&self) -> Packet {
        let mut p = self.packet();
        p.set_network_header(0, 20 + self.options.len() as u32);
        p
    }
}

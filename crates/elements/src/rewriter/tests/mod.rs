//! Tests of rewriters through configurations: packets in, packets and handlers out.
//!
//! Packets are built whole, with checksums computed from scratch; what comes out must be the packet that would have been
//! built with the other addresses and ports. So every incremental update is compared with a full computation.

mod attacks;
mod capacity;
mod errors;
mod ftp;
mod hotswap;
mod mappings;
mod tables;
mod timeouts;

use crate::ip::samples::{Sample, ip};
use crate::testing::Harness;
use clickwork_packet::Packet;
use clickwork_packet::checksum::Sum;
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::{Icmp, Ipv4, Tcp, Udp, tcp::flag};

/// An address and a port.
type End = (&'static str, u16);

/// A packet in the making, which knows how to compute its checksums.
#[derive(Clone)]
struct Made {
    from: String,
    to: String,
    protocol: u8,
    transport: Vec<u8>,
    fragment: u16,
}

impl Made {
    fn new((from, sport): (&str, u16), (to, dport): (&str, u16), protocol: u8, rest: &[u8]) -> Made {
        let transport = [&sport.to_be_bytes()[..], &dport.to_be_bytes(), rest].concat();
        Made { from: from.into(), to: to.into(), protocol, transport, fragment: 0 }
    }

    /// The same packet as a fragment with this field.
    fn fragment(mut self, field: u16) -> Made {
        self.fragment = field;
        self
    }

    /// The sample with its transport checksum right, if it is a first fragment.
    fn sample(&self) -> Sample {
        let mut transport = self.transport.clone();
        let at = if self.protocol == protocol::TCP { 16 } else { 6 };
        let has_checksum = self.protocol != protocol::UDP || transport[at..at + 2] != [0, 0];
        let base = ip(&self.from, &self.to).fragment(self.fragment);
        if self.fragment & 0x1FFF == 0 && has_checksum && transport.len() >= at + 2 {
            transport[at..at + 2].fill(0);
            let (from, to) = (self.from.parse().unwrap(), self.to.parse().unwrap());
            let pseudo = Sum::ipv4_pseudo(from, to, self.protocol, transport.len() as u16);
            let sum = pseudo.bytes(&transport).finish();
            let sum = if sum == 0 && self.protocol == protocol::UDP { 0xFFFF } else { sum };
            transport[at..at + 2].copy_from_slice(&sum.to_be_bytes());
        }
        base.payload(self.protocol, &transport)
    }

    fn bytes(&self) -> Vec<u8> {
        self.sample().bytes()
    }

    fn packet(&self) -> Packet {
        self.sample().marked()
    }
}

fn udp(from: (&str, u16), to: (&str, u16), data: &[u8]) -> Made {
    let length = (8 + data.len() as u16).to_be_bytes();
    Made::new(from, to, protocol::UDP, &[&length[..], &[1, 1], data].concat())
}

fn tcp(from: (&str, u16), to: (&str, u16), flags: u8, data: &[u8]) -> Made {
    segment(from, to, flags, (100, 200), data)
}

fn segment(
    from: (&str, u16),
    to: (&str, u16),
    flags: u8,
    (sequence, acknowledged): (u32, u32),
    data: &[u8],
) -> Made {
    let numbers = [sequence.to_be_bytes(), acknowledged.to_be_bytes()].concat();
    Made::new(from, to, protocol::TCP, &[&numbers[..], &[0x50, flags, 9, 9, 0, 0, 0, 0], data].concat())
}

fn echo(from: &str, to: &str, icmp_type: u8, identifier: u16) -> Sample {
    let [high, low] = identifier.to_be_bytes();
    icmp(from, to, &[icmp_type, 0, 0, 0, high, low, 0, 1, b'p'])
}

/// An ICMP message with its checksum made right.
fn icmp(from: &str, to: &str, message: &[u8]) -> Sample {
    let mut message = message.to_vec();
    let sum = Sum::new().bytes(&message).finish();
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    ip(from, to).payload(protocol::ICMP, &message)
}

/// Addresses and ports of a packet, and a complaint if a checksum is wrong.
fn told(bytes: &[u8]) -> String {
    let packet = Ipv4::new(bytes).expect("an IP packet");
    let mut wrong = String::new();
    if !packet.checksum_is_right() {
        wrong += " IP checksum";
    }
    let (payload, pseudo) = (packet.payload(), packet.pseudo_sum(packet.payload().len() as u16));
    let ports = match packet.protocol {
        _ if !packet.is_first_fragment() => (0, 0),
        protocol::TCP => {
            let tcp = Tcp::new(payload).expect("a TCP header");
            wrong += if tcp.checksum_is_right(pseudo) { "" } else { " TCP checksum" };
            (tcp.source_port(), tcp.destination_port())
        }
        protocol::UDP => {
            let udp = Udp::new(payload).expect("a UDP header");
            wrong += if udp.checksum() == 0 || udp.checksum_is_right(pseudo) { "" } else { " UDP checksum" };
            (udp.source_port(), udp.destination_port())
        }
        protocol::ICMP => {
            let icmp = Icmp::new(payload).expect("an ICMP header");
            wrong += if icmp.checksum_is_right() { "" } else { " ICMP checksum" };
            (icmp.identifier(), icmp.sequence())
        }
        _ => (0, 0),
    };
    format!("{}:{} > {}:{}{wrong}", packet.source(), ports.0, packet.destination(), ports.1)
}

/// What came out of a sink.
fn out(t: &mut Harness, sink: &str) -> Vec<String> {
    t.bytes(sink).iter().map(|bytes| told(bytes)).collect()
}

/// A router with one rewriter of two inputs and two outputs.
fn with_two(rewriter: &str) -> String {
    format!(
        "in :: Source -> [0] rw :: {rewriter}; back :: Source -> [1] rw; rw [0] -> a :: Sink; rw [1] -> b :: Sink"
    )
}

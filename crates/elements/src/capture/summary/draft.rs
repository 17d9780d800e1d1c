//! A packet being made from the fields of a summary line.
//!
//! Headers appear when the first field that needs them is applied, with Click's defaults (TTL 100, TCP). The draft
//! knows no router packet: FromIPSummaryDump turns it into one.

use std::net::Ipv4Addr;

use clickwork_packet::checksum::{Sum, checksum};
use clickwork_packet::headers::Ipv4;

use crate::tcpudp::refusals::pseudo_sum;

use super::headers::{protocol, u16_at};

/// Addresses and ports of the packets that do not say theirs (`!flowid`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowId {
    /// Source address.
    pub source: Ipv4Addr,
    /// Source port.
    pub source_port: u16,
    /// Destination address.
    pub destination: Ipv4Addr,
    /// Destination port.
    pub destination_port: u16,
}

/// What applies to all packets of a dump, until the dump says otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Defaults {
    /// IP protocol of packets that do not say theirs.
    pub protocol: u8,
    /// The flow, if given.
    pub flow: Option<FlowId>,
    /// The minor version of the dump: before version 1.1 fragment offsets counted eight bytes.
    pub minor_version: u32,
}

/// Length in bytes of an Ethernet header.
pub const ETHER_HEADER: usize = 14;
const IP_HEADER: usize = 20;

/// The packet so far. Annotations have the meanings of [`super::headers::PacketView`].
///
/// A line can say what is in a header that the packet's length cuts short. That is kept behind the packet's end, and
/// comes to light if a payload makes the packet longer.
#[derive(Clone, Debug)]
pub struct Draft {
    /// All data, and until [`Draft::finish`] what is behind the end.
    pub data: Vec<u8>,
    /// How long the packet is.
    length: usize,
    /// Where the IP header starts: behind the Ethernet header, if there is one.
    pub network: usize,
    /// Where the transport header starts, if there is an IP header.
    pub transport: usize,
    /// Whether there is an IP header.
    pub has_ip: bool,
    /// Whether the packet can be IP at all.
    pub may_be_ip: bool,
    /// Length in bytes the packet is to have, headers included; 0 if no field says.
    pub wanted_length: usize,
    /// Timestamp in nanoseconds.
    pub timestamp: i64,
    /// First timestamp in nanoseconds.
    pub first_timestamp: i64,
    /// Extra packets.
    pub extra_packets: u32,
    /// Paint.
    pub paint: u8,
    /// Aggregate, if a field gives one.
    pub aggregate: Option<u32>,
    /// The ICMP type that a field gave.
    pub icmp_type: Option<u8>,
    /// The ICMP code that a field gave.
    pub icmp_code: Option<u8>,
    /// Whether a field has said how long the IP header is, or what options there are.
    pub has_ip_options: bool,
    /// Whether a field has said what TCP options there are.
    pub has_tcp_options: bool,
    defaults: Defaults,
}

impl Draft {
    /// A packet without data.
    pub fn new(defaults: Defaults) -> Draft {
        Draft {
            data: Vec::with_capacity(128),
            length: 0,
            network: 0,
            transport: 0,
            has_ip: false,
            may_be_ip: true,
            wanted_length: 0,
            timestamp: 0,
            first_timestamp: 0,
            extra_packets: 0,
            paint: 0,
            aggregate: None,
            icmp_type: None,
            icmp_code: None,
            has_ip_options: false,
            has_tcp_options: false,
            defaults,
        }
    }

    /// The minor version of the dump.
    pub fn minor_version(&self) -> u32 {
        self.defaults.minor_version
    }

    /// The IP header and all behind it.
    pub fn ip(&mut self) -> &mut [u8] {
        &mut self.data[self.network..]
    }

    /// Length of the IP header in bytes, as it says itself.
    pub fn ip_header_length(&self) -> usize {
        usize::from(self.data[self.network] & 0xf) * 4
    }

    /// The IP protocol.
    pub fn ip_protocol(&self) -> u8 {
        self.data[self.network + 9]
    }

    /// The byte at `at` of the transport header, be it in the packet or behind its end.
    pub fn transport_byte(&self, at: usize) -> u8 {
        self.data.get(self.transport + at).copied().unwrap_or(0)
    }

    /// Writes at `at` of the transport header, be that in the packet or behind its end.
    pub fn put_transport(&mut self, at: usize, bytes: &[u8]) {
        self.put(self.transport + at, bytes);
    }

    /// Writes at `at`, be that in the packet or behind its end.
    pub fn put(&mut self, at: usize, bytes: &[u8]) {
        let end = at + bytes.len();
        if self.data.len() < end {
            self.data.resize(end, 0);
        }
        self.data[at..end].copy_from_slice(bytes);
    }

    /// How much of the packet is behind the IP header.
    pub fn transport_length(&self) -> usize {
        self.length.saturating_sub(self.transport)
    }

    /// Whether the fragment offset is zero.
    pub fn is_first_fragment(&self) -> bool {
        u16_at(&self.data, self.network + 6) & 0x1fff == 0
    }

    /// Puts an Ethernet header of type IP in front, unless there is one.
    pub fn make_ether(&mut self) {
        if self.network == 0 {
            self.insert(0, ETHER_HEADER);
            self.data[12] = 8;
            self.network = ETHER_HEADER;
        }
    }

    /// Puts an IP header there, unless there is one. `false` if the packet is not IP, or not of `wanted`, 0 for any.
    pub fn make_ip(&mut self, wanted: u8) -> bool {
        if !self.may_be_ip {
            return false;
        }
        if !self.has_ip {
            self.has_ip = true;
            self.put_ip_header();
        }
        wanted == 0 || self.ip_protocol() == 0 || self.ip_protocol() == wanted
    }

    fn put_ip_header(&mut self) {
        let Defaults { protocol, flow, .. } = self.defaults;
        self.transport = self.network + IP_HEADER;
        self.extend_to(self.network, IP_HEADER);
        let ip = self.ip();
        ip[0] = 0x45;
        ip[8] = 100;
        ip[9] = protocol;
        if let Some(flow) = flow {
            ip[12..16].copy_from_slice(&flow.source.octets());
            ip[16..20].copy_from_slice(&flow.destination.octets());
        }
    }

    /// Puts a transport header there, as far as the wanted length leaves room, unless there is one. `false` if the
    /// packet is a later fragment. There has to be an IP header.
    pub fn make_transport(&mut self) -> bool {
        if !self.is_first_fragment() {
            return false;
        }
        let full = match self.ip_protocol() {
            protocol::TCP => 20,
            protocol::UDP | protocol::UDPLITE | protocol::ICMP => 8,
            protocol::DCCP => 12,
            _ => return true,
        };
        let room = self.wanted_length.saturating_sub(self.transport);
        let length = if self.wanted_length > 0 { full.min(room) } else { full };
        let present = self.transport_length();
        if present < 8 && present < length {
            self.put_transport_header(length);
        }
        true
    }

    fn put_transport_header(&mut self, length: usize) {
        self.extend_to(self.transport, length);
        if self.ip_protocol() == protocol::TCP && length >= 13 {
            let low = self.transport_byte(12) & 0xf;
            self.put_transport(12, &[5 << 4 | low]);
        }
        if let Some(flow) = self.defaults.flow {
            self.put_transport(0, &flow.source_port.to_be_bytes());
            self.put_transport(2, &flow.destination_port.to_be_bytes());
        }
    }

    /// Makes the packet at least `length` bytes long from `offset` on. What is behind its end comes into it, or zeros.
    pub fn extend_to(&mut self, offset: usize, length: usize) {
        self.length = self.length.max(offset + length);
        if self.data.len() < self.length {
            self.data.resize(self.length, 0);
        }
    }

    /// Inserts `count` zeros.
    pub fn insert(&mut self, at: usize, count: usize) {
        let at = at.min(self.data.len());
        self.data.splice(at..at, std::iter::repeat_n(0, count));
        self.length += count;
    }

    /// Completes lengths and, if `with_checksums`, checksums (for which all of the packet's bytes have to be there).
    /// Returns the extra length: how many bytes the packet should have but has not.
    pub fn finish(&mut self, with_checksums: bool) -> u32 {
        if self.defaults.flow.is_some() {
            self.make_ip(0);
        }
        if self.has_ip && self.may_be_ip {
            self.make_transport();
            let ip_length = self.settle_ip_length();
            self.settle_udp_length(ip_length);
            self.data.truncate(self.length);
            if with_checksums {
                self.extend_to(self.network, ip_length);
                self.set_checksums();
            }
        }
        self.data.resize(self.length, 0);
        self.wanted_length.saturating_sub(self.length) as u32
    }

    fn settle_ip_length(&mut self) -> usize {
        // A length that does not even hold the link header is taken for that of the IP packet.
        let wanted = self.wanted_length.checked_sub(self.network).unwrap_or(self.wanted_length);
        let length = if wanted == 0 { self.length - self.network } else { wanted }.min(0xffff);
        self.ip()[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        length
    }

    fn settle_udp_length(&mut self, ip_length: usize) {
        let length = ip_length.saturating_sub(self.transport - self.network) as u16;
        let is_udp = self.ip_protocol() == protocol::UDP && self.is_first_fragment();
        if is_udp && (self.transport_byte(4), self.transport_byte(5)) == (0, 0) {
            self.put_transport(4, &length.to_be_bytes());
        }
    }

    fn set_checksums(&mut self) {
        let header_length = self.ip_header_length().min(self.data.len() - self.network);
        let ip = self.ip();
        ip[10..12].fill(0);
        let sum = checksum(&ip[..header_length]);
        ip[10..12].copy_from_slice(&sum.to_be_bytes());
        let is_fragment = u16_at(ip, 6) & 0x3fff != 0;
        let field = match self.ip_protocol() {
            protocol::TCP => 16,
            protocol::UDP => 6,
            protocol::ICMP => 2,
            _ => return,
        };
        if !is_fragment && self.transport_length() >= field + 2 {
            self.set_transport_checksum(field);
        }
    }

    fn set_transport_checksum(&mut self, field: usize) {
        let protocol = self.ip_protocol();
        let length = self.transport_length();
        self.put_transport(field, &[0, 0]);
        let ip = &self.data[self.network..];
        let start = match Ipv4::new(ip) {
            _ if protocol == protocol::ICMP => Sum::new(),
            Some(ip) => pseudo_sum(&ip, length),
            // A header that calls itself shorter than it can be.
            None => Sum::new().bytes(&ip[12..20]).word(protocol.into()).word(length as u16),
        };
        let sum = match start.bytes(&self.data[self.transport..]).finish() {
            // A UDP checksum of zero means that there is none (RFC 768).
            0 if protocol == protocol::UDP => 0xffff,
            sum => sum,
        };
        self.put_transport(field, &sum.to_be_bytes());
    }
}

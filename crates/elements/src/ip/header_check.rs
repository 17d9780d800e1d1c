//! The check of an IPv4 header that CheckIPHeader and its relatives make: RFC 1812 §5.2.2, and §5.3.7 for sources.

use super::addresses::AddressSet;
use super::fast::check_ip_header::{Addresses, Constants};
use clickwork_packet::Packet;
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::checksum::{checksum, checksum_20};
use clickwork_packet::headers::{Header, Ipv4Header};

/// What can be wrong with a header. Each is tested only if those before it are right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Shorter than a header.
    TinyPacket,
    /// Not version 4.
    Version,
    /// The header length is below 20.
    HeaderLength,
    /// The total length is below the header's or beyond the packet's end.
    Length,
    /// The checksum is wrong.
    Checksum,
    /// The source cannot be a host's address.
    Source,
}

impl Fault {
    /// All faults, in the order of tests.
    pub const ALL: [Fault; 6] = [
        Fault::TinyPacket,
        Fault::Version,
        Fault::HeaderLength,
        Fault::Length,
        Fault::Checksum,
        Fault::Source,
    ];

    /// The fault in Click's words.
    pub const fn text(self) -> &'static str {
        match self {
            Fault::TinyPacket => "tiny packet",
            Fault::Version => "bad IP version",
            Fault::HeaderLength => "bad IP header length",
            Fault::Length => "bad IP length",
            Fault::Checksum => "bad IP checksum",
            Fault::Source => "bad source address",
        }
    }
}

/// What is checked, and where.
pub struct HeaderCheck {
    /// Where the header is in the data.
    pub offset: usize,
    /// Whether the checksum is looked at.
    pub checksum: bool,
    /// Sources that are refused, such as the networks' broadcast addresses.
    pub bad_sources: AddressSet,
    /// Destinations for which a bad source is let through.
    pub good_destinations: AddressSet,
}

impl HeaderCheck {
    /// A check of the header at the front of the data that refuses no source.
    pub fn new(checksum: bool) -> HeaderCheck {
        let (bad_sources, good_destinations) = Default::default();
        HeaderCheck { offset: 0, checksum, bad_sources, good_destinations }
    }

    /// Also refuses what no host may use as its source: 0.0.0.0 and 255.255.255.255.
    pub fn refuse_universal_sources(&mut self) {
        self.bad_sources.extend([Ipv4Address::UNSPECIFIED, Ipv4Address::BROADCAST]);
    }

    /// The common case of the check, of a header `before` bytes further into the data.
    #[inline(always)]
    pub fn constants(&self, before: usize) -> Constants<'_> {
        let HeaderCheck { offset, checksum, ref bad_sources, .. } = *self;
        Constants { offset: offset + before, checksum, bad_sources: bad_sources.constants() }
    }

    /// The same, as a Rust expression where `path` leads to the items of the common case's module.
    pub fn constants_text(&self, before: usize, path: &str) -> String {
        let Constants { offset, checksum, bad_sources } = self.constants(before);
        let Addresses { endings, sorted } = bad_sources;
        format!(
            "{path}Constants {{ offset: {offset}, checksum: {checksum}, \
             bad_sources: {path}Addresses {{ endings: {endings}, sorted: &{sorted:?} }} }}"
        )
    }

    /// Checks a packet. A good one gets its headers marked, its destination annotation set, and what lies behind the IP
    /// packet cut off.
    pub fn check(&self, p: &mut Packet) -> Result<(), Fault> {
        let ip = p.data().get(self.offset..).unwrap_or_default();
        let (header, header_len, len) = self.check_lengths(ip)?;
        if self.checksum && sum(ip, header_len) != 0 {
            return Err(Fault::Checksum);
        }
        let (source, destination, padding) = (header.source(), header.destination(), ip.len() - len);
        if self.bad_sources.contains(source) && !self.good_destinations.contains(destination) {
            return Err(Fault::Source);
        }
        p.set_network_header(self.offset as i32, header_len as u32);
        if padding > 0 {
            p.take(padding);
        }
        p.set_dst_ip(destination);
        Ok(())
    }

    fn check_lengths<'p>(&self, ip: &'p [u8]) -> Result<(&'p Ipv4Header, usize, usize), Fault> {
        let header = Ipv4Header::peek(ip).ok_or(Fault::TinyPacket)?;
        if header.version() != 4 {
            return Err(Fault::Version);
        }
        let (header_len, len) = (header.ihl(), usize::from(header.total_len()));
        if header_len < 20 {
            return Err(Fault::HeaderLength);
        }
        if len > ip.len() || len < header_len {
            return Err(Fault::Length);
        }
        Ok((header, header_len, len))
    }
}

/// The checksum over a header that is there as a whole; 0 if it is right.
#[inline]
fn sum(ip: &[u8], header_len: usize) -> u16 {
    match ip.first_chunk() {
        Some(header) if header_len == 20 => checksum_20(header),
        _ => checksum(&ip[..header_len]),
    }
}

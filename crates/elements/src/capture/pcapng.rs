//! The pcapng format: a sequence of blocks, in sections, each with its own byte order and its own interfaces.
//!
//! Only what leads to packets is parsed: section headers, interface descriptions (link type, snapshot length,
//! timestamp resolution and offset) and the three packet blocks. The reader skips every other block.
//! Read draft-ietf-opsawg-pcapng §3 and §4 first.

use super::error::Fault;
use super::linktype::LinkType;
use super::pcap::{u16_of, u32_of};

/// Block type of a section header; it reads the same in both byte orders.
pub const SECTION_HEADER: u32 = 0x0a0d_0d0a;
/// Block type of an interface description.
pub const INTERFACE: u32 = 1;
/// The obsolete packet block.
const PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
/// Block type of an enhanced packet block.
pub const ENHANCED_PACKET: u32 = 6;

/// Length in bytes of what is before the body of a block: its type and its length.
pub const BLOCK_HEADER: usize = 8;
/// Length in bytes of the smallest block: type, length, no body, length again.
const MIN_BLOCK: u32 = 12;
/// How many bytes of a section header or interface description are looked at; comments beyond that are skipped.
const MAX_DESCRIPTION: usize = 64 * 1024;
/// A section with more interfaces than this is not believed.
const MAX_INTERFACES: usize = 65_536;

/// What tells the byte order of a section.
pub const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;

/// The current section.
#[derive(Clone, Debug)]
pub struct Section {
    big_endian: bool,
    interfaces: Vec<Interface>,
}

#[derive(Clone, Debug)]
struct Interface {
    link_type: LinkType,
    /// 0 means no limit.
    snaplen: u32,
    unit: TimeUnit,
    /// Seconds to add to each timestamp.
    time_offset: i64,
}

/// The `if_tsresol` option: what a timestamp counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimeUnit {
    /// 10 to the minus this many seconds.
    Decimal(u8),
    /// 2 to the minus this many seconds.
    Binary(u8),
}

/// Type and length of a block.
#[derive(Clone, Copy, Debug)]
pub struct BlockHeader {
    /// The block type.
    pub kind: u32,
    /// The length of the whole block in bytes.
    pub length: u32,
}

/// The length of a block, as it is repeated at the block's end.
#[derive(Clone, Copy, Debug)]
pub struct Trailer {
    length: u32,
    big_endian: bool,
}

impl Trailer {
    /// Compares with the four bytes at the end of the block.
    pub fn check(self, bytes: &[u8]) -> Result<(), Fault> {
        let found = u32_of(bytes, self.big_endian);
        if found == self.length {
            return Ok(());
        }
        Err(damaged(format!("a block of length {} ends with length {found}", self.length)))
    }
}

/// A packet block, as far as its fixed fields tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketHeader {
    /// Nanoseconds since 1970; 0 in simple packet blocks, which have none.
    pub timestamp: u64,
    /// Bytes of the packet that are in the file.
    pub captured: u32,
    /// Bytes the packet had on the wire.
    pub length: u32,
    /// Where in the block the packet starts.
    pub data_offset: usize,
    /// Link type of the interface.
    pub link_type: LinkType,
}

/// Whether `first`, at least four bytes, start a pcapng file.
pub fn recognises(first: &[u8]) -> bool {
    first.starts_with(&SECTION_HEADER.to_be_bytes())
}

/// How many bytes of a block of this kind have to be present before it can be parsed; 0 if it can be skipped.
pub fn needed(header: BlockHeader) -> usize {
    let wanted = match header.kind {
        SECTION_HEADER | INTERFACE => MAX_DESCRIPTION,
        PACKET | ENHANCED_PACKET => 28,
        SIMPLE_PACKET => 12,
        _ => 0,
    };
    wanted.min(header.length as usize)
}

/// Whether a block of this kind holds a packet.
pub fn is_packet(header: BlockHeader) -> bool {
    matches!(header.kind, PACKET | SIMPLE_PACKET | ENHANCED_PACKET)
}

impl Section {
    /// Parses the header of a section whose first 12 bytes are in `block`: only they tell the byte order.
    pub fn parse(block: &[u8]) -> Result<Section, Fault> {
        let bytes = block.get(8..12).ok_or(Fault::Truncated)?;
        let big_endian = match u32_of(bytes, true) {
            BYTE_ORDER_MAGIC => true,
            other if other.swap_bytes() == BYTE_ORDER_MAGIC => false,
            other => return Err(damaged(format!("bad byte-order magic {other:#010x} in a section header"))),
        };
        Ok(Section { big_endian, interfaces: Vec::new() })
    }

    /// Link type of the first interface, if one has been described.
    pub fn link_type(&self) -> Option<LinkType> {
        self.interfaces.first().map(|interface| interface.link_type)
    }

    /// Parses type and length, the first [`BLOCK_HEADER`] bytes of a block.
    pub fn parse_block_header(&self, bytes: &[u8]) -> Result<BlockHeader, Fault> {
        let header = BlockHeader {
            kind: u32_of(&bytes[0..4], self.big_endian),
            length: u32_of(&bytes[4..8], self.big_endian),
        };
        if header.length < MIN_BLOCK || !header.length.is_multiple_of(4) {
            return Err(damaged(format!("bad block length {}", header.length)));
        }
        Ok(header)
    }

    /// What has to stand at the end of a block.
    pub fn trailer(&self, header: BlockHeader) -> Trailer {
        Trailer { length: header.length, big_endian: self.big_endian }
    }

    /// Checks the version in a section header block.
    pub fn check_version(&self, block: &[u8]) -> Result<(), Fault> {
        let major = block.get(12..14).map(|bytes| u16_of(bytes, self.big_endian)).ok_or_else(short_block)?;
        if major == 1 { Ok(()) } else { Err(damaged(format!("unknown pcapng major version {major}"))) }
    }

    /// Parses an interface description; `block` may lack what is behind [`needed`].
    pub fn add_interface(&mut self, block: &[u8]) -> Result<(), Fault> {
        if self.interfaces.len() == MAX_INTERFACES {
            return Err(damaged("absurdly many interfaces".to_owned()));
        }
        let fixed = block.get(8..16).ok_or_else(short_block)?;
        let mut interface = Interface {
            link_type: LinkType::from_file(u16_of(fixed, self.big_endian).into()),
            snaplen: u32_of(&fixed[4..8], self.big_endian),
            unit: TimeUnit::Decimal(6),
            time_offset: 0,
        };
        self.parse_interface_options(&block[16..], &mut interface);
        self.interfaces.push(interface);
        Ok(())
    }

    /// Options are pairs of code and length, then a value padded to four bytes; code 0 ends them.
    fn parse_interface_options(&self, mut options: &[u8], interface: &mut Interface) {
        while let Some(head) = options.get(..4) {
            let (code, length) =
                (u16_of(head, self.big_endian), usize::from(u16_of(&head[2..], self.big_endian)));
            let Some(value) = options.get(4..4 + length) else { return };
            match (code, length) {
                (0, _) => return,
                (9, 1) => interface.unit = TimeUnit::parse(value[0]),
                (14, 8) => interface.time_offset = self.i64_of(value),
                _ => {}
            }
            options = options.get(4 + length.next_multiple_of(4)..).unwrap_or_default();
        }
    }

    fn i64_of(&self, bytes: &[u8]) -> i64 {
        let halves = [u32_of(&bytes[0..4], self.big_endian), u32_of(&bytes[4..8], self.big_endian)];
        let [high, low] = if self.big_endian { halves } else { [halves[1], halves[0]] };
        (i64::from(high) << 32) | i64::from(low)
    }

    /// Parses the fixed fields of a packet block, of which [`needed`] bytes must be there.
    pub fn parse_packet(&self, header: BlockHeader, block: &[u8]) -> Result<PacketHeader, Fault> {
        let packet = match header.kind {
            SIMPLE_PACKET => self.parse_simple(header, block)?,
            _ => self.parse_full(header, block)?,
        };
        let room =
            u64::from(header.length).checked_sub(packet.data_offset as u64 + 4).ok_or_else(short_block)?;
        if u64::from(packet.captured) > room {
            let captured = packet.captured;
            return Err(damaged(format!(
                "a captured length of {captured} in a packet block of {} bytes",
                header.length
            )));
        }
        Ok(packet)
    }

    fn interface(&self, index: usize) -> Result<&Interface, Fault> {
        self.interfaces.get(index).ok_or_else(|| damaged(format!("interface {index} has not been described")))
    }

    /// A simple packet block: interface 0, no timestamp, cut at the snapshot length.
    fn parse_simple(&self, header: BlockHeader, block: &[u8]) -> Result<PacketHeader, Fault> {
        let interface = self.interface(0)?;
        let length = u32_of(&block[8..12], self.big_endian);
        let limit = if interface.snaplen == 0 { u32::MAX } else { interface.snaplen };
        let captured = length.min(limit).min(header.length.saturating_sub(16));
        Ok(PacketHeader { timestamp: 0, captured, length, data_offset: 12, link_type: interface.link_type })
    }

    /// An enhanced packet block, or its predecessor, which has 16 bits for the interface and 16 for a drop count.
    fn parse_full(&self, header: BlockHeader, block: &[u8]) -> Result<PacketHeader, Fault> {
        let fields = block.get(8..28).ok_or_else(short_block)?;
        let field = |at: usize| u32_of(&fields[at..at + 4], self.big_endian);
        let index =
            if header.kind == PACKET { u16_of(fields, self.big_endian).into() } else { field(0) as usize };
        let interface = self.interface(index)?;
        let ticks = (u64::from(field(4)) << 32) | u64::from(field(8));
        Ok(PacketHeader {
            timestamp: interface.nanoseconds(ticks),
            captured: field(12),
            length: field(16).max(field(12)),
            data_offset: 28,
            link_type: interface.link_type,
        })
    }
}

impl Interface {
    /// Nanoseconds since 1970 of a timestamp; saturating, because files can claim any time.
    fn nanoseconds(&self, ticks: u64) -> u64 {
        let since = self.unit.nanoseconds(ticks) as i128 + i128::from(self.time_offset) * 1_000_000_000;
        since.clamp(0, u64::MAX.into()) as u64
    }
}

impl TimeUnit {
    fn parse(value: u8) -> TimeUnit {
        if value & 0x80 == 0 { TimeUnit::Decimal(value) } else { TimeUnit::Binary(value & 0x7f) }
    }

    fn nanoseconds(self, ticks: u64) -> u128 {
        let scaled = u128::from(ticks) * 1_000_000_000;
        match self {
            TimeUnit::Binary(exponent) => scaled >> exponent,
            TimeUnit::Decimal(exponent) => match 10u128.checked_pow(exponent.into()) {
                Some(divisor) => scaled / divisor,
                None => 0,
            },
        }
    }
}

fn damaged(message: String) -> Fault {
    Fault::Damaged(message)
}

fn short_block() -> Fault {
    damaged("a block is too short for its fields".to_owned())
}

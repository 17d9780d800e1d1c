//! The classic pcap format: a file header of 24 bytes, then records of a 16-byte header and the packet.
//!
//! Either byte order, micro- or nanoseconds, and the variants that Click reads: files of version 2.3 and older, some
//! of which have the two lengths swapped, and the "modified" format of an old Linux libpcap with eight more bytes in
//! each record header. Read draft-ietf-opsawg-pcap first.

use super::error::Fault;
use super::linktype::LinkType;

/// Length of the file header in bytes.
pub const FILE_HEADER: usize = 24;

/// Timestamps in microseconds.
pub const MAGIC_MICRO: u32 = 0xa1b2_c3d4;
/// Timestamps in nanoseconds.
pub const MAGIC_NANO: u32 = 0xa1b2_3c4d;
/// Microseconds, and interface, protocol and packet type in each record header.
const MAGIC_MODIFIED: u32 = 0xa1b2_cd34;

/// What the file header says about the records.
#[derive(Clone, Debug)]
pub struct Format {
    /// The link type of all packets.
    pub link_type: LinkType,
    big_endian: bool,
    nano: bool,
    modified: bool,
    minor_version: u16,
}

/// The header of one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHeader {
    /// Nanoseconds since 1970.
    pub timestamp: u64,
    /// Bytes of the packet that are in the file.
    pub captured: u32,
    /// Bytes in the file that belong to the record but not to the packet, after it.
    pub excess: u32,
    /// Bytes the packet had on the wire.
    pub length: u32,
}

impl Format {
    /// Whether `first`, at least four bytes, start a pcap file.
    pub fn recognises(first: &[u8]) -> bool {
        magic(first).is_some()
    }

    /// Parses the file header, of which [`FILE_HEADER`] bytes must be there.
    pub fn parse(header: &[u8]) -> Result<Format, Fault> {
        let (magic, big_endian) = magic(header)
            .ok_or_else(|| Fault::NotACapture("not a tcpdump file (bad magic number)".to_owned()))?;
        let major = u16_of(&header[4..6], big_endian);
        if major != 2 {
            return Err(Fault::NotACapture(format!("unknown major version {major}")));
        }
        Ok(Format {
            // The upper half of the field describes the frame check sequence.
            link_type: LinkType::from_file(u32_of(&header[20..24], big_endian) & 0xffff),
            big_endian,
            nano: magic == MAGIC_NANO,
            modified: magic == MAGIC_MODIFIED,
            minor_version: u16_of(&header[6..8], big_endian),
        })
    }

    /// Length of a record header in bytes.
    pub fn record_header(&self) -> usize {
        if self.modified { 24 } else { 16 }
    }

    /// Parses a record header, of which [`Format::record_header`] bytes must be there.
    pub fn parse_record(&self, header: &[u8]) -> RecordHeader {
        let field = |at: usize| u32_of(&header[at..at + 4], self.big_endian);
        let (seconds, fraction) = (u64::from(field(0)), u64::from(field(4)));
        let (mut captured, mut length) = (field(8), field(12));
        let swapped = self.minor_version < 3 || (self.minor_version == 3 && captured > length);
        if swapped {
            std::mem::swap(&mut captured, &mut length);
        }
        // Files of tcptrace claim one byte more than the packet had; tcpdump and Click drop such bytes.
        let excess = captured.saturating_sub(length);
        RecordHeader {
            timestamp: seconds * 1_000_000_000 + fraction * if self.nano { 1 } else { 1000 },
            captured: captured - excess,
            excess,
            length,
        }
    }
}

/// The magic number in its own byte order, and whether that is big-endian.
fn magic(first: &[u8]) -> Option<(u32, bool)> {
    let bytes: [u8; 4] = first.get(..4)?.try_into().ok()?;
    [(u32::from_le_bytes(bytes), false), (u32::from_be_bytes(bytes), true)]
        .into_iter()
        .find(|(magic, _)| matches!(*magic, MAGIC_MICRO | MAGIC_NANO | MAGIC_MODIFIED))
}

/// Two bytes as a number.
pub(super) fn u16_of(bytes: &[u8], big_endian: bool) -> u16 {
    let bytes = [bytes[0], bytes[1]];
    if big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) }
}

/// Four bytes as a number.
pub(super) fn u32_of(bytes: &[u8], big_endian: bool) -> u32 {
    let bytes = [bytes[0], bytes[1], bytes[2], bytes[3]];
    if big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
}

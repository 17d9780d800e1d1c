//! What a network card would have done: finish checksums and cut merged packets.
//!
//! Between veth pairs, in virtual machines and with receive offload, the kernel hands over packets as they were
//! *before* the card's work: the transport checksum holds only the pseudo-header sum, and up to 64 KiB of a
//! stream travel as one packet. A router that forwards these as they are sends garbage. This module does the
//! missing work on plain bytes; it makes no system call and trusts no field of a packet.
//! Read first: the checksum and GSO sections of the virtio specification (§5.1.6), RFC 1071, RFC 9293 §3.1.
#![forbid(unsafe_code)]

mod checksum;
mod layout;
mod segment;

pub use checksum::{complete_by_parsing, complete_checksum};
pub use segment::{Merged, Segmenter};

use std::fmt;

/// Why a packet cannot be finished: its bytes contradict what the kernel said about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfinishable {
    /// A header, or the checksum field, lies outside the packet.
    Truncated,
    /// Neither IPv4 nor IPv6, or not the transport protocol that was announced.
    NotTransport,
    /// A kind of merging that we cannot undo (UDP fragments, tunnels).
    UnknownMerging,
}

impl fmt::Display for Unfinishable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unfinishable::Truncated => "packet too short for its offload information",
            Unfinishable::NotTransport => "offload information does not match the packet's protocol",
            Unfinishable::UnknownMerging => "packet merged in a way that cannot be undone",
        })
    }
}

impl std::error::Error for Unfinishable {}

/// What the kernel left undone on a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offload {
    /// Where the partial checksum starts, and where in that its field is: bytes from the packet's start, and
    /// bytes from the first.
    pub partial_checksum: Option<(usize, usize)>,
    /// The packet is several merged ones.
    pub merged: Option<Merged>,
}

/// Bytes of a `virtio_net_hdr`.
pub const VIRTIO_HEADER: usize = 10;

const NEEDS_CHECKSUM: u8 = 1;
const DATA_VALID: u8 = 2;
const GSO_TCP4: u8 = 1;
const GSO_TCP6: u8 = 4;
const GSO_ECN: u8 = 0x80;

/// The `virtio_net_hdr` of a TCP packet to be written, whose checksum the kernel completes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpOffload {
    /// Where the TCP header is, in bytes from the packet's start.
    pub header: u16,
    /// Bytes of all headers.
    pub headers: u16,
    /// Text is to be cut into pieces of so many bytes; 0 if it is not to be cut.
    pub segment_size: u16,
    /// It is IPv6.
    pub ipv6: bool,
    /// It carries CWR, which only the first of the pieces may (RFC 3168 §6.1.2).
    pub congestion_window_reduced: bool,
}

impl TcpOffload {
    /// The header, in the byte order of this machine.
    #[inline]
    pub fn to_virtio(self) -> [u8; VIRTIO_HEADER] {
        let [[a, b], [c, d], [e, f]] = [self.headers, self.segment_size, self.header].map(u16::to_ne_bytes);
        let [g, h] = CHECKSUM_IN_TCP.to_ne_bytes();
        let kind = if self.ipv6 { GSO_TCP6 } else { GSO_TCP4 };
        let cut = match (self.segment_size, self.congestion_window_reduced) {
            (0, _) => 0,
            (_, false) => kind,
            (_, true) => kind | GSO_ECN,
        };
        [NEEDS_CHECKSUM, cut, a, b, c, d, e, f, g, h]
    }
}

/// Where the checksum is in a TCP header.
const CHECKSUM_IN_TCP: u16 = 16;

/// Whether the kernel vouches for the transport checksum: it has seen it, or it never left this machine.
#[inline]
pub fn checksum_is_good(header: &[u8; VIRTIO_HEADER]) -> bool {
    header[0] & (NEEDS_CHECKSUM | DATA_VALID) != 0
}

impl Offload {
    /// Reads a `virtio_net_hdr` in the byte order of this machine, as packet sockets give it.
    pub fn from_virtio(header: [u8; 10]) -> Result<Offload, Unfinishable> {
        let field = |at: usize| usize::from(u16::from_ne_bytes([header[at], header[at + 1]]));
        let partial_checksum = (header[0] & NEEDS_CHECKSUM != 0).then(|| (field(6), field(8)));
        let merged = match header[1] & !GSO_ECN {
            0 => None,
            1 | 4 => Some(Merged::Tcp { payload: field(4) }),
            5 => Some(Merged::Udp { payload: field(4) }),
            _ => return Err(Unfinishable::UnknownMerging),
        };
        Ok(Offload { partial_checksum, merged })
    }

    /// Nothing is left to do.
    pub fn is_finished(&self) -> bool {
        self.partial_checksum.is_none() && self.merged.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn virtio(flags: u8, gso: u8, size: u16, start: u16, offset: u16) -> [u8; 10] {
        let mut header = [flags, gso, 0, 0, 0, 0, 0, 0, 0, 0];
        header[4..6].copy_from_slice(&size.to_ne_bytes());
        header[6..8].copy_from_slice(&start.to_ne_bytes());
        header[8..10].copy_from_slice(&offset.to_ne_bytes());
        header
    }

    #[test]
    fn a_finished_packet_has_no_offload() {
        assert!(Offload::from_virtio([0; 10]).unwrap().is_finished());
        // "Data valid" alone asks for nothing.
        assert!(Offload::from_virtio(virtio(2, 0, 0, 34, 16)).unwrap().is_finished());
    }

    #[test]
    fn partial_checksums_and_merged_packets_are_read() {
        let offload = Offload::from_virtio(virtio(1, 0x81, 1448, 34, 16)).unwrap();
        assert_eq!(offload.partial_checksum, Some((34, 16)));
        assert_eq!(offload.merged, Some(Merged::Tcp { payload: 1448 }));
        let offload = Offload::from_virtio(virtio(1, 5, 1000, 34, 6)).unwrap();
        assert_eq!(offload.merged, Some(Merged::Udp { payload: 1000 }));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let whole = TcpOffload { header: 20, headers: 52, ..TcpOffload::default() };
        let cut = TcpOffload { segment_size: 1448, congestion_window_reduced: true, ipv6: true, ..whole };
        for (offload, merged) in [(whole, None), (cut, Some(Merged::Tcp { payload: 1448 }))] {
            let read = Offload::from_virtio(offload.to_virtio()).unwrap();
            assert_eq!(read, Offload { partial_checksum: Some((20, 16)), merged });
            assert!(checksum_is_good(&offload.to_virtio()));
        }
        assert_eq!(cut.to_virtio()[1], 0x84);
        assert!(!checksum_is_good(&[0; 10]));
    }

    #[test]
    fn fragments_merged_by_the_kernel_are_refused() {
        assert_eq!(Offload::from_virtio(virtio(0, 3, 1000, 0, 0)), Err(Unfinishable::UnknownMerging));
    }
}

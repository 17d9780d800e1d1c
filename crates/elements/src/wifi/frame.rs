//! IEEE 802.11 frames: the header of data and management frames, and the constants of its fields (IEEE 802.11-2016 §9.2).
//!
//! Not here: what management frames carry (see [`super::management`]).

use super::params::address_at;
use clickwork_packet::Packet;
use clickwork_packet::addr::EtherAddress;
use clickwork_packet::headers::Header;
use zerocopy::byteorder::little_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Frame types (first byte of frame control).
pub mod kind {
    /// The bits.
    pub const MASK: u8 = 0x0C;
    /// Management.
    pub const MANAGEMENT: u8 = 0x00;
    /// Control.
    pub const CONTROL: u8 = 0x04;
    /// Data.
    pub const DATA: u8 = 0x08;
}

/// Subtypes of frames (first byte of frame control).
pub mod subtype {
    /// The bits.
    pub const MASK: u8 = 0xF0;
    /// Management: association request.
    pub const ASSOCIATION_REQUEST: u8 = 0x00;
    /// Management: association response.
    pub const ASSOCIATION_RESPONSE: u8 = 0x10;
    /// Management: probe request.
    pub const PROBE_REQUEST: u8 = 0x40;
    /// Management: probe response.
    pub const PROBE_RESPONSE: u8 = 0x50;
    /// Management: beacon.
    pub const BEACON: u8 = 0x80;
    /// Management: end of an association.
    pub const DISASSOCIATION: u8 = 0xA0;
    /// Management: authentication.
    pub const AUTHENTICATION: u8 = 0xB0;
    /// Data: the bit of those with a quality-of-service field.
    pub const QOS: u8 = 0x80;
}

/// Which way a frame goes (second byte of frame control): from and to the distribution system behind access points.
pub mod direction {
    /// The bits.
    pub const MASK: u8 = 0x03;
    /// From station to station.
    pub const NONE: u8 = 0;
    /// From a station to its access point.
    pub const TO_AP: u8 = 1;
    /// From an access point to a station.
    pub const FROM_AP: u8 = 2;
    /// From access point to access point.
    pub const BETWEEN_APS: u8 = 3;
}

/// Flags in the second byte of frame control.
pub mod flag {
    /// Other fragments follow.
    pub const MORE_FRAGMENTS: u8 = 0x04;
    /// The frame was sent before.
    pub const RETRY: u8 = 0x08;
    /// The body is encrypted.
    pub const PROTECTED: u8 = 0x40;
}

/// Bytes of the header of most frames.
pub const HEADER: usize = size_of::<WifiHeader>();

/// What stands before the Ethernet type in data frames: LLC for SNAP (RFC 1042).
pub const LLC_SNAP: [u8; 6] = [0xAA, 0xAA, 3, 0, 0, 0];

/// Bytes of LLC and SNAP headers, with the Ethernet type.
pub const LLC: usize = LLC_SNAP.len() + 2;

/// The header of data and management frames.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Default, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[repr(C)]
pub struct WifiHeader {
    /// Frame control.
    pub control: [u8; 2],
    /// How long the medium is busy, in microseconds.
    pub duration: U16,
    /// Receiver.
    pub address1: EtherAddress,
    /// Transmitter.
    pub address2: EtherAddress,
    /// The third address, by direction.
    pub address3: EtherAddress,
    /// Sequence number and, in the low four bits, fragment number.
    pub sequence: U16,
}

impl Header for WifiHeader {}

/// Whom a frame is from and to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Addresses {
    /// Final receiver.
    pub destination: EtherAddress,
    /// First sender.
    pub source: EtherAddress,
    /// The network.
    pub bssid: EtherAddress,
}

impl WifiHeader {
    /// The header at the front of a packet.
    pub fn of(p: &Packet) -> Option<&WifiHeader> {
        WifiHeader::peek(p.data())
    }

    /// One of [`kind`].
    pub fn kind(&self) -> u8 {
        self.control[0] & kind::MASK
    }

    /// One of [`subtype`].
    pub fn subtype(&self) -> u8 {
        self.control[0] & subtype::MASK
    }

    /// One of [`direction`].
    pub fn direction(&self) -> u8 {
        self.control[1] & direction::MASK
    }

    /// Whether all bits of one of [`flag`] are set.
    pub fn has(&self, flag: u8) -> bool {
        self.control[1] & flag == flag
    }

    /// The number that all fragments of a frame share.
    pub fn sequence_number(&self) -> u16 {
        self.sequence.get() >> 4
    }

    /// Which fragment it is.
    pub fn fragment(&self) -> u8 {
        (self.sequence.get() & 0x0F) as u8
    }

    /// Bytes of the whole header of a data frame: with a fourth address between access points, and with a
    /// quality-of-service field where the subtype says so.
    pub fn data_header_len(&self) -> usize {
        let fourth = if self.direction() == direction::BETWEEN_APS { size_of::<EtherAddress>() } else { 0 };
        let qos = self.kind() == kind::DATA && self.control[0] & subtype::QOS != 0;
        HEADER + fourth + if qos { 2 } else { 0 }
    }

    /// Whom `frame`, which begins with this header, is from and to (IEEE 802.11-2016 table 9-26). Between access points the
    /// first address, of the one that receives it, stands for the network.
    pub fn ends(&self, frame: &[u8]) -> Addresses {
        let [one, two, three] = [self.address1, self.address2, self.address3];
        match self.direction() {
            direction::TO_AP => Addresses { destination: three, source: two, bssid: one },
            direction::FROM_AP => Addresses { destination: one, source: three, bssid: two },
            direction::BETWEEN_APS => {
                let source = address_at(frame, HEADER).unwrap_or_default();
                Addresses { destination: three, source, bssid: one }
            }
            _ => Addresses { destination: one, source: two, bssid: three },
        }
    }
}

//! What the wireless hardware says about a packet, or is told: Click's `click_wifi_extra`, which stands in the annotation
//! WIFI_EXTRA (bytes 16 to 39), or in front of the packet, in the machine's byte order.

use clickwork_packet::{Packet, anno};
use zerocopy::byteorder::native_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The value of the field `magic` in information that is valid.
pub const MAGIC: u32 = 0x0749_2001;

/// How often a frame is sent at most if nothing else is said.
pub const MAX_RETRIES: u8 = 11;

/// The flags.
pub mod flag {
    /// It is a frame that was sent, come back as feedback.
    pub const TX: u32 = 1 << 0;
    /// It could not be sent.
    pub const TX_FAIL: u32 = 1 << 1;
    /// It was sent at an alternate rate.
    pub const TX_USED_ALT_RATE: u32 = 1 << 2;
    /// It was received with a wrong checksum.
    pub const RX_ERR: u32 = 1 << 3;
    /// It is the first part of a larger one.
    pub const RX_MORE: u32 = 1 << 4;
    /// The sequence number is set; the hardware is to keep it.
    pub const NO_SEQ: u32 = 1 << 5;
    /// Send it with RTS and CTS.
    pub const DO_RTS_CTS: u32 = 1 << 7;
    /// Nobody will acknowledge it.
    pub const TX_NOACK: u32 = 1 << 9;
}

/// The information.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Extra {
    /// [`MAGIC`] if valid.
    pub magic: U32,
    /// See [`flag`].
    pub flags: U32,
    /// Strength of the signal.
    pub rssi: u8,
    /// Strength of the noise.
    pub silence: u8,
    /// Power to send with.
    pub power: u8,
    /// Whether the header is padded.
    pub pad: u8,
    /// Rates in units of 500 kbit/s: the first and those to fall back on.
    pub rate: [u8; 4],
    /// How often to try each rate; in feedback, how often the frame was sent.
    pub tries: [u8; 4],
    /// Virtual collisions.
    pub virtual_collisions: u8,
    /// Retries.
    pub retries: u8,
    /// Length.
    pub length: U16,
}

/// Bytes of it.
pub const SIZE: usize = size_of::<Extra>();
const _: () = assert!(SIZE == anno::WIFI_EXTRA.size as usize);

impl Extra {
    /// All zero.
    pub const ZERO: Extra = zerocopy::transmute!([0u8; SIZE]);

    /// The packet's annotation.
    pub fn of(p: &Packet) -> Extra {
        Extra::front(p.anno_bytes(anno::WIFI_EXTRA)).unwrap_or(Extra::ZERO)
    }

    /// The information at the front of `bytes`, valid or not.
    pub fn front(bytes: &[u8]) -> Option<Extra> {
        Extra::read_from_prefix(bytes).ok().map(|(extra, _)| extra)
    }

    /// Makes it the packet's annotation.
    pub fn annotate(&self, p: &mut Packet) {
        p.set_anno_bytes(anno::WIFI_EXTRA, self.as_bytes());
    }

    /// Changes the packet's annotation.
    pub fn change(p: &mut Packet, change: impl FnOnce(&mut Extra)) {
        let mut extra = Extra::of(p);
        change(&mut extra);
        extra.annotate(p);
    }

    /// Whether it is valid.
    pub fn is_valid(&self) -> bool {
        self.magic == MAGIC
    }

    /// Whether a flag is set.
    pub fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// Sets or clears a flag.
    pub fn set(&mut self, flag: u32, on: bool) {
        self.flags = if on { self.flags | flag } else { self.flags & !flag };
    }
}

/// Whether a flag is set in valid information of the packet, in its annotation or in front of its data.
pub fn packet_has(p: &Packet, flag: u32) -> bool {
    let says = |extra: Extra| extra.is_valid() && extra.has(flag);
    says(Extra::of(p)) || Extra::front(p.data()).is_some_and(says)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_stand_where_click_has_them() {
        let mut p = Packet::new(b"");
        let mut extra =
            Extra { rssi: 1, silence: 2, power: 3, rate: [4, 5, 6, 7], tries: [8, 9, 10, 11], ..Extra::ZERO };
        (extra.magic, extra.flags) = (MAGIC.into(), 0x0102_0304.into());
        (extra.retries, extra.length) = (12, 0x0506.into());
        extra.annotate(&mut p);
        let mut expected = [0u8; 48];
        expected[16..20].copy_from_slice(&MAGIC.to_ne_bytes());
        expected[20..24].copy_from_slice(&0x0102_0304u32.to_ne_bytes());
        expected[24..37].copy_from_slice(&[1, 2, 3, 0, 4, 5, 6, 7, 8, 9, 10, 11, 0]);
        expected[37] = 12;
        expected[38..40].copy_from_slice(&0x0506u16.to_ne_bytes());
        assert_eq!(p.annotations(), &expected);
        assert_eq!(Extra::of(&p), extra);
    }
}

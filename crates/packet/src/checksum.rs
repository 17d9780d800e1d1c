//! The Internet checksum: computed over data, over data with a pseudo-header, and updated in place.
//!
//! Not where a header keeps it: the views in [`crate::headers`] read and write the fields. Read first: RFC 1071 §1 and
//! §2 (why the sum may be taken in any word size and byte order), RFC 1624 §3 (equation 3, incremental update).
#![forbid(unsafe_code)]

use crate::addr::{Ipv4Address, Ipv6Address};

/// A one's-complement sum in the making.
///
/// Words are added in the machine's byte order; [`Sum::finish`] puts the result right (RFC 1071 §2 B). A sum may be fed
/// in parts of any length, odd ones too, as if they were one after the other.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    /// The sum of the bytes so far as native 16-bit words, not folded. Each part adds less than 2^16, or is folded first.
    words: u64,
    /// An odd number of bytes was fed: the next byte is the second of its word.
    odd: bool,
}

impl Sum {
    /// The empty sum.
    pub const fn new() -> Self {
        Self { words: 0, odd: false }
    }

    /// The sum continued with `data`.
    #[inline]
    #[must_use]
    pub fn bytes(self, data: &[u8]) -> Self {
        let part = fold(add_bytes(data));
        let part = if self.odd { part.swap_bytes() } else { part };
        Self { words: self.words + u64::from(part), odd: self.odd ^ (data.len() % 2 == 1) }
    }

    /// The sum continued with a 16-bit word that is not in the data, such as a length in a pseudo-header.
    #[inline]
    #[must_use]
    pub fn word(self, word: u16) -> Self {
        Self { words: self.words + u64::from(word.to_be()), ..self }
    }

    /// The IPv4 pseudo-header of TCP and UDP (RFC 9293 §3.1): `length` is that of the transport header and payload.
    #[inline]
    pub fn ipv4_pseudo(source: Ipv4Address, destination: Ipv4Address, protocol: u8, length: u16) -> Self {
        let sum = Self::new().bytes(&source.octets()).bytes(&destination.octets());
        sum.word(u16::from(protocol)).word(length)
    }

    /// The IPv6 pseudo-header of upper layers (RFC 8200 §8.1): `length` is that of the upper-layer packet.
    #[inline]
    pub fn ipv6_pseudo(source: Ipv6Address, destination: Ipv6Address, next_header: u8, length: u32) -> Self {
        let sum = Self::new().bytes(&source.octets()).bytes(&destination.octets());
        sum.bytes(&length.to_be_bytes()).word(u16::from(next_header))
    }

    /// The checksum, as a number to be stored big-endian. Data that contain a right checksum give 0.
    #[inline]
    pub fn finish(self) -> u16 {
        !u16::from_be(fold(self.words))
    }
}

/// The checksum of `data`, as a number to be stored big-endian; 0 if the data contain a right checksum.
#[inline]
pub fn checksum(data: &[u8]) -> u16 {
    !u16::from_be(fold(add_bytes(data)))
}

/// The checksum of an IPv4 header without options, as a number to be stored big-endian.
#[inline]
pub fn checksum_20(header: &[u8; 20]) -> u16 {
    // Three loads and no loop: for so few words vector registers cost more than they save.
    let [a, b, c, d, e, f, g, h, rest @ ..] = *header;
    let [i, j, k, l, m, n, o, p, q, r, s, t] = rest;
    let first = u64::from_ne_bytes([a, b, c, d, e, f, g, h]);
    let second = u64::from_ne_bytes([i, j, k, l, m, n, o, p]);
    let third = u32::from_ne_bytes([q, r, s, t]);
    let low = (first & LOW_HALF) + (second & LOW_HALF) + u64::from(third);
    !u16::from_be(fold(low + (first >> 32) + (second >> 32)))
}

/// The lower 32 bits.
const LOW_HALF: u64 = 0xFFFF_FFFF;

/// The checksum after one 16-bit word of the data changed from `old` to `new` (RFC 1624 §3, equation 3).
#[inline]
pub const fn update(checksum: u16, old: u16, new: u16) -> u16 {
    let sum = !checksum as u32 + !old as u32 + new as u32;
    let sum = (sum & 0xFFFF) + (sum >> 16);
    !((sum & 0xFFFF) + (sum >> 16)) as u16
}

/// The checksum after a 32-bit word, such as an IPv4 address, changed from `old` to `new`.
#[inline]
pub const fn update_u32(checksum: u16, old: u32, new: u32) -> u16 {
    let high = update(checksum, (old >> 16) as u16, (new >> 16) as u16);
    update(high, old as u16, new as u16)
}

/// The native 32-bit words of `data` added up; trailing bytes are padded with zeros. Exact up to 16 GiB.
///
/// Two levels of chunks let the compiler use vector registers for long data and straight code for short.
#[inline]
fn add_bytes(data: &[u8]) -> u64 {
    let (blocks, rest) = data.as_chunks::<64>();
    let mut lanes = [0u64; 16];
    for block in blocks {
        for (lane, &word) in lanes.iter_mut().zip(block.as_chunks::<4>().0) {
            *lane += u64::from(u32::from_ne_bytes(word));
        }
    }
    let (words, tail) = rest.as_chunks::<4>();
    let long: u64 = if blocks.is_empty() { 0 } else { lanes.iter().sum() };
    let short: u64 = words.iter().map(|&word| u64::from(u32::from_ne_bytes(word))).sum();
    let mut last = [0; 4];
    last[..tail.len()].copy_from_slice(tail);
    long + short + u64::from(u32::from_ne_bytes(last))
}

/// Carries added back in until 16 bits remain. Zero only for zero.
#[inline]
const fn fold(sum: u64) -> u16 {
    let sum = (sum & LOW_HALF) + (sum >> 32);
    let sum = (sum as u32).wrapping_add((sum >> 32) as u32);
    // The halves and the carry of their sum, which the lower half of this addition hands to the upper one.
    (sum.wrapping_add(sum.rotate_left(16)) >> 16) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RFC 1071 §1 word for word: 16-bit big-endian words, carries added back at once.
    fn by_definition(data: &[u8]) -> u16 {
        let mut sum = 0u16;
        for pair in data.chunks(2) {
            let word = u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]);
            let (next, carry) = sum.overflowing_add(word);
            sum = next + u16::from(carry);
        }
        !sum
    }

    #[test]
    fn sums_the_example_of_rfc_1071() {
        // RFC 1071 §3: the sum is ddf2.
        assert_eq!(checksum(&[0x00, 0x01, 0xF2, 0x03, 0xF4, 0xF5, 0xF6, 0xF7]), !0xDDF2);
        assert_eq!(checksum(&[]), 0xFFFF);
        assert_eq!(checksum(&[0xFF; 65536]), 0);
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(data in proptest::collection::vec(any::<u8>(), 0..2000)) {
            prop_assert_eq!(checksum(&data), by_definition(&data));
        }

        #[test]
        fn twenty_bytes_agree_with_the_definition(data: [u8; 20]) {
            prop_assert_eq!(checksum_20(&data), by_definition(&data));
        }

        #[test]
        fn parts_of_any_length_add_up(data in proptest::collection::vec(any::<u8>(), 0..200), x: u8, y: u8) {
            let (a, rest) = data.split_at(usize::from(x) % (data.len() + 1));
            let (b, c) = rest.split_at(usize::from(y) % (rest.len() + 1));
            prop_assert_eq!(Sum::new().bytes(a).bytes(b).bytes(c).finish(), by_definition(&data));
        }

        #[test]
        fn update_agrees_with_a_new_sum(mut data: [u8; 20], at in 0usize..5, new: u32) {
            // RFC 1624 §5: data all of zeros have no sum that an update could be compared with.
            prop_assume!(new != 0 && data[..4] != [0; 4] && data[4..8] != [0; 4]);
            let before = checksum(&data);
            let field: &mut [u8; 4] = &mut data.as_chunks_mut::<4>().0[at];
            let old = u32::from_be_bytes(*field);
            *field = new.to_be_bytes();
            prop_assert_eq!(update_u32(before, old, new), checksum(&data));
        }

        #[test]
        fn pseudo_headers_agree_with_their_bytes(s: u32, d: u32, s6: u128, d6: u128, proto: u8, length: u32, data: [u8; 9]) {
            let short = length as u16;
            let v4 = [&s.to_be_bytes()[..], &d.to_be_bytes(), &[0, proto], &short.to_be_bytes(), &data].concat();
            let sum = Sum::ipv4_pseudo(Ipv4Address::from_bits(s), Ipv4Address::from_bits(d), proto, short);
            prop_assert_eq!(sum.bytes(&data).finish(), by_definition(&v4));
            let v6 = [&s6.to_be_bytes()[..], &d6.to_be_bytes(), &length.to_be_bytes(), &[0, 0, 0, proto], &data].concat();
            let sum = Sum::ipv6_pseudo(Ipv6Address::from_bits(s6), Ipv6Address::from_bits(d6), proto, length);
            prop_assert_eq!(sum.bytes(&data).finish(), by_definition(&v6));
        }
    }
}

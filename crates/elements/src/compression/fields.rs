//! Fields of IP and TCP headers, by their places, and the numbers that differences are written as (RFC 1144 §3.2.2).

use super::headers::Chain;

/// The sequence number.
pub const SEQUENCE: usize = 4;
/// The acknowledgment number.
pub const ACKNOWLEDGMENT: usize = 8;
/// Length of the header, and reserved bits.
pub const OFFSET: usize = 12;
/// Flags.
pub const FLAGS: usize = 13;
/// The window.
pub const WINDOW: usize = 14;
/// The checksum.
pub const CHECKSUM: usize = 16;
/// The urgent pointer.
pub const URGENT: usize = 18;
/// The identification of an IPv4 header.
pub const IDENTIFICATION: usize = 4;

/// A field of 16 bits.
pub fn word(header: &[u8], at: usize) -> u16 {
    header.get(at..at + 2).map_or(0, |b| u16::from_be_bytes([b[0], b[1]]))
}

/// Sets a field of 16 bits.
pub fn set_word(header: &mut [u8], at: usize, value: u16) {
    header[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

/// A field of 32 bits.
pub fn long(header: &[u8], at: usize) -> u32 {
    u32::from(word(header, at)) << 16 | u32::from(word(header, at + 2))
}

/// Adds to a field of 32 bits.
pub fn add_to_long(header: &mut [u8], at: usize, by: u16) {
    let value = long(header, at).wrapping_add(u32::from(by));
    header[at..at + 4].copy_from_slice(&value.to_be_bytes());
}

/// Adds to a field of 16 bits.
pub fn add_to_word(header: &mut [u8], at: usize, by: u16) {
    set_word(header, at, word(header, at).wrapping_add(by));
}

/// Writes a number as one byte, or as three beginning with 0 (RFC 1144 §3.2.2).
pub fn put_number(out: &mut Vec<u8>, number: u16) {
    match u8::try_from(number) {
        Ok(small @ 1..) => out.push(small),
        _ => {
            out.push(0);
            out.extend(number.to_be_bytes());
        }
    }
}

/// Takes such a number off the front.
pub fn take_number(data: &mut &[u8]) -> Option<u16> {
    let number = match take(data, 1)?[0] {
        0 => word(take(data, 2)?, 0),
        small => u16::from(small),
    };
    Some(number)
}

/// Takes bytes off the front.
pub fn take<'a>(data: &mut &'a [u8], n: usize) -> Option<&'a [u8]> {
    let (front, rest) = data.split_at_checked(n)?;
    *data = rest;
    Some(front)
}

/// The bits that the R-octet holds: reserved bits of TCP, and the two lower bits of the type of service.
pub fn r_octet(header: &[u8], chain: Chain) -> u8 {
    let t = chain.ip_len();
    let ecn = if chain.is_ipv6 { header[1] >> 4 & 3 } else { header[1] & 3 };
    (header[t + OFFSET] & 0xF) << 4 | header[t + FLAGS] >> 6 << 2 | ecn
}

/// Sets the bits that the R-octet holds.
pub fn set_r_octet(header: &mut [u8], chain: Chain, octet: u8) {
    let t = chain.ip_len();
    header[t + OFFSET] = header[t + OFFSET] & 0xF0 | octet >> 4;
    header[t + FLAGS] = header[t + FLAGS] & 0x3F | octet >> 2 << 6;
    if chain.is_ipv6 {
        header[1] = header[1] & !0x30 | (octet & 3) << 4;
    } else {
        header[1] = header[1] & !3 | octet & 3;
    }
}

/// Whether the fields of the IP header that may only change with a full header are the same.
pub fn ip_is_same(old: &[u8], new: &[u8], chain: Chain) -> bool {
    let same = |range: std::ops::Range<usize>| old[range.clone()] == new[range];
    if chain.is_ipv6 {
        old[0] == new[0] && old[1] & !0x30 == new[1] & !0x30 && same(2..4) && same(6..40)
    } else {
        old[0] == new[0] && old[1] & !3 == new[1] & !3 && same(6..10) && same(12..20)
    }
}

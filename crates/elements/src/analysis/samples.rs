//! Packets of flows, for the tests of this family.

use crate::ip::samples::{Sample, ip};
use clickwork_packet::{Packet, Timestamp};

/// A UDP packet with its headers marked, at a time in milliseconds.
pub fn udp(from: (&str, u16), to: (&str, u16), millis: i64) -> Packet {
    let mut payload = [from.1.to_be_bytes(), to.1.to_be_bytes(), 12u16.to_be_bytes(), [0; 2]].concat();
    payload.extend([1; 4]);
    at(&ip(from.0, to.0).payload(17, &payload), millis)
}

/// A TCP packet with these flags and four bytes of data.
pub fn tcp(from: (&str, u16), to: (&str, u16), flags: u8, millis: i64) -> Packet {
    at(&tcp_sample(from, to, flags), millis)
}

/// The same, to be changed.
pub fn tcp_sample(from: (&str, u16), to: (&str, u16), flags: u8) -> Sample {
    let mut payload = [from.1.to_be_bytes(), to.1.to_be_bytes()].concat();
    payload.extend([0, 0, 0, 100, 0, 0, 0, 200, 0x50, flags, 1, 0, 0, 0, 0, 0, 9, 9, 9, 9]);
    ip(from.0, to.0).payload(6, &payload)
}

/// A sample with its headers marked, at a time in milliseconds.
pub fn at(sample: &Sample, millis: i64) -> Packet {
    let mut p = sample.marked();
    p.set_timestamp(Timestamp::from_nanos(millis * 1_000_000));
    p
}

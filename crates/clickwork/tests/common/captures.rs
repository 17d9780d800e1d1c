//! Captures that tests write and read, and the frames in them.
#![allow(dead_code)] // no test uses everything

use crate::common::text;
use crate::frame::{Content, ETHER_HEADER, IpFrame, Station};
use clickwork_elements::capture::reader::Reader;
use clickwork_elements::capture::writer::{Options, Writer};
use clickwork_packet::addr::{EtherAddress, Ipv4Address};
use clickwork_packet::headers::Ipv4;
use std::path::Path;

/// Writes a capture, one frame a millisecond.
pub fn write_capture(file: &Path, frames: &[Vec<u8>]) {
    let timed: Vec<_> = frames.iter().cloned().enumerate().map(|(n, bytes)| (n as u64, bytes)).collect();
    write_timed(file, &timed);
}

/// Writes a capture of frames and the milliseconds at which they come.
pub fn write_timed(file: &Path, frames: &[(u64, Vec<u8>)]) {
    let mut writer = Writer::create(text(file), Options::default()).unwrap();
    for (milliseconds, bytes) in frames {
        let timestamp = 1_000_000_000_000_000_000 + milliseconds * 1_000_000;
        writer.write_packet(timestamp, bytes.len() as u32, bytes).unwrap();
    }
    writer.finish().unwrap();
}

/// The packets of a capture, with their times.
pub fn read_capture(file: &Path) -> Vec<(u64, Vec<u8>)> {
    let mut reader = Reader::open(text(file)).unwrap();
    let mut packets = Vec::new();
    while let Some(record) = reader.next_record().unwrap() {
        packets.push((record.timestamp, record.data.to_vec()));
    }
    packets
}

/// The frames of a capture, without padding.
pub fn frames(file: &Path) -> Vec<Vec<u8>> {
    read_capture(file).into_iter().map(|(_, bytes)| unpadded(bytes)).collect()
}

/// A frame without the padding that Ethernet demands of short ones. A router cuts it off, a network card adds it.
pub fn unpadded(mut frame: Vec<u8>) -> Vec<u8> {
    let arp = ETHER_HEADER + 28;
    let length = frame.get(ETHER_HEADER..).and_then(Ipv4::new).map(|ip| usize::from(ip.total_len()));
    frame.truncate(length.map_or(arp, |ip| ETHER_HEADER + ip));
    frame
}

pub fn station(ip: [u8; 4], last: u8) -> Station {
    Station { ether: EtherAddress([0, 0, 0x0c, 0, 0, last]), ip: Ipv4Address::from_octets(ip) }
}

/// A frame from one station to another on the same cable.
pub fn direct(from: Station, to: Station, content: Content) -> Vec<u8> {
    IpFrame::through(from, to.ether, to.ip, 1, content).build()
}

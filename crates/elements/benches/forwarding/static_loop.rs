//! The floor: the IP router's path for one kind of packet as a hand-written loop, with no elements between.
//!
//! It makes, checks, routes, rewrites and frees the same packets as the bench router, one batch at a time, and nothing
//! can be reconfigured.

use clickwork_packet::checksum::checksum_20;
use clickwork_packet::{Batch, Packet, Timestamp};

/// The frame of the bench router.
const FRAME: [u8; 60] = {
    let mut f = [0; 60];
    let head = *b"\x00\x00\x0c\x00\x00\x01\x00\x00\x0c\x00\x00\xff\x08\x00\x45\x00\x00\x2e\x00\x00\x00\x00\x40\x11\x66\xbb\x0a\x00\x00\x02\x0a\x01\x00\x02";
    let mut i = 0;
    while i < head.len() {
        f[i] = head[i];
        i += 1;
    }
    f
};

const NEXT_HOP: [u8; 14] = *b"\x00\x00\x0c\x00\x00\x03\x00\x00\x0c\x00\x00\x02\x08\x00";

struct Route {
    network: u32,
    mask: u32,
    port: u8,
}

const ROUTES: [Route; 8] = [
    Route { network: 0x0a00_0001, mask: u32::MAX, port: 0 },
    Route { network: 0x0a01_0001, mask: u32::MAX, port: 0 },
    Route { network: 0x0a00_00ff, mask: u32::MAX, port: 0 },
    Route { network: 0x0a01_00ff, mask: u32::MAX, port: 0 },
    Route { network: 0x0a00_0000, mask: 0xffff_ff00, port: 1 },
    Route { network: 0x0a01_0000, mask: 0xffff_ff00, port: 2 },
    Route { network: u32::MAX, mask: u32::MAX, port: 0 },
    Route { network: 0, mask: 0, port: 2 },
];

fn forward(p: &mut Packet) -> bool {
    if p.data()[12..14] != [8, 0] {
        return false;
    }
    p.set_paint(1);
    let ip = &mut p.data_mut()[14..];
    let Some(header) = ip.first_chunk::<20>() else { return false };
    if header[0] != 0x45 || checksum_20(header) != 0 || header[8] <= 1 {
        return false;
    }
    let to = u32::from_be_bytes([header[16], header[17], header[18], header[19]]);
    if !ROUTES.iter().any(|r| to & r.mask == r.network && r.port == 2) {
        return false;
    }
    ip[8] -= 1;
    let sum = u32::from(u16::from_be_bytes([ip[10], ip[11]])) + 0x100;
    let sum = (sum & 0xffff) + (sum >> 16);
    ip[10..12].copy_from_slice(&(sum as u16).to_be_bytes());
    p.data_mut()[..14].copy_from_slice(&NEXT_HOP);
    true
}

/// Forwards `packets` packets; returns how many came through.
pub fn run(packets: u64, batch: usize, now: Timestamp) -> u64 {
    let mut through = 0;
    let mut b = Batch::with_array();
    for _ in 0..packets / batch as u64 {
        for _ in 0..batch {
            let mut p = Packet::new(&FRAME);
            p.set_timestamp(now);
            b.push(p);
        }
        through += b.iter_mut().filter_map(|p| forward(p).then_some(())).count() as u64;
        b.clear();
    }
    through
}

//! Packets of all kinds: good, bad, short, shared, marked or not.

use super::random::Random;
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::{Packet, PacketType};

/// All that there is to see of a packet.
pub fn look(p: &Packet) -> String {
    let mut whole = p.clone();
    whole.unpull(p.headroom());
    format!(
        "{} bytes behind {} of {}: {:02x?}, headers {:?} {:?} {:?} {:?}, {:?}, {:?}, {:02x?}",
        p.len(),
        p.headroom(),
        p.buffer_len(),
        whole.data(),
        p.mac_offset(),
        p.network_offset(),
        p.network_header_len(),
        p.transport_offset(),
        p.packet_type(),
        p.timestamp(),
        p.annotations(),
    )
}

/// A packet.
pub fn packet(random: &mut Random) -> Packet {
    let bytes = if random.once_in(8) { noise(random) } else { ip(random) };
    let mut bytes = if random.once_in(2) { bytes } else { [ethernet(random), bytes].concat() };
    if random.once_in(10) {
        bytes.truncate(random.below(bytes.len() + 1));
    }
    let (headroom, tailroom) = (64 + random.below(64), random.below(32));
    // What lies around the data is zero: headers may be marked there.
    let mut p = Packet::zeroed(0, headroom + bytes.len() + tailroom, 0);
    p.pull(headroom);
    p.take(tailroom);
    p.data_mut().copy_from_slice(&bytes);
    p.set_paint(random.below(4) as u8);
    p.set_dst_ip(Ipv4Address::new(10, 0, 0, random.below(5) as u8));
    if random.once_in(3) {
        p.set_packet_type(if random.once_in(2) { PacketType::Broadcast } else { PacketType::Multicast });
    }
    if random.once_in(2) {
        p.set_network_header(random.below(40) as i32 - 10, 20 + 4 * random.below(3) as u32);
    }
    if random.once_in(6) {
        p.set_anno_u8(30, random.below(2) as u8);
    }
    p
}

fn noise(random: &mut Random) -> Vec<u8> {
    (0..random.below(100)).map(|_| random.below(256) as u8).collect()
}

fn ethernet(random: &mut Random) -> Vec<u8> {
    let mut header = vec![2, 2, 2, 2, 2, 2 - random.below(2) as u8, 1, 1, 1, 1, 1, 1];
    header.extend(random.pick(&[&[8u8, 0][..], &[8, 0], &[8, 0], &[8, 6], &[0x86, 0xdd]]));
    header
}

fn ip(random: &mut Random) -> Vec<u8> {
    let options = if random.once_in(6) { 4 * random.below(4) } else { 0 };
    let payload = random.below(80);
    let length = 20 + options + payload;
    let mut p = vec![0x40 | (5 + options / 4) as u8, 0];
    p.extend((length as u16).to_be_bytes());
    p.extend([0, 7, if random.once_in(8) { 0x40 } else { 0 }, 0]);
    p.extend([random.below(5) as u8, *random.pick(&[&17u8, &6, &1, &99]), 0, 0]);
    p.extend([10, 0, 0, random.below(6) as u8]);
    p.extend(if random.once_in(8) { [224, 0, 0, 5] } else { [10, 0, 0, random.below(6) as u8] });
    p.extend((0..options).map(|n| [7, 11, 4, 1][n % 4]));
    let sum: u32 = p.chunks(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum();
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    if !random.once_in(10) {
        p[10..12].copy_from_slice(&sum.to_be_bytes());
    }
    p.extend((0..payload).map(|n| if n == 3 { 53 } else { n as u8 * (random.once_in(2) as u8) }));
    p
}

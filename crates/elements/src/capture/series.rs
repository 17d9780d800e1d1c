//! A packet that stands for several, as summaries tell of them: the packets come out of it one after the other.

use super::flow::first_timestamp;
use clickwork_packet::{Packet, Timestamp, anno};
use std::time::Duration;

/// The packets that one packet stands for, by its extra-packets and extra-length annotations. Each has an equal share of
/// the length; the last has what is left. Their timestamps go in equal steps from the packet's first-timestamp annotation, if
/// it has one, to its timestamp. All keep that annotation.
pub struct Series {
    /// The next packet.
    packet: Packet,
    /// How many follow it.
    more: u32,
    /// Bytes of each packet but the last, and of all together.
    share: u64,
    left: u64,
    step: Duration,
    last: Timestamp,
}

impl Series {
    /// The packet alone, as it is; or, if `divides`, those that it stands for.
    pub fn new(mut packet: Packet, divides: bool) -> Series {
        let more = if divides { packet.anno_u32(anno::EXTRA_PACKETS) } else { 0 };
        let (length, last) = (packet.len() as u64, packet.timestamp());
        let (total, count) = (length + u64::from(packet.anno_u32(anno::EXTRA_LENGTH)), u64::from(more) + 1);
        let share = (total / count).max(length);
        let mut step = Duration::ZERO;
        if more > 0 && first_timestamp(&packet) != 0 {
            let first = Timestamp::from_nanos(first_timestamp(&packet));
            let time = u64::try_from((last - first).nanos()).unwrap_or(0);
            step = Duration::from_nanos(time / u64::from(more));
            packet.set_timestamp(first);
        }
        Series { packet, more, share, left: total.max(share * count), step, last }
    }

    /// The time of the next packet.
    pub fn timestamp(&self) -> Timestamp {
        self.packet.timestamp()
    }

    /// The next packet, and those that follow it.
    pub fn take(mut self) -> (Packet, Option<Series>) {
        if self.more == 0 {
            return (self.packet, None);
        }
        let mut one = self.packet.clone();
        one.set_anno_u32(anno::EXTRA_PACKETS, 0);
        set_length(&mut one, self.share);
        self.more -= 1;
        self.left -= self.share;
        self.packet.set_anno_u32(anno::EXTRA_PACKETS, self.more);
        self.packet.set_timestamp(self.packet.timestamp() + self.step);
        if self.more == 0 {
            self.packet.set_timestamp(self.last);
            set_length(&mut self.packet, self.left);
        }
        (one, Some(self))
    }
}

/// Gives a packet a length by its extra-length annotation, and its headers that length.
fn set_length(packet: &mut Packet, length: u64) {
    let missing = length.saturating_sub(packet.len() as u64).min(u32::MAX.into());
    packet.set_anno_u32(anno::EXTRA_LENGTH, missing as u32);
    let before = packet.network_offset().unwrap_or(0).max(0) as u64;
    let ip_length = length.saturating_sub(before).min(0xffff) as u16;
    let Some(ip) = packet.network_header_mut().filter(|ip| ip.len() >= 20) else { return };
    let header_length = usize::from(ip[0] & 0xf) * 4;
    ip[2..4].copy_from_slice(&ip_length.to_be_bytes());
    if let (17, Some(udp_length)) = (ip[9], ip.get_mut(header_length + 4..header_length + 6)) {
        udp_length.copy_from_slice(&ip_length.saturating_sub(header_length as u16).to_be_bytes());
    }
}

//! What the layer below Linux's TCP does with large segments: it cuts them into pieces of the MSS and completes checksums.
//!
//! packetdrill sees packets as they are on the wire, yet Linux's way of sending shows in them: since 5.5 it sets PSH on what
//! it hands down in pieces of more than one segment, so that the last of each piece has it. [`burst`] says how large these
//! are.

use clickwork_prolac_tcp::Transmit;
use clickwork_prolac_tcp::abi::Status;

const FIN: u8 = 1;
const PSH: u8 = 8;
const CWR: u8 = 128;
/// Largest piece, headers included: `GSO_LEGACY_MAX_SIZE` less room for headers.
const LARGEST: u64 = 65_536 - 320;

/// How many segments Linux hands down at once: `tcp_tso_autosize`, and at most half of the congestion window. What is sent in
/// a millisecond at the pacing rate, but at least two segments; more on short paths.
pub fn burst(s: &Status) -> u32 {
    if s.rtt == 0 || s.send_mss == 0 {
        return 2.min(s.congestion_window / 2).max(1);
    }
    let mss = u64::from(s.send_mss);
    let window = u64::from(s.congestion_window);
    let percent = if window < u64::from(s.send_threshold / 2) { 200 } else { 120 };
    let rate = mss * window * 1_000_000 / u64::from(s.rtt) * percent / 100;
    let near = LARGEST.checked_shr(s.min_rtt >> 9).unwrap_or(0);
    let bytes = ((rate >> 10) + near).min(LARGEST);
    let segments = (bytes / mss).max(2);
    segments.min(window / 2).max(1) as u32
}

/// The packets of a transmission, as they go onto the wire.
pub fn cut(transmit: Transmit) -> Vec<Vec<u8>> {
    let (size, tcp) = (usize::from(transmit.segment_size), usize::from(transmit.tcp_offset));
    let partial = transmit.checksum_partial;
    let whole = transmit.into_packet().data().to_vec();
    let header = tcp + usize::from(whole[tcp + 12] >> 4) * 4;
    let text = whole.len() - header;
    if size == 0 || text <= size {
        return vec![finished(whole, tcp, partial)];
    }
    let starts: Vec<usize> = (0..text).step_by(size).collect();
    let piece = |&start: &usize| {
        let end = (start + size).min(text);
        let mut packet = whole[..header].to_vec();
        packet.extend_from_slice(&whole[header + start..header + end]);
        let sequence = u32::from_be_bytes(whole[tcp + 4..tcp + 8].try_into().expect("four bytes"));
        packet[tcp + 4..tcp + 8].copy_from_slice(&sequence.wrapping_add(start as u32).to_be_bytes());
        let flags = &mut packet[tcp + 13];
        *flags = if end == text { *flags | PSH } else { *flags & !(FIN | PSH) };
        if start > 0 {
            *flags &= !CWR;
        }
        finished(packet, tcp, true)
    };
    starts.iter().map(piece).collect()
}

/// With the right length and checksums.
fn finished(mut packet: Vec<u8>, tcp: usize, partial: bool) -> Vec<u8> {
    let length = packet.len();
    if packet[0] >> 4 == 4 {
        packet[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        packet[10..12].fill(0);
        let sum = !folded(sum(&packet[..tcp], 0));
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
    } else {
        packet[4..6].copy_from_slice(&((length - 40) as u16).to_be_bytes());
    }
    if partial {
        let addresses = if packet[0] >> 4 == 4 { 12..20 } else { 8..40 };
        let pseudo = sum(&packet[addresses], 6 + (length - tcp) as u32);
        packet[tcp + 16..tcp + 18].fill(0);
        let sum = !folded(sum(&packet[tcp..], pseudo));
        packet[tcp + 16..tcp + 18].copy_from_slice(&sum.to_be_bytes());
    }
    packet
}

fn sum(bytes: &[u8], start: u32) -> u32 {
    bytes.chunks(2).fold(start, |sum, pair| {
        sum + u32::from(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]))
    })
}

fn folded(mut sum: u32) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_are_as_linux_makes_them() {
        let far = Status {
            rtt: 100_000,
            min_rtt: 100_000,
            send_mss: 1000,
            congestion_window: 10,
            send_threshold: 0x7fff_ffff,
            ..Status::default()
        };
        assert_eq!(burst(&far), 2, "a slow path");
        assert_eq!(burst(&Status { rtt: 50, min_rtt: 50, ..far }), 5, "half of the window on a short path");
        assert_eq!(burst(&Status { congestion_window: 1, ..far }), 1);
        assert_eq!(burst(&Status { congestion_window: 1000, ..far }), 19, "what fits in a millisecond");
    }
}

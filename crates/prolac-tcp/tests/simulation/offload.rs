//! The layer below a stack that leaves it work: cuts large segments and completes checksums, as a network card does.
//! Written on its own, so that it can find mistakes in what the stack hands down.

use clickwork_prolac_tcp::Transmit;

/// The packets that go onto the wire for a transmission.
pub fn packets(transmit: Transmit) -> Vec<Vec<u8>> {
    let (size, partial) = (usize::from(transmit.segment_size), transmit.checksum_partial);
    let tcp = usize::from(transmit.tcp_offset);
    let bytes = transmit.into_packet().data().to_vec();
    let text = tcp + usize::from(bytes[tcp + 12] >> 4) * 4;
    if size == 0 || bytes.len() - text <= size {
        let mut bytes = bytes;
        if partial {
            complete(&mut bytes, tcp);
        }
        return vec![bytes];
    }
    let count = (bytes.len() - text).div_ceil(size);
    (0..count).map(|index| piece(&bytes, tcp, text, size, index, count)).collect()
}

/// Adds the sum of the TCP segment to that of the pseudo-header, which stands in the checksum's place.
fn complete(bytes: &mut [u8], tcp: usize) {
    let sum = !fold(sum(&bytes[tcp..]));
    bytes[tcp + 16..tcp + 18].copy_from_slice(&sum.to_be_bytes());
}

fn piece(whole: &[u8], tcp: usize, text: usize, size: usize, index: usize, count: usize) -> Vec<u8> {
    let from = text + index * size;
    let to = whole.len().min(from + size);
    let mut bytes = [&whole[..text], &whole[from..to]].concat();
    let seq = u32::from_be_bytes(whole[tcp + 4..tcp + 8].try_into().expect("four bytes"));
    bytes[tcp + 4..tcp + 8].copy_from_slice(&seq.wrapping_add((index * size) as u32).to_be_bytes());
    if index > 0 {
        bytes[tcp + 13] &= !0x80; // CWR
    }
    if index + 1 < count {
        bytes[tcp + 13] &= !0x09; // FIN, PSH
    }
    let length = bytes.len();
    if whole[0] >> 4 == 4 {
        bytes[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        let id = u16::from_be_bytes([whole[4], whole[5]]).wrapping_add(index as u16);
        bytes[4..6].copy_from_slice(&id.to_be_bytes());
        bytes[10..12].fill(0);
        let sum = !fold(sum(&bytes[..tcp]));
        bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    } else {
        bytes[4..6].copy_from_slice(&((length - 40) as u16).to_be_bytes());
    }
    let addresses = if whole[0] >> 4 == 4 { 12..20 } else { 8..40 };
    let pseudo = sum(&bytes[addresses]) + 6 + (length - tcp) as u64;
    bytes[tcp + 16..tcp + 18].copy_from_slice(&fold(pseudo).to_be_bytes());
    complete(&mut bytes, tcp);
    bytes
}

fn sum(bytes: &[u8]) -> u64 {
    bytes.chunks(2).map(|pair| u64::from(pair[0]) << 8 | u64::from(*pair.get(1).unwrap_or(&0))).sum()
}

fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

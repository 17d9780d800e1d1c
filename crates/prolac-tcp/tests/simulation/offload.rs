//! The layer below a stack that leaves it work: cuts large segments, merges small ones and completes checksums, as a network
//! card does. Written on its own, so that it can find mistakes in what the stack hands down.

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

/// Sets the field of a packet that may be marked to "congestion experienced".
pub fn mark(bytes: &mut [u8]) {
    if bytes[0] >> 4 == 6 {
        if bytes[1] & 0x30 != 0 {
            bytes[1] |= 0x30;
        }
    } else if bytes[1] & 3 != 0 {
        bytes[1] |= 3;
        sum_header(bytes);
    }
}

/// The ICMP message about a packet that is larger than the next link takes: RFC 1191 §4, RFC 4443 §3.2.
pub fn too_large(packet: &[u8], mtu: usize) -> Vec<u8> {
    let v6 = packet[0] >> 4 == 6;
    let quoted = &packet[..packet.len().min(if v6 { 1200 } else { 40 })];
    let mut message = if v6 { vec![2, 0, 0, 0] } else { vec![3, 4, 0, 0] };
    message.extend((mtu as u32).to_be_bytes());
    message.extend(quoted);
    let mut bytes = packet[..if v6 { 40 } else { 20 }].to_vec();
    if v6 {
        bytes[6] = 58;
        // To the sender, from beyond.
        bytes.copy_within(8..24, 24);
        bytes[8..24].copy_from_slice(&[0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 99]);
    } else {
        bytes[9] = 1;
        bytes.copy_within(12..16, 16);
        bytes[12..16].copy_from_slice(&[10, 0, 0, 99]);
    }
    let header = bytes.len();
    bytes.extend(message);
    set_length(&mut bytes);
    let pseudo = if v6 { sum(&bytes[8..40]) + 58 + (bytes.len() - header) as u64 } else { 0 };
    let sum = !fold(pseudo + sum(&bytes[header..]));
    bytes[header + 2..header + 4].copy_from_slice(&sum.to_be_bytes());
    bytes
}

/// A packet that goes up: how large the segments are that were merged into it, 0 if it is one.
pub struct Merged {
    pub bytes: Vec<u8>,
    pub size: u16,
}

impl Merged {
    /// Appends a packet, if it is the next piece of the same text and says nothing else.
    pub fn append(&mut self, next: &[u8]) -> bool {
        let (Some(a), Some(b)) = (text_of(&self.bytes), text_of(next)) else { return false };
        let (mine, length) = (self.bytes.len() - a.text, next.len() - b.text);
        let size = if self.size == 0 { mine } else { usize::from(self.size) };
        let like =
            mine % size == 0 && length <= size && self.bytes.len() + length < 60_000 && a.text == b.text;
        if !like || a.seq.wrapping_add(mine as u32) != b.seq || !same_header(&self.bytes, next, a.tcp, a.text)
        {
            return false;
        }
        self.bytes.extend(&next[b.text..]);
        self.bytes[a.tcp + 13] |= next[b.tcp + 13] & 8; // PSH
        self.size = size as u16;
        set_length(&mut self.bytes);
        true
    }
}

struct Place {
    tcp: usize,
    text: usize,
    seq: u32,
}

/// Where the text of a segment stands that has text and no other flags than ACK and PSH.
fn text_of(bytes: &[u8]) -> Option<Place> {
    let (tcp, protocol) = if bytes[0] >> 4 == 6 { (40, bytes[6]) } else { (20, bytes[9]) };
    if protocol != 6 {
        return None;
    }
    let text = tcp + usize::from(bytes[tcp + 12] >> 4) * 4;
    let seq = u32::from_be_bytes(bytes[tcp + 4..tcp + 8].try_into().ok()?);
    (bytes[tcp + 13] & !8 == 0x10 && bytes.len() > text && bytes[tcp + 13] & 8 == 0).then_some(Place {
        tcp,
        text,
        seq,
    })
}

/// But for lengths, sums and numbers.
fn same_header(a: &[u8], b: &[u8], tcp: usize, text: usize) -> bool {
    let addresses = if tcp == 40 { 8..40 } else { 12..20 };
    a[1] == b[1]
        && a[addresses.clone()] == b[addresses]
        && a[tcp..tcp + 4] == b[tcp..tcp + 4]
        && a[tcp + 8..tcp + 12] == b[tcp + 8..tcp + 12]
        && a[tcp + 14..tcp + 16] == b[tcp + 14..tcp + 16]
        && a[tcp + 20..text] == b[tcp + 20..text]
}

fn set_length(bytes: &mut [u8]) {
    let length = bytes.len();
    if bytes[0] >> 4 == 6 {
        bytes[4..6].copy_from_slice(&((length - 40) as u16).to_be_bytes());
    } else {
        bytes[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        sum_header(bytes);
    }
}

/// Of IPv4.
fn sum_header(bytes: &mut [u8]) {
    bytes[10..12].fill(0);
    let sum = !fold(sum(&bytes[..20]));
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
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
        let id = u16::from_be_bytes([whole[4], whole[5]]).wrapping_add(index as u16);
        bytes[4..6].copy_from_slice(&id.to_be_bytes());
    }
    set_length(&mut bytes);
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

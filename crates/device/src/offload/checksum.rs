//! Completion of partial transport checksums (RFC 1071).
#![forbid(unsafe_code)]

use super::Unfinishable;
use super::layout::Layout;

/// Adds the 16-bit words of `bytes` to a running ones' complement sum.
pub(super) fn sum(bytes: &[u8], mut total: u64) -> u64 {
    let (words, rest) = bytes.as_chunks::<4>();
    for word in words {
        total += u64::from(u32::from_be_bytes(*word));
    }
    for (i, &byte) in rest.iter().enumerate() {
        total += u64::from(byte) << if i % 2 == 0 { 8 } else { 0 };
    }
    total
}

/// The Internet checksum that a running sum amounts to.
pub(super) fn fold(mut total: u64) -> u16 {
    while total > 0xffff {
        total = (total & 0xffff) + (total >> 16);
    }
    !(total as u16)
}

/// As `fold`, with 0 written as its equal 0xffff: in UDP, 0 says that there is no checksum.
pub(super) fn fold_transport(total: u64) -> u16 {
    match fold(total) {
        0 => 0xffff,
        checksum => checksum,
    }
}

/// Completes a checksum whose field, `offset` bytes after `start`, holds the sum of the pseudo-header: sums
/// all from `start` to the end of the packet and stores the result.
pub fn complete_checksum(packet: &mut [u8], start: usize, offset: usize) -> Result<(), Unfinishable> {
    let covered = packet.get_mut(start..).ok_or(Unfinishable::Truncated)?;
    let checksum = fold_transport(sum(covered, 0));
    let field = covered.get_mut(offset..).and_then(<[u8]>::first_chunk_mut).ok_or(Unfinishable::Truncated)?;
    *field = checksum.to_be_bytes();
    Ok(())
}

/// Computes the TCP or UDP checksum of an Ethernet frame anew: for when the kernel says that it is missing
/// but not where. Fragments and other protocols are left alone (only whole TCP and UDP packets are ever left
/// partial).
pub fn complete_by_parsing(frame: &mut [u8]) -> Result<(), Unfinishable> {
    let layout = Layout::of_ethernet(frame)?;
    store_transport_checksum(frame, &layout)
}

/// Computes the transport checksum of the packet that `layout` describes.
pub(super) fn store_transport_checksum(frame: &mut [u8], layout: &Layout) -> Result<(), Unfinishable> {
    let at = layout.checksum_field()?;
    let end = layout.end.min(frame.len());
    let packet = frame.get_mut(..end).ok_or(Unfinishable::Truncated)?;
    packet.get_mut(at..at + 2).ok_or(Unfinishable::Truncated)?.fill(0);
    let pseudo = layout.pseudo_header_sum(packet)?;
    let covered = packet.get(layout.transport..).ok_or(Unfinishable::Truncated)?;
    let checksum = fold_transport(sum(covered, pseudo));
    packet[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
    Ok(())
}

/// Computes the IPv4 header checksum of the header that fills `header`.
pub(super) fn store_ipv4_checksum(header: &mut [u8]) {
    header[10..12].fill(0);
    let checksum = fold(sum(header, 0));
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::PacketBuilder;
    use proptest::prelude::*;

    fn udp(payload: &[u8]) -> Vec<u8> {
        let mut frame = Vec::new();
        PacketBuilder::ethernet2([2; 6], [4; 6])
            .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
            .udp(1000, 2000)
            .write(&mut frame, payload)
            .unwrap();
        frame
    }

    fn tcp6(payload: &[u8]) -> Vec<u8> {
        let mut frame = Vec::new();
        PacketBuilder::ethernet2([2; 6], [4; 6])
            .ipv6([1; 16], [2; 16], 64)
            .tcp(1000, 2000, 7, 100)
            .write(&mut frame, payload)
            .unwrap();
        frame
    }

    /// Leaves the checksum as the kernel does: the folded sum of the pseudo-header, not complemented.
    fn make_partial(frame: &mut [u8]) -> (usize, usize) {
        let layout = Layout::of_ethernet(frame).unwrap();
        let at = layout.checksum_field().unwrap();
        let pseudo = !fold(layout.pseudo_header_sum(frame).unwrap());
        frame[at..at + 2].copy_from_slice(&pseudo.to_be_bytes());
        (layout.transport, at - layout.transport)
    }

    #[test]
    fn a_word_of_four_bytes_sums_as_two_of_two() {
        assert_eq!(fold(sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7], 0)), !0xddf2);
        assert_eq!(fold(sum(&[0x12, 0x34, 0x56], 0)), !0x6834);
    }

    #[test]
    fn both_ways_of_completion_give_the_right_checksum() {
        for length in [0, 1, 2, 3, 1400] {
            for original in [udp(&vec![7; length]), tcp6(&vec![9; length])] {
                let mut frame = original.clone();
                let (start, offset) = make_partial(&mut frame);
                assert_ne!(frame, original);
                let mut parsed = frame.clone();
                complete_checksum(&mut frame, start, offset).unwrap();
                complete_by_parsing(&mut parsed).unwrap();
                assert_eq!(frame, original);
                assert_eq!(parsed, original);
            }
        }
    }

    #[test]
    fn padding_after_the_packet_is_not_summed() {
        let original = udp(b"hi");
        let mut frame = original.clone();
        make_partial(&mut frame);
        frame.extend([0xaa; 16]);
        complete_by_parsing(&mut frame).unwrap();
        assert_eq!(frame[..original.len()], original);
    }

    #[test]
    fn a_udp_checksum_is_never_zero() {
        // The payload word that makes the sum 0xffff.
        let mut frame = udp(&[0, 0]);
        let at = 14 + 20 + 6;
        let word = u16::from_be_bytes([frame[at], frame[at + 1]]);
        let end = frame.len();
        frame[end - 2..].copy_from_slice(&word.to_be_bytes());
        complete_by_parsing(&mut frame).unwrap();
        assert_eq!(frame[at..at + 2], [0xff, 0xff]);
    }

    #[test]
    fn offsets_outside_the_packet_are_refused() {
        let mut frame = udp(b"data");
        let length = frame.len();
        assert_eq!(complete_checksum(&mut frame, length + 1, 0), Err(Unfinishable::Truncated));
        assert_eq!(complete_checksum(&mut frame, length - 1, 0), Err(Unfinishable::Truncated));
        assert_eq!(complete_checksum(&mut frame, 34, usize::from(u16::MAX)), Err(Unfinishable::Truncated));
    }

    proptest! {
        #[test]
        fn hostile_bytes_never_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..200),
                                     ethertype in prop::sample::select(vec![0x0800u16, 0x86dd, 0x8100, 0x88a8]),
                                     start in 0usize..300, offset in 0usize..300) {
            if bytes.len() > 14 {
                bytes[12..14].copy_from_slice(&ethertype.to_be_bytes());
            }
            let _ = complete_by_parsing(&mut bytes);
            let _ = complete_checksum(&mut bytes, start, offset);
        }
    }
}

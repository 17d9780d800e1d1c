//! Of acknowledgments that wait to be sent one after the other the last says all: the others need not go.
//!
//! When several packets were read in a batch, each has its acknowledgment. Linux merges packets before its TCP sees them,
//! and so sends one; we get the same by taking together what is still here. Only what is nothing but an acknowledgment of
//! more than the one before, on the same connection, without selective acknowledgments: a duplicate one means a loss
//! (RFC 5681 §3.2) and must be seen. The timestamp that is echoed is the first one's, as for any acknowledgment of several
//! segments (RFC 7323 §4.2).

use std::ops::Range;

use clickwork_prolac_tcp::Transmit;

const ACK: u8 = 0x10;
/// A header without options, and one with timestamps.
const LENGTHS: [usize; 2] = [20, 32];

/// Whether it is nothing but an acknowledgment, whose checksum the kernel will complete.
pub fn is_plain(transmit: &Transmit) -> bool {
    let (packet, tcp) = (transmit.packet.data(), usize::from(transmit.tcp_offset));
    let flags = packet.get(tcp + 13);
    transmit.checksum_partial
        && transmit.text.is_none()
        && flags == Some(&ACK)
        && LENGTHS.contains(&(packet.len() - tcp))
}

/// Lets `first` say what `second` says too; both are plain. False if they are not of one connection, or the second
/// acknowledges no more than the first.
pub fn merge(first: &mut Transmit, second: &Transmit) -> bool {
    let tcp = usize::from(first.tcp_offset);
    let is_same =
        |range: Range<usize>| first.packet.data().get(range.clone()) == second.packet.data().get(range);
    let addresses = if tcp == 40 { 8..40 } else { 12..20 };
    // The traffic class, addresses, ports and the sequence number.
    let is_one = first.packet.len() == second.packet.len()
        && tcp == usize::from(second.tcp_offset)
        && is_same(0..2)
        && is_same(addresses)
        && is_same(tcp..tcp + 8);
    if !is_one {
        return false;
    }
    let (number, window) = (tcp + 8..tcp + 12, tcp + 14..tcp + 16);
    let later = second.packet.data();
    let advance = at(later, tcp + 8).wrapping_sub(at(first.packet.data(), tcp + 8)) as i32;
    let Some(bytes) = first.packet.unshared_data_mut() else { return false };
    if advance <= 0 {
        return false;
    }
    bytes[number.clone()].copy_from_slice(&later[number]);
    bytes[window.clone()].copy_from_slice(&later[window]);
    true
}

/// The number at this place of a plain acknowledgment.
fn at(bytes: &[u8], place: usize) -> u32 {
    bytes[place..].first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clickwork_packet::Packet;

    fn acknowledgment(port: u8, number: u32, window: u8, timestamp: u8, flags: u8) -> Transmit {
        let mut bytes = vec![0; 52];
        bytes[0] = 0x45;
        (bytes[21], bytes[32], bytes[33], bytes[35], bytes[51]) = (port, 0x80, flags, window, timestamp);
        bytes[28..32].copy_from_slice(&number.to_be_bytes());
        Transmit {
            packet: Packet::new(&bytes),
            text: None,
            segment_size: 0,
            checksum_partial: true,
            tcp_offset: 20,
        }
    }

    #[test]
    fn the_first_says_what_the_last_says_and_echoes_its_own_timestamp() {
        let mut first = acknowledgment(1, u32::MAX - 5, 9, 1, ACK);
        let last = acknowledgment(1, 5, 7, 2, ACK);
        assert!(is_plain(&first) && merge(&mut first, &last));
        assert_eq!(first.packet.data(), acknowledgment(1, 5, 7, 1, ACK).packet.data());
    }

    #[test]
    fn what_tells_of_a_loss_or_of_another_connection_goes_by_itself() {
        let mut first = acknowledgment(1, 100, 9, 1, ACK);
        assert!(!merge(&mut first, &acknowledgment(1, 100, 9, 2, ACK)), "a duplicate");
        assert!(!merge(&mut first, &acknowledgment(1, 99, 9, 2, ACK)), "an older one");
        assert!(!merge(&mut first, &acknowledgment(2, 200, 9, 2, ACK)), "another port");
        assert!(!is_plain(&acknowledgment(1, 100, 9, 1, ACK | 1)), "a FIN");
        let whole = Transmit { checksum_partial: false, ..acknowledgment(1, 100, 9, 1, ACK) };
        assert!(!is_plain(&whole), "its checksum is complete");
        let mut selective = acknowledgment(1, 100, 9, 1, ACK);
        selective.packet.put(12);
        assert!(!is_plain(&selective), "selective acknowledgments");
    }
}

//! Changes to IP headers that keep all checksums right (RFC 1624).

use clickwork_packet::Packet;
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::checksum::{update, update_u32};
use clickwork_packet::headers::Ipv4Mut;
use clickwork_packet::headers::ipv4::protocol;

/// Bytes of an IP header without options.
const HEADER: usize = 20;

/// Replaces the source or destination address of the marked IP header; the checksums of the IP header and of a TCP or
/// UDP header follow. Nothing if no header of 20 bytes or more is marked. What stands there need not be a valid header,
/// and it may be cut off: what is there of it is changed.
pub fn replace_address(p: &mut Packet, is_source: bool, new: Ipv4Address) -> Option<()> {
    let is_marked = p.network_header_len().is_some_and(|len| (HEADER as u32..1 << 31).contains(&len));
    let stripped = p.network_offset().filter(|_| is_marked)?.min(0).unsigned_abs() as usize;
    p.unpull(stripped);
    replace_marked(p, if is_source { 12 } else { 16 }, new);
    p.pull(stripped);
    Some(())
}

/// Writes an address `at` bytes into the marked header.
fn replace_marked(p: &mut Packet, at: usize, new: Ipv4Address) {
    let Some(data) = p.network_header_mut() else { return };
    let mut header = [0; HEADER];
    let there = data.len().min(HEADER);
    header[..there].copy_from_slice(&data[..there]);
    let place: &mut [u8; 4] = header[at..].first_chunk_mut().expect("an address lies inside");
    let old = u32::from_be_bytes(std::mem::replace(place, new.octets()));
    let change = |bytes: &mut [u8]| {
        let checksum = u16::from_be_bytes([bytes[0], bytes[1]]);
        bytes.copy_from_slice(&update_u32(checksum, old, new.to_bits()).to_be_bytes());
    };
    change(&mut header[10..12]);
    data[..there].copy_from_slice(&header[..there]);
    let is_first = header[6] & 0x1f == 0 && header[7] == 0;
    let Some(payload) = p.transport_header_mut().filter(|_| is_first) else { return };
    match header[9] {
        protocol::TCP if payload.len() >= 20 => change(&mut payload[16..18]),
        // A UDP checksum of 0 says that there is none.
        protocol::UDP if payload.len() >= 8 && payload[6..8] != [0, 0] => change(&mut payload[6..8]),
        _ => {}
    }
}

/// Replaces the type of service of the marked IP header by what `change` makes of it. Nothing if there is no header.
pub fn change_tos(p: &mut Packet, change: impl FnOnce(u8) -> u8) -> Option<()> {
    let mut ip = p.network_header_mut().and_then(Ipv4Mut::new)?;
    let (old, new) = (ip.tos, change(ip.tos));
    ip.tos = new;
    // The other byte of the word stays.
    let checksum = update(ip.checksum(), old.into(), new.into());
    ip.set_checksum(checksum);
    Some(())
}

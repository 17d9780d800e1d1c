//! StoreIPAddress: replace an address of a whole packet without options that nobody shares; all checksums follow (RFC 1624).

use clickwork_packet::Packet;
use clickwork_packet::checksum::update_u32;

/// What the code knows of the element.
#[derive(Debug)]
pub struct Constants {
    /// The address; by default the destination annotation.
    pub octets: Option<[u8; 4]>,
    /// Whether it becomes the source.
    pub is_source: bool,
}

/// The common case.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    let new = c.octets.unwrap_or(p.dst_ip().octets());
    let (header, rest) = p.unshared_network_header_mut()?.split_first_chunk_mut::<20>()?;
    let &mut [first, _, l0, l1, _, _, f0, f1, _, protocol, ..] = header;
    let payload = usize::from(u16::from_be_bytes([l0, l1])).checked_sub(20)?;
    let payload = rest.get_mut(..payload)?;
    let place: &mut [u8; 4] = header.get_mut(if c.is_source { 12 } else { 16 }..)?.first_chunk_mut()?;
    let (from, to) = (u32::from_be_bytes(*place), u32::from_be_bytes(new));
    let is_first = f0 & 0x1f == 0 && f1 == 0;
    if first != 0x45 || (is_first && !follow(payload, protocol, from, to)) {
        return None;
    }
    *place = new;
    change([10, 11], header, from, to);
    Some(0)
}

/// Updates the checksum of TCP or UDP; or does nothing, if the header is not whole.
#[inline(always)]
fn follow(payload: &mut [u8], protocol: u8, from: u32, to: u32) -> bool {
    let len = payload.len();
    match protocol {
        6 => {
            let Some(tcp) = payload.first_chunk_mut::<20>() else { return false };
            let header_len = usize::from(tcp[12] >> 4) * 4;
            if header_len < 20 || header_len > len {
                return false;
            }
            change([16, 17], tcp, from, to);
        }
        17 => {
            let Some(udp) = payload.first_chunk_mut::<8>() else { return false };
            // A checksum of 0 says that there is none.
            if udp[6..] != [0, 0] {
                change([6, 7], udp, from, to);
            }
        }
        _ => {}
    }
    true
}

/// Updates a checksum for an address that changed.
#[inline(always)]
fn change<const N: usize>([high, low]: [usize; 2], bytes: &mut [u8; N], from: u32, to: u32) {
    let old = u16::from_be_bytes([bytes[high], bytes[low]]);
    [bytes[high], bytes[low]] = update_u32(old, from, to).to_be_bytes();
}

//! IPMirror: send a whole packet without options back where it came from.

use clickwork_packet::Packet;
use clickwork_packet::addr::Ipv4Address;

/// What the code knows of the element.
#[derive(Debug)]
pub struct Constants {
    /// Whether the destination annotation is set.
    pub sets_annotation: bool,
}

/// The common case.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    let (header, rest) = p.unshared_network_header_mut()?.split_first_chunk_mut::<20>()?;
    let &mut [first, _, l0, l1, _, _, f0, f1, _, protocol, ..] = header;
    let payload = usize::from(u16::from_be_bytes([l0, l1])).checked_sub(20)?;
    let payload = rest.get_mut(..payload)?;
    let has_ports = f0 & 0x1f == 0 && f1 == 0 && matches!(protocol, 6 | 17);
    if first != 0x45 || (has_ports && !swap_transport(payload, protocol == 6)) {
        return None;
    }
    let source = [header[12], header[13], header[14], header[15]];
    header.copy_within(16..20, 12);
    header[16..].copy_from_slice(&source);
    if c.sets_annotation {
        p.set_dst_ip(Ipv4Address::from_octets(source));
    }
    Some(0)
}

/// Swaps ports, and the numbers of TCP; or does nothing, if the header is not whole.
#[inline(always)]
fn swap_transport(payload: &mut [u8], is_tcp: bool) -> bool {
    let len = payload.len();
    if is_tcp {
        let Some(tcp) = payload.first_chunk_mut::<20>() else { return false };
        let header_len = usize::from(tcp[12] >> 4) * 4;
        if header_len < 20 || header_len > len {
            return false;
        }
        let &mut [s0, s1, d0, d1, a, b, c, d, e, f, g, h, ..] = tcp;
        tcp[..12].copy_from_slice(&[d0, d1, s0, s1, e, f, g, h, a, b, c, d]);
    } else {
        let Some(udp) = payload.first_chunk_mut::<8>() else { return false };
        let &mut [s0, s1, d0, d1, ..] = udp;
        udp[..4].copy_from_slice(&[d0, d1, s0, s1]);
    }
    true
}

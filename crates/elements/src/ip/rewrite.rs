//! Changes to IP headers that keep all checksums right (RFC 1624).

use clickwork_packet::Packet;
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::checksum::{update, update_u32};
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::{Ipv4Mut, TcpMut, UdpMut};

/// Replaces the source or destination address of the marked IP header; the checksums of the IP header and of a TCP or
/// UDP header follow. Nothing if there is no IP header.
pub fn replace_address(p: &mut Packet, is_source: bool, new: Ipv4Address) -> Option<()> {
    let mut ip = p.network_header_mut().and_then(Ipv4Mut::new)?;
    let old = if is_source { ip.source() } else { ip.destination() };
    match is_source {
        true => ip.set_source(new),
        false => ip.set_destination(new),
    }
    let change = |checksum| update_u32(checksum, old.to_bits(), new.to_bits());
    let checksum = change(ip.checksum());
    ip.set_checksum(checksum);
    let carries = if ip.is_first_fragment() { ip.protocol } else { 0 };
    match carries {
        protocol::TCP => {
            if let Some(mut tcp) = TcpMut::new(ip.payload_mut()) {
                let checksum = change(tcp.checksum());
                tcp.set_checksum(checksum);
            }
        }
        protocol::UDP => {
            // A UDP checksum of 0 says that there is none.
            if let Some(mut udp) = UdpMut::new(ip.payload_mut()).filter(|udp| udp.checksum() != 0) {
                let checksum = change(udp.checksum());
                udp.set_checksum(checksum);
            }
        }
        _ => {}
    }
    Some(())
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

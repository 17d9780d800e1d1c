//! EtherVLANEncap: put a packet that has room in front into an Ethernet frame with a tag.

use clickwork_packet::{Packet, anno};

/// What the code knows of the element.
#[derive(Debug)]
pub struct Constants {
    /// Destination and source.
    pub addresses: [u8; 12],
    /// What the frame carries.
    pub ethertype: [u8; 2],
    /// The tag; by default the packet's VLAN annotation.
    pub tci: Option<u16>,
    /// The VLAN whose frames have no tag.
    pub native: Option<u16>,
}

/// The common case.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    let tci = c.tci.unwrap_or(u16::from_be(p.anno_u16(anno::VLAN_TCI)));
    if c.native == Some(tci & 0xfff) {
        let header: &mut [u8; 14] = p.unshared_push()?;
        header[..12].copy_from_slice(&c.addresses);
        header[12..].copy_from_slice(&c.ethertype);
        p.set_mac_header(0, 14);
    } else {
        let header: &mut [u8; 18] = p.unshared_push()?;
        header[..12].copy_from_slice(&c.addresses);
        header[12..14].copy_from_slice(&[0x81, 0]);
        header[14..16].copy_from_slice(&tci.to_be_bytes());
        header[16..].copy_from_slice(&c.ethertype);
        p.set_mac_header(0, 18);
    }
    Some(0)
}

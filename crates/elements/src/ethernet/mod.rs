//! Ethernet and ARP.

use clickwork_router::Class;

pub mod arp_cache;
mod arp_querier;
mod arp_responder;
mod arp_table;
mod ether_encap;
mod ether_switch;
mod ether_vlan_encap;
mod host_ether_filter;
mod set_vlan_anno;
mod strip_ether_vlan_header;
mod vlan_decap;
mod vlan_encap;
mod vlan_tag;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[
    &arp_querier::CLASS,
    &arp_responder::CLASS,
    &arp_table::CLASS,
    &ether_encap::CLASS,
    &ether_switch::CLASS,
    &ether_vlan_encap::CLASS,
    &ether_vlan_encap::OLDER,
    &host_ether_filter::CLASS,
    &set_vlan_anno::CLASS,
    &set_vlan_anno::OLDER,
    &strip_ether_vlan_header::CLASS,
    &strip_ether_vlan_header::OLDER,
    &vlan_decap::CLASS,
    &vlan_encap::CLASS,
];

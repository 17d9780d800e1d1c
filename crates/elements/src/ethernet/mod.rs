//! Ethernet and ARP.

use clickwork_router::Class;

pub mod arp_cache;
mod arp_faker;
mod arp_querier;
mod arp_responder;
mod arp_table;
mod check_arp_header;
mod ensure_ether;
pub(crate) mod ether_encap;
mod ether_field;
mod ether_mirror;
mod ether_pause_source;
mod ether_rewrite;
mod ether_switch;
mod ether_vlan_encap;
pub(crate) mod fast;
mod get_ether_address;
mod host_ether_filter;
mod listen_ether_switch;
mod set_ether_address;
mod set_vlan_anno;
mod shared_cache;
mod stations;
mod store_ether_address;
mod strip_ether_vlan_header;
pub(crate) mod switch_control;
mod vlan_decap;
mod vlan_encap;
mod vlan_tag;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[
    &arp_faker::CLASS,
    &arp_querier::CLASS,
    &arp_responder::CLASS,
    &arp_table::CLASS,
    &check_arp_header::CLASS,
    &ensure_ether::CLASS,
    &ether_encap::CLASS,
    &ether_mirror::CLASS,
    &ether_pause_source::CLASS,
    &ether_rewrite::CLASS,
    &ether_switch::CLASS,
    &ether_vlan_encap::CLASS,
    &ether_vlan_encap::OLDER,
    &get_ether_address::CLASS,
    &host_ether_filter::CLASS,
    &listen_ether_switch::CLASS,
    &set_ether_address::CLASS,
    &set_vlan_anno::CLASS,
    &set_vlan_anno::OLDER,
    &store_ether_address::CLASS,
    &strip_ether_vlan_header::CLASS,
    &strip_ether_vlan_header::OLDER,
    &vlan_decap::CLASS,
    &vlan_encap::CLASS,
];

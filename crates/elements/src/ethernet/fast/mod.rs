//! The common cases of actions on Ethernet frames, one element a file. The router compiler copies these files: see
//! [`clickwork_router::fast`] for what they may do.

pub mod check_arp_header;
pub mod ensure_ether;
pub mod ether_encap;
pub mod ether_mirror;
pub mod ether_rewrite;
pub mod ether_vlan_encap;
pub mod get_ether_address;
pub mod host_ether_filter;
pub mod set_ether_address;
pub mod set_vlan_anno;
pub mod store_ether_address;
pub mod strip_ether_vlan_header;
pub mod vlan_decap;
pub mod vlan_encap;

//! Ethernet and ARP.

use clickwork_router::Class;

pub mod arp_cache;
mod arp_querier;
mod arp_responder;
mod arp_table;
mod ether_encap;
mod host_ether_filter;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[
    &arp_querier::CLASS,
    &arp_responder::CLASS,
    &arp_table::CLASS,
    &ether_encap::CLASS,
    &host_ether_filter::CLASS,
];

//! IPv6: headers, neighbour discovery, routes, translation from and to IPv4.

use clickwork_router::Class;

mod address_mappings;
mod address_translator;
mod check_ip6_header;
mod dec_ip6_hlim;
mod extension;
mod fast;
mod get_ip6_address;
#[cfg(test)]
mod hostile;
mod icmp6_error;
mod icmp6_ping_responder;
mod ip6_encap;
mod ip6_fragmenter;
mod ip6_mirror;
mod ip6_nd_advertiser;
mod ip6_nd_solicitor;
pub mod lookup;
mod lookup_ip6_route;
mod mark_ip6_header;
mod nd;
mod prepend;
mod protocol_translator;
mod route_code;
#[cfg(test)]
pub(crate) mod samples;
mod set_ip6_address;
mod set_ip6_dscp;
mod translation;
mod udp_ip6_encap;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[
    &address_translator::CLASS,
    &check_ip6_header::CLASS,
    &dec_ip6_hlim::CLASS,
    &get_ip6_address::CLASS,
    &icmp6_error::CLASS,
    &icmp6_ping_responder::CLASS,
    &ip6_encap::CLASS,
    &ip6_fragmenter::CLASS,
    &ip6_mirror::CLASS,
    &ip6_nd_advertiser::CLASS,
    &ip6_nd_solicitor::CLASS,
    &lookup_ip6_route::CLASS,
    &mark_ip6_header::CLASS,
    &protocol_translator::CLASS46,
    &protocol_translator::CLASS64,
    &set_ip6_address::CLASS,
    &set_ip6_dscp::CLASS,
    &udp_ip6_encap::CLASS,
];

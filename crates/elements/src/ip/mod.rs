//! IPv4: checks, header fields, routing, fragmentation.

use clickwork_router::Class;

pub(crate) mod addresses;
mod assemblies;
mod check_ip_header;
mod dec_ip_ttl;
mod direct_ip_lookup;
mod erase_ip_payload;
mod fast;
mod fix_ip_src;
mod gateway_options;
mod get_ip_address;
mod header_check;
pub(crate) mod ip_encap;
mod ip_fragmenter;
mod ip_gw_options;
mod ip_input_combo;
pub(crate) mod ip_lookup;
mod ip_mirror;
mod ip_output_combo;
mod ip_reassembler;
mod linear_ip_lookup;
pub mod lookup;
mod mark_ip_header;
pub(crate) mod prepend;
mod radix_ip_lookup;
mod range_ip_lookup;
mod reassembly;
pub(crate) mod rewrite;
mod rip_send;
pub(crate) mod route_code;
#[cfg(test)]
pub(crate) mod samples;
mod set_ip_address;
mod set_ip_checksum;
mod set_ip_dscp;
mod set_ip_ecn;
mod set_rand_ip_address;
mod sorted_ip_lookup;
mod static_ip_lookup;
mod store_ip_address;
mod strip_ip_header;
mod truncate_ip_payload;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[
    &ip_reassembler::CLASS,
    &rip_send::CLASS,
    &erase_ip_payload::CLASS,
    &ip_encap::CLASS,
    &ip_input_combo::CLASS,
    &ip_mirror::CLASS,
    &ip_output_combo::CLASS,
    &set_ip_checksum::CLASS,
    &set_ip_dscp::CLASS,
    &set_ip_ecn::CLASS,
    &set_ip_ecn::MARK_CE,
    &set_rand_ip_address::CLASS,
    &store_ip_address::CLASS,
    &strip_ip_header::CLASS,
    &strip_ip_header::UNSTRIP,
    &truncate_ip_payload::CLASS,
    &check_ip_header::CLASS,
    &check_ip_header::CLASS2,
    &dec_ip_ttl::CLASS,
    &direct_ip_lookup::CLASS,
    &fix_ip_src::CLASS,
    &get_ip_address::CLASS,
    &ip_fragmenter::CLASS,
    &ip_gw_options::CLASS,
    &linear_ip_lookup::CLASS,
    &mark_ip_header::CLASS,
    &radix_ip_lookup::CLASS,
    &range_ip_lookup::CLASS,
    &set_ip_address::CLASS,
    &sorted_ip_lookup::CLASS,
    &static_ip_lookup::CLASS,
    &static_ip_lookup::LOOKUP_IP_ROUTE,
    &static_ip_lookup::LOOKUP_IP_ROUTE_MP,
];

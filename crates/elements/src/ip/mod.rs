//! IPv4: checks, header fields, routing, fragmentation.

use clickwork_router::Class;

pub(crate) mod addresses;
mod check_ip_header;
mod dec_ip_ttl;
mod direct_ip_lookup;
mod fix_ip_src;
mod gateway_options;
mod get_ip_address;
mod header_check;
mod ip_fragmenter;
mod ip_gw_options;
mod ip_lookup;
mod linear_ip_lookup;
pub mod lookup;
mod mark_ip_header;
mod radix_ip_lookup;
mod range_ip_lookup;
#[cfg(test)]
pub(crate) mod samples;
mod set_ip_address;
mod sorted_ip_lookup;
mod static_ip_lookup;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[
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
];

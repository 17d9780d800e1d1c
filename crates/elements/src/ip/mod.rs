//! IPv4: checks, header fields, routing, fragmentation.

use clickwork_router::Class;

mod direct_ip_lookup;
mod ip_lookup;
mod linear_ip_lookup;
pub mod lookup;
mod radix_ip_lookup;
mod range_ip_lookup;
mod sorted_ip_lookup;
mod static_ip_lookup;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[
    &direct_ip_lookup::CLASS,
    &linear_ip_lookup::CLASS,
    &radix_ip_lookup::CLASS,
    &range_ip_lookup::CLASS,
    &sorted_ip_lookup::CLASS,
    &static_ip_lookup::CLASS,
    &static_ip_lookup::LOOKUP_IP_ROUTE,
];

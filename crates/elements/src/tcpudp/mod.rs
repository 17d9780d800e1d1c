//! TCP and UDP headers: checks, checksums, encapsulation.

use clickwork_router::Class;

mod check_tcp_header;
mod check_udp_header;
mod fast;
pub(crate) mod refusals;
mod set_checksum;
mod udp_ip_encap;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[
    &check_tcp_header::CLASS,
    &check_udp_header::CLASS,
    &set_checksum::TCP,
    &set_checksum::UDP,
    &udp_ip_encap::CLASS,
];

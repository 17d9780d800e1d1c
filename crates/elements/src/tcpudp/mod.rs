//! TCP and UDP headers: checks, checksums, encapsulation.

use clickwork_router::Class;

mod check_tcp_header;
mod check_udp_header;
mod dynamic_udp_ip_encap;
mod fast;
pub(crate) mod refusals;
mod set_checksum;
mod tcp_fragmenter;
mod tcp_ip_send;
pub(crate) mod udp_ip_encap;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[
    &check_tcp_header::CLASS,
    &check_udp_header::CLASS,
    &dynamic_udp_ip_encap::CLASS,
    &set_checksum::TCP,
    &set_checksum::UDP,
    &tcp_fragmenter::CLASS,
    &tcp_ip_send::CLASS,
    &udp_ip_encap::CLASS,
];

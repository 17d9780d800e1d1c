//! ICMP: errors and echoes.

use clickwork_router::Class;

mod check_icmp_header;
mod fast;
mod icmp_encap;
mod icmp_error;
mod icmp_ping_responder;
mod icmp_ping_source;
pub(crate) mod names;
mod ping_replies;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[
    &check_icmp_header::CLASS,
    &icmp_encap::ANY,
    &icmp_encap::PING,
    &icmp_error::CLASS,
    &icmp_ping_responder::CLASS,
    &icmp_ping_source::CLASS,
    &icmp_ping_source::OLDER,
];

//! Sockets of the host: UDP, TCP, Unix, raw; what the program shares with it.
//!
//! Nothing here waits: descriptors are watched, and what a socket does not take at once waits in an [`outbox`] of bounded
//! size. Read first: `outbox.rs`, then `transport/mod.rs`.

mod kernel_filter;
mod mcast_socket;
pub(crate) mod name;
mod options;
mod outbox;
mod raw_socket;
mod transport;

use clickwork_router::Class;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[
    &kernel_filter::CLASS,
    &mcast_socket::CLASS,
    &raw_socket::FROM,
    &raw_socket::RAW,
    &raw_socket::TO,
    &transport::FROM,
    &transport::SOCKET,
    &transport::TO,
    &transport::uml_switch::CLASS,
];

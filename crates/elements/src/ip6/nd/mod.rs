//! Neighbour discovery (RFC 4861): which Ethernet address an IPv6 address on the link has.
//!
//! [`message`] reads and writes solicitations and advertisements, [`cache`] keeps what was learned. The elements are in the
//! folder above: IP6NDSolicitor asks, IP6NDAdvertiser answers. Not here: routers and prefixes (RFC 4861 §6).

pub mod cache;
pub mod message;

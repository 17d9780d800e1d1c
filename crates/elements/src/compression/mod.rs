//! Compression of headers (RFC 2507).
//!
//! [`compress_ip`] and [`decompress_ip`] are the two ends of a link. They know packets and contexts; what becomes of a header
//! is in [`tcp`] and [`non_tcp`], what stands in front of a packet in [`framing`]. [`rfc2507`] has Click's own elements.

mod compress_ip;
mod contexts;
mod decompress_ip;
mod fields;
mod framing;
mod headers;
mod non_tcp;
mod rfc2507;
#[cfg(test)]
mod samples;
mod tcp;
#[cfg(test)]
mod tests;

use clickwork_router::Class;

/// The classes of this family.
pub static CLASSES: &[&Class] =
    &[&compress_ip::CLASS, &decompress_ip::CLASS, &rfc2507::COMP, &rfc2507::DECOMP];

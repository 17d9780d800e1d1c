//! Compression of headers (RFC 2507).
//!
//! [`compress_ip`] and [`decompress_ip`] are the two ends of a link. They know packets and contexts; what becomes of a header
//! is in [`tcp`] and [`non_tcp`], what stands in front of a packet in [`framing`].

mod compress_ip;
mod contexts;
mod decompress_ip;
mod framing;
mod headers;
mod non_tcp;
mod tcp;
#[cfg(test)]
mod tests;

use clickwork_router::Class;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[&compress_ip::CLASS, &decompress_ip::CLASS];

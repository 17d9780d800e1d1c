//! Compression of headers (RFC 2507).

use clickwork_router::Class;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[];

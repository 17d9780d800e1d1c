//! IPv4: checks, header fields, routing, fragmentation.

use clickwork_router::Class;

pub mod lookup;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[];

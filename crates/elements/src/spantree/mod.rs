//! Bridges: spanning tree (IEEE 802.1D) and what watches switches.

use clickwork_router::Class;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[];

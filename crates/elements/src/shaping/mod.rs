//! Shapers, splitters and meters: elements that limit or measure rates.

use clickwork_router::Class;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[];

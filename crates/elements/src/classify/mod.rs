//! Classification and switching: elements that choose an output by what a packet is.

use clickwork_router::Class;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[];

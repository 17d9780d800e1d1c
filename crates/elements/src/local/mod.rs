//! Small elements of single configurations: traffic by TCP, flow identifiers.

use clickwork_router::Class;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[];

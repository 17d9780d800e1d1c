//! Elements that print packets for people.

use clickwork_router::Class;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[];

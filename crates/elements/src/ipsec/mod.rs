//! IPsec: ESP in tunnel and transport mode.

use clickwork_router::Class;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[];

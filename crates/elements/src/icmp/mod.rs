//! ICMP: errors and echoes.

use clickwork_router::Class;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[];

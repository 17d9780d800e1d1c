//! Sockets of the host: UDP, TCP, Unix, raw; what the program shares with it.

use clickwork_router::Class;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[];

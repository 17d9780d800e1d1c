//! Devices: packets from and to network interfaces and tunnels.

use clickwork_router::Class;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[];

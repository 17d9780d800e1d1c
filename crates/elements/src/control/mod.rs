//! Elements that act on the router: scripts, the driver manager, control sockets.

use clickwork_router::Class;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[];

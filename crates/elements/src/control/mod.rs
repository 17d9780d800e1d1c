//! Elements that act on the router: scripts, the driver manager, control sockets.

mod driver_manager;
mod script;

use clickwork_router::Class;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[&driver_manager::CLASS, &script::CLASS];

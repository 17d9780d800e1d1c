//! Elements that act on the router: scripts, the driver manager, control sockets.

mod control_socket;
mod driver_manager;
mod quit_watcher;
mod script;

use clickwork_router::Class;

/// The classes of this family.
pub static CLASSES: &[&Class] =
    &[&control_socket::CLASS, &driver_manager::CLASS, &quit_watcher::CLASS, &script::CLASS];

//! Elements that act on the router or speak for it: scripts, the driver manager, control and chatter sockets.

pub mod chatter_socket;
mod control_socket;
mod driver_manager;
mod progress_bar;
mod quit_watcher;
mod script;

use clickwork_router::Class;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[
    &chatter_socket::CLASS,
    &control_socket::CLASS,
    &driver_manager::CLASS,
    &progress_bar::CLASS,
    &quit_watcher::CLASS,
    &script::CLASS,
];

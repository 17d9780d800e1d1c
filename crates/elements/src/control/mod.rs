//! Elements that act on the router or speak for it: scripts, the driver manager, control and chatter sockets.

mod change_uid;
pub mod chatter_socket;
pub mod control_socket;
mod driver_manager;
mod progress_bar;
mod quit_watcher;
mod random_seed;
mod script;

use clickwork_router::Class;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[
    &change_uid::CLASS,
    &chatter_socket::CLASS,
    &control_socket::CLASS,
    &driver_manager::CLASS,
    &progress_bar::CLASS,
    &quit_watcher::CLASS,
    &random_seed::CLASS,
    &script::CLASS,
];

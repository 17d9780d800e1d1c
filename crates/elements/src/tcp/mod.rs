//! TCP inside a router: stacks that take and give IP packets, and programs that use their connections.
//!
//! The protocol is the crate `clickwork-prolac-tcp`. Here is how it takes part in a router: [`prolac_tcp`] holds a stack, and
//! exports it as a [`stack::Stack`] to the elements that name it in their arguments. Nobody calls another element: who uses a
//! connection does so through that shared handle and schedules the stack's task, which sends what there is to send;
//! the stack leaves events for each user and schedules that one's task.
//!
//! Read first: `stack.rs`, then `seat.rs` (what an element can do with its connections), `sessions.rs` (what elements with
//! many connections have in common), `server.rs` and `client.rs`. Elements that join two streams are in `relay`.

mod address;
mod chargen;
mod client;
mod discard;
mod echo;
mod held;
mod listing;
mod pattern;
mod prolac_tcp;
mod relay;
mod seat;
mod server;
mod sessions;
mod settings;
mod stack;
#[cfg(test)]
mod tests;

use clickwork_router::Class;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[
    &chargen::CLIENT,
    &chargen::SERVER,
    &discard::CLIENT,
    &discard::SERVER,
    &echo::CLIENT,
    &echo::SERVER,
    &prolac_tcp::CLASS,
    &relay::PROXY,
    &relay::SOCKET_TO_TCP,
    &relay::TCP_TO_SOCKET,
];

//! Bridges: the spanning tree protocol (IEEE 802.1D-1998 §8), and what prints its messages.
//!
//! `bridge.rs` is the protocol and knows no element; read it first. `ether_span_tree.rs` connects it to a switch.

use clickwork_router::Class;

mod bpdu;
mod bridge;
mod debug_bridge;
mod ether_span_tree;
mod events;
mod port;
mod report;
mod setup;
#[cfg(test)]
mod tests;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[&debug_bridge::CLASS, &ether_span_tree::CLASS];

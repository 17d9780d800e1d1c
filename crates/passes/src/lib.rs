//! Tools that treat a configuration as a program (Kohler, Morris and Chen, "Programming language optimizations for modular
//! router configurations", ASPLOS 2002).
//!
//! A pass is a function from a [`Network`] to a changed one, with messages. It reads the facts of element classes
//! (ports, processing, flow, packet types) and never makes an element. [`unit::Unit`] is what a tool reads and writes: the
//! graph, the texts it came from, and the files attached to it.
//!
//! Read first: [`Network`].
#![forbid(unsafe_code)]

pub mod align;
pub mod combine;
mod defines;
pub mod devirtualize;
pub mod element_map;
pub mod export;
pub mod facts;
pub mod fastclassifier;
pub mod kinds;
pub mod matching;
pub mod mentions;
mod network;
pub mod types;
pub mod undead;
pub mod unit;
pub mod xform;

pub use facts::Facts;
pub use network::{ElementId, Network};
pub use unit::Unit;

//! TCP, written in Prolac and compiled to C, behind a safe interface without input, output or clock.
//!
//! `tcp/base` is the protocol, one microprotocol a file; `tcp/extensions` what was added to it since, one file each, any of
//! which can be left out. `docs/tcp.md` is the guided tour. [`abi`] is the border between the two languages.

pub mod abi;
mod config;
mod error;
mod program;
pub mod sockets;
pub mod stack;
pub mod wheel;

pub use abi::Config;
pub use error::Error;
pub use program::Program;
pub use stack::{
    Activity, ConnectionId, Counters, Drops, Event, Limits, ListenerId, Offload, Options, Received, State,
    TcpStack, Transmit,
};

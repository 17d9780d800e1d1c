//! Packet input and output on Linux: packet sockets, TUN and TAP, and facts about interfaces.
//!
//! This crate knows no element and no router; it hands out byte slices, and the device elements copy them
//! into packets. It is not a capture library: frames are handed out as a network card would have sent them
//! (checksums complete, merged packets cut).
//!
//! | module | job |
//! |---|---|
//! | `receive`, `finish` | frames of an interface, in bursts ([`PacketReceiver`]) |
//! | `send` | frames to an interface, in batches ([`PacketSender`]) |
//! | `tunnel` | the host as a neighbour ([`Tunnel`]) |
//! | [`offload`] | checksums and segmentation in software, on plain bytes |
//! | `interface`, `address` | what the kernel knows of an interface |
//! | `sys` | the system calls, and all `unsafe` code |
//!
//! Read first: packet(7), then `examples/forward.rs`, which uses most of it in a page.
#![deny(unsafe_code)]

mod address;
mod error;
mod finish;
mod interface;
pub mod offload;
mod receive;
mod send;
mod sys;
mod tunnel;

pub use address::{InterfaceAddresses, default_gateway};
pub use error::{DeviceError, Fault, Result};
pub use interface::{Interface, Offloads};
pub use receive::{Frame, PacketReceiver, PacketType, ReceiveCounts, ReceiveOptions};
pub use send::{PacketSender, Sent, Stop};
pub use sys::descriptor::inherited;
pub use sys::privilege::drop_privilege;
pub use tunnel::{Tunnel, TunnelKind, TunnelOptions};

//! Packets: buffers, their pool, batches, annotations, header views, addresses and checksums.
//!
//! This crate knows no element. Read [`Packet`] first, then `buffer.rs` for how a packet lies in
//! memory and `pool.rs` for where buffers come from.

pub mod addr;
pub mod anno;
mod batch;
mod buffer;
pub mod checksum;
pub mod custody;
#[cfg(feature = "headers")]
pub mod headers;
mod packet;
mod pool;
pub mod prefetch;
mod sources;
mod time;

pub use batch::{BATCH_SIZE, Batch};
pub use buffer::ANNO_SIZE;
pub use packet::{DEFAULT_HEADROOM, Packet, PacketType};
pub use pool::{JUMBO_CAPACITY, STANDARD_CAPACITY, buffers_in_use};
pub use sources::SOURCES;
pub use time::Timestamp;

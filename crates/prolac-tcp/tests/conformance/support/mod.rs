//! What all tests share: `notation.rs` the way segments are written, `options.rs` and `wire.rs` from that to bytes and back,
//! `peer.rs` the scripted peer (read it first), `states.rs` connections in each state.

pub mod notation;
pub mod options;
pub mod peer;
pub mod states;
pub mod wire;

use clickwork_prolac_tcp::TcpStack;
use clickwork_prolac_tcp::abi::Config;

pub use clickwork_prolac_tcp::abi::{option, state};
pub use clickwork_prolac_tcp::{Event, Options};
pub use peer::{MS, Peer, SECOND};
pub(crate) use states::in_states;

/// The stack under test.
pub fn stack(config: Config) -> TcpStack {
    TcpStack::new(config)
}

/// `errno` values of Linux that calls give.
pub mod errno {
    pub const EPIPE: i32 = 32;
    pub const EAGAIN: i32 = 11;
    pub const ENOTCONN: i32 = 107;
    pub const ECONNRESET: i32 = 104;
    pub const ECONNREFUSED: i32 = 111;
    pub const ETIMEDOUT: i32 = 110;
    pub const EHOSTUNREACH: i32 = 113;
    pub const ENETUNREACH: i32 = 101;
    pub const EINVAL: i32 = 22;
}

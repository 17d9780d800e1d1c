//! What all tests share: `notation.rs` the way segments are written, `options.rs` and `wire.rs` from that to bytes and back,
//! `peer.rs` the scripted peer (read it first), `states.rs` connections in each state.

pub mod notation;
pub mod options;
pub mod peer;
pub mod states;
pub mod wire;

use std::sync::OnceLock;

use clickwork_prolac_tcp::{Program, TcpStack};

use crate::subset;
use clickwork_prolac_tcp::abi::Config;

pub use clickwork_prolac_tcp::abi::{option, state};
pub use clickwork_prolac_tcp::{Event, Options};
pub use peer::{MS, Peer, SECOND};
pub(crate) use states::in_states;

/// The variable that names the extensions to test with.
pub const EXTENSIONS: &str = "PROLAC_TCP_EXTENSIONS";

/// The stack under test: with all extensions, or with those that [`EXTENSIONS`] names; `base` is none.
pub fn stack(config: Config) -> TcpStack {
    static CHOSEN: OnceLock<Option<Program>> = OnceLock::new();
    let program = CHOSEN.get_or_init(|| std::env::var(EXTENSIONS).ok().map(|names| chosen(&names)));
    program.map_or_else(|| TcpStack::new(config), |program| TcpStack::with_program(program, config))
}

fn chosen(names: &str) -> Program {
    let catalogue = subset::catalogue();
    let names = match names {
        "base" => vec![],
        "all" => catalogue.names(),
        _ => names.split_whitespace().map(str::to_owned).collect(),
    };
    subset::program(&catalogue, &names, &subset::Build::default()).unwrap_or_else(|error| panic!("{error}"))
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

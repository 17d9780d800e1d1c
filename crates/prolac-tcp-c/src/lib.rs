//! The Prolac TCP for programs in C: `include/prolac_tcp.h` is the interface and its manual.
//!
//! The calls themselves are [`Sockets`](clickwork_prolac_tcp::sockets::Sockets), which never sleeps; here are the one host
//! of the process (`instance.rs`), the sleeping of blocking calls, and the step from pointers to slices (`memory.rs`).
//! Read first: the header, then `calls.rs`.

mod calls;
mod instance;
mod memory;

pub use calls::*;
pub use instance::{prolac_tcp_error, prolac_tcp_start, prolac_tcp_stop};

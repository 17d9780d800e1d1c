//! The Prolac TCP as a user program: on a TUN device, for the threads of a program, in the manner of std.
//!
//! ```no_run
//! use clickwork_prolac_tcp_host::{Settings, SharedHost, TcpListener, TcpStream};
//! use std::io::{Read, Write};
//!
//! // The other end of the device is this machine, which is 10.9.0.1 there; we are 10.9.0.2.
//! let host = Settings::new("tcp0", "10.9.0.2/24")?.start()?;
//! let listener = TcpListener::bind(&host, "10.9.0.2:80")?;
//! let (mut stream, peer) = listener.accept()?;
//! stream.write_all(b"Who are you?\n")?;
//! let mut there = TcpStream::connect(&host, (peer.ip(), 80))?;
//! std::io::copy(&mut there, &mut stream)?;
//! # std::io::Result::Ok(())
//! ```
//!
//! | module | job |
//! |---|---|
//! | [`tun`] | packets in and out of a TUN device, with offloads |
//! | `acks` | several acknowledgments that wait become one |
//! | `clock` | time as the stack counts it |
//! | [`host`] | one thread's loop: packets, timers, events. The fast way, for a program of one thread |
//! | [`engine`] | what a host runs: a stack, or a table of sockets |
//! | [`shared`] | a host behind a mutex, with a thread that serves it |
//! | `connection`, `stream`, `listener` | what users hold of it |
//! | `settings` | from names and addresses to a running host |
//! | `tokio_io` | the traits of tokio (feature `tokio`) |
//!
//! Read first: `host.rs`, then `examples/serve.rs`.
#![forbid(unsafe_code)]

mod acks;
mod clock;
mod connection;
pub mod engine;
pub mod host;
mod listener;
mod settings;
pub mod shared;
mod stream;
#[cfg(feature = "tokio")]
pub mod tokio_io;
pub mod tun;

pub use clock::Clock;
pub use host::Host;
pub use listener::{Incoming, TcpListener};
pub use settings::Settings;
pub use shared::SharedHost;
pub use stream::TcpStream;
pub use tun::{Tun, TunCounts};

/// The examples of the manual.
#[cfg(all(doctest, feature = "tokio"))]
#[doc = include_str!("../../../docs/tcp-programs.md")]
struct Manual;

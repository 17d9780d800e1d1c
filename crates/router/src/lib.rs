//! The router: the interface of elements, and the runtime that connects, schedules and serves them.
//!
//! This crate knows no particular element. To read it, begin with [`facts`] (what is known of a class), [`element`] (what
//! an element implements), [`cx`] (what it can ask for) and [`router`] (how packets move); then [`build`] (from a graph to
//! a router) and [`driver`] (how it runs over time).
#![forbid(unsafe_code)]

pub mod args;
pub mod build;
mod callers;
mod calls;
mod circle;
pub mod clock;
mod custody;
pub mod cx;
pub mod driver;
pub mod element;
pub mod facts;
pub mod fast;
pub mod flow;
pub mod handler;
mod hiding;
mod hotswap;
pub mod llrpc;
mod log;
pub mod notify;
pub mod outlet;
mod outputs;
pub mod packet_types;
pub mod pieces;
mod poll;
mod ports;
pub mod random;
mod reconfigure;
mod registry;
mod reports;
pub mod router;
pub mod segment;
mod shown;
mod standard;
mod storage;
mod tasks;
mod timers;
mod warp;

pub use build::{Options, build, check};
pub use calls::{Access, Target};
pub use clickwork_source::text;
pub use clock::Clock;
pub use cx::Cx;
pub use driver::{Driver, Outcome};
pub use element::{Element, Ready, SimpleElement, TaskStep, Verdict};
pub use facts::{Class, Processing};
pub use fast::{Fast, FastCode, FastPath};
pub use handler::{Handler, HandlerError, Value};
pub use hotswap::Reload;
pub use log::{Listener, Log};
pub use registry::Registry;
pub use reports::REPORTED;
pub use router::{ElementId, Endpoint, Router};
pub use standard::standard_handlers;
pub use storage::Storage;
pub use tasks::{DEFAULT_TICKETS, MAX_TICKETS};
pub use warp::Pace;

/// The version that the `version` handler reports.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

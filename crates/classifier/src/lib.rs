//! Packet classification: Click's `Classifier` patterns and its `IPFilter` language, as one optimised
//! decision diagram.
//!
//! This crate knows no element and no router: patterns and packets go in, output port numbers come out.
//!
//! ```
//! use clickwork_classifier::{Headers, classifier};
//!
//! let compiled = classifier(&["12/0806 20/0001", "12/0800", "-"]).unwrap();
//! let mut frame = [0; 60];
//! frame[12] = 8;
//! assert_eq!(compiled.program.classify(&Headers::raw(&frame)), Some(1));
//! ```
//!
//! Reading guide: [`expr`] says what patterns mean; [`pattern`] reads `Classifier` arguments and [`filter`]
//! the IP filter language into it; `diagram` shares, `facts`, `optimise`, `split` and `regroup` shorten,
//! [`program`] lays out, `run` executes, `search` does so for large sets of rules, and [`rust`] writes code. Read first:
//! Kohler, Morris, Chen, "Programming language optimizations for modular router configurations" (ASPLOS 2002), §4.
#![forbid(unsafe_code)]

mod diagram;
pub mod error;
pub mod expr;
mod facts;
pub mod filter;
pub mod headers;
mod optimise;
pub mod pattern;
pub mod program;
mod regroup;
mod run;
pub mod rust;
mod search;
mod split;

pub use diagram::{Node, Target};
pub use error::{FilterError, Severity};
pub use expr::{Expr, Test};
pub use filter::{Names, NoNames, NumberKind, ip_classifier, ip_filter};
pub use headers::{Base, Headers};
pub use pattern::classifier;
pub use program::Program;

/// A program and what the user should know about its patterns.
#[derive(Debug, Clone)]
pub struct Compiled {
    /// The program.
    pub program: Program,
    /// Warnings, in the order of the arguments.
    pub warnings: Vec<FilterError>,
}

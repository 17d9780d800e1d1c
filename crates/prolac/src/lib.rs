//! The Prolac language: a compiler to C and an interpreter.
//!
//! Prolac (Kohler, Kaashoek and Montgomery, "A readable TCP in the Prolac protocol language", SIGCOMM '99) describes a
//! protocol as many small methods in modules, and extensions as modules derived from them. This crate reads a whole
//! program, removes dispatches and calls, and writes readable C. `docs/prolac/reference.md` is the language's definition.
#![forbid(unsafe_code)]

pub mod analyze;
pub mod check;
pub mod driver;
pub mod emit;
pub mod interpret;
mod map;
mod name;
pub mod names;
pub mod optimize;
pub mod program;
pub mod report;
pub mod syntax;

pub use driver::{Compilation, Options};
pub use map::Map;
pub use name::Name;

//! The Click language: from the text of a configuration to a flat graph of elements, and back.
//!
//! [`parse`] makes a lossless tree of the text, [`elaborate`] a [`Graph`] of it. The crate knows no element class and
//! opens no files: callers say which classes exist ([`ClassNames`]) and how files are read ([`Loader`]).
//! [`print`] writes it back as text, [`format`](fn@format)
//! lays a text out anew.
//! [`config`] takes configuration strings apart, [`expand`] replaces variables in them.
#![forbid(unsafe_code)]

pub mod config;
mod elaborate;
pub mod expand;
mod format;
mod graph;
mod print;
pub mod syntax;

pub use elaborate::{ClassNames, Library, LoadError, Loader, NoLibraries, Options, elaborate};
pub use format::format;
pub use graph::{CompoundOrigin, Connection, Define, ElementDecl, Graph, Port, Requirement};
pub use print::print;
pub use syntax::{SyntaxTree, parse};

//! The Click language: from the text of a configuration to a flat graph of elements, and back.
//!
//! The crate knows no element class and opens no files: callers say which classes exist and how files are read.
#![forbid(unsafe_code)]

mod graph;

pub use graph::{CompoundOrigin, Connection, Define, ElementDecl, Graph, Port, Requirement};

//! The Click language: from the text of a configuration to a flat graph of elements, and back.
//!
//! ```
//! use clickwork_lang::{Options, elaborate, print};
//! use clickwork_source::Sources;
//!
//! let mut sources = Sources::new();
//! let file = sources.add("tee.click", "Idle -> t :: Tee => Discard, [1] Discard");
//! let (graph, diagnostics) = elaborate(&mut sources, file, &Options::any_class());
//! assert!(diagnostics.is_empty());
//! assert_eq!(graph.elements[1].name, "t");
//! assert!(print(&graph).contains("t [1] -> [1] Discard@4;"));
//! ```
//!
//! The way of a text: [`syntax`] makes a lossless tree of it ([`parse`]); [`elaborate`](fn@elaborate) makes a [`Graph`] of
//! the tree, in three stages described in its module; [`print`](fn@print) writes a graph as text again.
//! [`format`](fn@format) lays a text out anew. [`config`] takes configuration strings apart, [`expand`] replaces
//! variables in them.
//!
//! The crate knows no element class and opens no files: callers say which classes exist ([`ClassNames`]) and how
//! libraries are read ([`Loader`]).
#![forbid(unsafe_code)]

pub mod archive;
pub mod config;
mod elaborate;
pub mod expand;
mod format;
mod graph;
mod print;
pub mod syntax;

pub use elaborate::{
    ClassNames, ClassRef, CompoundClass, DeclaredClass, Library, LoadError, Loader, NoLibraries, Options,
    Part, Structure, elaborate, elaborate_classes, elaborate_structure,
};
pub use format::format;
pub use graph::{CompoundOrigin, Connection, Define, ElementDecl, Graph, Port, Requirement};
pub use print::{Parts, PrintedElement, print, print_config, print_marked, print_with_places};
pub use syntax::{SyntaxTree, parse};

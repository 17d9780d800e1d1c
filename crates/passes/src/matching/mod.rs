//! Exact matching of subgraphs: where a [`Fragment`] occurs in a [`Network`], ports, fan-out and cycles included.
//!
//! A fragment occurs where its elements can be mapped, one to one, to elements of the network so that
//! - classes are equal, and an [`Accept`] takes each pair (configurations are its business);
//! - two mapped elements are connected exactly as those of the fragment are, port by port;
//! - every connection across the border belongs to a port of the fragment's `input` or `output`. A connection from
//!   outside belongs to port *i* of `input` if all that port *i* leads to inside is connected to the same port outside;
//!   if several will do, to the lowest;
//! - every port of `input` and `output` has such a connection.
//!
//! The search is a backtracking one that follows connections, so that most elements have a single candidate, and that
//! compares numbers of connections, port by port, before it goes on. [`Index`] finds the first candidates by class.
//! [`Fragment::roots_near`] says where to look again after a change.
//!
//! Read first: Ullmann, "An algorithm for subgraph isomorphism" (1976); Cordella and others, "A (sub)graph isomorphism
//! algorithm for matching large graphs" (2004).

mod fragment;
mod index;
mod search;

pub use fragment::{Fragment, Side};
pub use index::Index;
pub use search::{Accept, Crossing, Match, Search};

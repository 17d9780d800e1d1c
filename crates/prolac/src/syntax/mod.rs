//! Text to tree: tokens, parser, dump, formatter.
//!
//! [`parse`] makes a [`ast::Program`] of a file; [`dump`] prints one, [`format`] lays a
//! file out. Names are not resolved here.

pub mod ast;
mod dump;
mod format;
mod lexer;
mod literal;
mod parser;
mod raw;
pub mod token;

pub use dump::dump;
pub use format::format;
pub use lexer::{LineMark, Tokens, tokenize};
pub use parser::{LONG_CHAIN, MAX_DEPTH, parse, statement_hint};

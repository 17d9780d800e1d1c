//! Text to syntax tree: tokens, parser, formatter.

pub mod ast;

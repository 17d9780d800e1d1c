//! The clickwork program.
#![forbid(unsafe_code)]

fn main() {}

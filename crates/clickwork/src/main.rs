//! The clickwork program.
#![forbid(unsafe_code)]

#[cfg(test)]
mod demo;

fn main() {}

//! The program `prolacc`.

fn main() {}

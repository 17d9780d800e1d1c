//! The demonstration: a small internet in a capture file, for the router to work on.

pub mod frame;
pub mod traffic;

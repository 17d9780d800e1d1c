//! See the crate description in `Cargo.toml`; being written.
#![forbid(unsafe_code)]

pub mod capture;
pub mod ip;

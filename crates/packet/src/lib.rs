//! See the crate description in `Cargo.toml`; being written.

pub mod addr;
pub mod checksum;
pub mod headers;

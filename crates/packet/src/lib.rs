//! See the crate description in `Cargo.toml`; being written.

//! Fast paths tell the truth: an element without its fast path does the same, and the text that the router compiler copies
//! does the same as the function in the library.
//!
//! Packets and elements to try them with are in `packets.rs` and `cases.rs`.
#![allow(missing_docs)]

mod agreement;
mod cases;
mod packets;
mod text;

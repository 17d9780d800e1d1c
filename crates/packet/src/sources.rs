//! The text of this crate, for programs that generate code which handles packets: it is compiled together with what they
//! generate, by a Rust compiler alone, with no other crate. Header views are left out (they need one).
//!
//! Packets cross between the two as they are: a packet is a pointer to a block whose layout is C's (`buffer.rs`).

macro_rules! sources {
    ($($path:literal),* $(,)?) => { &[$(($path, include_str!($path))),*] };
}

/// Path under `src` and text of each file; `lib.rs` is the crate's root.
pub const SOURCES: &[(&str, &str)] = sources![
    "lib.rs",
    "addr/ipv4.rs",
    "addr/ipv6.rs",
    "addr/mod.rs",
    "anno.rs",
    "batch.rs",
    "buffer.rs",
    "checksum.rs",
    "custody.rs",
    "packet.rs",
    "pool.rs",
    "prefetch.rs",
    "sources.rs",
    "time.rs",
];

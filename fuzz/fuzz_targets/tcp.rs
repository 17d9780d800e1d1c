//! Segments, user calls and time for a TCP stack: see `checks/tcp.rs`.
#![no_main]

#[path = "../checks/tcp.rs"]
mod tcp;

libfuzzer_sys::fuzz_target!(|data: &[u8]| tcp::check(data));

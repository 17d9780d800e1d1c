//! Prolac programs through the whole compiler: see `checks/compile.rs`.
#![no_main]

#[path = "../checks/compile.rs"]
mod compile;

libfuzzer_sys::fuzz_target!(|data: &[u8]| compile::check(data));

//! Filter rules and classifier patterns: see `checks/filter.rs`.
#![no_main]

#[path = "../checks/filter.rs"]
mod filter;

libfuzzer_sys::fuzz_target!(|data: &[u8]| filter::check(data));

//! Click configurations: see `checks/click.rs`.
#![no_main]

#[path = "../checks/click.rs"]
mod click;

libfuzzer_sys::fuzz_target!(|data: &[u8]| click::check(data));

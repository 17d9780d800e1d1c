//! Prolac programs: see `checks/prolac.rs`.
#![no_main]

#[path = "../checks/prolac.rs"]
mod prolac;

libfuzzer_sys::fuzz_target!(|data: &[u8]| prolac::check(data));

//! Configurations, archives and pattern files, through all tools: see `checks/tools.rs`.
#![no_main]

#[path = "../checks/tools.rs"]
mod tools;

libfuzzer_sys::fuzz_target!(|data: &[u8]| tools::check(data));

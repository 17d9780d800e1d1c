//! Capture files and summary dumps: see `checks/capture.rs`.
#![no_main]

#[path = "../checks/capture.rs"]
mod capture;

libfuzzer_sys::fuzz_target!(|data: &[u8]| capture::check(data));

//! Frames for the IP router: see `checks/ip_router.rs`.
#![no_main]

#[path = "../checks/ip_router.rs"]
mod ip_router;

libfuzzer_sys::fuzz_target!(|data: &[u8]| ip_router::check(data));

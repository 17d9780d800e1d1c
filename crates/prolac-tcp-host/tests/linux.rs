//! Our TCP against Linux's, over a TUN device in a namespace: transfers, ends of connections, resets, captures.
//!
//! `PROLAC_TCP_TEST_BYTES=1000000000 cargo test -p clickwork-prolac-tcp-host --release --test linux` transfers more.

#[path = "linux/capture.rs"]
mod capture;
#[path = "linux/ends.rs"]
mod ends;
mod support;
#[path = "linux/transfers.rs"]
mod transfers;

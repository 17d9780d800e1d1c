//! What the stack answers, held against what the kernel answered to the same: `traces/*.txt`.
//!
//! As root the kernel that runs the test is held against them too. `UPDATE_TRACES=1` writes them anew, from both.

// Much of it is for scripts alone.
#[allow(dead_code)]
mod driver;
#[path = "traces/info.rs"]
mod info;
#[path = "traces/reasons.rs"]
mod reasons;
#[path = "traces/states.rs"]
mod states;
#[path = "traces/trace.rs"]
mod trace;
#[path = "traces/writes.rs"]
mod writes;

use std::path::PathBuf;

use driver::library::Stack;
use driver::run::Mode;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/traces").join(name)
}

fn is_update() -> bool {
    std::env::var_os("UPDATE_TRACES").is_some()
}

/// A stack of our own with the addresses of a mode.
fn ours(mode: Mode) -> Stack {
    Stack::load(&format!("{},mtu={}", mode.local(), mtu(mode)))
}

/// The kernel's TCP, in a network that this thread has to itself.
fn kernels(mode: Mode) -> Stack {
    Stack::kernel(mtu(mode)).expect("a namespace")
}

/// IPv6 headers are longer: the same text fits.
fn mtu(mode: Mode) -> u32 {
    if mode == Mode::Ipv6 { 1520 } else { 1500 }
}

fn on_the_kernel() {
    clickwork_oracles::namespaces();
    if !std::path::Path::new("/dev/net/tun").exists() {
        clickwork_oracles::lacking("there is no /dev/net/tun");
    }
}

fn every_segment_in_every_state() {
    states::on_ours();
}

fn every_segment_in_every_state_of_the_kernel() {
    on_the_kernel();
    states::on_kernel();
}

fn differences_are_explained() {
    states::differences_are_explained();
}

fn tcp_info_is_whole() {
    info::on_ours();
}

fn tcp_info_of_the_kernel() {
    on_the_kernel();
    info::on_kernel();
}

fn small_writes_are_coalesced() {
    writes::on_ours();
}

fn small_writes_are_coalesced_by_the_kernel() {
    on_the_kernel();
    writes::on_kernel();
}

clickwork_oracles::tests! {
    every_segment_in_every_state,
    every_segment_in_every_state_of_the_kernel,
    differences_are_explained,
    tcp_info_is_whole,
    tcp_info_of_the_kernel,
    small_writes_are_coalesced,
    small_writes_are_coalesced_by_the_kernel,
}

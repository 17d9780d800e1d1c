//! The Prolac TCP as a shared object for [packetdrill](https://github.com/google/packetdrill), which tests TCPs with scripts
//! of packets and system calls:
//!
//! ```text
//! packetdrill --so_filename=target/release/libprolac_tcp_packetdrill.so --so_flags=192.168.0.1 SCRIPT
//! ```
//!
//! Read first: `interface.rs`, the table that packetdrill calls; then `world.rs`, which keeps time and lets blocking calls
//! wait; the table's functions are in `calls.rs`, `transfer.rs` and
//! `extra_calls.rs`. `flags.rs` says what `--so_flags` may contain, `sysctl.rs` which sysctls of the
//! machine are followed. `scripts/` has scripts of our own, which `tests/scripts.rs` runs without packetdrill.

mod calls;
mod cut;
mod extra_calls;
mod extras;
mod flags;
pub mod interface;
mod memory;
mod placeholder;
mod sysctl;
mod transfer;
mod world;

use std::ffi::{CStr, c_char};

use interface::PacketdrillInterface;

/// The symbol that packetdrill looks for: makes a stack and fills in the table. Flags that mean nothing are named on
/// standard error and passed over.
///
/// # Safety
/// `flags` is null or a C string; `interface` points to a `struct packetdrill_interface`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn packetdrill_interface_init(
    flags: *const c_char,
    interface: *mut PacketdrillInterface,
) {
    // SAFETY: the caller promises that it is null or a string.
    let text = if flags.is_null() { c"" } else { unsafe { CStr::from_ptr(flags) } };
    let text = text.to_string_lossy();
    let (flags, unknown) = flags::Flags::parse(&text);
    for word in unknown {
        eprintln!(
            "so_flags: {word:?} is none of: an IP address, LOCAL_IPV4, LOCAL_IPV6, mtu=N, seed=N, sysctls=DIRECTORY, patient"
        );
    }
    let world = Box::new(world::World::new(flags));
    // SAFETY: the caller promises that it points to a table.
    unsafe { interface.write(calls::table(Box::into_raw(world).cast())) };
}

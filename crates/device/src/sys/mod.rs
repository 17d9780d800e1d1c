//! The system calls of this crate, and all of its `unsafe`, behind safe functions.
//!
//! Each file wraps one interface of the kernel. Nothing here decides anything: that is the job of the
//! modules above, which contain no `unsafe`. Read first: packet(7), netdevice(7), and the kernel's
//! `Documentation/networking/packet_mmap.rst`.
#![allow(unsafe_code)]

pub(crate) mod bpf;
pub(crate) mod descriptor;
pub(crate) mod ifaddrs;
pub(crate) mod ifreq;
pub(crate) mod privilege;
pub(crate) mod ring;
pub(crate) mod socket;

//! The element library: one family a folder, one element a file. [`registry`] has them all.
//!
//! To add an element, copy `standard/counter.rs` (facts, code, tests), and list its `CLASS` in the family's `mod.rs`.
#![forbid(unsafe_code)]

pub mod capture;
mod classify;
mod control;
mod device;
mod ethernet;
#[cfg(test)]
mod hostile;
mod icmp;
pub mod info;
pub mod ip;
mod print;
mod queue;
mod rate;
mod sched;
mod shaping;
mod source;
mod standard;
mod tcpudp;
#[cfg(test)]
mod testing;
mod values;

use clickwork_router::{Class, Registry};

/// The families of the library.
static FAMILIES: &[&[&Class]] = &[
    capture::CLASSES,
    classify::CLASSES,
    control::CLASSES,
    device::CLASSES,
    ethernet::CLASSES,
    icmp::CLASSES,
    info::CLASSES,
    ip::CLASSES,
    print::CLASSES,
    queue::CLASSES,
    sched::CLASSES,
    shaping::CLASSES,
    source::CLASSES,
    standard::CLASSES,
    tcpudp::CLASSES,
];

/// All element classes of the library, under their names and aliases.
pub fn registry() -> Registry {
    let mut r = Registry::new();
    for family in FAMILIES {
        r.add(family.iter().copied());
    }
    device::add_aliases(&mut r);
    standard::add_aliases(&mut r);
    r
}

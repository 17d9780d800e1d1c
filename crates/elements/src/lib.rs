//! The element library: one family a folder, one element a file. [`registry`] has them all.
//!
//! To add an element, copy `standard/counter.rs` (facts, code, tests), and list its `CLASS` in the family's `mod.rs`.
#![forbid(unsafe_code)]

mod ages;
mod analysis;
mod aqm;
pub mod capture;
mod classify;
mod compression;
pub mod control;
mod device;
mod ethernet;
#[cfg(test)]
mod hostile;
mod icmp;
pub mod info;
pub mod ip;
pub mod ip6;
mod ipsec;
mod local;
mod named;
mod print;
mod queue;
mod rate;
mod rewriter;
mod sched;
mod shaping;
mod socket;
mod source;
mod spantree;
mod standard;
mod tcp;
mod tcpudp;
pub mod testing;
mod threads;
mod values;
mod wifi;

use clickwork_router::{Class, Registry};

/// The families of the library.
static FAMILIES: &[&[&Class]] = &[
    analysis::CLASSES,
    aqm::CLASSES,
    capture::CLASSES,
    classify::CLASSES,
    compression::CLASSES,
    control::CLASSES,
    device::CLASSES,
    ethernet::CLASSES,
    icmp::CLASSES,
    info::CLASSES,
    ip::CLASSES,
    ip6::CLASSES,
    ipsec::CLASSES,
    local::CLASSES,
    print::CLASSES,
    queue::CLASSES,
    rewriter::CLASSES,
    sched::CLASSES,
    shaping::CLASSES,
    socket::CLASSES,
    source::CLASSES,
    spantree::CLASSES,
    standard::CLASSES,
    tcp::CLASSES,
    tcpudp::CLASSES,
    threads::CLASSES,
    wifi::CLASSES,
];

/// The class called `name`. In a constant or static, so that a program which names some classes contains those alone.
///
/// # Panics
/// If there is none: then the constant does not compile.
pub const fn class(name: &str) -> &'static Class {
    let mut family = 0;
    while family < FAMILIES.len() {
        let classes = FAMILIES[family];
        let mut at = 0;
        while at < classes.len() {
            if same(classes[at].name.as_bytes(), name.as_bytes()) {
                return classes[at];
            }
            at += 1;
        }
        family += 1;
    }
    panic!("no class of this name in the library")
}

/// What `==` says, which constants cannot ask.
const fn same(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// All element classes of the library, under their names and aliases.
pub fn registry() -> Registry {
    let mut r = Registry::new();
    for family in FAMILIES {
        r.add(family.iter().copied());
    }
    device::add_aliases(&mut r);
    standard::add_aliases(&mut r);
    threads::add_aliases(&mut r);
    r
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_constants() {
        const NULL: &Class = class("Null");
        static SOME: &[&Class] = &[class("ARPFaker"), class("UnstripIPHeader")];
        assert_eq!(NULL.name, "Null");
        assert!(SOME.iter().all(|c| registry().get(c.name).is_some_and(|known| std::ptr::eq(known, *c))));
    }
}

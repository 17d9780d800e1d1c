//! The fast path and the element without it do the same.

use super::cases::{Subject, subjects};
use super::packets::{Random, Recipe, look, recipe};
use clickwork_packet::Batch;
use clickwork_router::Endpoint;

/// Packets for each element.
const PACKETS: usize = 400;

#[test]
fn an_element_without_its_fast_path_does_what_that_would_have_done() {
    let mut taken = std::collections::BTreeMap::new();
    for mut subject in subjects() {
        if subject.code().is_none() {
            continue;
        }
        let mut random = Random::new(1);
        for _ in 0..PACKETS {
            let some = try_one(&mut subject, &recipe(&mut random));
            *taken.entry(subject.class.name).or_insert(0) += usize::from(some);
        }
    }
    let never: Vec<_> = taken.iter().filter(|(_, n)| **n == 0).collect();
    assert!(never.is_empty(), "fast paths that take no packet: {never:?}");
}

#[test]
fn a_written_handler_changes_the_code() {
    for (class, arguments, handler, value) in [
        ("DecIPTTL", "", "active", "false"),
        ("LinearIPLookup", "0/0 0", "flush", ""),
        ("LookupIP6Route", "2001:db8::/32 0", "add", "::/0 0"),
        ("Paint", "1", "color", "2"),
        ("PaintTee", "1", "color", "2"),
        ("StaticIPLookup", "10.0.0.0/8 0", "add", "11.0.0.1/32 0"),
    ] {
        let mut subject = Subject::find(class, arguments);
        let before = subject.code().unwrap();
        subject.router.write(&format!("e.{handler}"), value).unwrap();
        assert_ne!(subject.code(), Some(before), "{class}.{handler}");
    }
}

/// Whether the fast path took the packet.
fn try_one(subject: &mut Subject, recipe: &Recipe) -> bool {
    let (mut p, _other) = recipe.make();
    let before = look(&p);
    let output = subject.fast(&mut p);
    let after = look(&p);
    let Some(output) = output else {
        assert_eq!(after, before, "{} says None but changed {recipe:?}", subject.name);
        return false;
    };
    let (mut whole, _other) = recipe.make();
    let said = subject.said();
    push_without_fast_path(subject, &mut whole);
    let left: Vec<_> = subject.collected().iter().map(|(port, p)| (*port, look(p))).collect();
    assert_eq!(left, [(usize::from(output), after)], "{} given {recipe:?}", subject.name);
    assert_eq!(subject.said(), said, "{} given {recipe:?}", subject.name);
    true
}

fn push_without_fast_path(subject: &mut Subject, p: &mut clickwork_packet::Packet) {
    let to = Endpoint { element: subject.element, port: 0 };
    let batch = Batch::one(std::mem::replace(p, clickwork_packet::Packet::new(b"")));
    #[cfg(debug_assertions)]
    clickwork_router::fast::without(|| subject.router.push(to, batch));
    #[cfg(not(debug_assertions))]
    subject.router.push(to, batch);
}

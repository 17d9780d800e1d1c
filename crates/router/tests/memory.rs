//! Dispatch without the parser, small enough for Miri:
//! `MIRIFLAGS=-Zmiri-disable-isolation cargo +nightly miri test -p clickwork-router --test memory`.
#![allow(missing_docs)]

mod common;
use clickwork_router::{Driver, Outcome};
use common::{from_graph, push};

/// Gen -> Split -> (Copy -> Say | Loop with itself) -> Store -> Move -> Store -> End, with every kind of hand-over.
fn run(ordered: bool) -> clickwork_router::Router {
    let elements = [
        ("g", "Gen"),
        ("s", "Split"),
        ("c", "Copy"),
        ("a", "Say"),
        ("l", "Loop"),
        ("q", "Store"),
        ("m", "Move"),
        ("r", "Store"),
        ("e", "End"),
    ];
    let connections = [
        [0, 0, 1, 0],
        [1, 0, 2, 0],
        [1, 1, 4, 0],
        [2, 0, 3, 0],
        [2, 1, 5, 0],
        [3, 0, 5, 0],
        [4, 0, 4, 0],
        [4, 1, 5, 0],
        [5, 0, 6, 0],
        [6, 0, 7, 0],
        [7, 0, 8, 0],
    ];
    let mut r = from_graph(&elements, &connections, ordered);
    push(&mut r, "s", [2, 3, 4, 200]);
    assert_eq!(Driver::default().run(&mut r), Outcome::Exhausted);
    r
}

#[test]
fn every_packet_arrives_or_is_accounted_for() {
    for (ordered, got) in [(true, "[2, 2, 0, 4, 4]"), (false, "[0, 2, 4, 2, 4]")] {
        let mut r = run(ordered);
        assert_eq!(r.read("e.got", "").unwrap().text(), got);
        assert_eq!(r.total_drops(), 1);
        let fresh = run(ordered);
        assert!(r.take_over(fresh).contains(&"a".to_string()));
    }
}

//! Flow-based router context: the nearest element of a kind, along paths that packets can take.
#![allow(missing_docs)]

mod common;
use common::{push, router};

fn sorted(text: &str) -> Vec<String> {
    let mut words: Vec<String> = text.split_whitespace().map(String::from).collect();
    words.sort();
    words
}

#[test]
fn the_nearest_queues_downstream_are_found_and_the_search_stops_there() {
    let config = "Gen -> a :: Ask -> s :: Split; s[0] -> Say -> q1 :: Store -> Move -> q3 :: Store -> End;
                  s[1] -> q2 :: Store -> End";
    let mut r = router(config);
    push(&mut r, "q2", [1, 2, 3]);
    assert_eq!(sorted(&r.read("a.down", "").unwrap().text()), ["q1=0", "q2=3"]);
}

#[test]
fn upstream_as_well() {
    let config =
        "Gen -> q0 :: Store -> Move -> q1 :: Store -> Move -> c :: Say; Gen -> q2 :: Store -> Move -> c;
                  c -> a :: Ask -> q :: Store -> End";
    assert_eq!(sorted(&router(config).read("a.up", "").unwrap().text()), ["q1", "q2"]);
}

#[test]
fn cycles_end_the_walk() {
    let config = "Gen -> l :: Loop -> a :: Ask -> l; l[1] -> q :: Store -> End";
    assert_eq!(router(config).read("a.down", "").unwrap().text(), "q=0");
}

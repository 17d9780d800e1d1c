//! Which configurations are right, and what the others are told: the four violations of SOSP '99 Figure 4, and more.
#![allow(missing_docs)]

mod common;
use common::{errors, router};

#[test]
fn push_output_to_pull_input() {
    let e = errors("g :: Gen -> e :: End");
    assert_eq!(e, "config:1: 'g :: Gen' pushes, 'e :: End' pulls: put a Queue between them\n");
}

#[test]
fn a_chain_of_agnostic_elements_is_named() {
    let e = errors("Gen -> Say -> x :: Say ->\n End");
    assert_eq!(e.lines().count(), 1, "{e}");
    assert!(e.contains("Gen pushes, End pulls through Say, 'x :: Say': put a Queue between them"), "{e}");
}

#[test]
fn push_output_used_twice() {
    let e = errors("g :: Gen -> Store -> End;\n g -> Store -> End");
    assert_eq!(e, "config:1: illegal reuse of 'g :: Gen' push output 0\n");
}

#[test]
fn pull_input_used_twice() {
    let e = errors("Gen -> Store -> e :: End; Gen -> Store ->\n e");
    assert!(e.contains("illegal reuse of 'e :: End' pull input 0"), "{e}");
}

#[test]
fn pull_output_to_push_input() {
    let e = errors("Gen -> q :: Store -> s :: Split -> Store -> End");
    assert!(
        e.contains("'s :: Split' expects pushed packets, 'q :: Store' only hands out packets when asked"),
        "{e}"
    );
    assert!(e.contains("put an Unqueue between them"), "{e}");
}

#[test]
fn an_agnostic_element_cannot_be_both() {
    // Two sources meet in one agnostic element, one pushing and one to be pulled from.
    let e = errors("Gen -> x :: Say -> Store -> End; Gen -> q :: Store -> x");
    assert!(e.contains("Gen pushes"), "{e}");
}

#[test]
fn ports_that_are_not_connected() {
    let e = errors("Gen -> c :: Copy -> Store -> End");
    assert!(e.contains("too few outputs for 'c :: Copy', 2 outputs required, 1 connected"), "{e}");
    let e = errors("s :: Split; Gen -> s; s[1] -> Store -> End");
    assert!(e.contains("'s :: Split' push output 0 unused"), "{e}");
}

#[test]
fn ports_that_do_not_exist() {
    let e = errors("Gen -> s :: Say -> Store -> End;\ns[1] -> Store -> End");
    assert_eq!(e, "config:1: 's :: Say' has no output 1\n");
}

#[test]
fn all_mistakes_of_a_stage_are_reported() {
    let e = errors("g :: Gen -> e :: End;\nGen -> f :: End");
    assert_eq!(e.lines().count(), 2, "{e}");
}

#[test]
fn agnostic_chains_take_the_kind_of_their_neighbours() {
    let mut r = router("Gen -> a :: Say -> Store -> b :: Say -> End");
    assert!(r.read("a.ports", "").unwrap().text().starts_with("1 input\npush~"));
    assert!(r.read("b.ports", "").unwrap().text().starts_with("1 input\npull~"));
}

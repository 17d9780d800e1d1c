//! Random routers, interpreted and with segments: nothing that can be seen may differ, in which order it happens neither.
//!
//! The segments run the fast paths of the elements themselves; `compiled.rs` does the same with the compiler.

mod common;

use clickwork_compile::{Scope, plan, plan_lasting};
use clickwork_router::Router;
use common::exercise::exercise;
use common::random::{Random, configuration, with_calls};
use common::{difference, start};

#[test]
fn random_routers_do_the_same_with_segments() {
    do_the_same(400, |seed| configuration(&mut Random::new(seed)), 2);
}

#[test]
fn random_routers_whose_packets_cause_handlers_to_be_written_do_the_same_with_segments() {
    let with_calls = |seed| {
        let mut random = Random::new(seed);
        let text = configuration(&mut random);
        with_calls(&mut random, &text)
    };
    do_the_same(200, with_calls, 1);
}

/// Runs a configuration for each of `count` seeds both ways; segments have on average at least so many elements.
fn do_the_same(count: u64, configuration: impl Fn(u64) -> String, least: usize) {
    let (mut run, mut in_segments) = (0, 0);
    for seed in common::seeds(count) {
        let text = configuration(seed);
        for ordered in [false, true] {
            let mut plain =
                start(&text, ordered).unwrap_or_else(|errors| panic!("seed {seed}\n{text}\n{errors}"));
            let mut fused = start(&text, ordered).expect("it could be made before");
            fused.router.install(plan(&fused.router, Scope::All));
            in_segments += fused.router.elements_in_segments();
            run += 1;
            exercise(&mut plain, &text, seed, ordered);
            exercise(&mut fused, &text, seed, ordered);
            if let Some(difference) = difference(&plain.seen(), &fused.seen()) {
                panic!("seed {seed}, ordered {ordered}\n{text}\n{difference}");
            }
        }
    }
    println!("{run} routers, {in_segments} elements in segments");
    assert!(in_segments > least * run, "random routers have segments");
}

#[test]
fn when_a_routing_table_changes_the_paths_around_it_stay_compiled() {
    let text =
        "in :: Null; Idle -> in -> Paint(1) -> rt :: StaticIPLookup(10.0.0.0/8 0) -> Paint(2) -> Discard";
    let mut running = start(text, false).expect("it is correct");
    let code_of_table = |router: &Router| router.fast_code(router.find("rt").expect("it is there"));
    let first = code_of_table(&running.router);
    // As if code for the first table had been compiled.
    let planner = move |router: &Router| match code_of_table(router) == first {
        true => plan(router, Scope::All),
        false => plan_lasting(router, Scope::All),
    };
    running.router.install_by(std::sync::Arc::new(planner));
    assert_eq!(running.router.elements_in_segments(), 4);
    running.router.write("rt.add", "11.0.0.0/8 0").expect("there is such a handler");
    assert_eq!(running.router.elements_in_segments(), 3);
    running.router.write("rt.remove", "11.0.0.0/8 0").expect("there is such a handler");
    assert_eq!(running.router.elements_in_segments(), 4);
}

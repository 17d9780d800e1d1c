//! Two stacks in simulated time with a bad link between them: every byte arrives once and in order or an error reaches the
//! user, both ends come to CLOSED, and no memory is left.
//!
//! Read `scenario.rs` first: what a run is made of. `world.rs` plays it, `world/verdict.rs` says what must hold, `user.rs` are
//! the programs at the ends, `link.rs` is what goes wrong between them, `wire/` looks at every packet with eyes of its own.
//! `runs.rs` are the random runs, `base.rs` the fixed list, `subsets.rs` runs both on subsets of the extensions, `fuzz.rs` and
//! `attacks.rs` are about peers that are no TCP.

#[path = "../../src/compose.rs"]
#[allow(dead_code)]
mod compose;

mod attacks;
mod base;
mod fuzz;
mod goodput;
mod link;
mod offload;
mod random;
mod runs;
mod scenario;
mod subset;
mod subsets;
mod user;
mod wire;
mod world;

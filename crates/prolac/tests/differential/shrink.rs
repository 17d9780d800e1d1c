//! Makes a program that fails smaller.

use std::time::{Duration, Instant};

use super::Source;

/// The smallest program found in this time that still fails.
pub fn shrink(source: Source, time: Duration, fails: impl Fn(&Source) -> bool) -> Source {
    let end = Instant::now() + time;
    let mut best = source;
    loop {
        let before = best.size();
        for change in [remove_entries, remove_readers, remove_modules, remove_members, simplify_members] {
            change(&mut best, &|source| Instant::now() < end && fails(source));
        }
        if best.size() == before {
            return best;
        }
    }
}

type Fails<'a> = &'a dyn Fn(&Source) -> bool;

/// Keeps what a change makes of the program, if it changes something and the program still fails.
fn attempt(best: &mut Source, fails: Fails<'_>, change: impl FnOnce(&mut Source) -> bool) -> bool {
    let mut smaller = best.clone();
    let better = change(&mut smaller) && fails(&smaller);
    if better {
        *best = smaller;
    }
    better
}

fn remove_entries(best: &mut Source, fails: Fails<'_>) {
    for i in (0..best.entries.len()).rev() {
        attempt(best, fails, |source| {
            source.entries.remove(i);
            true
        });
    }
}

fn remove_readers(best: &mut Source, fails: Fails<'_>) {
    attempt(best, fails, |source| {
        source.readers.clear();
        true
    });
}

fn remove_modules(best: &mut Source, fails: Fails<'_>) {
    for i in (0..best.modules.len()).rev() {
        attempt(best, fails, |source| {
            let removed = source.modules.remove(i);
            source.forget(&removed.name);
            true
        });
    }
}

fn remove_members(best: &mut Source, fails: Fails<'_>) {
    for module in 0..best.modules.len() {
        for i in (0..best.modules[module].members.len()).rev() {
            attempt(best, fails, |source| {
                source.modules[module].members.remove(i);
                true
            });
        }
    }
}

fn simplify_members(best: &mut Source, fails: Fails<'_>) {
    for module in 0..best.modules.len() {
        for i in 0..best.modules[module].members.len() {
            let mut node = 0;
            while node < best.modules[module].members[i].size() {
                attempt(best, fails, |source| source.modules[module].members[i].simplify(node));
                node += 1;
            }
        }
    }
}

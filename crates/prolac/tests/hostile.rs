//! Damaged programs: whatever is done to a program, the compiler answers with C or with messages, and does not panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use clickwork_prolac::{Compilation, Options};
use clickwork_source::render_human;

/// A simple generator of numbers, so that each run does the same.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit.max(1)
    }
}

/// The texts of all test programs.
fn programs() -> Vec<String> {
    let base = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let mut all = Vec::new();
    for kind in ["right", "wrong"] {
        for entry in std::fs::read_dir(base.join(kind)).unwrap() {
            all.push(std::fs::read_to_string(entry.unwrap().path()).unwrap());
        }
    }
    all.sort();
    all
}

/// Words and what is between them.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        let end = if is_word(first) { rest.find(|c| !is_word(c)) } else { Some(first.len_utf8()) };
        let (piece, after) = rest.split_at(end.unwrap_or(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// A program with some pieces lost, doubled, swapped, or replaced by pieces of another.
fn damaged(programs: &[String], numbers: &mut Numbers) -> String {
    let text = &programs[numbers.below(programs.len())];
    let other = &programs[numbers.below(programs.len())];
    let (mut own, others) = (pieces(text), pieces(other));
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(own.len());
        let donor = others[numbers.below(others.len())];
        match numbers.below(6) {
            0 => drop(own.remove(at)),
            1 => own.insert(at, own[at]),
            2 => own.insert(at, donor),
            3 => own[at] = donor,
            4 => {
                let with = numbers.below(own.len());
                own.swap(at, with);
            }
            _ => own.truncate(at.max(1)),
        }
        if own.is_empty() {
            break;
        }
    }
    own.concat()
}

fn compile(text: &str) {
    let mut compilation = Compilation::new(Options::default());
    compilation.add("a.pc", text);
    compilation.emit("a.c", "a.h");
    let done = compilation.diagnostics.has_errors();
    if !done {
        compilation.reference("a");
        compilation.namespaces();
        compilation.chains();
        compilation.callgraph();
        compilation.counts();
    }
    for diagnostic in &compilation.diagnostics {
        render_human(&compilation.sources, diagnostic, false);
    }
}

#[test]
fn no_damage_makes_the_compiler_panic() {
    let rounds = std::env::var("ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(1500);
    let seed = std::env::var("SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let work = move || {
        let programs = programs();
        let mut numbers = Numbers(seed);
        for _ in 0..rounds {
            let text = damaged(&programs, &mut numbers);
            let result = catch_unwind(AssertUnwindSafe(|| compile(&text)));
            assert!(result.is_ok(), "a panic for this program:\n{text}");
        }
    };
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(work).unwrap();
    assert!(thread.join().is_ok(), "see above");
}

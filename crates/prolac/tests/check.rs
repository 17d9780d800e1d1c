//! Checking of the programs in `tests/check`: beside each `.pc` file stand the typed trees of its methods, if there are no
//! errors, and the messages. `SNAPSHOTS=overwrite` writes them anew.

mod rules;

use std::path::{Path, PathBuf};

use clickwork_prolac::check::check;
use clickwork_prolac::program::{MethodKind, Program, Target, print_method};
use clickwork_prolac::syntax::{MAX_DEPTH, parse, tokenize};
use clickwork_source::{Diagnostics, Severity, Sources, render_human};
use snapbox::{Data, assert_data_eq};

fn program(name: &str, text: &str) -> (Sources, Program, Diagnostics) {
    let mut sources = Sources::new();
    let file = sources.add(name, text);
    let mut diagnostics = Diagnostics::new();
    let ast = parse(&mut sources, file, &mut diagnostics);
    let checked = check(&sources, &ast, Target::default());
    diagnostics.extend(checked.diagnostics);
    let program = checked.program;
    (sources, program, diagnostics)
}

fn checked(name: &str, text: &str) -> String {
    let (sources, program, diagnostics) = program(name, text);
    let mut shown = String::new();
    if !diagnostics.has_errors() {
        assert_eq!(rules::broken(&program), Vec::<String>::new(), "{name}");
        let written = program
            .method_ids()
            .filter(|&m| matches!(program[m].kind, MethodKind::Plain | MethodKind::Constructor));
        shown.extend(written.map(|m| print_method(&program, m)));
    }
    for diagnostic in &diagnostics {
        shown.push('\n');
        shown.push_str(&render_human(&sources, diagnostic, false));
    }
    shown
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check")
}

fn programs() -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut programs: Vec<_> = files.filter(|p| p.extension().is_some_and(|e| e == "pc")).collect();
    programs.sort();
    programs
}

#[test]
fn programs_have_the_trees_and_messages_expected() {
    assert!(programs().len() > 20);
    for program in programs() {
        let name = program.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&program).unwrap();
        assert_data_eq!(checked(&name, &text), Data::read_from(&program.with_extension("out"), None).raw());
    }
}

/// A body with one form of expression inside itself as often as the parser lets it be.
#[test]
fn deep_programs_are_checked() {
    let bodies = [
        ["!", "n", "", " ? 1 : 2"],
        ["g(", "n", ")", ""],
        ["n ? 1 : ", "2", "", ""],
        ["n ==> 1 ||| ", "2", "", ""],
        ["(n ||| ", "1", ")", " ? 1 : 2"],
        ["let a = n in ", "a", " end", ""],
        ["", "p", "->next", "->n"],
        ["p[n + ", "n", "].n", ""],
        ["n = ", "n", "", ""],
        ["(", "n", " catch e)", " ? 1 : 2"],
        ["n = 1, ", "n", "", ""],
        ["if n then ", "1", " else 2 end", ""],
    ];
    for body in bodies {
        let messages = |times| {
            let (.., diagnostics) = program("deep.pc", &nested(body, times));
            let errors = diagnostics.into_iter().filter(|d| d.severity == Severity::Error);
            errors.map(|d| d.message).collect::<Vec<_>>()
        };
        let deepest = (1..=MAX_DEPTH as usize).rev().find(|&times| messages(times).is_empty());
        assert!(deepest.is_some_and(|times| times > 60), "{body:?}: {:?}", messages(1));
    }
}

fn nested([open, inner, close, end]: [&str; 4], times: usize) -> String {
    let body = format!("{}{inner}{}{end}", open.repeat(times), close.repeat(times));
    format!(
        "module M {{ exception e; field next :> *M; field n :> int; g(n :> int) :> int ::= n; \
         f(p :> *M, n :> int) :> int ::= {body}; }}"
    )
}

/// Programs with a few of their tokens left out, doubled or put elsewhere are checked without a crash.
#[test]
fn damaged_programs_are_checked() {
    let mut random = 1_u64;
    let mut next = |limit: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % limit
    };
    for path in programs() {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut sources = Sources::new();
        let file = sources.add("whole.pc", text.as_str());
        let tokens = tokenize(&sources, file).list;
        let words: Vec<&str> = tokens.iter().map(|t| &text[t.start as usize..t.end as usize]).collect();
        for _ in 0..40 {
            let mut damaged = words.clone();
            for _ in 0..=next(3) {
                let (from, to) = (next(damaged.len()), next(damaged.len()));
                match next(3) {
                    0 => drop(damaged.remove(from)),
                    1 => damaged.insert(to, damaged[from]),
                    _ => damaged.swap(from, to),
                }
            }
            let (_, program, diagnostics) = program("damaged.pc", &damaged.join(" "));
            if !diagnostics.has_errors() {
                assert_eq!(rules::broken(&program), Vec::<String>::new(), "{}", damaged.join(" "));
            }
        }
    }
}

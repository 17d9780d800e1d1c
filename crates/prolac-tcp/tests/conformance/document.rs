//! `docs/tcp-conformance.md` names each test, and no test that is not there.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Tests that are about the tests.
const OWN: [&str; 3] = ["base::", "document::", "support::"];

#[test]
fn names_each_test_and_no_other() {
    let (named, existing) = (named(), existing());
    let missing: Vec<_> = existing.difference(&named).collect();
    let invented: Vec<_> = named.difference(&existing).collect();
    assert!(missing.is_empty(), "the document does not name {missing:#?}");
    assert!(invented.is_empty(), "the document names what is not there: {invented:#?}");
    assert!(existing.len() > 300);
}

/// Rows with tests that are ignored say why, and only they.
#[test]
fn ignored_tests_are_not_met() {
    let ignored = list(&["--ignored"]);
    for row in rows().lines() {
        let is_ignored = names_in(row).iter().any(|name| ignored.contains(name));
        assert!(!is_ignored || row.contains("not met: "), "says nothing of what is not met: {row}");
    }
}

/// All that stands in the last column of the tables.
fn named() -> BTreeSet<String> {
    rows().lines().flat_map(names_in).collect()
}

fn rows() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tcp-conformance.md");
    let text = std::fs::read_to_string(path).expect("the document");
    let row = |line: &&str| line.starts_with("| ") && !line.starts_with("|-");
    text.lines().filter(row).map(|line| format!("{line}\n")).collect()
}

/// The names between backquotes in a row; `a::{b, c}` are two.
fn names_in(row: &str) -> Vec<String> {
    let last = row.trim_end_matches([' ', '|']).rsplit('|').next().unwrap_or("");
    let names = last.split('`').skip(1).step_by(2).filter(|name| name.contains("::"));
    names.flat_map(expand).collect()
}

fn expand(name: &str) -> Vec<String> {
    match name.split_once('{') {
        None => vec![name.to_owned()],
        Some((before, rest)) => {
            let each = rest.trim_end_matches('}').split(',');
            each.map(|last| format!("{before}{}", last.trim())).collect()
        }
    }
}

fn existing() -> BTreeSet<String> {
    list(&[])
}

/// What this program says that it can run.
fn list(arguments: &[&str]) -> BTreeSet<String> {
    let program = std::env::current_exe().expect("this program");
    let output = Command::new(program).arg("--list").args(arguments).output().expect("a list of tests");
    let text = String::from_utf8(output.stdout).expect("names");
    let names = text.lines().filter_map(|line| line.strip_suffix(": test"));
    names.filter(|name| !OWN.iter().any(|own| name.starts_with(own))).map(str::to_owned).collect()
}

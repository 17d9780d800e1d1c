//! The examples of `docs/prolac/*.md` and of `README.md`: each is compiled, and run where C or a command follows.
//!
//! The first word of a block's info string says what it is, the others what is done with it:
//!
//! - `prolac` begins an example: the file `example.pc`. `prolac,more` is a further file of the same program. It must compile
//!   without a message; with `error` it must not, and with `warning` there must be one.
//! - `c` is C code that calls it, compiled without warnings and run; what has no `main` is the body of one.
//! - `prolac,file=NAME` and `c,file=NAME` only write a file, for a command; with `append`, to the end of it.
//! - `sh` is run as it stands, with `prolacc` in its path.
//! - `text` is what the block before it prints: of programs and commands all, of `prolacc` or with `part` some lines in order.
//!
//! Everything else is left alone. `UPDATE_DOCS=1 cargo test -p clickwork-prolac --test docs` writes what is really printed
//! into the `text` blocks.

#[path = "docs/markdown.rs"]
mod markdown;
#[path = "docs/run.rs"]
mod run;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use markdown::Block;
use run::Failure;

fn document(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/prolac").join(name)
}

fn text_of(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn check(name: &str, languages: &[&str]) -> usize {
    let path = document(name);
    let text = text_of(&path);
    let blocks = markdown::blocks(&text);
    let blocks: Vec<Block> = blocks.into_iter().filter(|b| languages.contains(&&*b.language)).collect();
    let results = run::all(name, &blocks);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let updated = markdown::replace(&text, &blocks, &results.outputs);
        fs::write(&path, updated).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }
    let failures: Vec<String> = results.failures.iter().map(|f| shown(name, f)).collect();
    let hint = "after a change of messages: UPDATE_DOCS=1 cargo test -p clickwork-prolac --test docs";
    assert!(failures.is_empty(), "{} blocks fail ({hint})\n\n{}", failures.len(), failures.join("\n"));
    results.examples
}

fn shown(name: &str, failure: &Failure) -> String {
    format!("docs/prolac/{name}:{}: {}\n", failure.line, failure.what)
}

#[test]
fn the_examples_of_the_reference_do_what_it_says() {
    assert!(check("reference.md", &["prolac", "c", "text", "sh"]) > 100);
}

#[test]
fn the_examples_of_the_tutorial_do_what_it_says() {
    assert!(check("tutorial.md", &["prolac", "c", "text", "sh"]) > 2);
}

/// Its commands are for the shell of a reader.
#[test]
fn the_example_of_the_readme_compiles() {
    assert_eq!(check("../../README.md", &["prolac", "c", "text"]), 1);
}

/// The long options in the help of `prolacc`.
fn options(command: &[&str]) -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_prolacc")).args(command).arg("--help").output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let words = help.split_whitespace().filter(|word| word.starts_with("--"));
    let options = words.map(|w| w.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()).to_string());
    options.filter(|w| !w.contains('=')).collect()
}

#[test]
fn the_reference_has_every_option_of_the_command_line() {
    let text = text_of(&document("reference.md"));
    for command in [&[][..], &["doc"], &["fmt"], &["run"]] {
        let options = options(command);
        assert!(options.len() > 3, "{options:?}");
        for option in options {
            assert!(text.contains(&format!("`{option}")), "{option} of {command:?} is not in reference.md");
        }
    }
}

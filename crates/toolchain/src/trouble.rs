//! What is wrong with the machine, where a compiler fails: it is missing, or too old, was killed, has no room. Such things are
//! no bugs of ours, and there is something to be done about them.

use crate::tools::{self, Tool};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Output;

/// What to do about a disk that is full, or cannot be written.
const ROOM: &str = "make room there, or set CLICKWORK_CACHE to a folder elsewhere";
const MEMORY: &str = "there was too little memory for it: end other programs, or add swap space";

/// Words that stand together in a line of compilers and linkers if the trouble is not theirs, in small letters, and what that means.
const KNOWN: &[(&[&str], &str)] = &[
    (
        &["no space left on device"],
        "no space is left on the disk: make room, or set CLICKWORK_CACHE to a folder elsewhere",
    ),
    (
        &["disk quota exceeded"],
        "the disk quota is used up: make room, or set CLICKWORK_CACHE to a folder elsewhere",
    ),
    (&["file too large"], "a file became larger than allowed (ulimit -f)"),
    (
        &["read-only file system"],
        "it cannot write there: set CLICKWORK_CACHE to a folder that can be written",
    ),
    (&["memory allocation of"], MEMORY),
    (&["cannot allocate memory"], MEMORY),
    (&["out of memory"], MEMORY),
    (&["std::bad_alloc"], MEMORY),
    (&["signal: 9"], MEMORY),
    (&["terminated with signal 9"], MEMORY),
    (&["killed signal terminated program"], MEMORY),
    (&["(os error 11)"], "no more processes or threads can be started (ulimit -u)"),
    (&["too many open files"], "it may not open enough files (ulimit -n)"),
    (&["rustup", "no default is configured"], "rustup has no compiler yet: run 'rustup default stable'"),
    (
        &["toolchain '", "is not installed"],
        "rustup lacks that toolchain: install it, or run 'rustup default stable'",
    ),
    (&["can't find crate for `std`"], STANDARD),
    (&["can't find crate for `core`"], STANDARD),
    (
        &["linker `", "not found"],
        "it links with a C compiler, which is missing or does not work: install one, such as gcc",
    ),
];
const STANDARD: &str =
    "the standard library is missing: run 'rustup component add rust-std', or install Rust anew";

/// What is wrong with the machine that made a Rust tool fail, if that is what it was, and what to do.
pub fn environment(tool: &Tool, output: &Output) -> Option<String> {
    let said = String::from_utf8_lossy(&output.stderr);
    let known = of_signal(output).or_else(|| of_words(&said).map(str::to_string));
    match known {
        Some(cause) => Some(format!("{} did not finish: {cause}{}", tool.path.display(), quoted(&said))),
        None => tools::rustc_version().err(),
    }
}

/// What a tool's own words mean, if they are about the machine.
pub fn of_words(said: &str) -> Option<&'static str> {
    let lines: Vec<String> = said.lines().filter(|line| !is_excerpt(line)).map(str::to_lowercase).collect();
    let fits = |words: &&[&str]| lines.iter().any(|line| words.iter().all(|word| line.contains(word)));
    KNOWN.iter().find(|(words, _)| fits(words)).map(|(_, cause)| *cause)
}

/// Whether a line shows somebody's source text, whatever that says: `12 | let x = 5;`.
fn is_excerpt(line: &str) -> bool {
    line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit()).trim_start().starts_with('|')
}

fn of_signal(output: &Output) -> Option<String> {
    let number = output.status.signal()?;
    let cause = match number {
        9 => format!("it was killed (signal 9); if nobody did that, {MEMORY}"),
        24 => "it used more processor time than allowed (ulimit -t)".to_string(),
        25 => "a file became larger than allowed (ulimit -f)".to_string(),
        1 | 2 | 3 | 15 => format!("it was interrupted (signal {number})"),
        _ => of_words(&String::from_utf8_lossy(&output.stderr)).map_or_else(
            || format!("it crashed (signal {number}), which is a fault of the compiler or of the machine: try another version"),
            str::to_string,
        ),
    };
    Some(cause)
}

/// The end of what a tool said, on lines of their own.
fn quoted(said: &str) -> String {
    const LINES: usize = 10;
    let lines: Vec<&str> = said.trim_end().lines().collect();
    lines[lines.len().saturating_sub(LINES)..].iter().map(|line| format!("\n  {line}")).collect()
}

/// `FILE: reason; what to do`, for a file or folder of the cache.
pub fn cannot_write(file: &Path, e: &io::Error) -> String {
    let remedy = match e.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ROOM,
        io::ErrorKind::FileTooLarge => "files may not be that large (ulimit -f)",
        _ => "set CLICKWORK_CACHE to a folder that can be written",
    };
    format!("{}: {}; {remedy}", file.display(), reason(e))
}

/// An error of the system without its number.
pub fn reason(e: &io::Error) -> String {
    let text = e.to_string();
    text.rsplit_once(" (os error ").map_or(text.as_str(), |(reason, _)| reason).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_words_about_the_machine_are_understood() {
        for (said, cause) in [
            ("error: failed to write x: No space left on device (os error 28)", "no space is left"),
            ("/usr/bin/ld: final link failed: No space left on device", "no space is left"),
            ("memory allocation of 65536 bytes failed", "too little memory"),
            ("collect2: fatal error: ld terminated with signal 9 [Killed]", "too little memory"),
            ("error: linker `cc` not found\n  |\n  = note: No such file", "C compiler"),
            ("error[E0463]: can't find crate for `std`", "standard library"),
            (
                "error: rustup could not choose a version of rustc to run, and no default is configured.",
                "rustup default",
            ),
        ] {
            assert!(of_words(said).is_some_and(|found| found.contains(cause)), "{said}");
        }
        assert_eq!(of_words("error[E0425]: cannot find value `x` in this scope"), None);
        let excerpt = "error: expected `;`\n 3 | // there is no space left on device\n   | ^ out of memory";
        assert_eq!(of_words(excerpt), None, "somebody's source is not the compiler's word");
        assert_eq!(of_words("error: linking with `cc` failed: exit status: 1\nnote: the linker said"), None);
    }

    #[test]
    fn errors_of_files_say_what_to_do() {
        let full = cannot_write(Path::new("/c/x"), &io::Error::from_raw_os_error(28));
        assert_eq!(full, format!("/c/x: No space left on device; {ROOM}"));
        let locked = cannot_write(Path::new("/c/x"), &io::Error::from_raw_os_error(13));
        assert!(locked.starts_with("/c/x: Permission denied; set CLICKWORK_CACHE"));
    }
}

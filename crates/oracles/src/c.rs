//! C compilers beside the one that every test may use, `cc`.

use crate::{missing, program};
use std::collections::HashMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// What a C compiler is told so that addresses and undefined behaviour are checked; the first mistake ends the program.
pub const SANITIZERS: &str = "-fsanitize=address,undefined -fno-sanitize-recover=all";

/// The test needs a C compiler that knows these options, and can link with what they need.
pub fn c_compiler(name: &'static str, options: &'static str) {
    static KNOWN: Mutex<Option<HashMap<(&str, &str), bool>>> = Mutex::new(None);
    program(name);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let links = *known.get_or_insert_default().entry((name, options)).or_insert_with(|| links(name, options));
    drop(known);
    if !links {
        missing(&format!("{name} cannot link with {options}"));
    }
}

/// Whether the smallest program can be made.
fn links(compiler: &str, options: &str) -> bool {
    let folder = crate::unused("clickwork-oracles");
    let (source, program): (PathBuf, PathBuf) = (folder.join("empty.c"), folder.join("empty"));
    let written = std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(&source, "int main(void) { return 0; }\n"));
    let mut command = Command::new(compiler);
    command.args(options.split_whitespace()).arg(&source).arg("-o").arg(program);
    let made = written.is_ok() && command.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
    let _ = std::fs::remove_dir_all(folder);
    made
}

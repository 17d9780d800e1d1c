//! The Rust compiler, called on generated text and on the packet sources. Cargo is not needed.

use crate::text::Text;
use clickwork_packet::SOURCES;
use clickwork_toolchain::{Leash, Reach, Tool, cannot_write, environment, leashed, reason, rustc};
use std::ffi::OsString;
use std::fmt;
use std::path::Path;
use std::process::Command;

/// Why there is no compiled code. The router runs without it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompileError {
    message: String,
}

impl CompileError {
    /// An error with a message.
    pub fn new(message: String) -> CompileError {
        CompileError { message }
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CompileError {}

/// Options for both crates. A panic in generated code could not leave it, so it ends the program; there are none.
pub const OPTIONS: &[&str] = &[
    "--edition=2024",
    "--cap-lints=allow",
    "-Copt-level=3",
    "-Ccodegen-units=1",
    "-Cpanic=abort",
    "-Cstrip=debuginfo",
];

/// Compiles a text to a shared object, whose bytes are returned. All files that are needed meanwhile are in `folder`, which is
/// there and empty; who made it removes it. Cutting the leash ends the compiler.
///
/// # Errors
/// If there is no compiler, it does not like the text, or files cannot be written.
pub fn compile(text: &Text, folder: &Path, leash: &Leash) -> Result<Vec<u8>, CompileError> {
    let tool = rustc().map_err(CompileError::new)?;
    for (path, text) in SOURCES {
        write(&folder.join("packet").join(path), text)?;
    }
    write(&folder.join("segments.rs"), &text.source)?;
    let rlib = folder.join("libclickwork_packet.rlib");
    let run = |kind: &[&str], source: &str, output: &Path, more: &[OsString]| {
        let mut command = command(&tool, folder);
        command.args(OPTIONS).args(kind).arg(folder.join(source)).args(more).arg("-o").arg(output);
        run(&tool, &mut command, leash)
    };
    run(&["--crate-type=rlib", "--crate-name=clickwork_packet"], "packet/lib.rs", &rlib, &[])?;
    let mut external = OsString::from("--extern=clickwork_packet=");
    external.push(&rlib);
    let object = folder.join("segments.so");
    run(&["--crate-type=cdylib", "--crate-name=segments"], "segments.rs", &object, &[external])?;
    std::fs::read(&object).map_err(|e| made_nothing(&tool, &e))
}

/// The compiler runs in `/`: in a folder where others may write, a file `rust-toolchain` could name another one. Its own temporary
/// files vanish with ours.
fn command(tool: &Tool, folder: &Path) -> Command {
    let mut command = leashed(&tool.path, Reach::Group);
    command.current_dir("/").env("TMPDIR", folder);
    command
}

fn run(tool: &Tool, command: &mut Command, leash: &Leash) -> Result<(), CompileError> {
    let output = leash.run(command);
    let output = output.map_err(|e| CompileError::new(format!("{}: {}", tool.path.display(), reason(&e))))?;
    if output.status.success() {
        return Ok(());
    }
    if leash.is_cut() {
        return Err(CompileError::new("given up".to_string()));
    }
    let bug = || {
        let said = String::from_utf8_lossy(&output.stderr);
        format!("the Rust compiler could not compile the router; please report this:\n{}", said.trim_end())
    };
    Err(CompileError::new(environment(tool, &output).unwrap_or_else(bug)))
}

/// A program that does nothing is content with everything.
fn made_nothing(tool: &Tool, e: &std::io::Error) -> CompileError {
    let wrong = clickwork_toolchain::rustc_version().err();
    let nothing = || format!("{} compiled the router, but wrote no code: {}", tool.path.display(), reason(e));
    CompileError::new(wrong.unwrap_or_else(nothing))
}

fn write(file: &Path, text: &str) -> Result<(), CompileError> {
    let folder = file.parent().unwrap_or(file);
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(file, text));
    written.map_err(|e| CompileError::new(cannot_write(file, &e)))
}

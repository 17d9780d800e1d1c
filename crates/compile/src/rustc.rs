//! The Rust compiler, called on generated text and on the packet sources. Cargo is not needed.

use crate::text::Text;
use clickwork_packet::SOURCES;
use clickwork_toolchain::{REMEDY, installed};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

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

/// Compiles a text to the shared object `output`.
///
/// # Errors
/// If there is no compiler, it does not like the text, or files cannot be written.
pub fn compile(text: &Text, output: &Path) -> Result<(), CompileError> {
    let folder = Folder::new(output)?;
    for (path, text) in SOURCES {
        folder.write(&format!("packet/{path}"), text)?;
    }
    folder.write("segments.rs", &text.source)?;
    let rlib = folder.path.join("libclickwork_packet.rlib");
    let packet = ["--crate-type=rlib", "--crate-name=clickwork_packet"];
    run(command(&packet).arg(folder.path.join("packet/lib.rs")).arg("-o").arg(&rlib))?;
    let segments = ["--crate-type=cdylib", "--crate-name=segments"];
    let mut external = std::ffi::OsString::from("--extern=clickwork_packet=");
    external.push(&rlib);
    run(command(&segments).arg(folder.path.join("segments.rs")).arg(external).arg("-o").arg(output))
}

fn command(options: &[&str]) -> Command {
    let mut command = Command::new(installed("RUSTC", "rustc"));
    command.args(OPTIONS).args(options);
    command
}

fn run(command: &mut Command) -> Result<(), CompileError> {
    match command.output() {
        Ok(Output { status, .. }) if status.success() => Ok(()),
        Ok(Output { stderr, .. }) => Err(CompileError::new(format!(
            "the Rust compiler could not compile the router; please report this:\n{}",
            String::from_utf8_lossy(&stderr).trim_end()
        ))),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            Err(CompileError::new(format!("no Rust compiler (rustc): {REMEDY}")))
        }
        Err(e) => Err(CompileError::new(format!("the Rust compiler cannot be run: {e}"))),
    }
}

/// A folder for the compiler's files beside its output, removed at the end.
struct Folder {
    path: PathBuf,
}

impl Folder {
    fn new(output: &Path) -> Result<Folder, CompileError> {
        let name = output.file_name().unwrap_or_default().to_string_lossy();
        let folder = Folder { path: output.with_file_name(format!("{name}.work")) };
        folder.make(&folder.path)?;
        Ok(folder)
    }

    fn make(&self, path: &Path) -> Result<(), CompileError> {
        std::fs::create_dir_all(path).map_err(|e| CompileError::new(format!("{}: {e}", path.display())))
    }

    fn write(&self, name: &str, text: &str) -> Result<(), CompileError> {
        let file = self.path.join(name);
        self.make(file.parent().unwrap_or(&self.path))?;
        std::fs::write(&file, text).map_err(|e| CompileError::new(format!("{}: {e}", file.display())))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

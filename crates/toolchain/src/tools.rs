//! The Rust tools of this machine.

use crate::trouble::reason;
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What to do if there is no Rust.
pub const REMEDY: &str = "install Rust from https://rustup.rs, or set RUSTC to the compiler";

/// The oldest version that is good enough, as for this program.
const OLDEST: &str = env!("CARGO_PKG_RUST_VERSION");

/// A tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// Where it is. Not a name: what the name means could change with the folder in which the tool is run.
    pub path: PathBuf,
    /// The environment variable that says so, if one does.
    pub named_by: Option<&'static str>,
}

/// A tool of Rust, such as `rustc`: as the environment variable says, else from the search path, else from where rustup puts it.
///
/// # Errors
/// If it is not there.
pub fn installed(variable: &'static str, program: &str) -> io::Result<Tool> {
    if let Some(named) = std::env::var_os(variable).filter(|value| !value.is_empty()) {
        return Ok(Tool { path: found(&named)?, named_by: Some(variable) });
    }
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo/bin").join(program));
    let path = found(OsStr::new(program)).or_else(|e| match home {
        Some(file) if can_run(&file) => Ok(file),
        _ => Err(e),
    })?;
    Ok(Tool { path, named_by: None })
}

/// Where a program is that is called by a name or a path.
fn found(name: &OsStr) -> io::Result<PathBuf> {
    let path = Path::new(name);
    if path.components().count() > 1 {
        return match std::fs::metadata(path)? {
            _ if can_run(path) => std::path::absolute(path),
            _ => Err(Errno::ACCESS.into()),
        };
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut files = std::env::split_paths(&folders).map(|folder| folder.join(name));
    let file = files.find(|file| can_run(file)).ok_or(Errno::NOENT)?;
    std::path::absolute(file)
}

fn can_run(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

/// The Rust compiler.
///
/// # Errors
/// If there is none: what to do.
pub fn rustc() -> Result<Tool, String> {
    installed("RUSTC", "rustc").map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => format!("no Rust compiler (rustc): {REMEDY}"),
        _ => format!("the Rust compiler cannot be run ({}): {REMEDY}", reason(&e)),
    })
}

/// What the Rust compiler says of itself.
///
/// # Errors
/// If there is none, or it is none, or too old: what to do.
pub fn rustc_version() -> Result<String, String> {
    let tool = rustc()?;
    let output = Command::new(&tool.path).arg("-vV").current_dir("/").stdin(Stdio::null()).output();
    let output = output.map_err(|e| format!("{}: {}: {REMEDY}", tool.path.display(), reason(&e)))?;
    let said = String::from_utf8_lossy(&output.stdout);
    match version(&said).filter(|_| output.status.success()) {
        Some(version) if numbers(version) < numbers(OLDEST) => Err(format!(
            "{} is rustc {version}, which is too old: {OLDEST} or newer is needed; run 'rustup update', or set RUSTC to a \
             newer one",
            tool.path.display()
        )),
        Some(_) => Ok(said.into_owned()),
        None => Err(no_compiler(&tool, &output)),
    }
}

fn no_compiler(tool: &Tool, output: &std::process::Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    if let Some(cause) = crate::trouble::of_words(&said) {
        return format!("{}: {cause}\n  {}", tool.path.display(), said.trim_end().replace('\n', "\n  "));
    }
    let who = tool.named_by.map_or(String::new(), |variable| format!(", which {variable} names,"));
    format!(
        "{}{who} is no Rust compiler: asked for its version (-vV), it does not say one ({}): {REMEDY}",
        tool.path.display(),
        output.status
    )
}

/// `1.88.0` of `rustc 1.88.0 (...)`.
fn version(said: &str) -> Option<&str> {
    said.strip_prefix("rustc ")?.split_whitespace().next()
}

fn numbers(version: &str) -> Vec<u32> {
    let plain = version.split('-').next().unwrap_or(version);
    plain.split('.').map_while(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(numbers("1.9.0") < numbers("1.88"));
        assert!(numbers("1.88.0") >= numbers("1.88"));
        assert!(numbers("1.100.0-nightly") > numbers("1.88"));
        assert_eq!(version("rustc 1.90.0-nightly (abc 2025-07-01)\nbinary: rustc"), Some("1.90.0-nightly"));
        assert_eq!(version("gcc 12"), None);
    }

    #[test]
    fn tools_are_found_by_whole_paths() {
        assert!(found(OsStr::new("sh")).unwrap().is_absolute());
        assert!(found(OsStr::new("/bin/sh")).is_ok());
        assert_eq!(found(OsStr::new("no-such-tool")).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(found(OsStr::new("/no/such/tool")).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(found(OsStr::new("/etc/passwd")).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    }
}

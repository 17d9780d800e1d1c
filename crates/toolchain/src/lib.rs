//! What all that compile on the user's machine have in common: which Rust tools there are, the folder where what they make is kept,
//! and the names by which it is found again.
//!
//! Not here: what is compiled (`clickwork-compile` for paths of packets, `clickwork-driver-build` for drivers).
#![forbid(unsafe_code)]

mod hash;

pub use hash::Hash;

use std::path::{Path, PathBuf};

/// What to do if there is no Rust.
pub const REMEDY: &str = "install Rust from https://rustup.rs, or set RUSTC to the compiler";

/// A tool of Rust, such as `rustc`: as the environment variable says, else from the search path, else from where rustup puts it.
pub fn installed(variable: &str, program: &str) -> PathBuf {
    if let Some(named) = std::env::var_os(variable).filter(|value| !value.is_empty()) {
        return named.into();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&folders).any(|folder| folder.join(program).is_file());
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo/bin").join(program));
    home.filter(|file| !in_path && file.is_file()).unwrap_or_else(|| program.into())
}

/// The user's folder for what has been compiled: `$CLICKWORK_CACHE`, else `clickwork` in `$XDG_CACHE_HOME` or `~/.cache`. It need
/// not be there.
///
/// # Errors
/// If nobody knows where it should be: what to do.
pub fn cache_folder() -> Result<PathBuf, String> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("CLICKWORK_CACHE")
        .or_else(|| Some(variable("XDG_CACHE_HOME")?.join("clickwork")))
        .or_else(|| Some(variable("HOME")?.join(".cache/clickwork")))
        .ok_or_else(|| "no folder for what is compiled: set CLICKWORK_CACHE to one".to_string())
}

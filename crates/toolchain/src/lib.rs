//! What all that compile on the user's machine have in common: which Rust tools there are ([`tools`]) and what is the matter if they
//! fail ([`trouble`]), that they end with us ([`leash`]), the folder where what they make is kept ([`folder`]: nobody else can put
//! anything there) and made ([`work`]: one program at a time), and the names by which it is found again ([`hash`]).
//!
//! Not here: what is compiled (`clickwork-compile` for paths of packets, `clickwork-driver-build` for drivers).
#![forbid(unsafe_code)]

mod folder;
mod hash;
mod leash;
mod owner;
#[cfg(test)]
mod testing;
mod tools;
mod trouble;
mod work;
mod write;

pub use folder::Folder;
pub use hash::Hash;
pub use leash::{Leash, Reach, leashed};
pub use owner::may_be_obeyed;
pub use tools::{REMEDY, Tool, installed, rustc, rustc_version};
pub use trouble::{cannot_write, environment, of_words, reason};
pub use work::Work;
pub use write::replace;

use std::path::PathBuf;

/// The user's folder for what has been compiled: `$CLICKWORK_CACHE`, else `clickwork` in `$XDG_CACHE_HOME` or `~/.cache`. It need
/// not be there.
///
/// # Errors
/// If nobody knows where it should be: what to do.
pub fn cache_folder() -> Result<PathBuf, String> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = variable("CLICKWORK_CACHE")
        .or_else(|| Some(variable("XDG_CACHE_HOME")?.join("clickwork")))
        .or_else(|| Some(variable("HOME")?.join(".cache/clickwork")))
        .ok_or_else(|| "no folder for what is compiled: set CLICKWORK_CACHE to one".to_string())?;
    std::path::absolute(&folder).map_err(|e| cannot_write(&folder, &e))
}

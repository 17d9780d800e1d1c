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

/// The user's folder for what has been compiled: `$CLICKWORK_CACHE`, else `clickwork` in `$XDG_CACHE_HOME` or `~/.cache`. It is
/// made if it is not there.
///
/// # Errors
/// If nobody knows where it should be, it cannot be made, or somebody else could put something there: what to do.
pub fn cache() -> Result<Folder, String> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let absolute = |folder: PathBuf| std::path::absolute(&folder).map_err(|e| cannot_write(&folder, &e));
    if let Some(named) = variable("CLICKWORK_CACHE") {
        return Folder::at(&absolute(named)?);
    }
    let usual = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
    let usual =
        usual.ok_or_else(|| "no folder for what is compiled: set CLICKWORK_CACHE to one".to_string())?;
    Folder::in_safe_place(&absolute(usual)?.join("clickwork"))
}

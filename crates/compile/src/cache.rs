//! What has been compiled, kept for the next time, in a folder of the user's: `$CLICKWORK_CACHE`, else `clickwork` in
//! `$XDG_CACHE_HOME` or `~/.cache`.
//!
//! A library's name is the hash of the text it was made of and of the packet sources, so it is never out of date.
//! Files appear complete or not at all; several programs may use the folder at once.

use crate::hash::hash;
use crate::rustc::CompileError;
use crate::text::{Text, abi};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The folder.
#[derive(Clone, Debug)]
pub struct Cache {
    path: PathBuf,
}

/// The user's cache; it is made if it is not there.
///
/// # Errors
/// If it cannot be made, or nobody knows where it should be.
pub fn directory() -> Result<Cache, CompileError> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let path = variable("CLICKWORK_CACHE")
        .or_else(|| Some(variable("XDG_CACHE_HOME")?.join("clickwork")))
        .or_else(|| Some(variable("HOME")?.join(".cache/clickwork")));
    let path = path.ok_or_else(|| {
        CompileError::new("no place for compiled code: set CLICKWORK_CACHE to a folder".to_string())
    })?;
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&path);
    made.map_err(|e| CompileError::new(format!("{}: {e}", path.display())))?;
    Ok(Cache { path })
}

impl Cache {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The library made of `text`, by `make` if it is not there, which is told where to write it.
    ///
    /// # Errors
    /// Those of `make`, or of writing.
    pub fn library(
        &self,
        text: &Text,
        make: impl FnOnce(&Path) -> Result<(), CompileError>,
    ) -> Result<PathBuf, CompileError> {
        let file = self.path.join(self.library_name(text));
        if file.is_file() {
            return Ok(file);
        }
        let partial = self.path.join(format!(".partial-{}-{}", std::process::id(), self.library_name(text)));
        let made = make(&partial).and_then(|()| {
            std::fs::rename(&partial, &file)
                .map_err(|e| CompileError::new(format!("{}: {e}", file.display())))
        });
        if made.is_err() {
            let _ = std::fs::remove_file(&partial);
        }
        made.map(|()| file)
    }

    /// Whether the library made of `text` is there.
    pub fn has(&self, text: &Text) -> bool {
        self.path.join(self.library_name(text)).is_file()
    }

    fn library_name(&self, text: &Text) -> String {
        let abi = format!("{:x}", abi());
        format!("segments-{:016x}.so", hash([text.source.as_str(), abi.as_str()]))
    }
}

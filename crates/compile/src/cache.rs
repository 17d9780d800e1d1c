//! What has been compiled, kept for the next time, in a folder of the user's: `$CLICKWORK_CACHE`, else `clickwork` in
//! `$XDG_CACHE_HOME` or `~/.cache`.
//!
//! A library's name is the hash of what its functions do, of the packet sources, and of how they are compiled, so it is never
//! out of date, and found again when elements got other names. Files appear complete or not at all; several programs and threads
//! may use the folder at once.

use crate::rustc::{CompileError, OPTIONS};
use crate::text::{Text, abi};
use clickwork_toolchain::{Hash, cache_folder};
use std::collections::BTreeSet;
use std::fs::{DirEntry, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

/// Tells apart the unfinished files of one program's threads.
static PARTIAL: AtomicUsize = AtomicUsize::new(0);

/// How long libraries are kept that are not used.
const KEEP: Duration = Duration::from_secs(30 * 24 * 60 * 60);

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
    let path = cache_folder().map_err(CompileError::new)?;
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&path);
    made.map_err(|e| {
        let path = path.display();
        CompileError::new(format!("{path}: {e}; set CLICKWORK_CACHE to a folder that can be written"))
    })?;
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
        if let Ok(there) = File::open(&file) {
            // The time tells which libraries are used.
            let _ = there.set_modified(SystemTime::now());
            return Ok(file);
        }
        let number = PARTIAL.fetch_add(1, Ordering::Relaxed);
        let partial = self.path.join(format!(".partial-{}-{number}.so", std::process::id()));
        let made = make(&partial).and_then(|()| {
            std::fs::rename(&partial, &file)
                .map_err(|e| CompileError::new(format!("{}: {e}", file.display())))
        });
        if made.is_err() {
            let _ = std::fs::remove_file(&partial);
        }
        self.forget_unused();
        made.map(|()| file)
    }

    /// Removes libraries that nobody has used for long.
    fn forget_unused(&self) {
        let is_old = |file: &DirEntry| {
            file.metadata()?.modified()?.elapsed().map_err(io::Error::other).map(|age| age > KEEP)
        };
        for file in std::fs::read_dir(&self.path).into_iter().flatten().flatten() {
            let name = file.file_name();
            let is_library =
                name.to_str().is_some_and(|name| name.starts_with("segments-") && name.ends_with(".so"));
            if is_library && is_old(&file).unwrap_or(false) {
                let _ = std::fs::remove_file(file.path());
            }
        }
    }

    /// Takes a library away that turned out to be damaged.
    pub fn forget(&self, text: &Text) {
        let _ = std::fs::remove_file(self.path.join(self.library_name(text)));
    }

    /// Whether the library made of `text` is there.
    pub fn has(&self, text: &Text) -> bool {
        self.path.join(self.library_name(text)).is_file()
    }

    fn library_name(&self, text: &Text) -> String {
        let abi = format!("{:x}", abi());
        let symbols: BTreeSet<&str> = text.symbols.iter().map(String::as_str).collect();
        let all = symbols.into_iter().chain([abi.as_str()]).chain(OPTIONS.iter().copied());
        format!("segments-{}.so", Hash::of(all).name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_used_for_long_goes_when_something_new_comes() {
        let path = std::env::temp_dir().join(format!("clickwork-compile-cache-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        let long_ago = SystemTime::now() - 2 * KEEP;
        for name in ["segments-1.so", "segments-2.so", "other"] {
            let file = File::create(path.join(name)).unwrap();
            if name != "segments-2.so" {
                file.set_modified(long_ago).unwrap();
            }
        }
        let cache = Cache { path: path.clone() };
        let text = Text { source: String::new(), symbols: vec!["segment_x".to_string()] };
        let made = cache
            .library(&text, |file| std::fs::write(file, "x").map_err(|e| CompileError::new(e.to_string())));
        let there = |name: &str| path.join(name).exists();
        assert!(
            made.unwrap().exists() && !there("segments-1.so") && there("segments-2.so") && there("other")
        );
        std::fs::remove_dir_all(path).unwrap();
    }
}

//! The folder where sources and drivers are kept: `$CLICKWORK_CACHE`, else `$XDG_CACHE_HOME/clickwork`, else
//! `~/.cache/clickwork`. It can be deleted at any time.
//!
//! ```text
//! sources -> VERSION-HASH/sources    those of the program that needed them last, for packages' own tests
//! VERSION-HASH/sources               the workspace of that version
//! VERSION-HASH/target                where cargo builds, for all drivers
//! VERSION-HASH/projects/KEY          the cargo project of a driver
//! VERSION-HASH/drivers/KEY           the driver
//! ```
//!
//! `$CLICKWORK_SOURCES` names a source tree to build from instead, for those who work on Clickwork itself: then there is
//! `VERSION-tree`, where cargo compiles only what has changed.
//!
//! Whatever appears under its final name is complete: it is made under another one first. So programs may do this at the
//! same time.

use crate::sources;
use clickwork_toolchain::cache_folder;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How many drivers are kept, those used last.
const DRIVERS: usize = 20;

/// How long it is kept what other versions of the program have built.
const MONTH: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The cache of this user.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    /// A source tree that takes the place of the sources of this program.
    tree: Option<PathBuf>,
}

impl Cache {
    /// Where the environment says.
    ///
    /// # Errors
    /// If it says nothing.
    pub fn of_user() -> Result<Cache, String> {
        let folder = cache_folder()?;
        let folder = std::path::absolute(&folder).map_err(|e| error(&folder, &e))?;
        let tree = std::env::var_os("CLICKWORK_SOURCES").filter(|value| !value.is_empty());
        Ok(Cache { folder, tree: tree.map(PathBuf::from) })
    }

    /// The sources of this program, unpacked.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn sources(&self) -> Result<PathBuf, String> {
        let sources = self.tree.clone().unwrap_or_else(|| self.of_version("sources"));
        if !sources.exists() {
            unpack(&sources)?;
            self.forget_versions();
        }
        create_folder(&self.folder)?;
        self.link(&sources).map_err(|e| error(&self.latest(), &e))?;
        Ok(sources)
    }

    /// A name for the sources of whichever version of the program was used last.
    pub fn latest(&self) -> PathBuf {
        self.folder.join("sources")
    }

    /// Where cargo builds.
    pub fn target(&self) -> PathBuf {
        self.of_version("target")
    }

    /// Where the cargo project of a driver is written.
    pub fn project(&self, key: &str) -> PathBuf {
        self.of_version("projects").join(key)
    }

    /// Where a driver is put.
    pub fn driver(&self, key: &str) -> PathBuf {
        self.of_version("drivers").join(key)
    }

    /// Copies a finished driver to its place, and removes those that have not been used for long.
    ///
    /// # Errors
    /// If it cannot be copied.
    pub fn keep(&self, key: &str, program: &Path) -> Result<PathBuf, String> {
        let driver = self.driver(key);
        let copy = driver.with_extension(format!("new-{}", std::process::id()));
        create_folder(&self.of_version("drivers"))?;
        let copied = fs::copy(program, &copy).and_then(|_| fs::rename(&copy, &driver));
        copied.map_err(|e| error(&driver, &e))?;
        self.prune();
        Ok(driver)
    }

    fn of_version(&self, name: &str) -> PathBuf {
        let version = env!("CARGO_PKG_VERSION");
        let sources = if self.tree.is_some() { "tree" } else { sources::HASH };
        self.folder.join(format!("{version}-{sources}")).join(name)
    }

    fn link(&self, sources: &Path) -> io::Result<()> {
        let link = self.latest();
        if fs::read_link(&link).is_ok_and(|there| there == sources) {
            return Ok(());
        }
        let new = link.with_extension(format!("new-{}", std::process::id()));
        let _ = fs::remove_file(&new);
        std::os::unix::fs::symlink(sources, &new)?;
        fs::rename(&new, &link)
    }

    /// Removes what other versions of the program left here, if they have built nothing for long.
    fn forget_versions(&self) {
        for version in fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|e| e.path()) {
            let built = fs::metadata(version.join("drivers")).and_then(|m| m.modified());
            let age = built.ok().and_then(|time| time.elapsed().ok());
            if version != self.of_version("") && age.is_some_and(|age| age > MONTH) {
                let _ = fs::remove_dir_all(version);
            }
        }
    }

    /// Removes drivers, the oldest first, with what cargo keeps for them.
    fn prune(&self) {
        let Ok(entries) = fs::read_dir(self.of_version("drivers")) else { return };
        let used = |e: &fs::DirEntry| e.metadata().and_then(|m| m.modified()).ok();
        let mut drivers: Vec<_> = entries.flatten().map(|e| (used(&e), e.file_name())).collect();
        drivers.sort();
        let surplus = drivers.len().saturating_sub(DRIVERS);
        for (_, key) in &drivers[..surplus] {
            let key = key.to_string_lossy();
            let _ = fs::remove_file(self.driver(&key));
            let _ = fs::remove_dir_all(self.project(&key));
            for profile in fs::read_dir(self.target()).into_iter().flatten().flatten() {
                remove_built(&profile.path(), &key);
                remove_built(&profile.path().join("deps"), &key);
            }
        }
    }
}

/// Writes the sources of this program to a folder that does not exist yet.
///
/// # Errors
/// If they cannot be written.
pub fn unpack(to: &Path) -> Result<(), String> {
    let bytes = sources::unpack()?;
    let new = to.with_extension(format!("new-{}", std::process::id()));
    for file in sources::files(&bytes) {
        write(&new.join(file.path), file.bytes)?;
    }
    // Another program may have been faster.
    let moved = fs::rename(&new, to);
    if moved.is_err() {
        let _ = fs::remove_dir_all(&new);
    }
    if to.exists() { Ok(()) } else { moved.map_err(|e| error(to, &e)) }
}

/// Removes the files of a driver from a folder of cargo's.
fn remove_built(folder: &Path, key: &str) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().contains(key) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Writes a file, with the folders above it.
pub(crate) fn write(file: &Path, bytes: &[u8]) -> Result<(), String> {
    create_folder(file.parent().unwrap_or(Path::new(".")))?;
    fs::write(file, bytes).map_err(|e| error(file, &e))
}

fn create_folder(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|e| error(folder, &e))
}

/// `FILE: reason`.
pub(crate) fn error(file: &Path, e: &io::Error) -> String {
    let text = e.to_string();
    let reason = text.split_once(" (os error ").map_or(text.as_str(), |(reason, _)| reason);
    format!("{}: {reason}", file.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::time::SystemTime;

    fn cache(name: &str) -> Cache {
        let folder = std::env::temp_dir().join(format!("clickwork-cache-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        Cache { folder, tree: None }
    }

    /// Makes a file or folder look as if it was changed so many days ago.
    fn days_old(path: &Path, days: u32) {
        File::open(path).unwrap().set_modified(SystemTime::now() - MONTH / 30 * days).unwrap();
    }

    #[test]
    fn drivers_that_are_not_used_make_room() {
        let cache = cache("drivers");
        for n in 0..DRIVERS as u32 {
            write(&cache.driver(&format!("key{n}")), b"").unwrap();
            days_old(&cache.driver(&format!("key{n}")), n + 1);
        }
        let built = cache.target().join("release/deps/driver-key19-abc");
        write(&built, b"x").unwrap();
        let kept = cache.keep("new", &built).unwrap();
        assert_eq!(fs::read(kept).unwrap(), b"x");
        assert!(!cache.driver("key19").exists() && cache.driver("key18").exists());
        assert!(!built.exists());
        fs::remove_dir_all(cache.folder).unwrap();
    }

    #[test]
    fn what_other_versions_left_goes_after_a_month() {
        let cache = cache("versions");
        let versions = [("0.0.1-a", 31), ("0.0.1-b", 29), ("other", 99)];
        for (name, days) in versions {
            let drivers = cache.folder.join(name).join(if name == "other" { "things" } else { "drivers" });
            fs::create_dir_all(&drivers).unwrap();
            days_old(&drivers, days);
        }
        let sources = cache.sources().unwrap();
        assert_eq!(versions.map(|(name, _)| cache.folder.join(name).exists()), [false, true, true]);
        assert_eq!(fs::read_link(cache.latest()).unwrap(), sources);
        assert!(cache.latest().join("crates/router/src/lib.rs").is_file());
        assert!(cache.sources().is_ok(), "a second time");
        fs::remove_dir_all(cache.folder).unwrap();
    }
}

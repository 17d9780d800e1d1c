//! The folder where sources and drivers are kept: `$CLICKWORK_CACHE`, else `$XDG_CACHE_HOME/clickwork`, else
//! `~/.cache/clickwork`. It can be deleted at any time.
//!
//! ```text
//! sources -> VERSION-HASH/sources    those of the program that needed them last, for packages' own tests
//! VERSION-HASH/sources               the workspace of that version
//! VERSION-HASH/target                where cargo builds, for all drivers
//! VERSION-HASH/projects/KEY          the cargo project of a driver
//! VERSION-HASH/drivers/KEY           the driver
//! VERSION-HASH/sums/KEY              its checksum
//! ```
//!
//! `$CLICKWORK_SOURCES` names a source tree to build from instead, for those who work on Clickwork itself: then there is
//! `VERSION-tree`, where cargo compiles only what has changed.
//!
//! Whatever appears under its final name is complete: it is made under another one first. So programs may do this at the
//! same time.

use crate::sources;
use clickwork_toolchain::{Folder, Hash, Leash, Work, cannot_write, replace};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How many drivers are kept, those used last.
const DRIVERS: usize = 20;

/// How long it is kept what other versions of the program have built.
const MONTH: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The cache of this user. What is in it is run, so nobody else may write there: each folder is looked at before it is used.
#[derive(Debug)]
pub struct Cache {
    folder: Folder,
    /// What is there for this version of the program.
    version: Folder,
    /// A source tree that takes the place of the sources of this program.
    tree: Option<PathBuf>,
}

impl Cache {
    /// Where the environment says.
    ///
    /// # Errors
    /// If it says nothing, or others can write there.
    pub fn of_user() -> Result<Cache, String> {
        let tree = std::env::var_os("CLICKWORK_SOURCES").filter(|value| !value.is_empty());
        Cache::of(clickwork_toolchain::cache()?, tree.map(PathBuf::from))
    }

    fn of(folder: Folder, tree: Option<PathBuf>) -> Result<Cache, String> {
        let sources = if tree.is_some() { "tree" } else { sources::HASH };
        let version = folder.inside(&format!("{}-{sources}", env!("CARGO_PKG_VERSION")))?;
        Ok(Cache { folder, version, tree })
    }

    /// The sources of this program, unpacked.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn sources(&self) -> Result<PathBuf, String> {
        let sources = match &self.tree {
            Some(tree) => tree.clone(),
            None => self.unpacked()?,
        };
        self.link(&sources).map_err(|e| cannot_write(&self.latest(), &e))?;
        Ok(sources)
    }

    fn unpacked(&self) -> Result<PathBuf, String> {
        let there = || self.version.path().join("sources").exists();
        if !there() {
            let work = Work::begin(&self.version, "sources", &Leash::default())?;
            if !there() {
                unpack(&work.folder().path().join("sources"))?;
                work.folder().sync();
                let moved = self.version.take(work.folder(), "sources");
                moved.map_err(|e| cannot_write(self.version.path(), &e))?;
                self.forget_versions();
            }
        }
        Ok(self.version.inside("sources")?.path().to_path_buf())
    }

    /// A name for the sources of whichever version of the program was used last.
    pub fn latest(&self) -> PathBuf {
        self.folder.path().join("sources")
    }

    /// Whether cargo has built nothing yet.
    pub fn is_new(&self) -> bool {
        !self.version.path().join("target").exists()
    }

    /// Where cargo builds.
    ///
    /// # Errors
    /// If there can be no such folder.
    pub fn target(&self) -> Result<PathBuf, String> {
        Ok(self.version.inside("target")?.path().to_path_buf())
    }

    /// Where the cargo project of a driver is written.
    ///
    /// # Errors
    /// If there can be no such folder.
    pub fn project(&self, key: &str) -> Result<PathBuf, String> {
        Ok(self.version.inside("projects")?.inside(key)?.path().to_path_buf())
    }

    /// A driver, if it is there, nobody else can have put it there, and its bytes are those that were written.
    pub fn driver(&self, key: &str) -> Option<PathBuf> {
        let drivers = self.drivers().ok()?;
        let mut file = drivers.file(key).ok()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        if self.sums().ok()?.read(key).ok()? != checksum(&bytes) {
            return None;
        }
        // The time tells which drivers are used.
        let _ = file.set_modified(SystemTime::now());
        Some(drivers.path().join(key))
    }

    fn drivers(&self) -> Result<Folder, String> {
        self.version.inside("drivers")
    }

    fn sums(&self) -> Result<Folder, String> {
        self.version.inside("sums")
    }

    /// Copies a finished driver to its place, and removes those that have not been used for long.
    ///
    /// # Errors
    /// If it cannot be copied.
    pub fn keep(&self, key: &str, program: &Path) -> Result<PathBuf, String> {
        let drivers = self.drivers()?;
        let bytes = fs::read(program).map_err(|e| error(program, &e))?;
        drivers.write(key, &bytes, 0o755)?;
        self.sums()?.write(key, &checksum(&bytes), 0o600)?;
        self.prune(&drivers);
        Ok(drivers.path().join(key))
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
        for version in fs::read_dir(self.folder.path()).into_iter().flatten().flatten().map(|e| e.path()) {
            let built = fs::metadata(version.join("drivers")).and_then(|m| m.modified());
            let age = built.ok().and_then(|time| time.elapsed().ok());
            if version != self.version.path() && age.is_some_and(|age| age > MONTH) {
                let _ = fs::remove_dir_all(version);
            }
        }
    }

    /// Removes drivers, the oldest first, with what cargo keeps for them.
    fn prune(&self, drivers: &Folder) {
        let used =
            |name: &std::ffi::OsStr| fs::metadata(drivers.path().join(name)).and_then(|m| m.modified()).ok();
        let mut all: Vec<_> = drivers.names().into_iter().map(|name| (used(&name), name)).collect();
        all.sort();
        let surplus = all.len().saturating_sub(DRIVERS);
        for (_, key) in &all[..surplus] {
            let key = key.to_string_lossy();
            drivers.remove(&key);
            if let Ok(sums) = self.sums() {
                sums.remove(&key);
            }
            let _ = fs::remove_dir_all(self.version.path().join("projects").join(&*key));
            let target = self.version.path().join("target");
            for profile in fs::read_dir(target).into_iter().flatten().flatten() {
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
    for file in sources::files(&bytes) {
        let path = to.join(file.path);
        let written = create_folder_of(&path).and_then(|()| fs::write(&path, file.bytes));
        written.map_err(|e| error(&path, &e))?;
    }
    Ok(())
}

fn checksum(bytes: &[u8]) -> [u8; 32] {
    Hash::default().and(bytes).bytes()
}

/// Removes the files of a driver from a folder of cargo's.
fn remove_built(folder: &Path, key: &str) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().contains(key) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Writes a file, with the folders above it, unless it is as it should be: cargo goes by its time.
pub(crate) fn write(file: &Path, bytes: &[u8]) -> Result<(), String> {
    if fs::read(file).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    create_folder_of(file).and_then(|()| replace(file, bytes, 0o644)).map_err(|e| error(file, &e))
}

fn create_folder_of(file: &Path) -> io::Result<()> {
    fs::create_dir_all(file.parent().unwrap_or(Path::new(".")))
}

/// `FILE: reason`.
pub(crate) fn error(file: &Path, e: &io::Error) -> String {
    format!("{}: {}", file.display(), clickwork_toolchain::reason(e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    fn cache(name: &str) -> Cache {
        let folder = clickwork_oracles::unused(&format!("clickwork-cache-{name}"));
        let _ = fs::remove_dir_all(&folder);
        Cache::of(Folder::at(&folder).unwrap(), None).unwrap()
    }

    /// Makes a file or folder look as if it was changed so many days ago.
    fn days_old(path: &Path, days: u32) {
        File::open(path).unwrap().set_modified(SystemTime::now() - MONTH / 30 * days).unwrap();
    }

    /// Puts a driver into the cache without further ado.
    fn put(cache: &Cache, key: &str) -> PathBuf {
        let file = cache.version.path().join("drivers").join(key);
        write(&file, b"").unwrap();
        cache.sums().unwrap().write(key, &checksum(b""), 0o600).unwrap();
        file
    }

    #[test]
    fn a_driver_that_is_damaged_is_made_anew() {
        let cache = cache("damaged");
        let built = cache.target().unwrap().join("driver");
        write(&built, b"all of the program").unwrap();
        let kept = cache.keep("key", &built).unwrap();
        assert_eq!(cache.driver("key"), Some(kept.clone()));
        for damaged in [&b"all of the"[..], b"all of the program ", b"all of the frogram", b""] {
            fs::write(&kept, damaged).unwrap();
            assert_eq!(cache.driver("key"), None);
        }
        cache.keep("key", &built).unwrap();
        assert!(cache.driver("key").is_some());
        fs::remove_file(cache.version.path().join("sums/key")).unwrap();
        assert_eq!(cache.driver("key"), None, "nobody knows what it was");
        fs::remove_dir_all(cache.folder.path()).unwrap();
    }

    #[test]
    fn drivers_that_are_not_used_make_room() {
        let cache = cache("drivers");
        cache.drivers().unwrap();
        for n in 0..DRIVERS as u32 {
            days_old(&put(&cache, &format!("key{n}")), n + 1);
        }
        let built = cache.target().unwrap().join("release/deps/driver-key19-abc");
        write(&built, b"x").unwrap();
        let kept = cache.keep("new", &built).unwrap();
        assert_eq!(fs::read(kept).unwrap(), b"x");
        assert!(cache.driver("key19").is_none() && cache.driver("key18").is_some());
        assert!(!built.exists());
        fs::remove_dir_all(cache.folder.path()).unwrap();
    }

    #[test]
    fn what_other_versions_left_goes_after_a_month() {
        let cache = cache("versions");
        let folder = cache.folder.path();
        let versions = [("0.0.1-a", 31), ("0.0.1-b", 29), ("other", 99)];
        for (name, days) in versions {
            let drivers = folder.join(name).join(if name == "other" { "things" } else { "drivers" });
            fs::create_dir_all(&drivers).unwrap();
            days_old(&drivers, days);
        }
        // A program that was killed while it unpacked.
        fs::create_dir_all(cache.version.path().join(".partial-sources/sources/crates")).unwrap();
        let sources = cache.sources().unwrap();
        assert_eq!(versions.map(|(name, _)| folder.join(name).exists()), [false, true, true]);
        assert_eq!(fs::read_link(cache.latest()).unwrap(), sources);
        assert!(cache.latest().join("crates/router/src/lib.rs").is_file());
        assert_eq!(cache.version.names(), ["sources"]);
        assert!(cache.sources().is_ok(), "a second time");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn planted_drivers_and_folders_are_refused() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let cache = cache("planted");
        let open = |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
        let drivers = cache.drivers().unwrap();
        let planted = put(&cache, "planted");
        assert!(cache.driver("planted").is_some());
        open(&planted);
        assert!(cache.driver("planted").is_none(), "others can write to it");
        symlink("/bin/true", drivers.path().join("link")).unwrap();
        assert!(cache.driver("link").is_none());
        put(&cache, "mine");
        open(drivers.path());
        assert!(cache.driver("mine").is_none() && cache.keep("mine", &planted).is_err());
        for folder in ["target", "projects", "sources"] {
            symlink("/tmp", cache.version.path().join(folder)).unwrap();
        }
        assert!(cache.target().is_err() && cache.project("x").is_err() && cache.sources().is_err());
        open(cache.version.path());
        let again = Cache::of(Folder::at(cache.folder.path()).unwrap(), None);
        assert!(again.unwrap_err().contains("others can write to it"));
        fs::remove_dir_all(cache.folder.path()).unwrap();
    }
}

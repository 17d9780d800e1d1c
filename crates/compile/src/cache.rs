//! What has been compiled, kept for the next time, in a folder of the user's: `$CLICKWORK_CACHE`, else `clickwork` in
//! `$XDG_CACHE_HOME` or `~/.cache`.
//!
//! A library's name is the hash of what its functions do, of the packet sources, and of how they are compiled, so it is never
//! out of date, and found again when elements got other names. Files appear complete or not at all; several programs and threads
//! may use the folder at once, and what one is making the others wait for.
//!
//! What is loaded is what was looked at: a file is read once, and used if it is the user's, nobody else can write to it, and its
//! bytes are those that were written ([`sealed`]).

use crate::rustc::{CompileError, OPTIONS};
use crate::text::{Text, abi};
use clickwork_toolchain::{Folder, Hash, Leash, Work};
use std::collections::BTreeSet;
use std::fs::DirEntry;
use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// How long libraries are kept that are not used.
const KEEP: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The folder.
#[derive(Debug)]
pub struct Cache {
    folder: Folder,
}

impl Cache {
    /// The user's cache; it is made if it is not there.
    ///
    /// # Errors
    /// If it cannot be made, nobody knows where it should be, or others could put something there.
    pub fn of_user() -> Result<Cache, CompileError> {
        Ok(Cache { folder: clickwork_toolchain::cache().map_err(CompileError::new)? })
    }

    /// The library made of `text`, by `make` if it is not there, which is told of a folder to work in. The folder vanishes
    /// afterwards.
    ///
    /// # Errors
    /// Those of `make`, or of writing, or if the leash is cut while another program makes the same.
    pub fn library(
        &self,
        text: &Text,
        leash: &Leash,
        make: impl FnOnce(&Path) -> Result<Vec<u8>, CompileError>,
    ) -> Result<Vec<u8>, CompileError> {
        let name = library_name(text);
        if let Some(code) = self.find(&name) {
            return Ok(code);
        }
        self.tidy();
        let work = Work::begin(&self.folder, &name, leash).map_err(CompileError::new)?;
        if let Some(code) = self.find(&name) {
            return Ok(code);
        }
        let code = make(work.folder().path())?;
        self.folder.write(&name, &sealed(&code), 0o600).map_err(CompileError::new)?;
        Ok(code)
    }

    /// The library made of `text`, if it is there.
    pub fn get(&self, text: &Text) -> Option<Vec<u8>> {
        self.find(&library_name(text))
    }

    fn find(&self, name: &str) -> Option<Vec<u8>> {
        let mut file = self.folder.file(name).ok()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        // The time tells which libraries are used.
        let _ = file.set_modified(SystemTime::now());
        opened(bytes)
    }

    /// Takes a library away that cannot be used.
    pub fn forget(&self, text: &Text) {
        self.folder.remove(&library_name(text));
    }

    /// Removes libraries that nobody has used for long, and what was left by programs that were killed.
    fn tidy(&self) {
        Work::tidy(&self.folder);
        let is_old = |file: &DirEntry| {
            file.metadata()?.modified()?.elapsed().map_err(io::Error::other).map(|age| age > KEEP)
        };
        for file in std::fs::read_dir(self.folder.path()).into_iter().flatten().flatten() {
            let name = file.file_name();
            let is_library =
                name.to_str().filter(|name| name.starts_with("segments-") && name.ends_with(".so"));
            if let Some(name) = is_library.filter(|_| is_old(&file).unwrap_or(false)) {
                self.folder.remove(name);
            }
        }
    }
}

/// The name of a text's code: texts of the same name do the same.
pub fn library_name(text: &Text) -> String {
    let abi = format!("{:x}", abi());
    let symbols: BTreeSet<&str> = text.symbols.iter().map(String::as_str).collect();
    let all = symbols.into_iter().chain([abi.as_str()]).chain(OPTIONS.iter().copied());
    format!("segments-{}.so", Hash::of(all).name())
}

/// What follows the checksum at the end of a file.
const MARK: &[u8; 16] = b"clickwork-sha256";

/// Code as it is in a file: with its checksum behind it.
fn sealed(code: &[u8]) -> Vec<u8> {
    [code, &Hash::default().and(code).bytes(), MARK].concat()
}

/// The code of a file, if it is whole.
fn opened(mut file: Vec<u8>) -> Option<Vec<u8>> {
    let length = file.strip_suffix(MARK)?.len().checked_sub(32)?;
    let code = &file[..length];
    if Hash::default().and(code).bytes() != file[length..length + 32] {
        return None;
    }
    file.truncate(length);
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;
    use std::fs::{File, Permissions, set_permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::PathBuf;

    /// A cache that vanishes with the test.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> (Scratch, Cache) {
            let path = clickwork_oracles::unused(&format!("clickwork-compile-cache-{name}"));
            let _ = std::fs::remove_dir_all(&path);
            let cache = Cache { folder: Folder::at(&path).unwrap() };
            (Scratch(path), cache)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn text() -> Text {
        Text { source: String::new(), symbols: vec!["segment_x".to_string()] }
    }

    /// What the cache says of the text, and whether that had to be made.
    fn library(cache: &Cache, made: &str) -> (Vec<u8>, bool) {
        let mut is_made = false;
        let make = |folder: &Path| {
            is_made = true;
            assert!(folder.is_dir());
            Ok(made.as_bytes().to_vec())
        };
        (cache.library(&text(), &Leash::default(), make).unwrap(), is_made)
    }

    #[test]
    fn what_nobody_used_for_long_goes_when_something_new_comes() {
        let (dir, cache) = Scratch::new("old");
        let long_ago = SystemTime::now() - 2 * KEEP;
        for name in ["segments-1.so", "segments-2.so", "other"] {
            let file = File::create(dir.0.join(name)).unwrap();
            if name != "segments-2.so" {
                file.set_modified(long_ago).unwrap();
            }
        }
        std::fs::create_dir(dir.0.join(".partial-7-0.so.work")).unwrap();
        assert_eq!(library(&cache, "x"), (b"x".to_vec(), true));
        assert_eq!(library(&cache, "y"), (b"x".to_vec(), false));
        let names: BTreeSet<_> = cache.folder.names().into_iter().collect();
        assert_eq!(names, ["other", "segments-2.so", &library_name(&text())].map(OsString::from).into());
    }

    #[test]
    fn files_that_are_cut_off_or_changed_are_made_anew() {
        let (dir, cache) = Scratch::new("damage");
        let file = dir.0.join(library_name(&text()));
        let code = "code of some length".repeat(1000);
        library(&cache, &code);
        let whole = std::fs::read(&file).unwrap();
        let mut changed = whole.clone();
        changed[5000] ^= 1;
        let extended = [whole.as_slice(), b"x"].concat();
        for damaged in
            [&whole[..0], &whole[..47], &whole[..9000], &whole[..whole.len() - 1], &changed, &extended]
        {
            std::fs::write(&file, damaged).unwrap();
            assert!(cache.get(&text()).is_none());
            assert_eq!(library(&cache, &code), (code.clone().into_bytes(), true));
            assert_eq!(std::fs::read(&file).unwrap(), whole);
        }
    }

    #[test]
    fn a_planted_library_is_not_used() {
        let (dir, cache) = Scratch::new("planted");
        let file = dir.0.join(library_name(&text()));
        let planted = dir.0.join("planted");
        std::fs::write(&planted, sealed(b"evil")).unwrap();
        symlink(&planted, &file).unwrap();
        assert_eq!(library(&cache, "good"), (b"good".to_vec(), true), "a link");
        assert_eq!(
            std::fs::read(&planted).unwrap(),
            sealed(b"evil"),
            "which is not followed to write either"
        );
        std::fs::write(&file, sealed(b"evil")).unwrap();
        assert_eq!(library(&cache, "good").0, b"evil", "the test's file is what the cache takes");
        set_permissions(&file, Permissions::from_mode(0o622)).unwrap();
        assert_eq!(library(&cache, "good"), (b"good".to_vec(), true), "a file that others can write");
    }

    #[test]
    fn what_another_thread_makes_is_waited_for() {
        let (_dir, cache) = Scratch::new("twice");
        let made = std::thread::scope(|scope| {
            let all: Vec<_> = (0..4).map(|_| scope.spawn(|| library(&cache, "x").1)).collect();
            all.into_iter().map(|one| u32::from(one.join().unwrap())).sum::<u32>()
        });
        assert_eq!(made, 1);
    }
}

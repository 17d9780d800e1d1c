//! A place to make something in, which one program has at a time: a folder `.partial-NAME` with a locked file in it. Who wants
//! to make the same waits, and will find it made. The system unlocks the file when a program ends, however it does, so that
//! the remains of one that was killed are known, and removed.

use crate::Leash;
use crate::folder::Folder;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// What the names of such folders begin with.
const PREFIX: &str = ".partial-";
/// The file that is locked.
const LOCK: &str = ".lock";
/// How often it is looked whether another program has finished.
const PATIENCE: Duration = Duration::from_millis(20);

/// The folder, which vanishes with this.
#[derive(Debug)]
pub struct Work {
    folder: Folder,
    _lock: File,
}

impl Work {
    /// Begins to make what is called `name`, in a folder inside `parent`. Waits while another program does, unless the leash
    /// is cut.
    ///
    /// # Errors
    /// If that is not possible, or the leash was cut.
    pub fn begin(parent: &Folder, name: &str, leash: &Leash) -> Result<Work, String> {
        loop {
            let folder = format!("{PREFIX}{name}");
            remove_unless_folder(parent, &folder);
            let folder = parent.inside(&folder)?;
            match Work::lock(folder) {
                Ok(Some(work)) => return Ok(work.emptied()),
                Ok(None) if leash.is_cut() => return Err("given up".to_string()),
                Ok(None) => std::thread::sleep(PATIENCE),
                // Somebody has just removed the folder.
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => return Err(crate::cannot_write(&parent.path().join(name), &e)),
            }
        }
    }

    /// Removes what programs left that were killed at work in `parent`.
    pub fn tidy(parent: &Folder) {
        for name in parent.names() {
            match name.to_str() {
                Some(name) if name.starts_with(PREFIX) => drop(Work::left(parent, name)),
                _ => {}
            }
        }
    }

    /// Remains, if nobody is at work there.
    fn left(parent: &Folder, name: &str) -> Option<Work> {
        remove_unless_folder(parent, name);
        if !parent.path().join(name).exists() {
            return None;
        }
        Work::lock(parent.inside(name).ok()?).ok()?
    }

    /// Where it is.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// None if another program has it.
    fn lock(folder: Folder) -> io::Result<Option<Work>> {
        let lock = folder.lock_file(LOCK)?;
        // Any other error is that of a file system without locks, where nobody waits for anybody.
        if flock(&lock, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
            return Ok(None);
        }
        // Whoever had the lock before may have removed the file.
        let there = std::fs::symlink_metadata(folder.path().join(LOCK))?;
        match there.ino() == lock.metadata()?.ino() {
            true => Ok(Some(Work { folder, _lock: lock })),
            false => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Without the remains of a program that was killed here.
    fn emptied(self) -> Work {
        self.folder.names().iter().filter(|name| *name != LOCK).for_each(|name| self.remove(name.as_ref()));
        self
    }

    fn remove(&self, name: &Path) {
        let path = self.folder.path().join(name);
        match path.symlink_metadata().is_ok_and(|about| about.is_dir()) {
            true => drop(std::fs::remove_dir_all(path)),
            false => drop(std::fs::remove_file(path)),
        }
    }
}

fn remove_unless_folder(parent: &Folder, name: &str) {
    if parent.path().join(name).symlink_metadata().is_ok_and(|about| !about.is_dir()) {
        parent.remove(name);
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.folder.path());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn one_works_at_a_time_and_leaves_nothing() {
        let dir = Scratch::new("work");
        let parent = Folder::at(&dir.0.join("cache")).unwrap();
        let at_work = AtomicU32::new(0);
        let job = || {
            for _ in 0..20 {
                let work = Work::begin(&parent, "it", &Leash::default()).unwrap();
                assert_eq!(at_work.fetch_add(1, Ordering::SeqCst), 0);
                assert_eq!(work.folder().names(), [LOCK]);
                work.folder().write("made", b"x", 0o600).unwrap();
                at_work.fetch_sub(1, Ordering::SeqCst);
            }
        };
        std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(job))));
        assert!(parent.names().is_empty());
    }

    #[test]
    fn remains_are_removed_and_what_is_at_work_stays() {
        let dir = Scratch::new("work-remains");
        let parent = Folder::at(&dir.0.join("cache")).unwrap();
        let remains = parent.inside(".partial-killed").unwrap();
        remains.lock_file(LOCK).unwrap();
        remains.inside("packet").unwrap().write("lib.rs", b"", 0o600).unwrap();
        std::os::unix::fs::symlink("/", parent.path().join(".partial-link")).unwrap();
        parent.write(".partial-7.so", b"", 0o600).unwrap();
        parent.write("other", b"", 0o600).unwrap();
        let work = Work::begin(&parent, "busy", &Leash::default()).unwrap();
        Work::tidy(&parent);
        let mut names = parent.names();
        names.sort();
        assert_eq!(names, [".partial-busy", "other"]);
        drop(work);
        assert_eq!(parent.names(), ["other"]);
    }

    #[test]
    fn who_waits_can_be_called_off() {
        let dir = Scratch::new("work-waits");
        let parent = Folder::at(&dir.0.join("cache")).unwrap();
        let _busy = Work::begin(&parent, "it", &Leash::default()).unwrap();
        let leash = Leash::default();
        leash.cut();
        assert!(Work::begin(&parent, "it", &leash).is_err());
    }
}

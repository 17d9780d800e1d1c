//! Folders whose files may be run: they and all that is in them belong to the effective user, and nobody else can write there.
//!
//! A folder is opened once, looked at through its descriptor, and used through it, so that what was looked at is what is used.
//! Links are not followed. In the usual place the folders above must be such that nobody else can put another folder there.

use crate::owner::{distrust, distrust_above};
use crate::trouble;
use crate::write::write_in;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, mkdirat, openat, renameat, unlinkat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File};
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// What to do about a folder that is not trusted.
const REMEDY: &str = "what is compiled is kept in a folder of the user's own; set CLICKWORK_CACHE to one that nobody else can \
                      write to";

/// An open folder of the effective user's.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    descriptor: OwnedFd,
}

impl Folder {
    /// Opens a folder that the user names, who answers for the folders above. If it is not there it is made, with those above,
    /// for the user alone.
    ///
    /// # Errors
    /// If that is not possible, or somebody else could put something there: why, and what to do.
    pub fn at(path: &Path) -> Result<Folder, String> {
        let place = place(path)?;
        Folder::open(CWD.as_fd(), place.as_os_str(), place.clone())
    }

    /// The same in a place that nobody has named: it is of no use to root in the home of somebody else, for example, who could put
    /// another folder there.
    ///
    /// # Errors
    /// As [`Folder::at`].
    pub fn in_safe_place(path: &Path) -> Result<Folder, String> {
        let place = place(path)?;
        match distrust_above(&place) {
            Some(why) => Err(format!("{}: {why}: {REMEDY}", place.display())),
            None => Folder::open(CWD.as_fd(), place.as_os_str(), place.clone()),
        }
    }

    /// A folder in this one, made if it is not there.
    ///
    /// # Errors
    /// As [`Folder::at`].
    pub fn inside(&self, name: &str) -> Result<Folder, String> {
        Folder::open(self.descriptor.as_fd(), OsStr::new(name), self.path.join(name))
    }

    fn open(above: std::os::fd::BorrowedFd<'_>, name: &OsStr, path: PathBuf) -> Result<Folder, String> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let descriptor = loop {
            match mkdirat(above, name, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(e) => return Err(trouble::cannot_write(&path, &e.into())),
            }
            match openat(above, name, flags, Mode::empty()) {
                Ok(descriptor) => break descriptor,
                // Whoever worked there has just removed it.
                Err(Errno::NOENT) => {}
                Err(Errno::LOOP | Errno::NOTDIR) => {
                    return Err(format!(
                        "{}: this is a link or a file, not a folder: {REMEDY}",
                        path.display()
                    ));
                }
                Err(e) => return Err(trouble::cannot_write(&path, &e.into())),
            }
        };
        let stat = fstat(&descriptor).map_err(|e| trouble::cannot_write(&path, &e.into()))?;
        match distrust(&stat) {
            Some(why) => Err(format!("{}: {why}: {REMEDY}", path.display())),
            None => Ok(Folder { path, descriptor }),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a file to read.
    ///
    /// # Errors
    /// If it is not there, or is no ordinary file of the user's that nobody else can write to.
    pub fn file(&self, name: &str) -> io::Result<File> {
        // A pipe would make us wait.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(&self.descriptor, name, flags, Mode::empty())?;
        let stat = fstat(&file)?;
        let odd = (FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile)
            .then(|| "it is no ordinary file".to_string());
        match odd.or_else(|| distrust(&stat)) {
            Some(why) => Err(io::Error::new(io::ErrorKind::PermissionDenied, why)),
            None => Ok(file.into()),
        }
    }

    /// All bytes of a file.
    ///
    /// # Errors
    /// As [`Folder::file`].
    pub fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.file(name)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Writes a file, which appears complete or not at all.
    ///
    /// # Errors
    /// Why that is not possible, and what to do.
    pub fn write(&self, name: &str, bytes: &[u8], mode: u32) -> Result<(), String> {
        let mode = Mode::from_raw_mode(mode & !0o022);
        let written = write_in(self.descriptor.as_fd(), OsStr::new(name), bytes, mode, None);
        written.map_err(|e| trouble::cannot_write(&self.path.join(name), &e))
    }

    /// Opens a file to lock; it is made if it is not there.
    pub(crate) fn lock_file(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(&self.descriptor, name, flags, Mode::RUSR | Mode::WUSR)?.into())
    }

    /// Moves a file or folder from another folder here.
    ///
    /// # Errors
    /// Those of the system.
    pub fn take(&self, from: &Folder, name: &str) -> io::Result<()> {
        Ok(renameat(&from.descriptor, name, &self.descriptor, name)?)
    }

    /// Has all that is in it written to the disk, for what is about to get its final name.
    pub fn sync(&self) {
        let _ = rustix::fs::syncfs(&self.descriptor);
    }

    /// Removes a file or a link.
    pub fn remove(&self, name: &str) {
        let _ = unlinkat(&self.descriptor, name, AtFlags::empty());
    }

    /// The names of what is in it.
    pub fn names(&self) -> Vec<OsString> {
        std::fs::read_dir(&self.path).into_iter().flatten().flatten().map(|entry| entry.file_name()).collect()
    }
}

/// Where a folder really is. Those above are made if they are not there.
fn place(path: &Path) -> Result<PathBuf, String> {
    let failed = |e: io::Error| trouble::cannot_write(path, &e);
    let above = path.parent().unwrap_or(path);
    DirBuilder::new().recursive(true).mode(0o700).create(above).map_err(failed)?;
    let above = std::fs::canonicalize(above).map_err(failed)?;
    Ok(path.file_name().map_or_else(|| above.clone(), |name| above.join(name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_folder_is_made_for_the_user_alone() {
        let dir = Scratch::new("folder");
        let folder = Folder::at(&dir.0.join("new/cache")).unwrap();
        assert_eq!(fs::metadata(dir.0.join("new")).unwrap().mode() & 0o777, 0o700);
        folder.write("file", b"x", 0o600).unwrap();
        assert_eq!(folder.read("file").unwrap(), b"x");
        let inside = folder.inside("inside").unwrap();
        assert_eq!(fs::metadata(inside.path()).unwrap().mode() & 0o777, 0o700);
        assert!(Folder::at(folder.path()).is_ok(), "a second time");
    }

    #[test]
    fn folders_that_others_can_write_to_are_refused() {
        let dir = Scratch::new("folder-open");
        let folder = Folder::at(&dir.0.join("cache")).unwrap();
        folder.inside("inside").unwrap();
        for open in [0o770, 0o707, 0o1777] {
            mode(folder.path(), open);
            let why = Folder::at(folder.path()).unwrap_err();
            assert!(why.contains("others can write to it") && why.contains("CLICKWORK_CACHE"), "{why}");
            mode(&folder.path().join("inside"), open);
            assert!(folder.inside("inside").is_err());
        }
        mode(folder.path(), 0o700);
        mode(&dir.0, 0o777);
        let why = Folder::in_safe_place(folder.path()).unwrap_err();
        assert!(why.contains("above it can be written by everybody"), "{why}");
        mode(&dir.0, 0o1777);
        assert!(Folder::in_safe_place(folder.path()).is_ok(), "as in /tmp");
    }

    #[test]
    fn links_in_the_place_of_folders_and_files_are_refused() {
        let dir = Scratch::new("folder-links");
        let real = Folder::at(&dir.0.join("real")).unwrap();
        real.write("file", b"x", 0o600).unwrap();
        symlink("real", dir.0.join("cache")).unwrap();
        let why = Folder::at(&dir.0.join("cache")).unwrap_err();
        assert!(why.contains("this is a link"), "{why}");
        symlink("file", real.path().join("link")).unwrap();
        assert!(real.read("file").is_ok() && real.read("link").is_err());
        symlink("..", real.path().join("up")).unwrap();
        assert!(real.inside("up").is_err());
        real.write("link", b"y", 0o600).unwrap();
        assert_eq!(real.read("file").unwrap(), b"x", "a link is replaced, not followed");
    }

    #[test]
    fn files_that_others_can_write_and_pipes_are_refused() {
        let dir = Scratch::new("folder-files");
        let folder = Folder::at(&dir.0.join("cache")).unwrap();
        folder.write("file", b"x", 0o666).unwrap();
        assert!(folder.read("file").is_ok(), "it was not made like that");
        mode(&folder.path().join("file"), 0o620);
        assert!(folder.read("file").unwrap_err().to_string().contains("others can write"));
        rustix::fs::mkfifoat(CWD, folder.path().join("pipe"), Mode::RWXU).unwrap();
        assert!(folder.read("pipe").unwrap_err().to_string().contains("no ordinary file"));
    }
}

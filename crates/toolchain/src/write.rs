//! Files that appear complete or not at all: written without a name, synced, then given their name, under which an old file is
//! whole until then. A program that is killed meanwhile leaves nothing behind.

use rustix::fs::{AtFlags, CWD, Mode, OFlags, fsync, linkat, openat, renameat, unlinkat};
use std::ffi::OsStr;
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Writes a file of any place. A link is followed; what is no ordinary file, or has other names, or is somebody else's, is
/// written to as it is. An old file keeps its mode; a new one gets `mode`, less the user's mask.
///
/// # Errors
/// Those of the system. Then an ordinary file is as it was.
pub fn replace(file: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let old = std::fs::metadata(file).ok();
    if old.as_ref().is_some_and(|old| !can_be_replaced(old)) {
        return std::fs::write(file, bytes);
    }
    let place = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_path_buf());
    let name = place.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    let above = place.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = File::open(above)?;
    let mode = Mode::from_raw_mode(mode);
    write_in(folder.as_fd(), name, bytes, mode, old.map(|old| old.permissions().mode()))
}

fn can_be_replaced(old: &std::fs::Metadata) -> bool {
    old.is_file() && old.nlink() == 1 && old.uid() == rustix::process::geteuid().as_raw()
}

/// Writes a file of a folder. `exact` is its mode if the user's mask is not to be asked.
pub(crate) fn write_in(
    folder: BorrowedFd<'_>,
    name: &OsStr,
    bytes: &[u8],
    mode: Mode,
    exact: Option<u32>,
) -> io::Result<()> {
    let Unfinished { mut file, temporary, is_named } = unfinished(folder, name, mode)?;
    let done = (|| {
        file.write_all(bytes)?;
        if let Some(mode) = exact {
            file.set_permissions(std::fs::Permissions::from_mode(mode & 0o7777))?;
        }
        file.sync_all()?;
        if !is_named {
            let unnamed = format!("/proc/self/fd/{}", file.as_raw_fd());
            linkat(CWD, unnamed, folder, &temporary, AtFlags::SYMLINK_FOLLOW)?;
        }
        renameat(folder, &temporary, folder, name)?;
        // Not all file systems can sync a folder.
        let _ = fsync(folder);
        Ok(())
    })();
    if done.is_err() {
        let _ = unlinkat(folder, &temporary, AtFlags::empty());
    }
    done
}

/// A file in the making.
struct Unfinished {
    file: File,
    /// A name for it, which nobody else uses.
    temporary: PathBuf,
    /// Whether it has that name already: some file systems have no files without names.
    is_named: bool,
}

fn unfinished(folder: BorrowedFd<'_>, name: &OsStr, mode: Mode) -> io::Result<Unfinished> {
    let temporary = temporary(name);
    let common = OFlags::WRONLY | OFlags::CLOEXEC;
    if let Ok(file) = openat(folder, ".", common | OFlags::TMPFILE, mode)
        && Path::new("/proc/self/fd").exists()
    {
        return Ok(Unfinished { file: file.into(), temporary, is_named: false });
    }
    let new = common | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
    let file = openat(folder, &temporary, new, mode)?.into();
    Ok(Unfinished { file, temporary, is_named: true })
}

fn temporary(name: &OsStr) -> PathBuf {
    let random = RandomState::new().build_hasher().finish();
    format!(".{}.{random:016x}", name.to_string_lossy().chars().take(40).collect::<String>()).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;
    use std::fs;

    #[test]
    fn an_old_file_is_replaced_and_keeps_its_mode() {
        let dir = Scratch::new("replace");
        let file = dir.0.join("file");
        replace(&file, b"one", 0o755).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        let reader = File::open(&file).unwrap();
        std::os::unix::fs::symlink("file", dir.0.join("link")).unwrap();
        replace(&dir.0.join("link"), b"two", 0o755).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"two");
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o640);
        assert_eq!(io::read_to_string(reader).unwrap(), "one", "whoever reads it reads on");
        assert_eq!(fs::read_dir(&dir.0).unwrap().count(), 2, "nothing is left");
    }

    #[test]
    fn what_is_no_ordinary_file_is_written_to() {
        let dir = Scratch::new("replace-device");
        replace(Path::new("/dev/null"), b"x", 0o644).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        fs::write(dir.0.join("a"), "old").unwrap();
        fs::hard_link(dir.0.join("a"), dir.0.join("b")).unwrap();
        replace(&dir.0.join("a"), b"new", 0o644).unwrap();
        assert_eq!(fs::read(dir.0.join("b")).unwrap(), b"new", "both names are those of one file");
        fs::create_dir(dir.0.join("folder")).unwrap();
        assert!(replace(&dir.0.join("folder"), b"x", 0o644).is_err());
        assert!(replace(&dir.0.join("no/where"), b"x", 0o644).is_err());
    }

    #[test]
    fn if_the_disk_is_full_the_old_file_stays() {
        // No disk, but a limit of the same kind: a file system that takes no bytes.
        let full = Path::new("/dev/full");
        if full.exists() {
            assert_eq!(replace(full, b"x", 0o644).unwrap_err().kind(), io::ErrorKind::StorageFull);
        }
    }
}

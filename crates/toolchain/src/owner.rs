//! Whose files and folders are trusted: what is in them is run as the effective user, who may be root.

use rustix::fs::{AtFlags, CWD, Stat, statat};
use rustix::process::geteuid;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Bits of a mode that let group and others write.
const WRITABLE: u32 = 0o022;
/// Those that let all others write, and the one that keeps them from touching each other's files.
const WRITABLE_BY_ALL: u32 = 0o002;
const STICKY: u32 = 0o1000;

/// Why a file or folder is not to be trusted: it is not the effective user's, or others can write to it.
pub(crate) fn distrust(stat: &Stat) -> Option<String> {
    let user = geteuid().as_raw();
    match stat.st_mode {
        _ if stat.st_uid != user => Some(format!("it belongs to user {}, not to {user}", stat.st_uid)),
        mode if mode & WRITABLE != 0 => {
            Some(format!("others can write to it (its mode is {:o})", mode & 0o7777))
        }
        _ => None,
    }
}

/// Why a folder above one that is trusted cannot be: somebody else could put another one in its place.
pub(crate) fn distrust_above(folder: &Path) -> Option<String> {
    folder.ancestors().skip(1).find_map(|above| {
        let stat = statat(CWD, above, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let who = stat.st_uid;
        let open = stat.st_mode & WRITABLE_BY_ALL != 0 && stat.st_mode & STICKY == 0;
        let why = match is_own_or_system(who) {
            false => format!("belongs to user {who}"),
            true if open => "can be written by everybody".to_string(),
            true => return None,
        };
        Some(format!("the folder {} above it {why}", above.display()))
    })
}

/// Whether a file says what is to be run only by the word of those who may say it: the effective user, the system (whoever
/// owns `/`), and the owner of `folder`, whose files are being used.
pub fn may_be_obeyed(file: &Path, folder: &Path) -> bool {
    let owner = |path: &Path| std::fs::metadata(path).ok().map(|about| about.uid());
    std::fs::metadata(file).is_ok_and(|about| {
        let known = is_own_or_system(about.uid()) || owner(folder) == Some(about.uid());
        known && about.mode() & WRITABLE_BY_ALL == 0
    })
}

fn is_own_or_system(user: u32) -> bool {
    user == geteuid().as_raw() || std::fs::metadata("/").is_ok_and(|root| root.uid() == user)
}

//! Writing files so that an old one stays whole until the new one is complete.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::input::reason;

/// Prints to standard output. A reader that goes away is no error.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Writes several files: all under temporary names first, which then become the real ones.
///
/// # Errors
/// What could not be written and why. Then no file was changed, unless renaming itself failed.
pub fn write_all(files: &[(PathBuf, String)]) -> Result<(), String> {
    let mut written: Vec<(PathBuf, PathBuf)> = Vec::new();
    let result = files.iter().try_for_each(|(path, text)| {
        let target = target(path)?;
        let (mut file, temporary) = temporary(&target).map_err(|e| cannot_write(path, &reason(&e)))?;
        written.push((temporary, target));
        let done = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
        done.map_err(|e| cannot_write(path, &reason(&e)))
    });
    let renamed = result.and_then(|()| {
        written
            .iter()
            .try_for_each(|(from, to)| fs::rename(from, to).map_err(|e| cannot_write(to, &reason(&e))))
    });
    if renamed.is_err() {
        written.iter().for_each(|(temporary, _)| drop(fs::remove_file(temporary)));
    }
    renamed
}

/// Whether no file to be written is one that was read, or another one to be written, under whatever name.
pub fn check_harmless(files: &[(PathBuf, String)], read: &[PathBuf]) -> Result<(), String> {
    let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    let read: Vec<PathBuf> = read.iter().map(real).collect();
    let written: Vec<PathBuf> = files.iter().map(|(path, _)| real(path)).collect();
    let harmed = |&(i, path): &(usize, &PathBuf)| read.contains(path) || written[..i].contains(path);
    match written.iter().enumerate().find(harmed) {
        Some((i, _)) => Err(format!("'{}' would be overwritten by the output", files[i].0.display())),
        None => Ok(()),
    }
}

/// Where a file really is, behind symbolic links.
fn target(path: &Path) -> Result<PathBuf, String> {
    let directory = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if path.is_dir() {
        return Err(cannot_write(path, "it is a directory"));
    }
    if !directory.is_dir() {
        return Err(cannot_write(path, &format!("there is no directory '{}'", directory.display())));
    }
    if path.exists() && !path.is_file() {
        return Err(cannot_write(path, "it is not an ordinary file"));
    }
    Ok(path.canonicalize().unwrap_or_else(|_| path.to_path_buf()))
}

/// A new file beside the one to be written. Nobody else can have put it there, or a link.
fn temporary(path: &Path) -> std::io::Result<(File, PathBuf)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut number = 0;
    loop {
        let temporary = path.with_file_name(format!(".{name}.{}-{number}.tmp", std::process::id()));
        match File::create_new(&temporary) {
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            created => return created.map(|file| (file, temporary)),
        }
    }
}

fn cannot_write(path: &Path, reason: &str) -> String {
    format!("cannot write '{}': {reason}", path.display())
}

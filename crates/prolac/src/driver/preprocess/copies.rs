//! Copies of the source files for the preprocessor.
//!
//! A copy has a word of its own in place of each support block, the same number of lines as its original, and a line
//! mark in front, so that the preprocessor's messages and marks name the original. `#include` of a file that we find
//! names its copy instead.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use clickwork_source::{Diagnostic, FileId, Sources, Span};

use super::Options;
use crate::driver::directives::{self, Include};
use crate::driver::input::{self, SourceFile, reason};

/// One source file and its copy.
#[derive(Debug)]
pub struct Copy {
    /// The original.
    pub id: FileId,
    /// The original's place; `None` for standard input.
    pub path: Option<PathBuf>,
    /// The text with words instead of support blocks.
    pub text: String,
    /// The support blocks, with their marks.
    pub supports: Vec<String>,
    /// The files it includes, by number, and where.
    pub includes: Vec<(usize, Span)>,
}

/// The copies of all files, in a directory that is removed in the end.
#[derive(Debug)]
pub struct Copies<'a> {
    /// The texts of the originals.
    pub sources: &'a mut Sources,
    /// The copies; the files of the command line come first.
    pub copies: Vec<Copy>,
    /// The file that includes all files of the command line.
    pub start: PathBuf,
    directory: PathBuf,
    by_path: HashMap<PathBuf, usize>,
    include: &'a [PathBuf],
}

impl<'a> Copies<'a> {
    /// Copies files and all files that they include.
    ///
    /// # Errors
    /// If the copies cannot be written.
    pub fn new(
        options: &'a Options,
        sources: &'a mut Sources,
        files: &[SourceFile],
    ) -> Result<Self, Diagnostic> {
        let directory = make_directory().map_err(|e| cannot_write(&std::env::temp_dir(), &e))?;
        let start = directory.join("start");
        let by_path = HashMap::new();
        let mut all =
            Copies { sources, copies: Vec::new(), start, directory, by_path, include: &options.include };
        for file in files {
            all.open(file.id, file.path.clone());
        }
        let lines = (0..files.len()).map(|n| format!("#include \"{}\"\n", all.place(n).display()));
        let text: String = lines.collect();
        let mut next = 0;
        while next < all.copies.len() {
            all.write(next)?;
            next += 1;
        }
        std::fs::write(&all.start, text).map_err(|e| cannot_write(&all.start, &e))?;
        Ok(all)
    }

    /// The number of a file, which is made a copy of if there is none.
    fn open(&mut self, id: FileId, path: Option<PathBuf>) -> usize {
        let number = self.copies.len();
        if let Some(path) = &path {
            self.by_path.insert(real(path), number);
        }
        self.copies.push(Copy { id, path, text: String::new(), supports: Vec::new(), includes: Vec::new() });
        number
    }

    /// Where the copy of a file is.
    fn place(&self, number: usize) -> PathBuf {
        self.directory.join(format!("{number}.pc"))
    }

    /// Makes the text of a copy and writes it.
    fn write(&mut self, number: usize) -> Result<(), Diagnostic> {
        let id = self.copies[number].id;
        let original = self.sources.text(id).to_string();
        let found = directives::find(&original);
        let supports = found.supports.into_iter().map(|range| (range, None));
        let includes = found.directives.into_iter().filter_map(|d| d.include);
        let mut changes: Vec<_> = supports.chain(includes.map(|i| (i.range.clone(), Some(i)))).collect();
        changes.sort_by_key(|(range, _)| range.start);
        let mut text = String::new();
        let mut done = 0;
        for (range, include) in changes {
            text.push_str(&original[done..range.start]);
            done = range.end;
            let old = &original[range];
            match include {
                Some(include) => text.push_str(&self.included_name(number, &include, old)?),
                None => text.push_str(&self.put_away(number, old)),
            }
        }
        text.push_str(&original[done..]);
        let mark = format!("#line 1 {}\n", quoted(self.sources.name(id)));
        let place = self.place(number);
        let written = std::fs::write(&place, format!("{mark}{text}"));
        self.copies[number].text = text;
        written.map_err(|e| cannot_write(&place, &e))
    }

    /// What to include instead: the copy of the file, or what was written if there is no such file.
    fn included_name(&mut self, number: usize, include: &Include, old: &str) -> Result<String, Diagnostic> {
        let Some(path) = self.find(number, include) else { return Ok(old.to_string()) };
        let range = &include.range;
        let span = Span::new(self.copies[number].id, range.start as u32, range.end as u32);
        let known = self.by_path.get(&real(&path)).copied();
        let target = match known {
            Some(target) => target,
            None => {
                let id = input::add(self.sources, Some(&path), span)?;
                self.open(id, Some(path))
            }
        };
        self.copies[number].includes.push((target, span));
        Ok(quoted(&self.place(target).display().to_string()))
    }

    fn find(&self, number: usize, include: &Include) -> Option<PathBuf> {
        let own = self.copies[number].path.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        let own = (!include.angled).then_some(own);
        let directories = own.into_iter().chain(self.include.iter().map(PathBuf::as_path));
        directories.map(|d| d.join(&include.name)).find(|path| path.is_file())
    }

    /// The word for a support block, with as many ends of lines.
    fn put_away(&mut self, number: usize, block: &str) -> String {
        let supports = &mut self.copies[number].supports;
        supports.push(block.to_string());
        let lines = "\n".repeat(block.matches('\n').count());
        format!(" {}{number}_{}__ {lines}", WORD, supports.len() - 1)
    }

    /// The block that a word stands for: with the numbers after [`WORD`].
    pub fn support(&self, file: usize, block: usize) -> Option<&str> {
        self.copies.get(file)?.supports.get(block).map(String::as_str)
    }

    /// The directories of all files, for includes whose names only the preprocessor knows.
    pub fn directories(&self) -> Vec<&Path> {
        let parents = self.copies.iter().filter_map(|c| c.path.as_deref()?.parent());
        let mut all: Vec<&Path> = parents.filter(|p| !p.as_os_str().is_empty()).collect();
        all.push(Path::new("."));
        all.dedup();
        all
    }

    /// The files that were included.
    pub fn included(&self) -> Vec<PathBuf> {
        let mut all: Vec<usize> = self.copies.iter().flat_map(|c| &c.includes).map(|&(n, _)| n).collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter().filter_map(|n| self.copies[n].path.clone()).collect()
    }

    /// Files of which each includes the next and the last the first, with the places of their `#include`.
    pub fn cycle(&self) -> Option<Vec<(usize, Span)>> {
        let mut state = vec![false; self.copies.len()];
        (0..self.copies.len()).find_map(|n| self.cycle_from(n, &mut Vec::new(), &mut state))
    }

    fn cycle_from(
        &self,
        file: usize,
        path: &mut Vec<(usize, Span)>,
        done: &mut [bool],
    ) -> Option<Vec<(usize, Span)>> {
        if let Some(start) = path.iter().position(|&(f, _)| f == file) {
            return Some(path[start..].to_vec());
        }
        if done[file] {
            return None;
        }
        for &(target, span) in &self.copies[file].includes {
            path.push((file, span));
            let found = self.cycle_from(target, path, done);
            if found.is_some() {
                return found;
            }
            path.pop();
        }
        done[file] = true;
        None
    }
}

impl Drop for Copies<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// What the words for support blocks begin with; the numbers of the file and of the block follow. Names with two
/// underscores in a row are reserved in Prolac.
pub const WORD: &str = "__prolac_support_";

/// A file name as a C string.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

/// A new directory that only we can read.
fn make_directory() -> std::io::Result<PathBuf> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let mut number = 0;
    loop {
        let path = std::env::temp_dir().join(format!("prolacc-{}-{number}", std::process::id()));
        match builder.create(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            result => return result.map(|()| path),
        }
    }
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Diagnostic {
    let message = format!("cannot write '{}' for the C preprocessor: {}", path.display(), reason(error));
    Diagnostic::error(Span::NONE, message).hint("set TMPDIR to a directory that can be written")
}

//! Reading source files: what the command line names, lists of files, standard input.
//!
//! Everything that can be wrong with a file is a message: missing, a directory, not UTF-8, named twice.

use std::io::Read;
use std::path::{Path, PathBuf};

use clickwork_source::{Diagnostic, Diagnostics, FileId, Sources, Span, suggest};

/// A file that was read.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Its text in the [`Sources`].
    pub id: FileId,
    /// Where it is; `None` for standard input.
    pub path: Option<PathBuf>,
}

/// Reads files into a [`Sources`].
pub struct Reader<'a> {
    /// Where the texts go.
    pub sources: &'a mut Sources,
    /// What is wrong.
    pub diagnostics: &'a mut Diagnostics,
    /// The Prolac files, in order.
    pub files: Vec<SourceFile>,
    /// The lists that were read.
    pub lists: Vec<PathBuf>,
    /// The lists being read, outermost first.
    open: Vec<PathBuf>,
}

/// Spans count bytes in 32 bits.
const MAX_SIZE: usize = u32::MAX as usize;

impl<'a> Reader<'a> {
    /// A reader without files.
    pub fn new(sources: &'a mut Sources, diagnostics: &'a mut Diagnostics) -> Self {
        Reader { sources, diagnostics, files: Vec::new(), lists: Vec::new(), open: Vec::new() }
    }

    /// Reads a file, `-` for standard input, or `@LIST` for the files that a list names.
    pub fn word(&mut self, word: &str) {
        self.entry(word, Path::new(""), Span::NONE);
    }

    /// A word of the command line or a line of a list. `from` is the directory it is relative to, `span` its place.
    fn entry(&mut self, word: &str, from: &Path, span: Span) {
        match word.strip_prefix('@') {
            Some(list) => self.list(&from.join(list), span),
            None => self.file(word, from, span),
        }
    }

    fn file(&mut self, word: &str, from: &Path, span: Span) {
        let path = (word != "-").then(|| from.join(word));
        if self.files.iter().any(|f| f.path == path) {
            let message = format!("{} is named twice", shown(path.as_deref()));
            self.diagnostics.push(Diagnostic::error(span, message));
            return;
        }
        if let Some(id) = self.text(path.as_deref(), span) {
            self.files.push(SourceFile { id, path });
        }
    }

    fn list(&mut self, path: &Path, span: Span) {
        if self.open.iter().any(|open| open == path) {
            let message = format!("the list '{}' contains itself", path.display());
            self.diagnostics.push(Diagnostic::error(span, message));
            return;
        }
        let Some(id) = self.text(Some(path), span) else { return };
        self.lists.push(path.to_path_buf());
        self.open.push(path.to_path_buf());
        let text = self.sources.text(id).to_string();
        let from = path.parent().unwrap_or(Path::new(""));
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let name = line.trim();
            let at = (start + line.find(name).unwrap_or(0)) as u32;
            start += line.len();
            if !name.is_empty() && !name.starts_with('#') && !name.starts_with("//") {
                self.entry(name, from, Span::new(id, at, at + name.len() as u32));
            }
        }
        self.open.pop();
    }

    fn text(&mut self, path: Option<&Path>, span: Span) -> Option<FileId> {
        match add(self.sources, path, span) {
            Ok(id) => Some(id),
            Err(error) => {
                self.diagnostics.push(error);
                None
            }
        }
    }
}

/// Adds the text of a file, of standard input if there is no path. `span` is the place that names it.
///
/// # Errors
/// What is wrong with it.
pub fn add(sources: &mut Sources, path: Option<&Path>, span: Span) -> Result<FileId, Diagnostic> {
    let bytes = read(path).map_err(|error| {
        let message = format!("cannot read {}: {}", shown(path), reason(&error));
        let similar = path.filter(|_| error.kind() == std::io::ErrorKind::NotFound).and_then(similar);
        let diagnostic = Diagnostic::error(span, message);
        match similar {
            Some(name) => diagnostic.hint(format!("did you mean '{name}'?")),
            None => diagnostic,
        }
    })?;
    let name = path.map_or("<stdin>".into(), |p| p.display().to_string());
    match String::from_utf8(bytes) {
        Ok(text) => Ok(sources.add(name, text.strip_prefix('\u{feff}').unwrap_or(&text))),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let byte = error.as_bytes()[at];
            let id = sources.add(name, String::from_utf8_lossy(error.as_bytes()));
            let place = Span::new(id, at as u32, at as u32 + 1);
            let message = format!("{} is not UTF-8: it has a byte 0x{byte:02x} here", shown(path));
            let hint = "save the file as UTF-8; a Prolac program needs nothing beyond ASCII";
            Err(Diagnostic::error(place, message).hint(hint))
        }
    }
}

fn read(path: Option<&Path>) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match path {
        None => std::io::stdin().lock().read_to_end(&mut bytes)?,
        Some(path) if path.is_dir() => return Err(std::io::Error::other("it is a directory")),
        Some(path) => std::fs::File::open(path)?.read_to_end(&mut bytes)?,
    };
    // Bytes that are not UTF-8 become three each.
    match bytes.len() < MAX_SIZE / 3 {
        true => Ok(bytes),
        false => Err(std::io::Error::other("it is larger than 1 GiB")),
    }
}

/// A file of the same directory with nearly the same name.
fn similar(path: &Path) -> Option<String> {
    let directory = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort_unstable();
    let name = suggest(path.file_name()?.to_str()?, names.iter().map(String::as_str))?;
    Some(path.with_file_name(name).display().to_string())
}

/// What messages call a file.
fn shown(path: Option<&Path>) -> String {
    path.map_or("standard input".into(), |p| format!("'{}'", p.display()))
}

/// An error of the system without the number that Rust adds.
pub fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.rfind(" (os error ").map_or(text.clone(), |at| text[..at].to_string())
}

//! The TCP as a set of files: which extensions there are, what each needs, and any subset of them as C.
//!
//! Nothing is listed here. `tcp/all.list` names all files in the order in which they are put together, and the first
//! lines of an extension say the rest:
//!
//! ```text
//! // One line about what it is. RFC 5681 §3.1.
//! // Needs: slow-start.pc
//! ```
//!
//! Not part of the library, which has its TCP compiled in: the build script, the example `compose` and the tests include
//! this file. Read [`Catalogue`] first.

use std::fmt;
use std::path::{Path, PathBuf};

use clickwork_prolac::emit::Output;
use clickwork_prolac::optimize;
use clickwork_prolac::{Compilation, Options};
use clickwork_source::{Severity, render_human};

/// An extension: one file that can be left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    /// The file's name without `.pc`.
    pub name: String,
    /// What it is, in a sentence.
    pub about: String,
    /// The numbers of the RFCs that its opening comment names.
    pub rfcs: Vec<u32>,
    /// The extensions without which it is nothing.
    pub needs: Vec<String>,
}

/// All files of the TCP, in the order in which they are put together.
#[derive(Clone, Debug)]
pub struct Catalogue {
    files: Vec<File>,
}

#[derive(Clone, Debug)]
struct File {
    path: PathBuf,
    /// None: a file of the base.
    extension: Option<Extension>,
}

/// Why a subset cannot be composed.
#[derive(Debug)]
#[allow(missing_docs)]
pub enum Error {
    Read { path: PathBuf, error: std::io::Error },
    Unknown { name: String, known: Vec<String> },
    Missing { extension: String, needs: String },
    Late { extension: String, needs: String },
    Prolac(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Read { path, error } => write!(f, "{}: {error}", path.display()),
            Error::Unknown { name, known } => {
                write!(f, "there is no extension `{name}`; there are: {}", known.join(", "))
            }
            Error::Missing { extension, needs } => {
                write!(f, "the extension `{extension}` needs `{needs}`, which is not there: add it")
            }
            Error::Late { extension, needs } => {
                write!(f, "all.list: `{extension}` needs `{needs}`, which must stand before it")
            }
            Error::Prolac(messages) => f.write_str(messages),
        }
    }
}

impl std::error::Error for Error {}

impl Catalogue {
    /// Reads `all.list` in `folder` and the opening comments of the extensions.
    pub fn read(folder: &Path) -> Result<Catalogue, Error> {
        let mut files = Vec::new();
        read_list(&folder.join("all.list"), &mut files)?;
        let catalogue = Catalogue { files };
        catalogue.check_order()?;
        Ok(catalogue)
    }

    /// All extensions, in the order in which they are applied.
    pub fn extensions(&self) -> impl Iterator<Item = &Extension> {
        self.files.iter().filter_map(|file| file.extension.as_ref())
    }

    /// The names of all extensions, in that order.
    pub fn names(&self) -> Vec<String> {
        self.extensions().map(|extension| extension.name.clone()).collect()
    }

    /// The files of the base and of the named extensions, in the order in which they are put together.
    pub fn files(&self, names: &[String]) -> Result<Vec<&Path>, Error> {
        let chosen = self.chosen(names)?;
        for extension in &chosen {
            if let Some(needs) =
                extension.needs.iter().find(|needs| !chosen.iter().any(|c| c.name == **needs))
            {
                return Err(Error::Missing { extension: extension.name.clone(), needs: needs.clone() });
            }
        }
        let in_subset = |file: &&File| file.extension.as_ref().is_none_or(|e| chosen.contains(&e));
        Ok(self.files.iter().filter(in_subset).map(|file| file.path.as_path()).collect())
    }

    /// The named extensions and all that they need, in the order of application.
    pub fn with_needs(&self, names: &[String]) -> Result<Vec<String>, Error> {
        let mut all: Vec<String> = self.chosen(names)?.iter().map(|e| e.name.clone()).collect();
        let mut at = 0;
        while let Some(name) = all.get(at).cloned() {
            let needs = self.find(&name)?.needs.iter().filter(|needs| !all.contains(needs)).cloned();
            all.extend(needs.collect::<Vec<_>>());
            at += 1;
        }
        Ok(self.chosen(&all)?.iter().map(|e| e.name.clone()).collect())
    }

    /// A subset as C. `stem` names the two files that the C will stand in; `level` is that of the optimiser.
    pub fn compile(&self, names: &[String], stem: &str, level: u8) -> Result<Output, Error> {
        let mut compilation = self.compilation(names, level)?;
        let output = compilation.emit(&format!("{stem}.c"), &format!("{stem}.h"));
        output.ok_or_else(|| Error::Prolac(messages(&compilation)))
    }

    /// The compiler with the files of a subset read.
    pub fn compilation(&self, names: &[String], level: u8) -> Result<Compilation, Error> {
        let words: Vec<String> = self.files(names)?.iter().map(|file| file.display().to_string()).collect();
        let optimize = optimize::Options { level, ..optimize::Options::default() };
        let mut compilation = Compilation::new(Options { optimize, ..Options::default() });
        match compilation.read(&words) {
            Some(()) => Ok(compilation),
            None => Err(Error::Prolac(messages(&compilation))),
        }
    }

    /// The named extensions, in the order of application, each once.
    fn chosen(&self, names: &[String]) -> Result<Vec<&Extension>, Error> {
        let named = names.iter().map(|name| self.find(name)).collect::<Result<Vec<_>, _>>()?;
        Ok(self.extensions().filter(|extension| named.contains(extension)).collect())
    }

    fn find(&self, name: &str) -> Result<&Extension, Error> {
        let short = name.strip_suffix(".pc").unwrap_or(name);
        let unknown = || Error::Unknown { name: name.to_string(), known: self.names() };
        self.extensions().find(|extension| extension.name == short).ok_or_else(unknown)
    }

    /// What an extension needs exists, and comes before it.
    fn check_order(&self) -> Result<(), Error> {
        let mut before: Vec<&String> = Vec::new();
        for extension in self.extensions() {
            for needs in &extension.needs {
                self.find(needs)?;
                if !before.contains(&needs) {
                    return Err(Error::Late { extension: extension.name.clone(), needs: needs.clone() });
                }
            }
            before.push(&extension.name);
        }
        Ok(())
    }
}

/// Errors and warnings of a compilation, for people.
pub fn messages(compilation: &Compilation) -> String {
    let errors = compilation.diagnostics.iter().filter(|d| d.severity == Severity::Error);
    errors.take(20).map(|d| render_human(&compilation.sources, d, false)).collect()
}

/// Lists as `prolacc` reads them (docs/prolac/reference.md §16.1).
fn read_list(list: &Path, files: &mut Vec<File>) -> Result<(), Error> {
    let folder = list.parent().unwrap_or(Path::new(""));
    let text = read(list)?;
    let lines = text.lines().map(str::trim);
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#') && !line.starts_with("//")) {
        match line.strip_prefix('@') {
            Some(other) => read_list(&folder.join(other), files)?,
            None => files.push(read_file(folder.join(line))?),
        }
    }
    Ok(())
}

fn read_file(path: PathBuf) -> Result<File, Error> {
    let is_extension = |folder: &Path| folder.ends_with("extensions") || folder.ends_with("examples");
    let is_extension = path.parent().is_some_and(is_extension);
    let extension = if is_extension { Some(opening(&path, &read(&path)?)) } else { None };
    Ok(File { path, extension })
}

fn read(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|error| Error::Read { path: path.to_path_buf(), error })
}

/// What the opening comment of an extension says.
fn opening(path: &Path, text: &str) -> Extension {
    let comment: Vec<&str> =
        text.lines().map_while(|line| line.trim().strip_prefix("//")).map(str::trim).collect();
    let needs = comment.iter().find_map(|line| line.strip_prefix("Needs:")).unwrap_or_default();
    let needs = needs.split([',', ' ']).map(|word| word.trim().trim_end_matches('.'));
    Extension {
        name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        about: first_sentence(&comment.join(" ")),
        rfcs: rfcs(&comment.join(" ")),
        needs: needs.filter_map(|word| word.strip_suffix(".pc")).map(str::to_string).collect(),
    }
}

/// Up to the first full stop that ends a word.
fn first_sentence(comment: &str) -> String {
    comment.split_once(". ").map_or(comment, |(sentence, _)| sentence).trim_end_matches('.').to_string()
}

/// The numbers that follow `RFC` or `RFCs`, each once.
fn rfcs(comment: &str) -> Vec<u32> {
    let mut found = Vec::new();
    let words = comment.split(|c: char| !c.is_alphanumeric() && c != '.').filter(|word| !word.is_empty());
    let mut after = false;
    for word in words {
        let number = word.trim_end_matches('.').parse().ok().filter(|n| (700..10_000).contains(n));
        match number {
            Some(n) if after && !found.contains(&n) => found.push(n),
            Some(_) => {}
            None => after = matches!(word, "RFC" | "RFCs") || (after && word == "and"),
        }
    }
    found
}

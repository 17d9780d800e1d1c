//! Runs the C preprocessor on the files that use it.
//!
//! From the first file with a directive on, all files are preprocessed as one text, so that a macro of one file counts in
//! the files after it; files before it are left alone. The preprocessor sees copies of the files (see `copies`) in which
//! support blocks, and so the `#include` lines in them, are put away. Its output is read back by `output`.

mod command;
mod copies;
mod output;

use std::path::PathBuf;

use clickwork_source::{Diagnostics, Sources};

use super::directives;
use super::input::SourceFile;
use copies::Copies;

/// When files are preprocessed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum When {
    /// For files with directives or macros of the command line, and those after them
    #[default]
    Auto,
    /// For all files
    Always,
    /// For no file
    Never,
}

/// How files are preprocessed.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// When.
    pub when: When,
    /// Directories that are searched for included files (`-I`).
    pub include: Vec<PathBuf>,
    /// Macros to define, `NAME` or `NAME=VALUE` (`-D`).
    pub define: Vec<String>,
    /// Macros to undefine (`-U`).
    pub undefine: Vec<String>,
}

/// What came of preprocessing.
#[derive(Debug)]
pub struct Preprocessed {
    /// The files to parse.
    pub files: Vec<SourceFile>,
    /// Files that were included.
    pub included: Vec<PathBuf>,
}

/// Replaces the files that need it by preprocessed text. `None` after errors.
pub fn preprocess(
    files: Vec<SourceFile>,
    options: &Options,
    sources: &mut Sources,
    diagnostics: &mut Diagnostics,
) -> Option<Preprocessed> {
    let first = files.iter().position(|f| options.needs(sources.text(f.id))).unwrap_or(files.len());
    let (plain, rest) = files.split_at(first);
    let mut result = Preprocessed { files: plain.to_vec(), included: Vec::new() };
    let [start, ..] = rest else { return Some(result) };
    let mut copies = match Copies::new(options, sources, rest) {
        Ok(copies) => copies,
        Err(error) => {
            diagnostics.push(error);
            return None;
        }
    };
    let text = command::run(&mut copies, options, diagnostics)?;
    let text = output::restore(&text, &copies);
    result.included = copies.included();
    let name = copies.sources.name(start.id).to_string();
    result.files.push(SourceFile { id: copies.sources.add(name, text), path: start.path.clone() });
    Some(result)
}

impl Options {
    fn needs(&self, text: &str) -> bool {
        match self.when {
            When::Always => true,
            When::Never => false,
            When::Auto => !directives::find(text).directives.is_empty() || self.uses_macro(text),
        }
    }

    /// Whether the name of a macro that the command line defines occurs.
    fn uses_macro(&self, text: &str) -> bool {
        let is_letter = |c: char| c.is_alphanumeric() || c == '_';
        let names: Vec<&str> = self.define.iter().filter_map(|d| d.split(['=', '(']).next()).collect();
        !names.is_empty() && text.split(|c| !is_letter(c)).any(|word| names.contains(&word))
    }
}

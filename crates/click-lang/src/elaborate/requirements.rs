//! `require(...)` and `provide(...)`: packages, and libraries, which are read on the spot.

use clickwork_source::{Diagnostic, Span};

use super::{Declarer, Library, LoadError, limits};
use crate::config;
use crate::graph::Requirement;
use crate::syntax::ast::Word;

impl Declarer<'_> {
    /// `require(package NAME, library FILE, compact_config, NAME)`.
    pub(super) fn require(&mut self, written: &Word) {
        for arg in config::split_args(&written.text) {
            let words: Vec<String> = config::split_words(&arg).iter().map(|word| unquoted(word)).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            match words[..] {
                [] => {}
                ["compact_config"] => self.add_requirement("compact_config", "", written.span),
                ["package", name] => self.add_requirement("package", name, written.span),
                ["library", name] => self.library(name, written.span),
                [name] if name != "package" && name != "library" => {
                    self.add_requirement("package", name, written.span);
                }
                _ => {
                    let hint = "write 'require(package NAME)' or 'require(library FILE)'";
                    self.error(Diagnostic::error(written.span, "syntax error at requirement").hint(hint));
                }
            }
        }
    }

    /// `provide(NAME, ...)`.
    pub(super) fn provide(&mut self, written: &Word) {
        for arg in config::split_args(&written.text) {
            let name = unquoted(&arg);
            self.add_requirement("provide", &name, written.span);
        }
    }

    fn add_requirement(&mut self, kind: &str, value: &str, span: Span) {
        self.requirements.push(Requirement { kind: kind.to_owned(), value: value.to_owned(), span });
    }

    /// Reads a library where it is required, unless it was read before.
    fn library(&mut self, name: &str, span: Span) {
        if self.body.depth > 0 {
            let error = Diagnostic::error(span, "'require library' must be used at file scope");
            return self.error(error.hint("move it out of the compound element"));
        }
        let from = self.sources.name(span.file).to_owned();
        match self.options.loader.load(name, &from) {
            Err(LoadError::NotFound) => {
                self.error(Diagnostic::error(span, format!("library '{name}' not found in CLICKPATH/conf")));
            }
            Err(LoadError::Failed(why)) => {
                self.error(Diagnostic::error(span, format!("library '{name}' cannot be read: {why}")));
            }
            Ok(library) => self.read_library(library, span),
        }
    }

    fn read_library(&mut self, library: Library, span: Span) {
        if !self.libraries.insert(library.name.clone()) {
            return;
        }
        if self.library_depth >= limits::NESTING {
            let message = format!("libraries require libraries more than {} deep", limits::NESTING);
            return self.error(Diagnostic::error(span, message));
        }
        if u32::try_from(library.text.len()).is_err() {
            return self.error(Diagnostic::error(span, format!("library '{}' is too large", library.name)));
        }
        let file = self.sources.add(library.name, library.text);
        self.library_depth += 1;
        self.file(file);
        self.library_depth -= 1;
    }
}

fn unquoted(text: &str) -> String {
    config::unquote_text(text)
}

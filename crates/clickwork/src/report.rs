//! Printing what is wrong with a configuration: in Click's plain lines for scripts, with excerpts for people.

use crate::run::ERASE;
use crate::written::Written;
use clickwork_source::{Diagnostic, Diagnostics, Severity, Sources, render_click, render_human};
use std::io::{IsTerminal, Write};

/// So many messages at most are printed for people.
const MOST: usize = 100;

/// How messages are printed.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// Click's form rather than the one with excerpts.
    pub click: bool,
    /// Whether warnings are printed.
    pub warnings: bool,
    /// Whether remarks are printed. Click has none, unless they were asked for.
    pub notes: bool,
    /// Whether there are colours.
    pub color: bool,
    /// Whether a status line stands where the messages begin, which is to be overwritten.
    pub over_status: bool,
}

impl Report {
    /// Click's form.
    pub fn click() -> Report {
        Report { click: true, warnings: true, notes: false, color: false, over_status: false }
    }

    /// For people, with colours if standard error is a terminal.
    pub fn human() -> Report {
        let color = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        Report { click: false, warnings: true, notes: true, color, over_status: false }
    }

    /// Prints all messages that should be printed to standard error.
    pub fn print(&self, sources: &Sources, diagnostics: &Diagnostics) {
        match self.click {
            true => self.raw(&self.text(sources, diagnostics)),
            false => {
                let mut written = Written::default();
                let shown = self.shown(diagnostics).map(|d| written.add(sources, d));
                self.raw(&self.excerpts(sources, &shown.collect::<Vec<_>>()));
            }
        }
    }

    /// The messages as text.
    pub fn text(&self, sources: &Sources, diagnostics: &Diagnostics) -> String {
        let shown = self.shown(diagnostics);
        match self.click {
            true => said_once(shown.map(|d| render_click(sources, d))),
            false => self.excerpts(sources, &shown.cloned().collect::<Vec<_>>()),
        }
    }

    fn shown<'a>(&self, diagnostics: &'a Diagnostics) -> impl Iterator<Item = &'a Diagnostic> {
        let report = *self;
        diagnostics.iter().filter(move |d| report.shows(d.severity))
    }

    /// Messages with excerpts, as many as a person would read.
    fn excerpts(&self, sources: &Sources, shown: &[Diagnostic]) -> String {
        let mut text: String =
            shown.iter().take(MOST).map(|d| render_human(sources, d, self.color)).collect();
        if let Some(more) = shown.len().checked_sub(MOST).filter(|&more| more > 0) {
            text.push_str(&format!("... and {more} more messages\n"));
        }
        text
    }

    fn shows(&self, severity: Severity) -> bool {
        match severity {
            Severity::Error => true,
            Severity::Warning => self.warnings,
            Severity::Note => self.warnings && self.notes,
        }
    }

    /// Prints an error that has no place in a configuration.
    pub fn error(&self, message: &str) {
        self.labelled("error: ", "\x1b[1;31merror\x1b[0m: ", message);
    }

    /// Prints a warning that has no place in a configuration.
    pub fn warning(&self, message: &str) {
        if self.warnings {
            self.labelled("warning: ", "\x1b[1;33mwarning\x1b[0m: ", message);
        }
    }

    /// Prints a remark.
    pub fn note(&self, message: &str) {
        self.labelled("note: ", "\x1b[1;32mnote\x1b[0m: ", message);
    }

    fn labelled(&self, plain: &str, colored: &str, message: &str) {
        let label = match (self.click, self.color) {
            (true, _) if plain == "error: " => "",
            (_, true) => colored,
            _ => plain,
        };
        self.raw(&format!("{label}{message}\n"));
    }

    fn raw(&self, text: &str) {
        let erase: &[u8] = if self.over_status && !text.is_empty() { ERASE } else { b"" };
        let _ = std::io::stderr().lock().write_all(&[erase, &clickwork_source::text::encode(text)].concat());
    }
}

/// Messages one after another, as Click prints them: several about one element share the line that names it.
fn said_once(messages: impl Iterator<Item = String>) -> String {
    let mut text = String::new();
    let mut last = String::new();
    for message in messages {
        match message.split_once('\n').filter(|(_, rest)| !rest.is_empty()) {
            Some((context, rest)) if context == last => text.push_str(rest),
            Some((context, _)) => {
                last = context.to_string();
                text.push_str(&message);
            }
            None => {
                last.clear();
                text.push_str(&message);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::said_once;

    #[test]
    fn messages_about_one_element_share_the_line_that_names_it() {
        let messages =
            ["a:1: While x:\n  one\n", "a:1: While x:\n  two\n", "b\n", "a:1: While x:\n  three\n"];
        let text = said_once(messages.map(String::from).into_iter());
        assert_eq!(text, "a:1: While x:\n  one\n  two\nb\na:1: While x:\n  three\n");
    }
}

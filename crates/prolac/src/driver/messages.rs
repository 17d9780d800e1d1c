//! Messages on standard error.

use std::io::{IsTerminal, Write};

use clickwork_source::{Diagnostic, Diagnostics, Severity, Sources, Span, render_human};

/// When messages have colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What becomes of warnings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Warnings {
    /// They are shown
    #[default]
    Show,
    /// They are not shown
    None,
    /// They are errors
    Error,
}

/// So many messages are shown; nobody reads more.
const MAX_SHOWN: usize = 50;

/// How messages are printed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Messages {
    /// With colours?
    pub color: Color,
    /// And warnings?
    pub warnings: Warnings,
}

impl Messages {
    /// Prints all messages and how many there are. Gives whether the program may be used.
    pub fn print(self, sources: &Sources, diagnostics: &Diagnostics) -> bool {
        let color = self.has_color();
        let mut text = String::new();
        let mut counts = [0, 0];
        let mut shown = 0;
        for diagnostic in diagnostics {
            let Some(severity) = self.severity(diagnostic) else { continue };
            match severity {
                Severity::Error => counts[0] += 1,
                Severity::Warning => counts[1] += 1,
                Severity::Note => {}
            }
            if shown < MAX_SHOWN {
                shown += 1;
                let adapted = Diagnostic { severity, ..diagnostic.clone() };
                text.push_str(&render_human(sources, &adapted, color));
                text.push('\n');
            }
        }
        if counts != [0, 0] {
            let more = counts[0] + counts[1] > shown;
            let more = if more { format!("; the first {shown} are shown") } else { String::new() };
            text.push_str(&format!("{}{more}\n", summary(counts)));
        }
        write(&text);
        counts[0] == 0
    }

    /// Prints an error that has no place in a source file.
    pub fn error(self, message: &str) {
        let diagnostic = Diagnostic::error(Span::NONE, message);
        write(&render_human(&Sources::new(), &diagnostic, self.has_color()));
    }

    /// How bad a message is taken to be; `None` if it is not shown.
    fn severity(self, diagnostic: &Diagnostic) -> Option<Severity> {
        match (diagnostic.severity, self.warnings) {
            (Severity::Warning | Severity::Note, Warnings::None) => None,
            (Severity::Warning, Warnings::Error) => Some(Severity::Error),
            (severity, _) => Some(severity),
        }
    }

    fn has_color(self) -> bool {
        match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
        }
    }
}

/// `2 errors, 1 warning`.
fn summary([errors, warnings]: [usize; 2]) -> String {
    let counted = |n: usize, word: &str| match n {
        0 => None,
        1 => Some(format!("1 {word}")),
        n => Some(format!("{n} {word}s")),
    };
    let parts = [counted(errors, "error"), counted(warnings, "warning")];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn write(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

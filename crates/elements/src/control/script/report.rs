//! Errors of a script, with what was being done when they happened.

use clickwork_router::Log;

/// Collects errors. Each context is shown once, before the first error in it, which is indented below it.
pub struct Report {
    contexts: Vec<Context>,
    sink: Sink,
    errors: usize,
}

struct Context {
    text: String,
    shown: bool,
}

enum Sink {
    Log(Log),
    Kept(Vec<String>),
}

impl Report {
    /// Errors are printed as messages.
    pub fn printed(log: &Log) -> Report {
        Report::new(Sink::Log(log.clone()))
    }

    /// Errors are kept for who called a handler.
    pub fn kept() -> Report {
        Report::new(Sink::Kept(Vec::new()))
    }

    fn new(sink: Sink) -> Report {
        Report { contexts: Vec::new(), sink, errors: 0 }
    }

    /// How many errors there were.
    pub fn errors(&self) -> usize {
        self.errors
    }

    /// Begins to do what `context` says.
    pub fn enter(&mut self, context: String) {
        self.contexts.push(Context { text: context, shown: false });
    }

    /// Is done with what was begun last.
    pub fn leave(&mut self) {
        self.contexts.pop();
    }

    /// Reports an error of one line or several.
    pub fn error(&mut self, text: &str) {
        self.errors += 1;
        if text.is_empty() {
            return;
        }
        for depth in 0..self.contexts.len() {
            let context = &mut self.contexts[depth];
            if !std::mem::replace(&mut context.shown, true) {
                let text = context.text.clone();
                self.line(depth, &text);
            }
        }
        text.lines().for_each(|line| self.line(self.contexts.len(), line));
    }

    fn line(&mut self, depth: usize, text: &str) {
        let line = format!("{}{text}", "  ".repeat(depth));
        match &mut self.sink {
            Sink::Log(log) => log.line(&line),
            Sink::Kept(lines) => lines.push(line),
        }
    }

    /// The errors that were kept, one a line.
    pub fn into_text(self) -> String {
        match self.sink {
            Sink::Log(_) => String::new(),
            Sink::Kept(lines) => lines.join("\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_is_shown_once_and_only_if_something_went_wrong() {
        let mut report = Report::kept();
        report.enter("outer:".into());
        report.enter("quiet:".into());
        report.leave();
        report.error("one");
        report.enter("inner:".into());
        report.error("two\nlines");
        assert_eq!(report.errors(), 2);
        assert_eq!(report.into_text(), "outer:\n  one\n  inner:\n    two\n    lines");
    }
}

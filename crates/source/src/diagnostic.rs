//! What is wrong, where, and what to do about it.

use crate::Span;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The input cannot be used.
    Error,
    /// The input can be used but probably does not mean what its author wanted.
    Warning,
    /// Something worth knowing.
    Note,
}

/// A place that belongs to a message, with a remark shown beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// The remark; may be empty for the primary label. Several lines are allowed.
    pub text: String,
    /// Whether this is the place the message is about, rather than one that explains it.
    pub primary: bool,
    /// Whether it is only drawn in the excerpt, and not a line of its own in Click's form.
    pub aside: bool,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one sentence without a final full stop. Several lines are allowed.
    pub message: String,
    /// The places concerned. The primary one comes first.
    pub labels: Vec<Label>,
    /// What the reader can do.
    pub hints: Vec<String>,
    /// What the last line of the message begins with because it names the part concerned, such as `LENGTH: `; empty
    /// if it names none. Click puts the word "warning" behind it.
    pub subject: String,
}

impl Diagnostic {
    /// A message about `span`; with [`Span::NONE`] it has no place.
    pub fn new(severity: Severity, span: Span, message: impl Into<String>) -> Self {
        let primary = Label { span, text: String::new(), primary: true, aside: false };
        let labels = if span.is_none() { Vec::new() } else { vec![primary] };
        Diagnostic { severity, message: message.into(), labels, hints: Vec::new(), subject: String::new() }
    }

    /// An error at `span`.
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, span, message)
    }

    /// A warning at `span`.
    pub fn warning(span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, span, message)
    }

    /// A note at `span`.
    pub fn note(span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Note, span, message)
    }

    /// Adds a remark that is only drawn in the excerpt.
    pub fn aside(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into(), primary: false, aside: true });
        self
    }

    /// Adds a remark. At the place of the message itself it becomes the text of the primary label.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        let text = text.into();
        match self.labels.iter_mut().find(|l| l.primary && l.span == span && l.text.is_empty()) {
            Some(primary) => primary.text = text,
            None => self.labels.push(Label { span, text, primary: false, aside: false }),
        }
        self
    }

    /// Adds advice.
    pub fn hint(mut self, text: impl Into<String>) -> Self {
        self.hints.push(text.into());
        self
    }

    /// Says what the last line of the message begins with because it names the part concerned.
    pub fn subject(mut self, text: impl Into<String>) -> Self {
        self.subject = text.into();
        self
    }

    /// The place the message is about, or [`Span::NONE`].
    pub fn span(&self) -> Span {
        self.labels.iter().find(|l| l.primary).map_or(Span::NONE, |l| l.span)
    }
}

/// A list of messages that grows while work goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// No messages.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one message.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }

    /// Whether any of them is an error.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|d| d.severity == Severity::Error)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// The messages in the order they were added.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, more: I) {
        self.list.extend(more);
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(one: Diagnostic) -> Self {
        Diagnostics { list: vec![one] }
    }
}

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<I: IntoIterator<Item = Diagnostic>>(iter: I) -> Self {
        Diagnostics { list: iter.into_iter().collect() }
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

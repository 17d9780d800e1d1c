//! Messages as text: with an excerpt for people, and in Click's plain lines for scripts.

use std::ops::Range;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use crate::text::lossy;
use crate::{Diagnostic, FileId, Label, Severity, Sources, Span};

/// A message with file, line, column, an excerpt of each file concerned, remarks, and hints.
/// `color` adds terminal colours. Ends with a newline.
pub fn render_human(sources: &Sources, diagnostic: &Diagnostic, color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut group =
        Group::with_title(level(diagnostic.severity).primary_title(printable(&diagnostic.message)));
    for piece in pieces_of(sources, diagnostic) {
        let excerpt = Excerpt::new(sources, diagnostic, piece);
        group = match excerpt.is_whole() {
            true => group.element(excerpt.snippet(sources).path(excerpt.name)),
            false => group.element(excerpt.origin(sources)).element(excerpt.snippet(sources)),
        };
    }
    for hint in &diagnostic.hints {
        group = group.element(Level::HELP.message(printable(hint)));
    }
    let text = sources.without_hidden(renderer.render(&[group]));
    format!("{}\n", lossy(&text))
}

fn level(severity: Severity) -> Level<'static> {
    match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    }
}

/// A stretch of a file without line marks inside: the file, and how many marks stand before it.
type Piece = (FileId, usize);

fn piece_of(sources: &Sources, label: &Label) -> Piece {
    (label.span.file, sources.marks_before(label.span))
}

/// The pieces that labels point into, that of the primary label first.
fn pieces_of(sources: &Sources, diagnostic: &Diagnostic) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for label in diagnostic.labels.iter().filter(|l| !l.span.is_none()) {
        let piece = piece_of(sources, label);
        if !pieces.contains(&piece) {
            pieces.push(piece);
        }
    }
    pieces
}

/// The lines of one piece from its first label to its last, under the name and number that line marks give them.
struct Excerpt<'a> {
    text: &'a str,
    /// What of the text is shown.
    shown: Range<usize>,
    /// What the name and line belong to.
    first: Span,
    name: &'a str,
    line: usize,
    labels: Vec<&'a Label>,
}

/// Of a line that is longer than this, only what is near to the primary label is shown.
const LONG: usize = 2000;

impl<'a> Excerpt<'a> {
    fn new(sources: &'a Sources, diagnostic: &'a Diagnostic, piece: Piece) -> Self {
        let (file, _) = piece;
        let text = sources.text(file);
        let mut labels: Vec<&Label> =
            diagnostic.labels.iter().filter(|l| piece_of(sources, l) == piece).collect();
        let ranges = || labels.iter().map(|l| visible_range(l.span, text));
        let first = ranges().map(|r| r.start).min().unwrap_or(0);
        let last = ranges().map(|r| r.end).max().unwrap_or(0).max(first);
        let line_ends = ['\n', '\r'];
        let start = text[..first].rfind(line_ends).map_or(0, |n| n + 1);
        let end = text[last..].find(line_ends).map_or(text.len(), |n| last + n);
        let mut shown = start..end;
        let mut first = first;
        if text[shown.clone()].split(line_ends).any(|line| line.len() > LONG) {
            first = labels.iter().find(|l| l.primary).map_or(first, |l| border(text, l.span.start));
            let line_start = text[..first].rfind(line_ends).map_or(0, |n| n + 1);
            let line_end = text[first..].find(line_ends).map_or(text.len(), |n| first + n);
            let near = first.saturating_sub(LONG / 2).max(line_start)..(first + LONG / 2).min(line_end);
            shown = border(text, near.start as u32)..border(text, near.end as u32);
            shown = sources.around_hidden(text, shown);
            labels.retain(|l| (shown.start..=shown.end).contains(&border(text, l.span.start)));
        }
        let first = Span::new(file, first as u32, first as u32);
        let (name, line) = sources.marked_line(first).unwrap_or_default();
        Excerpt { text, shown, first, name, line, labels }
    }

    /// Whether it begins where a line begins, so that columns can be counted from there.
    fn is_whole(&self) -> bool {
        self.shown.start == 0 || self.text[..self.shown.start].ends_with(['\n', '\r'])
    }

    fn snippet(&self, sources: &Sources) -> Snippet<'a, Annotation<'a>> {
        let annotations = self.labels.iter().map(|l| annotation(l, self.text, &self.shown));
        Snippet::source(sources.masked(&self.text[self.shown.clone()]))
            .line_start(self.line)
            .annotations(annotations)
    }

    /// The place, where the excerpt cannot tell it.
    fn origin(&self, sources: &Sources) -> Origin<'a> {
        let (_, column) = sources.line_col(self.first);
        Origin::path(self.name).line(self.line).char_column(column)
    }
}

/// A label in the part of `text` that is shown.
fn annotation<'a>(label: &'a Label, text: &str, shown: &Range<usize>) -> Annotation<'a> {
    let kind = if label.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
    let range = visible_range(label.span, text);
    let annotation = kind.span(range.start - shown.start..range.end.min(shown.end) - shown.start);
    let remark = label.text.lines().map(|l| printable(l.trim())).collect::<Vec<_>>().join("\n");
    if remark.is_empty() { annotation } else { annotation.label(remark) }
}

/// The range to underline, within the text and on character borders; only the first line of a long one.
fn visible_range(span: Span, text: &str) -> Range<usize> {
    let start = border(text, span.start);
    let end = border(text, span.end).max(start);
    let line = text[start..end].find(['\n', '\r']).map_or(end, |n| start + n);
    start..line
}

/// The nearest character border at or before `offset`.
fn border(text: &str, offset: u32) -> usize {
    let offset = (offset as usize).min(text.len());
    (0..=offset).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0)
}

/// The text without control characters, which could garble a terminal.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}

/// A message as the Click program prints it: `config.click:3: message`, `warning: ` before a warning, every remark on a
/// line with a place of its own; asides and hints are left out. Of a message of several lines, those that begin with
/// space have no place. Ends with a newline.
pub fn render_click(sources: &Sources, diagnostic: &Diagnostic) -> String {
    let mut out = String::new();
    let prefix = if diagnostic.severity == Severity::Warning { "warning: " } else { "" };
    let landmark = sources.landmark(diagnostic.span());
    click_lines(&mut out, &landmark, prefix, &diagnostic.subject, &diagnostic.message);
    for label in diagnostic.labels.iter().filter(|l| !l.primary && !l.aside) {
        click_lines(&mut out, &sources.landmark(label.span), "", "", &label.text);
    }
    sources.without_hidden(out)
}

/// Adds lines of text, `prefix` before each, behind `subject` if the line begins with that.
fn click_lines(out: &mut String, landmark: &str, prefix: &str, subject: &str, text: &str) {
    let mut lines = text.lines().peekable();
    let mut first = true;
    while let Some(line) = lines.next() {
        // A further line that begins with space belongs to the one before it and has no landmark of its own. The one
        // before it is the context, so the prefix goes with the line that continues.
        let continues = !first && line.starts_with(' ');
        let is_context = lines.peek().is_some_and(|next| next.starts_with(' '));
        if !landmark.is_empty() && !continues {
            out.push_str(landmark);
            out.push_str(": ");
        }
        let indent = line.len() - line.trim_start_matches(' ').len();
        let named = if line[indent..].starts_with(subject) { subject.len() } else { 0 };
        let (before, message) = line.split_at(indent + named);
        out.push_str(before);
        if continues || !is_context {
            out.push_str(prefix);
        }
        out.push_str(message);
        out.push('\n');
        first = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> (Sources, Diagnostic) {
        let mut sources = Sources::new();
        let f = sources.add("config.click", "a :: Idle;\n\na :: Que(3);\n");
        let diagnostic = Diagnostic::error(Span::new(f, 17, 20), "unknown element class 'Que'")
            .label(Span::new(f, 0, 1), "'a' is declared here\n  first")
            .hint("did you mean 'Queue'?");
        (sources, diagnostic)
    }

    #[test]
    fn human_form_has_place_excerpt_remark_and_hint() {
        let (sources, diagnostic) = example();
        let text = render_human(&sources, &diagnostic, false);
        for part in [
            "error: unknown element class 'Que'",
            "config.click:3:6",
            "a :: Que(3);",
            "^^^",
            "'a' is declared here",
            "help: did you mean 'Queue'?",
        ] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
        assert!(render_human(&sources, &diagnostic, true).contains('\x1b'));
        assert!(!text.contains('\x1b'));
    }

    #[test]
    fn click_form_gives_every_line_its_place() {
        let (sources, diagnostic) = example();
        assert_eq!(
            render_click(&sources, &diagnostic),
            "config.click:3: unknown element class 'Que'\nconfig.click:1: 'a' is declared here\n  first\n"
        );
        let f = diagnostic.span().file;
        let warning = Diagnostic::warning(Span::new(f, 0, 1), "odd");
        assert_eq!(render_click(&sources, &warning), "config.click:1: warning: odd\n");
        let nested = Diagnostic::warning(Span::new(f, 0, 1), "While reading:\n  odd");
        assert_eq!(render_click(&sources, &nested), "config.click:1: While reading:\n  warning: odd\n");
        let nested =
            Diagnostic::warning(Span::new(f, 0, 1), "While reading:\n  LENGTH: odd").subject("LENGTH: ");
        assert_eq!(
            render_click(&sources, &nested),
            "config.click:1: While reading:\n  LENGTH: warning: odd\n"
        );
        assert_eq!(render_click(&sources, &Diagnostic::error(Span::NONE, "bad")), "bad\n");
    }

    #[test]
    fn excerpts_have_the_name_and_number_of_line_marks() {
        let mut sources = Sources::new();
        let text = "# 7 \"in.pc\"\nfirst\nsecond\n# 30 \"main.pc\"\nthird\n";
        let f = sources.add("main.pc", text);
        let at = |word: &str| {
            let start = text.find(word).unwrap() as u32;
            Span::new(f, start, start + word.len() as u32)
        };
        sources.line_mark(f, at("first").start, "in.pc".into(), 7);
        sources.line_mark(f, at("third").start, "main.pc".into(), 30);
        let diagnostic = Diagnostic::error(at("second"), "bad").label(at("third"), "because");
        let text = render_human(&sources, &diagnostic, false);
        for part in ["in.pc:8:1", "8 | second", "main.pc:30:1", "30 | third"] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
        assert!(!text.contains("# 30"), "{text}");
    }

    #[test]
    fn of_long_lines_only_a_part_is_shown() {
        let mut sources = Sources::new();
        let text = format!("short\n{}wrong{}é\n", "é ".repeat(50_000), " x".repeat(50_000));
        let f = sources.add("a.pc", text.as_str());
        let at = |word: &str| {
            let start = text.find(word).unwrap() as u32;
            Span::new(f, start, start + word.len() as u32)
        };
        let far = Span::new(f, text.len() as u32 - 2, text.len() as u32 - 1);
        for other in [at("short"), far] {
            let diagnostic = Diagnostic::error(at("wrong"), "bad").label(other, "far away");
            let text = render_human(&sources, &diagnostic, false);
            assert!(text.len() < 3000, "{text}");
            assert!(text.contains("a.pc:2:100001") && text.contains("wrong"), "{text}");
        }
    }

    #[test]
    fn spans_outside_the_text_do_no_harm() {
        let mut sources = Sources::new();
        let f = sources.add("x", "é\x1b[2J\n");
        for (start, end) in [(0, 1), (1, 2), (7, 90), (50, 60)] {
            render_human(&sources, &Diagnostic::error(Span::new(f, start, end), "m\x07"), false);
        }
    }
}

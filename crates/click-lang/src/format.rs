//! One layout for all configurations: `clickwork fmt`.
//!
//! One statement a line, four spaces a level, a `;` after each connection. A chain that is broken at any arrow, or too
//! long for a line, is broken at every arrow; a compound element or group that spans lines, or does not fit, gets its
//! statements on lines of their own. At most one blank line is kept between statements. Configuration strings and
//! comments stay as they are, so formatting changes neither the graph nor the remarks.

use clickwork_source::{Diagnostics, Sources};

use crate::syntax::{self, SyntaxElement, SyntaxKind, SyntaxNode, SyntaxToken};

/// Columns of a line.
const WIDTH: usize = 100;
const INDENT: usize = 4;

/// Formats a configuration; gives back what is wrong if it has syntax errors. A text with line directives comes from
/// another file, whose lines it counts: it stays as it is.
pub fn format(text: &str) -> Result<String, Diagnostics> {
    let mut sources = Sources::new();
    let file = sources.add("", text);
    let (tree, diagnostics) = syntax::parse(&mut sources, file);
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    let root = tree.root();
    if tokens(&root).any(|t| t.kind() == SyntaxKind::LineDirective) {
        return Ok(text.to_owned());
    }
    let mut writer = Writer::default();
    writer.lines(&root);
    if !writer.out.is_empty() {
        writer.out.push('\n');
    }
    Ok(writer.out)
}

#[derive(Default)]
struct Writer {
    out: String,
    /// Levels of the statements being written.
    level: usize,
    /// The line ends in a `//` comment: whatever follows must go to the next.
    line_is_closed: bool,
    /// Everything must fit on one line.
    flat: bool,
    /// It does not: there is a line break or a `//` comment in it.
    broken: bool,
}

// Lines.
impl Writer {
    fn new_line(&mut self, extra: usize) {
        self.out.push('\n');
        self.out.push_str(&" ".repeat((self.level + extra) * INDENT));
        self.line_is_closed = false;
    }

    /// Writes text that contains no line comment, after a space if asked.
    fn put(&mut self, text: &str, space: bool) {
        if self.line_is_closed {
            self.new_line(1);
        } else if space && !self.out.is_empty() && !self.out.ends_with([' ', '\n']) {
            self.out.push(' ');
        }
        self.out.push_str(text);
    }

    fn comment(&mut self, comment: &SyntaxToken) {
        self.put(comment.text(), true);
        self.line_is_closed = comment.text().starts_with("//");
        self.broken |= self.line_is_closed || breaks(comment);
    }

    fn column(&self) -> usize {
        self.out[self.out.rfind('\n').map_or(0, |n| n + 1)..].chars().count()
    }

    /// What `write` writes if it fits on one line.
    fn flat(&self, write: impl Fn(&mut Writer)) -> Option<String> {
        let mut scratch = Writer { flat: true, ..Writer::default() };
        write(&mut scratch);
        (!scratch.broken).then_some(scratch.out)
    }

    /// Whether there is room for the text and two more columns. Later lines of a configuration string do not count.
    fn fits(&self, text: &str) -> bool {
        let first = text.split('\n').next().unwrap_or("");
        self.column() + first.chars().count() + 2 <= WIDTH
    }
}

// Statements.
impl Writer {
    /// The statements and comments of a file, a compound element or a group, each on a line.
    fn lines(&mut self, body: &SyntaxNode) {
        // Line breaks since the last thing written; at the very start there is no line to end.
        let (mut breaks_before, mut first) = (0, true);
        for part in parts(body) {
            match part.kind() {
                SyntaxKind::Whitespace => breaks_before += part.as_token().map_or(0, line_breaks),
                SyntaxKind::Comment => {
                    if breaks_before > 0 || self.out.is_empty() {
                        self.start_line(breaks_before, first);
                    }
                    part.as_token().into_iter().for_each(|t| self.comment(t));
                    (breaks_before, first) = (0, false);
                }
                SyntaxKind::BarBar => {
                    self.level -= 1;
                    self.new_line(0);
                    self.put("||", false);
                    self.level += 1;
                    (breaks_before, first) = (0, true);
                }
                SyntaxKind::Dots => self.put("...", true),
                SyntaxKind::Formals => {
                    part.as_node().into_iter().for_each(|n| self.simple(n));
                    (breaks_before, first) = (0, true);
                }
                SyntaxKind::Semicolon => {}
                _ => {
                    self.start_line(breaks_before, first);
                    part.as_node().into_iter().for_each(|n| self.statement(n));
                    (breaks_before, first) = (0, false);
                }
            }
        }
    }

    fn start_line(&mut self, breaks_before: usize, first: bool) {
        if self.out.is_empty() {
            return;
        }
        if breaks_before > 1 && !first {
            self.out.push('\n');
        }
        self.new_line(0);
    }

    /// The same on one line.
    fn one_line(&mut self, body: &SyntaxNode) {
        let mut semicolon = false;
        for part in parts(body) {
            match part.kind() {
                SyntaxKind::Whitespace => self.broken |= part.as_token().is_some_and(breaks),
                SyntaxKind::Comment => part.as_token().into_iter().for_each(|t| self.comment(t)),
                SyntaxKind::BarBar => {
                    self.put("||", true);
                    semicolon = false;
                }
                SyntaxKind::Dots => self.put("...", true),
                SyntaxKind::Formals => part.as_node().into_iter().for_each(|n| self.simple(n)),
                SyntaxKind::Semicolon => {}
                _ => {
                    if std::mem::replace(&mut semicolon, true) {
                        self.put(";", false);
                    }
                    part.as_node().into_iter().for_each(|n| self.tokens(n, false));
                }
            }
        }
    }

    fn statement(&mut self, statement: &SyntaxNode) {
        let flat = self.flat(|w| w.tokens(statement, false));
        match flat {
            Some(flat) if self.fits(&flat) => self.put(&flat, false),
            // What could stand on one line but is too long, or is broken at some arrow, is broken at every arrow.
            flat => self.tokens(statement, flat.is_some() || is_broken(statement)),
        }
        if !ends_in_brace(statement) {
            self.put(";", false);
        }
    }

    /// The tokens of a node with spaces between them, or, before arrows if `break_arrows`, line breaks.
    fn tokens(&mut self, node: &SyntaxNode, break_arrows: bool) {
        for part in node.children_with_tokens() {
            match part {
                SyntaxElement::Token(token) => self.token(&token, node, break_arrows),
                SyntaxElement::Node(child) => match child.kind() {
                    SyntaxKind::Config => self.put(&child.text().to_string(), false),
                    SyntaxKind::InputPorts | SyntaxKind::OutputPorts => self.simple(&child),
                    SyntaxKind::Compound | SyntaxKind::Group => self.enclosed(&child),
                    _ => self.tokens(&child, break_arrows),
                },
            }
        }
    }

    fn token(&mut self, token: &SyntaxToken, node: &SyntaxNode, break_arrows: bool) {
        match token.kind() {
            SyntaxKind::Whitespace => {
                self.broken |= node.kind() == SyntaxKind::Connection && breaks(token) && has_arrow(node);
            }
            SyntaxKind::Comment => self.comment(token),
            SyntaxKind::Semicolon => {}
            SyntaxKind::Comma => self.put(",", false),
            SyntaxKind::Arrow | SyntaxKind::DoubleArrow if break_arrows && !at_start(token) => {
                self.new_line(1);
                self.put(token.text(), false);
            }
            _ => self.put(token.text(), true),
        }
    }

    /// Ports or parameters: `[0, 2-3]`, `$a, K $b |`.
    fn simple(&mut self, node: &SyntaxNode) {
        use SyntaxKind::*;
        let mut glued = false;
        for token in node.children_with_tokens().filter_map(|e| e.into_token()) {
            match token.kind() {
                Whitespace => continue,
                Comment => self.comment(&token),
                kind => self.put(token.text(), !glued && !matches!(kind, Comma | Minus | RightBracket)),
            }
            glued = matches!(token.kind(), LeftBracket | Minus);
        }
    }

    /// A compound element or a group.
    fn enclosed(&mut self, node: &SyntaxNode) {
        let (open, close) = if node.kind() == SyntaxKind::Group { ("(", ")") } else { ("{", "}") };
        if self.flat {
            self.put(open, true);
            self.one_line(node);
            return self.put(close, true);
        }
        if let Some(flat) = self.flat(|w| w.enclosed(node)).filter(|flat| self.fits(flat)) {
            return self.put(&flat, true);
        }
        self.put(open, true);
        self.level += 1;
        self.lines(node);
        self.level -= 1;
        self.new_line(0);
        self.put(close, false);
    }
}

/// What stands between the braces or parentheses of a node, or in a file; overloads are opened up.
fn parts(body: &SyntaxNode) -> Vec<SyntaxElement> {
    let bracket = |kind| {
        use SyntaxKind::*;
        matches!(kind, LeftBrace | RightBrace | LeftParen | RightParen)
    };
    let open = |part: SyntaxElement| match part {
        SyntaxElement::Node(n) if n.kind() == SyntaxKind::Overload => n.children_with_tokens().collect(),
        other => vec![other],
    };
    body.children_with_tokens().flat_map(open).filter(|part| !bracket(part.kind())).collect()
}

fn tokens(node: &SyntaxNode) -> impl Iterator<Item = SyntaxToken> + use<> {
    node.descendants_with_tokens().filter_map(|e| e.into_token())
}

fn line_breaks(token: &SyntaxToken) -> usize {
    token.text().replace("\r\n", "\n").matches(['\n', '\r']).count()
}

fn breaks(token: &SyntaxToken) -> bool {
    token.text().contains(['\n', '\r'])
}

fn has_arrow(connection: &SyntaxNode) -> bool {
    let is_arrow = |kind| matches!(kind, SyntaxKind::Arrow | SyntaxKind::DoubleArrow);
    connection.children_with_tokens().any(|e| is_arrow(e.kind()))
}

/// Whether a connection has a line break between its lists and arrows.
fn is_broken(statement: &SyntaxNode) -> bool {
    let direct = statement.children_with_tokens().filter_map(|e| e.into_token());
    statement.kind() == SyntaxKind::Connection
        && has_arrow(statement)
        && direct.into_iter().any(|t| t.kind() == SyntaxKind::Whitespace && breaks(&t))
}

/// Whether the arrow is the first token of its connection, its left side being left out.
fn at_start(arrow: &SyntaxToken) -> bool {
    arrow.parent().is_some_and(|connection| connection.text_range().start() == arrow.text_range().start())
}

/// `elementclass Name { ... }` takes no semicolon.
fn ends_in_brace(statement: &SyntaxNode) -> bool {
    statement.kind() == SyntaxKind::Elementclass
        && statement.children().any(|child| child.kind() == SyntaxKind::Compound)
}

#[cfg(test)]
mod tests {
    use super::format;

    #[track_caller]
    fn formats(text: &str, expected: &str) {
        let once = format(text).unwrap();
        assert_eq!(once, expected);
        assert_eq!(format(&once).unwrap(), once, "not stable");
    }

    #[test]
    fn statements_get_lines_of_their_own() {
        formats(
            "a::Idle;b  ::Null ( 1 )a->b  [1]->[ 0,2 - 3 ]c::Discard;;",
            "a :: Idle;\nb :: Null( 1 );\na -> b [1] -> [0, 2-3] c :: Discard;\n",
        );
        formats(
            "define ($x 1)\n\n\n\nrequire( package p )elementclass A B",
            "define($x 1);\n\nrequire( package p );\nelementclass A B;\n",
        );
        formats("", "");
        formats("\n ;\n", "");
    }

    #[test]
    fn chains_break_at_all_arrows_or_none() {
        formats("a -> b\n -> c -> d;", "a\n    -> b\n    -> c\n    -> d;\n");
        let name = "n".repeat(40);
        formats(&format!("{name} -> {name} -> {name}"), &format!("{name}\n    -> {name}\n    -> {name};\n"));
    }

    #[test]
    fn compounds_and_groups() {
        formats(
            "elementclass A {$a,K $b|input->Null->output||...}x::{\ninput->output;}->( [0]->[0] )\n",
            "elementclass A { $a, K $b | input -> Null -> output || ... }\nx :: {\n    input -> output;\n} -> ( [0] -> [0] );\n",
        );
        formats(
            "elementclass B { $a | input -> output\n||\n... }",
            "elementclass B { $a |\n    input -> output;\n|| ...\n}\n",
        );
        formats("x :: { a :: Idle -> b; -> c }", "x :: { a :: Idle -> b; -> c };\n");
    }

    #[test]
    fn comments_stay() {
        formats(
            "// top\n\n\n/* b */ a -> b; // after\n// next\n",
            "// top\n\n/* b */\na -> b; // after\n// next\n",
        );
        formats("a // one\n-> /* two */ b // three\n;", "a // one\n    -> /* two */ b // three\n    ;\n");
        formats(
            "x :: { // in\n input -> output; // end\n\n // last\n}",
            "x :: { // in\n    input -> output; // end\n\n    // last\n};\n",
        );
        formats("a [ 0 // p\n, 1] => b;", "a [0 // p\n    , 1] => b;\n");
    }

    #[test]
    fn the_deepest_nesting_allowed() {
        let depth = 50;
        let text = format!("{} input -> output {};", "{".repeat(depth), "}".repeat(depth));
        let once = format(&text).unwrap();
        assert_eq!(format(&once).unwrap(), once);
    }

    #[test]
    fn what_cannot_be_formatted() {
        assert!(format("a -> ;").is_err());
        assert!(format("/* a").is_err());
        assert_eq!(format("#line 3\n  a  ;").unwrap(), "#line 3\n  a  ;");
    }
}

//! Text to tokens. The parser drives it, because the inside of a configuration string, `Class(...)`, has rules of its
//! own: it runs to the closing parenthesis that balances, past quotes, comments and `\<hex>` data.

use super::SyntaxKind;

/// Reads tokens of one text, front to back.
pub(crate) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

/// A kind and how many bytes it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub kind: SyntaxKind,
    pub start: usize,
    pub end: usize,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Self {
        Lexer::starting_at(text, 0)
    }

    /// Reads from offset `at` on.
    pub fn starting_at(text: &'a str, at: usize) -> Self {
        Lexer { text, at }
    }

    /// The next token, trivia included; [`SyntaxKind::Eof`] for ever at the end.
    pub fn next(&mut self) -> Token {
        let start = self.at;
        let (kind, len) = self.scan();
        self.at += len;
        Token { kind, start, end: self.at }
    }

    fn scan(&self) -> (SyntaxKind, usize) {
        use SyntaxKind::*;
        let rest = &self.text[self.at..];
        let Some(first) = rest.bytes().next() else { return (Eof, 0) };
        match first {
            _ if is_space(first) => (Whitespace, self.whitespace()),
            b'/' if rest.starts_with("//") => (Comment, line_length(rest)),
            b'/' if rest.starts_with("/*") => (Comment, comment(rest.as_bytes()).unwrap_or(rest.len())),
            b'#' if self.at_line_start(self.at) => (LineDirective, line_length(rest)),
            _ if is_word(first) => word(rest),
            b'$' if rest[1..].bytes().next().is_some_and(is_variable) => {
                (Variable, 1 + rest[1..].bytes().take_while(|&b| is_variable(b)).count())
            }
            _ => symbol(rest),
        }
    }

    fn at_line_start(&self, at: usize) -> bool {
        at == 0 || matches!(self.text.as_bytes()[at - 1], b'\n' | b'\r')
    }

    fn whitespace(&self) -> usize {
        self.text[self.at..].bytes().take_while(|&b| is_space(b)).count()
    }

    /// The next piece of a configuration string: text up to its closing parenthesis, to a line directive, or to the
    /// end of the file; or that line directive. `depth` counts open parentheses and is kept from piece to piece.
    /// `None` at the closing parenthesis and at the end.
    pub fn next_config(&mut self, depth: &mut usize) -> Option<Token> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        if start < bytes.len() && bytes[start] == b'#' && self.at_line_start(start) {
            self.at += line_length(&self.text[start..]);
            return Some(Token { kind: SyntaxKind::LineDirective, start, end: self.at });
        }
        let (len, new_depth) = config_piece(&bytes[start..], *depth);
        *depth = new_depth;
        self.at += len;
        (len > 0).then_some(Token { kind: SyntaxKind::ConfigText, start, end: self.at })
    }
}

/// How long the piece of configuration string at the start of `text` is, and the depth of parentheses after it.
/// A line directive at the very start is taken for text: the caller looks for that.
fn config_piece(text: &[u8], mut depth: usize) -> (usize, usize) {
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'(' => depth += 1,
            b')' if depth == 1 => break,
            b')' => depth -= 1,
            b'#' if at > 0 && matches!(text[at - 1], b'\n' | b'\r') => break,
            _ => {}
        }
        at += protected(&text[at..]);
    }
    (at, depth)
}

/// Whether `text` can stand between the parentheses of a configuration string and be read back as it is.
pub(crate) fn is_config(text: &str) -> bool {
    let closed = format!("{text})");
    config_piece(closed.as_bytes(), 1) == (text.len(), 1)
}

/// How many bytes at the start of `text` belong together: a comment, a quoted string, `\<hex>` data, or one byte.
pub(crate) fn protected(text: &[u8]) -> usize {
    match text {
        [b'/', ..] => comment(text).unwrap_or(1),
        [b'"', ..] => double_quoted(text),
        [b'\'', inside @ ..] => position(inside, b"'").map_or(text.len(), |n| n + 2),
        [b'\\', b'<', ..] => hex_data(text),
        _ => 1,
    }
}

/// Length of the comment at the start of `text`, with its line end.
pub(crate) fn comment(text: &[u8]) -> Option<usize> {
    match text {
        [b'/', b'/', ..] => {
            let line = text.iter().position(|b| matches!(b, b'\n' | b'\r')).unwrap_or(text.len());
            let end = if text[line..].starts_with(b"\r\n") { 2 } else { 1 };
            Some((line + end).min(text.len()))
        }
        [b'/', b'*', inside @ ..] => Some(position(inside, b"*/").map_or(text.len(), |n| n + 4)),
        _ => None,
    }
}

/// Length of the `"..."` at the start of `text`.
fn double_quoted(text: &[u8]) -> usize {
    let mut at = 1;
    while at < text.len() {
        match text[at..] {
            [b'"', ..] => return at + 1,
            [b'\\', b'<', ..] => at += hex_data(&text[at..]),
            [b'\\', ..] => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

/// Length of the `\<...>` at the start of `text`.
fn hex_data(text: &[u8]) -> usize {
    let mut at = 2;
    while at < text.len() {
        match text[at] {
            b'>' => return at + 1,
            b'/' => at += comment(&text[at..]).unwrap_or(1),
            _ => at += 1,
        }
    }
    text.len()
}

/// Where `needle` first stands in `text`.
fn position(text: &[u8], needle: &[u8]) -> Option<usize> {
    text.windows(needle.len()).position(|w| w == needle)
}

/// Bytes before the end of the first line.
fn line_length(text: &str) -> usize {
    text.find(['\n', '\r']).unwrap_or(text.len())
}

/// White space as C's `isspace` has it.
pub(crate) fn is_space(b: u8) -> bool {
    b.is_ascii_whitespace() || b == 0x0b
}

/// Letters of variable names.
pub(crate) fn is_variable(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

/// Letters of identifiers other than the slash.
fn is_word(b: u8) -> bool {
    is_variable(b) || b == b'@'
}

/// An identifier: words joined by single slashes. Or a keyword.
fn word(text: &str) -> (SyntaxKind, usize) {
    let bytes = text.as_bytes();
    let mut len = 0;
    loop {
        len += bytes[len..].iter().take_while(|&&b| is_word(b)).count();
        if bytes.get(len) != Some(&b'/') || !bytes.get(len + 1).is_some_and(|&b| is_word(b)) {
            break;
        }
        len += 1;
    }
    let kind = match &text[..len] {
        "elementclass" => SyntaxKind::ElementclassKw,
        "require" => SyntaxKind::RequireKw,
        "provide" => SyntaxKind::ProvideKw,
        "define" => SyntaxKind::DefineKw,
        _ => SyntaxKind::Ident,
    };
    (kind, len)
}

fn symbol(text: &str) -> (SyntaxKind, usize) {
    use SyntaxKind::*;
    const LONG: [(&str, SyntaxKind); 5] =
        [("->", Arrow), ("=>", DoubleArrow), ("::", ColonColon), ("||", BarBar), ("...", Dots)];
    if let Some(&(symbol, kind)) = LONG.iter().find(|(symbol, _)| text.starts_with(symbol)) {
        return (kind, symbol.len());
    }
    let first = text.chars().next().unwrap_or(' ');
    let kind = match first {
        ';' => Semicolon,
        ',' => Comma,
        '|' => Bar,
        '-' => Minus,
        '(' => LeftParen,
        ')' => RightParen,
        '[' => LeftBracket,
        ']' => RightBracket,
        '{' => LeftBrace,
        '}' => RightBrace,
        _ => Unknown,
    };
    (kind, first.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(SyntaxKind, &str)> {
        let mut lexer = Lexer::new(text);
        std::iter::from_fn(|| {
            let t = lexer.next();
            (t.kind != SyntaxKind::Eof).then(|| (t.kind, &text[t.start..t.end]))
        })
        .filter(|(kind, _)| *kind != SyntaxKind::Whitespace)
        .collect()
    }

    #[test]
    fn identifiers_have_single_slashes_and_end_at_comments() {
        use SyntaxKind::*;
        assert_eq!(kinds("a/b@3//x"), [(Ident, "a/b@3"), (Comment, "//x")]);
        assert_eq!(kinds("a/ b"), [(Ident, "a"), (Unknown, "/"), (Ident, "b")]);
        assert_eq!(kinds("0-2"), [(Ident, "0"), (Minus, "-"), (Ident, "2")]);
        assert_eq!(
            kinds("a->b=>c"),
            [(Ident, "a"), (Arrow, "->"), (Ident, "b"), (DoubleArrow, "=>"), (Ident, "c")]
        );
    }

    #[test]
    fn comments_and_directives() {
        use SyntaxKind::*;
        assert_eq!(kinds("/*/ a */b"), [(Comment, "/*/ a */"), (Ident, "b")]);
        assert_eq!(kinds("/* a"), [(Comment, "/* a")]);
        assert_eq!(kinds("#line 3\n #"), [(LineDirective, "#line 3"), (Unknown, "#")]);
        assert_eq!(kinds("$a $"), [(Variable, "$a"), (Unknown, "$")]);
    }

    #[test]
    fn configuration_strings_balance_past_quotes_comments_and_data() {
        for inside in [
            "a(b)c",
            "\")\"",
            "')'",
            "'\\'",
            "\"\\\")\"",
            "/*)*/",
            "//)\n",
            "\\<20 /*)*/ >",
            "\"\\< \" ) >\"",
        ] {
            let text = format!("{inside})rest");
            let (len, depth) = config_piece(text.as_bytes(), 1);
            assert_eq!((&text[..len], depth), (inside, 1), "{text}");
        }
        assert_eq!(config_piece(b"\\))", 1).0, 1, "a bare backslash protects nothing");
        assert_eq!(config_piece(b"a\n#line 3\n)", 1).0, 2);
    }
}

//! The tokens of C code, as far as they matter for substituting names in it.
//!
//! This is no C parser: comments, strings, characters, preprocessor lines and backquoted stretches are skipped as wholes,
//! identifiers and numbers are found, and everything else is single characters.

use std::ops::Range;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An identifier or keyword.
    Word,
    /// A number, string, character.
    Literal,
    /// A stretch between backquotes, with them.
    Quoted,
    /// `->`
    Arrow,
    /// One other character.
    Mark(u8),
}

/// A token and where it stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub kind: Kind,
    pub range: Range<usize>,
}

impl Token {
    pub fn is(&self, mark: u8) -> bool {
        self.kind == Kind::Mark(mark)
    }
}

/// The tokens of a text, without white space, comments and preprocessor lines.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut reader = Reader { bytes: text.as_bytes(), at: 0, line_begins: true };
    let mut found = Vec::new();
    while reader.at < reader.bytes.len() {
        let start = reader.at;
        if let Some(kind) = reader.next() {
            reader.line_begins = false;
            found.push(Token { kind, range: start..reader.at });
        }
    }
    found
}

struct Reader<'t> {
    bytes: &'t [u8],
    at: usize,
    /// Whether nothing but white space stands before in this line.
    line_begins: bool,
}

impl Reader<'_> {
    fn peek(&self, offset: usize) -> u8 {
        self.bytes.get(self.at + offset).copied().unwrap_or(0)
    }

    /// Moves over one token or over something that is none.
    fn next(&mut self) -> Option<Kind> {
        match self.peek(0) {
            b'\n' => {
                self.at += 1;
                self.line_begins = true;
                None
            }
            b if b.is_ascii_whitespace() => {
                self.at += 1;
                None
            }
            b'#' if self.line_begins => {
                self.directive();
                None
            }
            b'/' if self.peek(1) == b'*' => {
                self.comment();
                None
            }
            b'/' if self.peek(1) == b'/' => {
                self.skip_while(|b| b != b'\n');
                None
            }
            _ => Some(self.token()),
        }
    }

    fn token(&mut self) -> Kind {
        let first = self.peek(0);
        match first {
            b'"' | b'\'' => self.string(first),
            b'`' => {
                self.at += 1;
                self.skip_while(|b| b != b'`');
                self.at = (self.at + 1).min(self.bytes.len());
                Kind::Quoted
            }
            b'-' if self.peek(1) == b'>' => {
                self.at += 2;
                Kind::Arrow
            }
            _ if starts_word(first) => {
                self.skip_while(in_word);
                Kind::Word
            }
            _ if first.is_ascii_digit() || (first == b'.' && self.peek(1).is_ascii_digit()) => {
                self.skip_while(|b| in_word(b) || b == b'.');
                Kind::Literal
            }
            _ => {
                self.at += 1;
                Kind::Mark(first)
            }
        }
    }

    fn skip_while(&mut self, more: impl Fn(u8) -> bool) {
        while self.at < self.bytes.len() && more(self.bytes[self.at]) {
            self.at += 1;
        }
    }

    /// The `*` that opens a comment does not close it.
    fn comment(&mut self) {
        let inside = self.at + 2;
        self.at = inside;
        while self.at < self.bytes.len() && !self.bytes[inside..self.at].ends_with(b"*/") {
            self.at += 1;
        }
    }

    /// To the end of the line, which a backslash before it moves.
    fn directive(&mut self) {
        while self.at < self.bytes.len() && self.peek(0) != b'\n' {
            self.at += if self.peek(0) == b'\\' { 2 } else { 1 };
        }
        self.at = self.at.min(self.bytes.len());
    }

    fn string(&mut self, quote: u8) -> Kind {
        self.at += 1;
        while self.at < self.bytes.len() && self.peek(0) != quote {
            self.at += if self.peek(0) == b'\\' { 2 } else { 1 };
        }
        self.at = (self.at + 1).min(self.bytes.len());
        Kind::Literal
    }
}

/// Bytes of letters outside of ASCII count as letters, so that a token never ends inside a character.
fn starts_word(b: u8) -> bool {
    b.is_ascii_alphabetic() || b == b'_' || b == b'$' || b >= 0x80
}

fn in_word(b: u8) -> bool {
    starts_word(b) || b.is_ascii_digit()
}

/// Whether a word is a keyword of C, which no Prolac name can be taken for.
pub fn is_keyword(word: &str) -> bool {
    const KEYWORDS: [&str; 44] = [
        "auto",
        "break",
        "case",
        "char",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "float",
        "for",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "register",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "typedef",
        "union",
        "unsigned",
        "void",
        "volatile",
        "while",
        "_Alignas",
        "_Alignof",
        "_Atomic",
        "_Bool",
        "_Complex",
        "_Generic",
        "_Noreturn",
        "_Static_assert",
        "_Thread_local",
        "__attribute__",
    ];
    KEYWORDS.contains(&word)
}

/// Whether a name behind this word is declared by it.
pub fn is_type(word: &str) -> bool {
    const TYPES: [&str; 10] =
        ["char", "double", "float", "int", "long", "short", "signed", "unsigned", "void", "_Bool"];
    TYPES.contains(&word)
}

/// Whether a method with this code must be neither copied nor inlined: it has `return`, `goto`, `static`, `setjmp` or a
/// label.
pub fn is_pinned(text: &str, tokens: &[Token]) -> bool {
    let word = |token: &Token| &text[token.range.clone()];
    tokens.iter().enumerate().any(|(i, token)| {
        token.kind == Kind::Word
            && (matches!(word(token), "return" | "goto" | "static" | "setjmp" | "_setjmp" | "sigsetjmp")
                || is_label(i, tokens, &word))
    })
}

/// `name:` at the beginning of a statement; `default:` is none, and neither is a `case` or the `:` of a choice.
fn is_label<'t>(i: usize, tokens: &[Token], word: &impl Fn(&Token) -> &'t str) -> bool {
    let colon = tokens.get(i + 1).is_some_and(|next| next.is(b':'));
    let begins = match i.checked_sub(1).map(|before| &tokens[before]) {
        None => true,
        Some(before) => before.is(b';') || before.is(b'{') || before.is(b'}') || before.is(b':'),
    };
    colon && begins && word(&tokens[i]) != "default"
}

/// The first `break` or `continue` that no loop can be meant by: none begins before it in this code. A name with
/// arguments and a statement behind it may be a macro that makes a loop.
pub fn stray_jump(text: &str, tokens: &[Token]) -> Option<Range<usize>> {
    let (mut in_loop, mut in_switch) = (false, false);
    for (i, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Word) {
        match &text[token.range.clone()] {
            "for" | "while" | "do" => in_loop = true,
            "switch" => in_switch = true,
            "break" if !in_loop && !in_switch => return Some(token.range.clone()),
            "continue" if !in_loop => return Some(token.range.clone()),
            word => in_loop |= !is_keyword(word) && may_be_loop(i, tokens),
        }
    }
    None
}

/// Whether a word is followed by arguments and then by a statement.
fn may_be_loop(i: usize, tokens: &[Token]) -> bool {
    if !tokens.get(i + 1).is_some_and(|next| next.is(b'(')) {
        return false;
    }
    let mut depth = 0;
    for (j, token) in tokens.iter().enumerate().skip(i + 1) {
        match token.kind {
            Kind::Mark(b'(') => depth += 1,
            Kind::Mark(b')') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return tokens.get(j + 1).is_some_and(|next| next.is(b'{') || next.kind == Kind::Word);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        let all = tokens(text);
        all.into_iter().filter(|t| t.kind == Kind::Word).map(|t| &text[t.range]).collect()
    }

    #[test]
    fn only_code_has_words() {
        assert_eq!(words("a /* b */ \"c\\\"d\" 'e' // f\n# g\n h `i` 0x1fL j"), ["a", "h", "j"]);
        assert_eq!(words("/*/ a */ b"), ["b"]);
        assert_eq!(words("#define x \\\n y\nz"), ["z"]);
    }

    #[test]
    fn unfinished_text_ends_quietly() {
        for text in ["\"a\\", "/* a", "'", "`a", "#a\\", "é"] {
            assert!(tokens(text).iter().all(|t| t.range.end <= text.len()), "{text}");
        }
    }

    #[test]
    fn jumps_and_labels_pin() {
        let pinned = |text: &str| is_pinned(text, &tokens(text));
        assert!(pinned("return;") && pinned("x = 1; out: y();") && pinned("static int n;"));
        assert!(!pinned("x = a ? b : c;") && !pinned("switch (x) { case 1: default: y(); }"));
        assert!(!pinned("/* return */ f(\"goto\");"));
    }

    #[test]
    fn break_needs_a_loop() {
        let stray = |text: &str| stray_jump(text, &tokens(text)).is_some();
        assert!(stray("if (x) break;") && stray("switch (x) { case 1: continue; }") && stray("f(x); break;"));
        assert!(!stray("while (x) { break; }") && !stray("switch (x) { default: break; }"));
        assert!(!stray("list_for_each(p) { if (p) break; }"));
    }
}

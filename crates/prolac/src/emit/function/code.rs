//! C blocks: the source's own C, with Prolac names replaced by C for them.

use clickwork_source::Span;

use super::Function;
use crate::check::body::ctext;
use crate::emit::stmt::StmtKind;
use crate::emit::text::level;
use crate::program::tree::{CBlock, CPiece};

impl<'a> Function<'a> {
    /// A C block as a compound statement; a single plain statement stands alone.
    pub(super) fn code(&mut self, block: &'a CBlock, span: Span) {
        let mut text = self.code_text(block);
        if block.pinned && self.returns_success() {
            text = with_success(&text);
        }
        if text.trim().is_empty() {
            return;
        }
        let start = block.pieces.iter().find_map(|piece| match piece {
            CPiece::Text(text, at) if !at.is_none() => Some((text, *at)),
            _ => None,
        });
        let outer = std::mem::replace(&mut self.span, span);
        if let (true, Some(start)) = (text.contains('\n'), start) {
            self.long_code(&text, start);
        } else if is_statement(block, &text) {
            self.push(StmtKind::Do(text.trim().trim_end_matches(';').trim_end().to_string()));
        } else {
            self.push(StmtKind::Line(format!("{{ {} }}", text.trim())));
        }
        self.span = outer;
    }

    /// Several lines: they keep their places, so that errors in them are found.
    fn long_code(&mut self, text: &str, (_, at): (&String, Span)) {
        let mut lines: Vec<String> = text.lines().map(|line| line.trim_end().to_string()).collect();
        if lines.last().is_some_and(|line| takes_the_line(line)) {
            lines.push(String::new());
        }
        self.span = at;
        self.push(StmtKind::Code(lines));
    }

    fn code_text(&mut self, block: &'a CBlock) -> String {
        let mut all = String::new();
        for piece in &block.pieces {
            match piece {
                CPiece::Text(text, _) => all.push_str(text),
                CPiece::Value(value) => {
                    let c = if value.is_place() { self.place(value) } else { self.value(value) };
                    all.push_str(&c.operand(level::POSTFIX, false));
                }
            }
        }
        all
    }

    /// Whether the method has no value in Prolac, but returns 0 in C if no exception leaves it.
    fn returns_success(&self) -> bool {
        self.unit.program[self.method].returns.is_void() && self.unit.can_throw(self.method)
    }
}

/// The code with `return 0;` for `return;`.
fn with_success(text: &str) -> String {
    let tokens = ctext::tokens(text);
    let returns =
        tokens.windows(2).filter(|pair| pair[1].is(b';') && &text[pair[0].range.clone()] == "return");
    let mut all = text.to_owned();
    for end in returns.map(|pair| pair[0].range.end).collect::<Vec<_>>().into_iter().rev() {
        all.insert_str(end, " 0");
    }
    all
}

/// Whether nothing more can be written into a line: it is for the preprocessor or may end in a comment.
fn takes_the_line(line: &str) -> bool {
    line.trim_start().starts_with('#') || line.contains("//") || line.ends_with('\\')
}

/// Whether the code is one expression statement and nothing else.
fn is_statement(block: &CBlock, text: &str) -> bool {
    let text = text.trim();
    let bare = without_strings(text);
    let odd = |c: char| matches!(c, '{' | '}' | '#' | '\\' | ':');
    let plain = bare.ends_with(';') && !bare[..bare.len() - 1].contains(';') && !bare.contains(odd);
    let comment = bare.contains("//") || bare.contains("/*");
    plain && !comment && !block.pinned && starts_with_expression(block, text)
}

/// C without what stands in strings and characters.
fn without_strings(text: &str) -> String {
    let mut bare = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        bare.push(c);
        if c == '"' || c == '\'' {
            while let Some(inner) = chars.next() {
                match inner {
                    '\\' => drop(chars.next()),
                    _ if inner == c => break,
                    _ => {}
                }
            }
        }
    }
    bare
}

fn starts_with_expression(block: &CBlock, text: &str) -> bool {
    let value_first = match &block.pieces[..] {
        [CPiece::Value(_), ..] => true,
        [CPiece::Text(first, _), CPiece::Value(_), ..] => first.trim().is_empty(),
        _ => false,
    };
    let word: String = text.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    let after = text[word.len()..].trim_start();
    let keyword = matches!(
        &word[..],
        "if" | "for" | "while" | "do" | "switch" | "return" | "goto" | "else" | "sizeof" | "typeof"
    );
    value_first || (!word.is_empty() && !keyword && after.starts_with(['(', '=', '[', '.', '-', '+']))
}

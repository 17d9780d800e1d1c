//! C blocks: the source's own C, with Prolac names replaced by C for them.

use clickwork_source::Span;

use super::Function;
use crate::emit::stmt::StmtKind;
use crate::emit::text::level;
use crate::program::tree::{CBlock, CPiece, ExprKind};

impl<'a> Function<'a> {
    /// A C block as a compound statement; a single plain statement stands alone.
    pub(super) fn code(&mut self, block: &'a CBlock, span: Span) {
        let text = self.code_text(block);
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
            self.push(StmtKind::Code(vec![format!("{{ {} }}", text.trim())]));
        }
        self.span = outer;
    }

    /// Several lines: they keep their places, so that errors in them are found.
    fn long_code(&mut self, text: &str, (_, at): (&String, Span)) {
        let mut lines: Vec<String> = text.lines().map(|line| line.trim_end().to_string()).collect();
        if let Some(first) = lines.first_mut() {
            *first = format!("{{{first}");
        }
        if let Some(last) = lines.last_mut() {
            last.push('}');
        }
        self.span = at;
        self.push(StmtKind::Code(lines));
    }

    fn code_text(&mut self, block: &'a CBlock) -> String {
        let mut all = String::new();
        for (i, piece) in block.pieces.iter().enumerate() {
            match piece {
                CPiece::Text(text, _) => all.push_str(text),
                CPiece::Value(value) => {
                    let written = match block.pieces.get(i + 1) {
                        Some(CPiece::Text(text, _)) => is_assignment(text),
                        _ => false,
                    };
                    let c = if value.is_place() { self.place(value) } else { self.value(value) };
                    if !written || !matches!(value.kind, ExprKind::Local(_)) {
                        self.mark_used(&c);
                        self.mark_root(&c.text);
                    }
                    all.push_str(&c.operand(level::POSTFIX, false));
                }
            }
        }
        all
    }

    fn mark_root(&mut self, text: &str) {
        let root = text.trim_start_matches(['*', '&', '(']);
        let name: String = root.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        self.used.insert(name);
    }
}

/// Whether the text after a name assigns to it.
fn is_assignment(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with('=') && !text.starts_with("==")
}

/// Whether the code is one expression statement and nothing else.
fn is_statement(block: &CBlock, text: &str) -> bool {
    let text = text.trim();
    let odd = |c: char| matches!(c, '{' | '}' | '#' | '"' | '\'' | '\\' | ':' | '?');
    let plain = text.ends_with(';') && !text[..text.len() - 1].contains(';') && !text.contains(odd);
    let comment = text.contains("//") || text.contains("/*");
    plain && !comment && !block.pinned && starts_with_expression(block, text)
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

//! What must hold for any text taken as a Prolac program. The fuzz target runs it on made-up bytes, the tests of
//! `prolac` on the seeds and on texts of their own.

use clickwork_prolac::syntax::token::TokenKind;
use clickwork_prolac::syntax::{ast::Program, dump, format, parse, tokenize};
use clickwork_source::{Diagnostics, Sources, render_human};

/// Splits into tokens, parses, dumps, formats; panics if any of them goes wrong.
pub fn check(data: &[u8]) {
    check_text(&String::from_utf8_lossy(data));
}

/// The same for text; returns what was parsed.
pub fn check_text(text: &str) -> (Sources, Program, Diagnostics) {
    let mut sources = Sources::new();
    let file = sources.add("fuzz.pc", text);
    let mut at = 0;
    for token in tokenize(&sources, file).list {
        assert!(token.start == at && token.end > at, "{token:?} does not begin at {at}");
        at = token.end;
    }
    assert_eq!(at as usize, text.len(), "the tokens must hold every byte");
    let mut diagnostics = Diagnostics::new();
    let program = parse(&mut sources, file, &mut diagnostics);
    for diagnostic in diagnostics.iter().take(if text.len() < 2000 { 20 } else { 1 }) {
        render_human(&sources, diagnostic, false);
    }
    check_format(text);
    (sources, program, diagnostics)
}

/// What is formatted has the same tree and the same comments, and is formatted already.
fn check_format(text: &str) {
    let Some(formatted) = formatted(text) else { return };
    assert_eq!(tree(&formatted), tree(text), "{text}\nbecame\n{formatted}");
    assert_eq!(self::formatted(&formatted).as_ref(), Some(&formatted), "formatting is not stable: {text}");
}

fn formatted(text: &str) -> Option<String> {
    let mut sources = Sources::new();
    let file = sources.add("fuzz.pc", text);
    format(&mut sources, file).ok()
}

/// The dump of the tree, and the comments in their order.
fn tree(text: &str) -> (String, Vec<String>) {
    let mut sources = Sources::new();
    let file = sources.add("fuzz.pc", text);
    let program = parse(&mut sources, file, &mut Diagnostics::new());
    let tokens = tokenize(&sources, file).list.into_iter();
    let comments = tokens.filter(|t| t.kind.is_trivia() && t.kind != TokenKind::Space);
    (dump(&program, &sources), comments.map(|t| t.text(text).trim_end().to_string()).collect())
}

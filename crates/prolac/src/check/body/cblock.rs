//! C blocks: Prolac names in them become expressions (section 11.1).
//!
//! Names of Prolac, written with `_` for `-`, are replaced where they stand for memory or a constant: `self`, parameters
//! and variables, fields of the object, static fields, static methods that are constants, and qualified ones of these
//! (`K.size`, `Parent.size`, `V.counter`). Everything else is left to C: what follows `.`, `->`, `struct`, `union`, `enum`
//! or `goto`, strings, characters, comments, preprocessor lines, and any name that means nothing here. What stands
//! between backquotes is copied as it is. What the C code declares itself does not count: a Prolac name wins.

use clickwork_source::{Diagnostic, Span};

use super::BodyChecker;
use super::ctext::{self, Kind, Token};
use crate::Name;
use crate::names::{Entry, Feature, Space};
use crate::program::tree::{CBlock, CPiece, Expr, ExprKind};
use crate::program::{MethodId, Type, ViewId};

/// What a word of C leads to.
enum Known {
    Value(Expr),
    Inside(Place),
    Nothing,
}

/// The tokens from some word on.
struct Words<'t> {
    text: &'t str,
    inside: Span,
    tokens: &'t [Token],
}

impl<'t> Words<'t> {
    fn word(&self, i: usize) -> &'t str {
        &self.text[self.tokens[i].range.clone()]
    }

    /// The place of the first `count` tokens.
    fn span(&self, count: usize) -> Span {
        part_of(self.inside, &(self.tokens[0].range.start..self.tokens[count - 1].range.end))
    }

    /// Whether `.` and a word come after `count` tokens.
    fn has_member(&self, count: usize) -> bool {
        self.tokens.get(count).is_some_and(|t| t.is(b'.'))
            && self.tokens.get(count + 1).is_some_and(|t| t.kind == Kind::Word)
    }
}

/// Where the rest of a qualified name is looked up.
enum Place {
    View(ViewId),
    Space(Space),
}

impl BodyChecker<'_, '_> {
    /// `{ C code }`: bool, true. `inside` is the code without its braces.
    pub(super) fn c_block(&mut self, inside: Span, span: Span) -> Expr {
        let text = self.check.sources.slice(inside).to_owned();
        let tokens = ctext::tokens(&text);
        if let Some(jump) = ctext::stray_jump(&text, &tokens) {
            let word = &text[jump.clone()];
            let message = format!("`{word}` leaves this block of C: there is no loop around it here");
            self.report(Diagnostic::error(part_of(inside, &jump), message));
        }
        let pinned = ctext::is_pinned(&text, &tokens);
        let pieces = Pieces { text: &text, span: inside, done: 0, pieces: Vec::new() };
        let pieces = self.substitute(&tokens, pieces);
        Expr::new(Type::Bool, span, ExprKind::CBlock(CBlock { pieces, pinned }))
    }

    fn substitute(&mut self, tokens: &[Token], mut pieces: Pieces<'_>) -> Vec<CPiece> {
        let mut i = 0;
        while i < tokens.len() {
            let token = &tokens[i];
            if token.kind == Kind::Quoted {
                pieces.unquote(token);
            } else if token.kind == Kind::Word
                && !is_foreign(pieces.text, i, tokens)
                && let Some((value, count)) =
                    self.name_in_c(&Words { text: pieces.text, inside: pieces.span, tokens: &tokens[i..] })
            {
                if i > 0 && ctext::is_type(&pieces.text[tokens[i - 1].range.clone()]) {
                    self.warn_declaration(&value);
                }
                pieces.replace(&tokens[i], &tokens[i + count - 1], value);
                i += count - 1;
            }
            i += 1;
        }
        pieces.finish()
    }

    /// `int n;` in C where `n` is a Prolac name.
    fn warn_declaration(&mut self, value: &Expr) {
        let name = self.check.sources.slice(value.span);
        let message = format!("C declares `{name}` here, but the Prolac name takes its place");
        let hint =
            format!("choose another name for the variable of C, or put it between backquotes: `{name}`");
        self.report(Diagnostic::warning(value.span, message).hint(hint));
    }

    /// The value of the Prolac name that the words begin with, and how many tokens it takes.
    fn name_in_c(&mut self, words: &Words<'_>) -> Option<(Expr, usize)> {
        if words.word(0) == "self" && !self.is_static {
            let view = self.check.names.original_view(self.module());
            let field = self.qualified_in_c(Known::Inside(Place::View(view)), words);
            return Some(field.unwrap_or_else(|| (self.this(words.span(1)), 1)));
        }
        let first = self.first_name_in_c(words.word(0), words.span(1));
        self.qualified_in_c(first, words)
    }

    /// Follows the dots behind the first word as long as it leads to a module or namespace.
    fn qualified_in_c(&mut self, mut known: Known, words: &Words<'_>) -> Option<(Expr, usize)> {
        let mut count = 1;
        loop {
            let place = match known {
                Known::Value(value) => return Some((value, count)),
                Known::Nothing => return None,
                Known::Inside(place) => place,
            };
            if !words.has_member(count) {
                return None;
            }
            let name = Name::new(words.word(count + 1));
            count += 2;
            let entry = match place {
                Place::View(view) => self.check.names.member(view, &name).cloned(),
                Place::Space(space) => space.get(&name).cloned(),
            };
            known = entry.map_or(Known::Nothing, |entry| self.known(&entry, words.span(count)));
        }
    }

    fn first_name_in_c(&mut self, word: &str, span: Span) -> Known {
        let name = Name::new(word);
        if let Some(local) = self.local(&name) {
            self.used[local.0 as usize] = true;
            return Known::Value(self.local_expr(local, span));
        }
        match self.entry(false, &name) {
            Some(entry) => self.known(&entry, span),
            None => Known::Nothing,
        }
    }

    /// A dynamic field belongs to `self`: one of a module that is no ancestor has no place here.
    fn known(&mut self, entry: &Entry, span: Span) -> Known {
        match &entry.feature {
            Feature::Field(field) => {
                let field = *field;
                let ty = self.check.field_type(field);
                let own = self.check.program.is_derived(self.module(), self.check.program[field].module);
                match self.check.program[field].is_static {
                    true => Known::Value(Expr::new(ty, span, ExprKind::StaticField(field))),
                    false if own && !self.is_static => {
                        let object = Box::new(self.this(span));
                        Known::Value(Expr::new(ty, span, ExprKind::Field(object, field)))
                    }
                    false => Known::Nothing,
                }
            }
            Feature::Method(method) => self.constant_in_c(*method, span),
            Feature::Module(link) => Known::Inside(Place::View(link.view)),
            Feature::Space(space, _) => Known::Inside(Place::Space(space.clone())),
            Feature::Implicit(id) => match self.check.names.implicit(*id).cloned() {
                Some(target) => self.known(&target, span),
                None => Known::Nothing,
            },
            Feature::Constructor(_) | Feature::Exception(_) => Known::Nothing,
        }
    }

    fn constant_in_c(&mut self, method: MethodId, span: Span) -> Known {
        let ty = self.check.signature(method).returns;
        match self.check.constant(method) {
            Some(value) => Known::Value(Expr::new(ty, span, ExprKind::Int(value))),
            None => Known::Nothing,
        }
    }
}

/// Whether a word of C stands where C alone says what it means.
fn is_foreign(text: &str, i: usize, tokens: &[Token]) -> bool {
    let word = |token: &Token| &text[token.range.clone()];
    if ctext::is_keyword(word(&tokens[i])) {
        return true;
    }
    let Some(before) = i.checked_sub(1).map(|before| &tokens[before]) else { return false };
    match before.kind {
        Kind::Arrow => true,
        Kind::Mark(mark) => mark == b'.',
        Kind::Word => matches!(word(before), "struct" | "union" | "enum" | "goto"),
        Kind::Literal | Kind::Quoted => false,
    }
}

fn part_of(whole: Span, part: &std::ops::Range<usize>) -> Span {
    let (start, end) = (whole.start + part.start as u32, whole.start + part.end as u32);
    Span::new(whole.file, start, end)
}

/// The pieces of a block up to some offset of its text.
struct Pieces<'t> {
    text: &'t str,
    span: Span,
    /// What has been dealt with.
    done: usize,
    pieces: Vec<CPiece>,
}

impl Pieces<'_> {
    fn copy_until(&mut self, end: usize) {
        if let Some(text) = self.text.get(self.done..end).filter(|text| !text.is_empty()) {
            let span = part_of(self.span, &(self.done..end));
            self.pieces.push(CPiece::Text(text.to_owned(), span));
        }
        self.done = end;
    }

    fn replace(&mut self, first: &Token, last: &Token, value: Expr) {
        self.copy_until(first.range.start);
        self.pieces.push(CPiece::Value(value));
        self.done = last.range.end;
    }

    /// A stretch between backquotes, without them.
    fn unquote(&mut self, token: &Token) {
        self.copy_until(token.range.start);
        self.done = token.range.start + 1;
        let closed = token.range.len() > 1 && self.text[token.range.clone()].ends_with('`');
        self.copy_until(token.range.end - usize::from(closed));
        self.done = token.range.end;
    }

    fn finish(mut self) -> Vec<CPiece> {
        self.copy_until(self.text.len());
        self.pieces
    }
}

//! The canonical layout of a program: `prolacc fmt`.
//!
//! The formatter works on tokens, so comments, line marks and everything else stay, in their order; only white space
//! changes, and semicolons that end nothing go. C code and support code are left as they are. `pieces` decides about
//! spaces, `tree` and `layout` about line breaks inside a definition, `doc` prints.

mod doc;
mod layout;
mod pieces;
mod tree;

use std::collections::HashSet;

use clickwork_source::{Diagnostic, Diagnostics, FileId, Severity, Sources};

use self::doc::Printer;
use self::layout::Layout;
use self::pieces::{Comment, Piece};
use super::ast::{Member, Program, TopItem};
use super::lexer::tokenize;
use super::parser::parse_with_casts;
use super::token::{Punct, TokenKind};

/// What only the parser knows about tokens.
struct Marked {
    /// Where parentheses open that make a cast.
    casts: HashSet<u32>,
    /// Where definitions end.
    ends: HashSet<u32>,
}

/// The file in canonical layout: two spaces a level, lines of at most 100 columns where that is possible, one definition
/// a line, at most one empty line. Formatting twice changes nothing more, and the tree stays the same. The errors, if
/// the file has any; preprocessor directives between definitions are none here.
pub fn format(sources: &mut Sources, file: FileId) -> Result<String, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let (program, casts) = parse_with_casts(sources, file, &mut diagnostics);
    let tokens = tokenize(sources, file).list;
    let directives = tokens.iter().filter(|t| t.kind == TokenKind::Directive);
    let starts: HashSet<u32> = directives.map(|t| t.start).collect();
    let allowed = |d: &Diagnostic| starts.contains(&d.span().start);
    // What the parser only warns of, a missing parenthesis, must be put right before it can be laid out.
    let strict = |d: Diagnostic| Diagnostic { severity: Severity::Error, ..d };
    let errors: Diagnostics = diagnostics.into_iter().filter(|d| !allowed(d)).map(strict).collect();
    if errors.has_errors() {
        return Err(errors);
    }
    let marked = Marked { casts, ends: ends(&program) };
    let text = sources.text(file);
    let pieces = pieces::pieces(text, &tokens, &marked);
    let mut writer = Writer { layout: Layout { text, pieces: &pieces }, printer: Printer::new(), level: 0 };
    writer.file();
    Ok(writer.printer.out)
}

/// The ends of definitions.
fn ends(program: &Program) -> HashSet<u32> {
    let mut ends = HashSet::new();
    items(&program.items, &mut ends);
    ends
}

fn items(list: &[TopItem], ends: &mut HashSet<u32>) {
    for item in list {
        let end = match item {
            TopItem::Module(module) => {
                members(&module.members, ends);
                module.span.end
            }
            TopItem::Equation(equation) => equation.span.end,
            TopItem::Namespace(namespace) => {
                items(&namespace.items, ends);
                namespace.span.end
            }
            TopItem::Export(export) => export.span.end,
            TopItem::Support(support) => support.span.end,
        };
        ends.insert(end);
    }
}

fn members(list: &[Member], ends: &mut HashSet<u32>) {
    for member in list {
        match member {
            Member::Namespace(namespace) => {
                members(&namespace.items, ends);
                ends.insert(namespace.span.end);
            }
            Member::Support(support) => {
                ends.insert(support.span.end);
            }
            Member::Method(_) | Member::Field(_) | Member::Exception(_) => {}
        }
    }
}

/// Writes definition after definition.
struct Writer<'a> {
    layout: Layout<'a>,
    printer: Printer,
    /// How many braces are open.
    level: usize,
}

impl Writer<'_> {
    fn file(&mut self) {
        let count = self.layout.pieces.len() - 1;
        let mut start = 0;
        while start < count {
            let end = self.end_of_definition(start);
            self.definition(start, end);
            start = end;
        }
        self.comments_before(count);
        self.printer.newline(0);
    }

    /// The index after the last token of the definition that starts at `start`. Empty braces are a part of it.
    fn end_of_definition(&self, start: usize) -> usize {
        let pieces = self.layout.pieces;
        let empty = |i: usize| {
            pieces[i].is(Punct::OpenBrace)
                && pieces[i + 1].is(Punct::CloseBrace)
                && pieces[i + 1].comments.is_empty()
        };
        let mut i = start;
        while !pieces[i].last || empty(i) {
            i += 1;
        }
        i + 1
    }

    fn definition(&mut self, start: usize, end: usize) {
        let piece = &self.layout.pieces[start];
        self.comments_before(start);
        if piece.is(Punct::CloseBrace) {
            self.level = self.level.saturating_sub(1);
        } else if piece.place.blank && !self.opens_list(start) {
            self.printer.blank();
        }
        let docs = self.layout.definition(start, end);
        self.printer.print(&docs, self.level);
        if self.layout.pieces[end - 1].is(Punct::OpenBrace) {
            self.level += 1;
        }
        for comment in self.layout.pieces[end].trailing() {
            self.printer.space();
            self.printer.text(&comment.text);
        }
    }

    /// Whether nothing stands between this token and the brace or the beginning of the file before it.
    fn opens_list(&self, token: usize) -> bool {
        let first = token.checked_sub(1).is_none_or(|i| self.layout.pieces[i].is(Punct::OpenBrace));
        first && self.layout.pieces[token].leading().is_empty()
    }

    /// The comments before a definition that have lines of their own.
    fn comments_before(&mut self, token: usize) {
        let first = token.checked_sub(1).is_none_or(|i| self.layout.pieces[i].is(Punct::OpenBrace));
        for (i, comment) in self.layout.pieces[token].leading().iter().enumerate() {
            if comment.place.blank && !(first && i == 0) {
                self.printer.blank();
            }
            if comment.at_margin() {
                self.printer.margin(&comment.text, 0);
            } else {
                self.printer.print(&[doc::Doc::Text(comment.text.clone())], self.level);
            }
        }
    }
}

impl Piece {
    /// The comments on the line of the definition before this token, which begins another one.
    fn trailing(&self) -> &[Comment] {
        let count = self.comments.iter().take_while(|c| !c.place.newline && !c.at_margin()).count();
        let newline = self.comments.get(count).map_or(self.place, |c| c.place).newline;
        if newline || self.token.kind == TokenKind::End { &self.comments[..count] } else { &[] }
    }

    /// The comments before this token, which begins a definition, that have lines of their own.
    fn leading(&self) -> &[Comment] {
        &self.comments[self.trailing().len()..]
    }

    /// How many of the comments inside a definition stay beside the token before.
    fn count_beside(&self) -> usize {
        let own_line = |i: usize| {
            let after = self.comments.get(i + 1).map_or(self.place, |c| c.place);
            self.comments[i].at_margin() || (self.comments[i].place.newline && after.newline)
        };
        (0..self.comments.len()).find(|i| own_line(*i)).unwrap_or(self.comments.len())
    }

    /// The comments inside a definition that stay beside the token before.
    fn beside(&self) -> &[Comment] {
        &self.comments[..self.count_beside()]
    }

    /// The comments inside a definition that have lines of their own.
    fn own_lines(&self) -> &[Comment] {
        &self.comments[self.count_beside()..]
    }
}

//! What stands outside of modules: modules, equations, namespaces, exports, support code.

use clickwork_source::{Diagnostic, Span};

use super::{Parsed, Parser};
use crate::syntax::ast::{Export, Namespace, Path, Program, Support, TopItem};
use crate::syntax::token::{Keyword, Punct, Token, TokenKind};

impl Parser<'_> {
    pub(super) fn program(&mut self) -> Program {
        let mut items = Vec::new();
        while self.kind() != TokenKind::End {
            self.top_item(&mut items);
            if self.at(Punct::CloseBrace) {
                self.unmatched_brace();
            }
        }
        Program { items }
    }

    fn unmatched_brace(&mut self) {
        let error = Diagnostic::error(self.here(), "this `}` closes nothing");
        self.fail(error.hint("remove it, or look for a `{` that is missing before it"));
        self.bump();
    }

    /// One definition, or a failed one that is skipped.
    fn top_item(&mut self, items: &mut Vec<TopItem>) {
        let result = match self.kind() {
            TokenKind::Punct(Punct::Semicolon) => {
                self.bump();
                Ok(())
            }
            TokenKind::Support => {
                let first = items.iter().all(|i| matches!(i, TopItem::Support(_)));
                items.push(TopItem::Support(self.support(first && self.depth == 0)));
                Ok(())
            }
            TokenKind::Keyword(Keyword::Module | Keyword::Class) => self.module(items),
            TokenKind::Keyword(Keyword::Export) => self.export().map(|e| items.push(TopItem::Export(e))),
            _ if self.at_namespace() => self.top_namespace().map(|n| items.push(TopItem::Namespace(n))),
            _ if self.at_member() => self.stray_member(),
            _ => Err(self.unexpected_item()),
        };
        if result.is_err() {
            self.skip_definition();
        }
    }

    fn unexpected_item(&mut self) -> super::Failed {
        self.expected("a module, a namespace, `export` or support code")
    }

    /// `%{ ... %}`
    pub(super) fn support(&mut self, first: bool) -> Support {
        let token = self.bump();
        let span = self.span_of(token);
        let length = if self.text_of(token).ends_with("%}") && token.end - token.start >= 4 { 2 } else { 0 };
        Support { text: Span::new(self.file, token.start + 2, token.end - length), first, span }
    }

    /// `export M.f, M.all;`
    pub(super) fn export(&mut self) -> Parsed<Export> {
        let start = self.bump().start;
        let mut names = vec![self.path()?];
        while self.take(Punct::Comma) {
            names.push(self.path()?);
        }
        if self.kind() == TokenKind::Ident && !self.starts_line() {
            return Err(self.expected("`,` or `;`"));
        }
        self.semicolon()?;
        Ok(Export { names, span: self.since(start) })
    }

    /// Whether a name and `{` come next.
    pub(super) fn at_namespace(&self) -> bool {
        self.after_path().is_some_and(|n| self.nth_is(n, Punct::OpenBrace))
    }

    fn top_namespace(&mut self) -> Parsed<Namespace<TopItem>> {
        self.namespace(Self::top_item)
    }

    /// `N { ... }`, with `item` to read what is inside.
    pub(super) fn namespace<Item>(&mut self, item: fn(&mut Self, &mut Vec<Item>)) -> Parsed<Namespace<Item>> {
        let start = self.start();
        let name = self.path()?;
        let mut items = Vec::new();
        self.nested(|p| {
            p.braces("namespace", &name, |p| item(p, &mut items));
            Ok(())
        })?;
        Ok(Namespace { name, items, span: self.since(start) })
    }

    /// `{ ... }` with `item` until the closing brace, which may be missing.
    pub(super) fn braces(&mut self, what: &str, name: &Path, mut item: impl FnMut(&mut Self)) {
        let open = self.at;
        self.bump();
        let closes = self.partners[open].is_some();
        loop {
            match self.kind() {
                TokenKind::Punct(Punct::CloseBrace) => break,
                TokenKind::End => return self.unclosed(what, name, open),
                TokenKind::Keyword(Keyword::Module | Keyword::Class | Keyword::Export)
                    if what == "module" && !closes =>
                {
                    return self.unclosed(what, name, open);
                }
                _ => item(self),
            }
        }
        self.bump();
    }

    fn unclosed(&mut self, what: &str, name: &Path, open: usize) {
        let name = self.slice(name.span);
        let message = format!("the {what} `{name}` is not closed");
        let brace = self.span_of(self.tokens[open]);
        let mut error = Diagnostic::error(brace, message).label(brace, "opened here");
        if self.kind() != TokenKind::End {
            error = error.label(self.here(), "no part of it");
        }
        let doubtful = std::mem::take(&mut self.last_block_doubtful);
        if !doubtful && !self.open_literal_has_brace(open) {
            self.fail(error.hint("add `}`"));
        }
        self.last_failure = None;
    }

    /// Whether a string or character that is not closed, behind token `open`, holds a brace.
    fn open_literal_has_brace(&self, open: usize) -> bool {
        let between = &self.tokens[open..self.at];
        between.iter().any(|&token| self.is_open(token) && self.text_of(token).contains('}'))
    }

    pub(super) fn slice(&self, span: Span) -> &str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// The semicolon at the end of a definition. A missing one is taken as given where the next line starts something
    /// new.
    pub(super) fn semicolon(&mut self) -> Parsed<()> {
        if self.take(Punct::Semicolon) {
            return Ok(());
        }
        let ends = self.at(Punct::CloseBrace) || (self.starts_line() && self.at_definition());
        let failed = self.missing_semicolon(!ends);
        if !ends {
            return Err(failed);
        }
        self.last_failure = None;
        Ok(())
    }

    /// Whether a definition seems to begin here.
    fn at_definition(&self) -> bool {
        use Keyword::{Class, Exception, Export, Field, Module, Static};
        match self.kind() {
            TokenKind::End | TokenKind::Support => true,
            TokenKind::Keyword(Class | Exception | Export | Field | Module | Static) => true,
            _ => self.at_method_head() || self.at_namespace(),
        }
    }

    /// Skips to the end of a definition that failed: over the next semicolon or `{ ... }`, or to what begins another.
    pub(super) fn skip_definition(&mut self) {
        let start = self.at;
        loop {
            match self.kind() {
                TokenKind::End | TokenKind::Punct(Punct::CloseBrace) => return,
                TokenKind::Punct(Punct::Semicolon) => {
                    self.bump();
                    return;
                }
                TokenKind::Punct(Punct::OpenBrace) => return self.skip_braces(),
                _ if self.at > start && self.starts_definition() => return,
                _ => self.bump(),
            };
        }
    }

    /// Whether the next token can only begin a definition.
    fn starts_definition(&self) -> bool {
        use Keyword::{Class, Exception, Export, Field, Module, Static};
        match self.kind() {
            TokenKind::Support => true,
            TokenKind::Keyword(Class | Exception | Export | Field | Module | Static) => true,
            _ => self.starts_line() && (self.at_method_head() || self.at_namespace()),
        }
    }

    /// Moves over `{ ... }`, or over the `{` if it is not closed.
    pub(super) fn skip_braces(&mut self) {
        self.at = self.partners[self.at].unwrap_or(self.at) + 1;
    }

    /// The last character of the token before, where a message points when something is missing after it.
    pub(super) fn gap(&self) -> Span {
        let before = |t: Token| Span::new(self.file, t.end.saturating_sub(1).max(t.start), t.end);
        self.previous().map_or(self.here(), before)
    }
}

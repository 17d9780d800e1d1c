//! Identifiers, qualified names, and modules with their operators.

use clickwork_source::Diagnostic;

use super::{Parsed, Parser, Tall};
use crate::Name;
use crate::syntax::ast::{Ident, InlineLevel, ModuleExpr, ModuleOperator, ModuleOperatorKind, Operand, Path};
use crate::syntax::token::{Keyword, Punct, Token, TokenKind};

impl Parser<'_> {
    pub(super) fn ident_of(&self, token: Token) -> Ident {
        Ident { name: Name::new(self.text_of(token)), span: self.span_of(token) }
    }

    /// Whether a token can be a part of a name: an identifier, `all`, `allstatic` or `constructor`.
    fn names(token: Token) -> bool {
        use Keyword::{All, Allstatic, Constructor};
        matches!(token.kind, TokenKind::Ident | TokenKind::Keyword(All | Allstatic | Constructor))
    }

    /// An identifier proper: the name of an exception, a parameter or a variable.
    pub(super) fn ident(&mut self) -> Parsed<Ident> {
        match self.kind() {
            TokenKind::Ident => Ok(self.take_ident()),
            TokenKind::Keyword(_) => Err(self.keyword_as_name()),
            _ => Err(self.expected("a name")),
        }
    }

    fn take_ident(&mut self) -> Ident {
        let token = self.bump();
        self.ident_of(token)
    }

    /// One part of a qualified name.
    pub(super) fn part(&mut self) -> Parsed<Ident> {
        if Self::names(self.token()) { Ok(self.take_ident()) } else { self.ident() }
    }

    /// How many tokens ahead the name that begins here ends, if one does.
    pub(super) fn after_path(&self) -> Option<usize> {
        let mut n = usize::from(self.at(Punct::Dot));
        loop {
            if !Self::names(self.nth(n)) {
                return None;
            }
            n += 1;
            if !self.nth_is(n, Punct::Dot) {
                return Some(n);
            }
            n += 1;
        }
    }

    /// `a.b.c` or `.a.b`
    pub(super) fn path(&mut self) -> Parsed<Path> {
        let start = self.start();
        let global = self.take(Punct::Dot);
        let mut parts = vec![self.part()?];
        while self.take(Punct::Dot) {
            self.check_height(parts.len() as u32 + 1)?;
            parts.push(self.part()?);
        }
        Ok(Path { global, parts, span: self.since(start) })
    }

    /// Whether a keyword is defined here, as if it were a name.
    pub(super) fn at_keyword_as_name(&self) -> bool {
        let keyword = matches!(self.kind(), TokenKind::Keyword(_));
        keyword && [Punct::HasType, Punct::Defines, Punct::OpenParen].iter().any(|p| self.nth_is(1, *p))
    }

    pub(super) fn keyword_as_name(&mut self) -> super::Failed {
        let word = self.text_of(self.token());
        let message = format!("`{word}` is a keyword and cannot be a name");
        self.fail(Diagnostic::error(self.here(), message).hint("choose another name"))
    }

    /// A module with operators.
    pub(super) fn module_expr(&mut self) -> Parsed<Tall<ModuleExpr>> {
        let start = self.start();
        if self.at_builtin() {
            return Err(self.expected("a module"));
        }
        let name = self.path()?;
        let Tall { value: operators, height } = self.module_operators()?;
        let value = ModuleExpr { previous: false, name, operators, span: self.since(start) };
        Ok(Tall { value, height: height + 1 })
    }

    /// As many operators as there are; there may be none.
    pub(super) fn module_operators(&mut self) -> Parsed<Tall<Vec<ModuleOperator>>> {
        let mut operators = Tall { value: Vec::new(), height: 0 };
        while self.at_module_operator() {
            let Tall { value, height } = self.module_operator()?;
            operators.height = operators.height.max(height);
            operators.value.push(value);
        }
        Ok(operators)
    }

    pub(super) fn at_module_operator(&self) -> bool {
        use Keyword::{Hide, Notusing, Rename, Show, Using};
        matches!(self.kind(), TokenKind::Keyword(Hide | Notusing | Rename | Show | Using)) || self.at_inline()
    }

    fn module_operator(&mut self) -> Parsed<Tall<ModuleOperator>> {
        let start = self.start();
        let mut height = 0;
        let kind = match self.kind() {
            TokenKind::Keyword(Keyword::Hide) => ModuleOperatorKind::Hide,
            TokenKind::Keyword(Keyword::Show) => ModuleOperatorKind::Show,
            TokenKind::Keyword(Keyword::Rename) => ModuleOperatorKind::Rename,
            TokenKind::Keyword(Keyword::Using) => ModuleOperatorKind::Using,
            TokenKind::Keyword(Keyword::Notusing) => ModuleOperatorKind::NotUsing,
            _ => {
                let level = self.inline_level()?;
                height = level.height;
                ModuleOperatorKind::Inline(level.value)
            }
        };
        if !matches!(kind, ModuleOperatorKind::Inline(_)) {
            self.bump();
        }
        let operands = self.operands(&kind)?;
        Ok(Tall { value: ModuleOperator { kind, operands, span: self.since(start) }, height: height + 1 })
    }

    /// Whether `inline` or a relative of it comes next.
    pub(super) fn at_inline(&self) -> bool {
        use Keyword::{Defaultinline, Inline, Noinline, Pathinline};
        matches!(self.kind(), TokenKind::Keyword(Defaultinline | Inline | Noinline | Pathinline))
    }

    /// `inline`, `inline[k]`, `noinline`, `defaultinline` or `pathinline`.
    pub(super) fn inline_level(&mut self) -> Parsed<Tall<InlineLevel>> {
        let level = match self.bump().kind {
            TokenKind::Keyword(Keyword::Noinline) => 0,
            TokenKind::Keyword(Keyword::Defaultinline) => 1,
            TokenKind::Keyword(Keyword::Pathinline) => 3,
            _ => 2,
        };
        if level != 2 || !self.at(Punct::OpenBracket) {
            return Ok(Tall { value: InlineLevel::Fixed(level), height: 1 });
        }
        let k = self.bracketed()?;
        Ok(Tall { value: InlineLevel::Computed(k.expr), height: k.height + 1 })
    }

    /// One operand, or several in parentheses.
    fn operands(&mut self, kind: &ModuleOperatorKind) -> Parsed<Vec<Operand>> {
        if !self.take(Punct::OpenParen) {
            return Ok(vec![self.operand_of_module(kind, false)?]);
        }
        let mut operands = vec![self.operand_of_module(kind, true)?];
        while self.take(Punct::Comma) {
            operands.push(self.operand_of_module(kind, true)?);
        }
        self.expect(Punct::CloseParen)?;
        Ok(operands)
    }

    /// A name, `new = old` if in parentheses, or a pattern.
    fn operand_of_module(&mut self, kind: &ModuleOperatorKind, pairs: bool) -> Parsed<Operand> {
        if self.kind() == TokenKind::Str {
            return self.pattern(kind);
        }
        let new = self.path()?;
        let renames = matches!(kind, ModuleOperatorKind::Rename);
        if pairs && self.at(Punct::Assign) && (renames || matches!(kind, ModuleOperatorKind::Show)) {
            self.bump();
            return Ok(Operand::Pair { new, old: self.path()? });
        }
        if renames {
            let error = Diagnostic::error(self.here(), "`rename` needs a new name and an old one");
            return Err(self.fail(error.hint("write `rename (new = old)`")));
        }
        Ok(Operand::Name(new))
    }

    fn pattern(&mut self, kind: &ModuleOperatorKind) -> Parsed<Operand> {
        if *kind != ModuleOperatorKind::Hide {
            let error = Diagnostic::error(self.here(), "only `hide` takes a pattern");
            return Err(self.fail(error.hint("list the names")));
        }
        let token = self.bump();
        let glob = self.text_of(token).trim_start_matches('"').trim_end_matches('"').to_string();
        Ok(Operand::Pattern { glob, span: self.span_of(token) })
    }
}

//! Types: prefix `*`, postfix `[k]`, which binds tighter; parentheses group.

use super::{Parsed, Parser, Tall};
use crate::syntax::ast::{Builtin, Type, TypeKind};
use crate::syntax::token::{Keyword, Punct, TokenKind};

impl Parser<'_> {
    pub(super) fn ty(&mut self) -> Parsed<Tall<Type>> {
        let start = self.start();
        if self.take(Punct::Star) {
            let target = self.nested(Self::ty)?;
            let kind = TypeKind::Pointer(Box::new(target.value));
            return self.type_node(kind, start, target.height);
        }
        let mut ty = self.base_type()?;
        while self.at(Punct::OpenBracket) {
            let size = self.bracketed()?;
            let height = ty.height.max(size.height);
            let kind = TypeKind::Array(Box::new(ty.value), size.expr);
            ty = self.type_node(kind, start, height)?;
        }
        Ok(ty)
    }

    /// A type over parts of height `height`.
    fn type_node(&mut self, kind: TypeKind, start: u32, height: u32) -> Parsed<Tall<Type>> {
        self.check_height(height + 1)?;
        Ok(Tall { value: Type { kind, span: self.since(start) }, height: height + 1 })
    }

    fn base_type(&mut self) -> Parsed<Tall<Type>> {
        let start = self.start();
        if self.take(Punct::OpenParen) {
            let ty = self.nested(Self::ty)?;
            self.expect(Punct::CloseParen)?;
            return Ok(ty);
        }
        if let Some(builtin) = self.builtin() {
            self.bump();
            return self.type_node(TypeKind::Builtin(builtin), start, 0);
        }
        if self.after_path().is_none() && !matches!(self.kind(), TokenKind::Keyword(_)) {
            return Err(self.expected("a type"));
        }
        let module = self.module_expr()?;
        self.type_node(TypeKind::Module(module.value), start, module.height)
    }

    pub(super) fn at_builtin(&self) -> bool {
        self.builtin().is_some()
    }

    /// The type that the next token is, if it is a keyword for one.
    pub(super) fn builtin(&self) -> Option<Builtin> {
        builtin_of(self.kind())
    }
}

/// The type that a keyword stands for.
pub(super) fn builtin_of(kind: TokenKind) -> Option<Builtin> {
    let TokenKind::Keyword(keyword) = kind else { return None };
    Some(match keyword {
        Keyword::Void => Builtin::Void,
        Keyword::Bool => Builtin::Bool,
        Keyword::Char => Builtin::Char,
        Keyword::Short => Builtin::Short,
        Keyword::Int => Builtin::Int,
        Keyword::Long => Builtin::Long,
        Keyword::Uchar => Builtin::Uchar,
        Keyword::Ushort => Builtin::Ushort,
        Keyword::Uint => Builtin::Uint,
        Keyword::Ulong => Builtin::Ulong,
        Keyword::Seqint => Builtin::Seqint,
        _ => return None,
    })
}

//! Modules and equations.

use clickwork_source::Diagnostic;

use super::{Parsed, Parser};
use crate::Name;
use crate::syntax::ast::{Equation, Module, ModuleExpr, ModuleOperator, Operand, Path, TopItem};
use crate::syntax::token::{Keyword, Punct, TokenKind};

impl Parser<'_> {
    /// `module N ...`: a module or an equation. Modules found inside it are added, too.
    pub(super) fn module(&mut self, items: &mut Vec<TopItem>) -> Parsed<()> {
        let start = self.bump().start;
        let name = self.path()?;
        if self.takes_definition() {
            let value = self.module_expr()?.value;
            self.take(Punct::Semicolon);
            items.push(TopItem::Equation(Equation { name, value, span: self.since(start) }));
            return Ok(());
        }
        let outer = std::mem::take(&mut self.modules);
        let module = self.rest_of_module(start, name, items);
        self.modules = outer;
        items.push(TopItem::Module(module?));
        Ok(())
    }

    /// What follows the name of a module. A broken header does not take the body with it.
    fn rest_of_module(&mut self, start: u32, name: Path, items: &mut Vec<TopItem>) -> Parsed<Module> {
        let (mut parents, mut imports, mut members) = (Vec::new(), Vec::new(), Vec::new());
        if self.header(&mut parents, &mut imports).is_err() {
            self.skip_header()?;
        }
        self.modules = names_inside(&name, parents.iter().chain(&imports));
        self.braces("module", &name, |p| p.module_member(&mut members, items));
        let operators = self.module_operators()?.value;
        let operators = if operators.is_empty() { operators } else { self.closed_operators(operators)? };
        self.take(Punct::Semicolon);
        Ok(Module { name, parents, imports, members, operators, span: self.since(start) })
    }

    /// After operators the next token must begin something else.
    fn closed_operators(&mut self, operators: Vec<ModuleOperator>) -> Parsed<Vec<ModuleOperator>> {
        match self.kind() {
            TokenKind::Punct(Punct::Comma) => Err(self.operands_need_parentheses()),
            _ => Ok(operators),
        }
    }

    /// `:> parents has imports`, up to the brace.
    fn header(&mut self, parents: &mut Vec<ModuleExpr>, imports: &mut Vec<ModuleExpr>) -> Parsed<()> {
        loop {
            if self.at(Punct::Colon) {
                self.single_colon();
            }
            let list = match self.kind() {
                TokenKind::Punct(Punct::HasType) => {
                    self.check_parents_first(imports);
                    &mut *parents
                }
                TokenKind::Keyword(Keyword::Has) => &mut *imports,
                TokenKind::Punct(Punct::OpenBrace) => return Ok(()),
                _ => return Err(self.unexpected_in_header()),
            };
            let parents = self.at(Punct::HasType);
            self.bump();
            list.push(self.header_part(parents)?);
            while self.take(Punct::Comma) {
                list.push(self.header_part(parents)?);
            }
        }
    }

    /// A parent or an import. A parent can be `super.N`: what the equation N stands for so far.
    fn header_part(&mut self, parent: bool) -> Parsed<ModuleExpr> {
        let start = self.start();
        let previous =
            parent && self.kind() == TokenKind::Keyword(Keyword::Super) && self.nth_is(1, Punct::Dot);
        if previous {
            self.bump();
            self.bump();
        }
        let module = self.module_expr()?.value;
        Ok(ModuleExpr { previous, span: if previous { self.since(start) } else { module.span }, ..module })
    }

    fn check_parents_first(&mut self, imports: &[ModuleExpr]) {
        if let Some(import) = imports.first() {
            let error = Diagnostic::error(self.here(), "the parents of a module come before its imports");
            self.report(error.label(import.span, "an import").hint("move `has` after the parents"));
        }
    }

    /// Goes to the brace after a broken header, if one comes before the end of the definition.
    fn skip_header(&mut self) -> Parsed<()> {
        loop {
            match self.kind() {
                TokenKind::Punct(Punct::OpenBrace) => return Ok(()),
                TokenKind::Punct(Punct::Semicolon | Punct::CloseBrace) | TokenKind::End => {
                    return Err(super::Failed);
                }
                TokenKind::Keyword(Keyword::Module | Keyword::Class | Keyword::Export) => {
                    return Err(super::Failed);
                }
                _ => self.bump(),
            };
        }
    }

    /// `module` inside a module: an error, but it is read as if it stood outside.
    pub(super) fn nested_module(&mut self, items: &mut Vec<TopItem>) -> Parsed<()> {
        let error = Diagnostic::error(self.here(), "a module cannot stand inside a module");
        self.report(error.hint("move it outside, or close the module before it with `}`"));
        self.nested(|p| p.module(items))
    }
}

/// The names that stand for modules inside a module: its own, those of parents and imports, and new names for them.
fn names_inside<'t>(name: &Path, listed: impl Iterator<Item = &'t ModuleExpr>) -> Vec<Name> {
    let last = |path: &Path| path.parts.last().map(|ident| ident.name.clone());
    let new = |operand: &Operand| match operand {
        Operand::Pair { new, .. } => last(new),
        _ => None,
    };
    let mut names: Vec<Name> = last(name).into_iter().collect();
    for module in listed {
        names.extend(last(&module.name));
        names.extend(module.operators.iter().flat_map(|o| &o.operands).filter_map(new));
    }
    names
}

//! Which definition each name in the source means.
//!
//! The typed trees know what is called, but not which letters say so; a name is looked for within the place of its
//! expression, from inner expressions to outer ones. A name that is not found, such as one that a view renamed, is no link.

use std::collections::BTreeMap;

use clickwork_source::{FileId, Span};

use super::Input;
use crate::Name;
use crate::names::Names;
use crate::program::tree::{Expr, ExprKind};
use crate::program::{MethodId, MethodKind, ModuleId, Program};
use crate::report::calls::behind;
use crate::syntax::ast;
use crate::syntax::token::TokenKind;
use crate::syntax::tokenize;

/// What a name in the source is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The place where something is defined, with its full name.
    Definition(String),
    /// A use of what has this full name.
    Use(String),
}

/// The meanings of names by their place.
pub struct Links {
    found: BTreeMap<(FileId, u32), Meaning>,
}

impl Links {
    pub fn new(input: &Input<'_>) -> Links {
        let words = words(input);
        let mut finder =
            Finder { program: input.program, words: &words, links: Links { found: BTreeMap::new() } };
        finder.definitions();
        for method in input.program.method_ids() {
            finder.body(method);
        }
        finder.modules(input);
        finder.links
    }

    /// What the name at a place means.
    pub fn at(&self, file: FileId, start: u32) -> Option<&Meaning> {
        self.found.get(&(file, start))
    }
}

/// The identifiers of all files, by place.
type Words = BTreeMap<(FileId, u32), Name>;

fn words(input: &Input<'_>) -> Words {
    let mut words = Words::new();
    for &file in input.files {
        let text = input.sources.text(file);
        for token in tokenize(input.sources, file).list {
            // The keyword `constructor` is the name of a method.
            if matches!(token.kind, TokenKind::Ident | TokenKind::Keyword(_)) {
                words.insert((file, token.start), Name::new(token.text(text)));
            }
        }
    }
    words
}

struct Finder<'a> {
    program: &'a Program,
    words: &'a Words,
    links: Links,
}

impl Finder<'_> {
    fn definitions(&mut self) {
        let program = self.program;
        let modules = program.module_ids().map(|m| (program[m].span, program.module_name(m)));
        let written = program.method_ids().filter(|&m| is_written(program[m].kind));
        let methods = written.map(|m| (program[m].span, program.method_name(m)));
        let fields = (0..program.fields.len() as u32).map(crate::program::FieldId);
        let fields = fields.map(|f| (program[f].span, program.field_name(f)));
        let exceptions = (0..program.exceptions.len() as u32).map(crate::program::ExceptionId);
        let exceptions = exceptions.map(|e| (program[e].span, program.exception_name(e)));
        let all: Vec<(Span, String)> = modules.chain(methods).chain(fields).chain(exceptions).collect();
        for (span, name) in all {
            self.define(span, name);
        }
        for equation in &program.equations {
            self.define(equation.span, crate::report::dotted(&equation.path));
        }
    }

    /// The last identifier of the span: a name can be a path.
    fn define(&mut self, span: Span, name: String) {
        let range = (span.file, span.start)..(span.file, span.end.max(span.start + 1));
        if let Some((&at, _)) = self.words.range(range).next_back() {
            self.links.found.insert(at, Meaning::Definition(name));
        }
    }

    fn body(&mut self, method: MethodId) {
        if is_written(self.program[method].kind) {
            self.expr(&self.program[method].body.root);
        }
    }

    fn expr(&mut self, expr: &Expr) {
        expr.for_each_child(|child| self.expr(child));
        let program = self.program;
        let module = |m: ModuleId| (program[m].path.last(), program.module_name(m));
        match &expr.kind {
            ExprKind::Call(call) => {
                let target = program.method_name(behind(program, call.method));
                self.name(expr.span, program[call.method].path.last(), target);
            }
            ExprKind::Field(_, field) | ExprKind::StaticField(field) => {
                self.name(expr.span, program[*field].path.last(), program.field_name(*field));
            }
            ExprKind::Raise(exception) => {
                let name = program[*exception].path.last();
                self.name(expr.span, name, program.exception_name(*exception));
            }
            ExprKind::Construct { module: m, .. } | ExprKind::ConstructAt { module: m, .. } => {
                let (name, target) = module(*m);
                self.name(expr.span, name, target);
            }
            ExprKind::Catch(_, Some(caught)) => {
                for &exception in caught {
                    let name = program[exception].path.last();
                    self.name(expr.span, name, program.exception_name(exception));
                }
            }
            _ => {}
        }
    }

    /// Links the first word of the span that is the name and has no meaning yet.
    fn name(&mut self, span: Span, name: Option<&Name>, target: String) {
        let range = (span.file, span.start)..(span.file, span.end.max(span.start));
        let mut found = self.words.range(range).filter(|(_, word)| Some(*word) == name);
        let Some((&at, _)) = found.find(|(at, _)| !self.links.found.contains_key(at)) else { return };
        self.links.found.insert(at, Meaning::Use(target));
    }

    /// The names of modules in headers, types and expressions.
    fn modules(&mut self, input: &Input<'_>) {
        let mut scratch = Program { target: input.program.target, ..Program::default() };
        let names = Names::build(input.syntax, &mut scratch, &mut Default::default());
        for module in input.program.module_ids() {
            let ast = names.module_ast(module);
            let links = names.links(module);
            let known = |name: &Name| links.iter().find(|(n, _)| n == name).map(|(_, link)| link.module);
            for part in ast.parents.iter().chain(&ast.imports) {
                if let [first, .., last] | [first @ last] = &part.name.parts[..] {
                    let name = if first.name == "super" { first } else { last };
                    self.module_at(last.span, known(&name.name));
                }
            }
            self.inside(ast, &known);
        }
        self.outside(&input.syntax.items);
    }

    fn module_at(&mut self, span: Span, module: Option<ModuleId>) {
        if let Some(module) = module {
            let meaning = Meaning::Use(self.program.module_name(module));
            self.links.found.entry((span.file, span.start)).or_insert(meaning);
        }
    }

    /// Words in a module that name one of its parents or imports and mean nothing else.
    fn inside(&mut self, ast: &ast::Module, known: &impl Fn(&Name) -> Option<ModuleId>) {
        let range = (ast.span.file, ast.span.start)..(ast.span.file, ast.span.end.max(ast.span.start));
        let found: Vec<_> = self
            .words
            .range(range)
            .filter(|(_, word)| **word != "super")
            .filter_map(|(&at, word)| Some((at, known(word)?)))
            .collect();
        for ((file, start), module) in found {
            self.module_at(Span::new(file, start, start), Some(module));
        }
    }

    /// Names outside of modules.
    fn outside(&mut self, items: &[ast::TopItem]) {
        for item in items {
            match item {
                ast::TopItem::Export(export) => export.names.iter().for_each(|path| self.export(path)),
                ast::TopItem::Equation(equation) => self.global(&equation.value.name),
                ast::TopItem::Namespace(space) => self.outside(&space.items),
                _ => {}
            }
        }
    }

    /// The name of a module or equation, written in full or from within its namespace.
    fn global(&mut self, path: &ast::Path) {
        let Some(last) = path.parts.last() else { return };
        let program = self.program;
        let modules = program.modules.iter().map(|m| &m.path);
        let known: Vec<&Vec<Name>> = modules.chain(program.equations.iter().map(|e| &e.path)).collect();
        let is_whole = |known: &&&Vec<Name>| known.iter().eq(path.parts.iter().map(|part| &part.name));
        let found = known.iter().find(is_whole).or_else(|| known.iter().find(|known| ends_with(known, path)));
        if let Some(found) = found {
            let meaning = Meaning::Use(crate::report::dotted(found));
            self.links.found.entry((last.span.file, last.span.start)).or_insert(meaning);
        }
    }

    fn export(&mut self, path: &ast::Path) {
        let Some((last, module)) = path.parts.split_last() else { return };
        let program = self.program;
        let method = program.exports.iter().copied().find(|&m| {
            let whole = program[program[m].module].path.iter().chain(&program[m].path);
            ends_with(&whole.cloned().collect::<Vec<_>>(), path)
        });
        if let Some(method) = method {
            let meaning = Meaning::Use(program.method_name(method));
            self.links.found.insert((last.span.file, last.span.start), meaning);
        }
        self.global(&ast::Path { global: path.global, parts: module.to_vec(), span: path.span });
    }
}

/// Whether a full name ends with what was written.
fn ends_with(whole: &[Name], path: &ast::Path) -> bool {
    let count = path.parts.len();
    count <= whole.len() && whole[whole.len() - count..].iter().eq(path.parts.iter().map(|part| &part.name))
}

fn is_written(kind: MethodKind) -> bool {
    crate::report::made(kind).is_none()
}

//! Statements: declarations into the current body, one after the other. Connections are in `chain`.

use std::rc::Rc;

use clickwork_source::{Diagnostic, Span};

use super::Declarer;
use super::body::{Body, Item, PORT_NAMES, Place, Side};
use super::class::{Class, CompoundClass};
use crate::config;
use crate::syntax::ast::{self, Statement, Word};
use crate::syntax::lexer::is_variable;

/// What is remembered from statement to statement of one file, body or group.
pub(super) struct Run {
    /// The last connection ended at `output` (or there was none).
    pub ends_at_output: bool,
}

impl Declarer<'_> {
    pub(super) fn statements(&mut self, statements: &[Statement]) {
        let mut run = Run { ends_at_output: true };
        for statement in statements {
            match statement {
                Statement::Connection(chain) => self.chain(chain, &mut run),
                Statement::Elementclass(class) => self.elementclass(class),
                Statement::Require(config) => self.require(config),
                Statement::Provide(config) => self.provide(config),
                Statement::Define(config) => self.define(config),
            }
        }
    }

    /// `define($x value, ...)`.
    fn define(&mut self, definition: &Word) {
        for arg in config::split_args(&definition.text) {
            if arg.is_empty() {
                continue;
            }
            let (variable, value) = config::split_word(&arg);
            match variable.strip_prefix('$').filter(|name| !name.is_empty() && name.bytes().all(is_variable))
            {
                None => {
                    let error =
                        Diagnostic::error(definition.span, "bad 'define' declaration: not a variable");
                    self.error(error.hint("write 'define($name value, ...)'"));
                }
                Some(name) => self.define_variable(name, value, definition.span),
            }
        }
    }

    fn define_variable(&mut self, name: &str, value: &str, span: Span) {
        if !self.body.define(name, value) {
            self.error(Diagnostic::error(span, format!("parameter '${name}' multiply defined")));
        }
    }

    fn elementclass(&mut self, statement: &ast::Elementclass) {
        let name = statement.name.as_ref().map_or("", |word| &word.text);
        if let Some(word) = statement.name.as_ref().filter(|_| self.is_element(name)) {
            self.error(Diagnostic::error(word.span, format!("'{name}' already used as an element name")));
        }
        let class = match &statement.class {
            ast::Class::Compound(compound) => self.compound(name, compound),
            ast::Class::Word(word) => self.class_word(word),
            ast::Class::Missing => Class::Primitive(name.into()),
        };
        if !name.is_empty() && !self.is_element(name) {
            self.classes.declare(name, class);
        }
    }

    /// Whether a name is one of an element, to tools that know no classes: for them it cannot be one of a class as well.
    fn is_element(&self, name: &str) -> bool {
        self.knows_no_class() && self.body.find(name).is_some()
    }

    pub(super) fn class_word(&mut self, word: &Word) -> Class {
        if self.is_element(&word.text) && self.classes.find(&word.text).is_none() {
            let message = format!("'{}' was previously used as an element name", word.text);
            self.error(Diagnostic::error(word.span, message));
        }
        let (class, error) = self.classes.require(&word.text, word.span);
        self.diagnostics.extend(error);
        class
    }
}

// Compound elements and groups.
impl Declarer<'_> {
    pub(super) fn compound(&mut self, name: &str, compound: &ast::Compound) -> Class {
        let overloads =
            compound.overloads.iter().map(|overload| Rc::new(self.overload(name, overload))).collect();
        let extension = compound.extension.map(|span| self.extended(name, span));
        Class::Compound(Rc::new(CompoundClass { name: name.to_owned(), overloads, extension }))
    }

    /// The older class that `...` in a class called `name` stands for.
    fn extended(&mut self, name: &str, span: Span) -> Class {
        self.classes.find(name).unwrap_or_else(|| {
            self.error(Diagnostic::error(span, format!("cannot extend unknown element class '{name}'")));
            self.classes.assume(name)
        })
    }

    fn overload(&mut self, name: &str, overload: &ast::Overload) -> Body {
        let depth = self.body.depth + 1;
        let outer = std::mem::replace(&mut self.body, Body::new(name.to_owned(), overload.span, depth));
        self.classes.enter();
        self.formals(&overload.formals);
        self.statements(&overload.statements);
        self.classes.leave();
        let mut body = std::mem::replace(&mut self.body, outer);
        body.finish(&mut self.diagnostics);
        body
    }

    fn formals(&mut self, formals: &[ast::Formal]) {
        let mut in_order = true;
        for formal in formals {
            let span = formal.keyword.as_ref().map_or(formal.name.span, |k| k.span.join(formal.name.span));
            let keyword = formal.keyword.as_ref().map_or("", |word| &word.text);
            if !self.body.define(&formal.name.text, keyword) {
                let message = format!("parameter '${}' multiply defined", formal.name.text);
                self.error(Diagnostic::error(span, message));
                continue;
            }
            let last = self.body.formals;
            let older = &self.body.variables[..last];
            let repeated = !keyword.is_empty() && older.iter().any(|(_, k)| k == keyword);
            let out_of_order =
                older.last().is_some_and(|(_, k)| (keyword.is_empty() && !k.is_empty()) || k == "__REST__");
            self.body.formals = last + 1;
            if repeated {
                let message = format!("repeated keyword parameter '{keyword}' in compound element");
                self.error(Diagnostic::error(span, message));
            }
            if out_of_order && std::mem::take(&mut in_order) {
                let message = "compound element parameters out of order\n\
                               (The correct order is '[positional], [keywords], [__REST__]'.)";
                self.error(Diagnostic::error(span, message));
            }
        }
    }

    /// Puts a group's pseudo-elements and statements into the body. Returns the index of the group and its numbers of
    /// inputs and outputs.
    pub(super) fn group(&mut self, group: &ast::Group) -> (usize, [usize; 2]) {
        let name = self.body.anonymous_name("");
        let index = self.body.items.len();
        for name in [name.clone(), format!("{name}/input"), format!("{name}/output")] {
            self.body.add(Item { anonymous: true, ..Item::new(name, Class::Tunnel, group.span) });
        }
        let ends = [index + 1, index + 2];
        let first_wire = self.body.wires.len();
        let outer = [0, 1].map(|side| self.body.rename(PORT_NAMES[side], Some(ends[side])));
        self.statements(&group.statements);
        for side in [0, 1] {
            self.body.rename(PORT_NAMES[side], outer[side]);
        }
        let place = Place { name: "<anonymous group>", span: group.span, first_wire };
        let ports = [Side::Input, Side::Output]
            .map(|side| self.body.check_pseudo(ends[side as usize], side, place, &mut self.diagnostics));
        (index, ports)
    }
}

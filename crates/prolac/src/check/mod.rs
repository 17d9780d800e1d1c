//! Checking: syntax tree to resolved program (sections 5 to 10 and 13).
//!
//! [`check`] is the whole front end after parsing. Names come first (see [`crate::names`]); then types of fields and
//! methods ([`signatures`]), methods without a written type ([`defaults`]), bodies ([`body`]), overriding ([`overrides`]),
//! layouts and exceptions ([`whole`]). Every step goes on after errors; what an error left open has `Type::Error`, which
//! causes no second message.

pub mod body;
mod defaults;
mod generated;
mod overrides;
mod quiet;
mod signatures;
mod whole;

use clickwork_source::{Diagnostic, Diagnostics, Sources, Span};

use crate::names::Names;
use crate::program::{Program, Target, Type};
use crate::syntax::ast;
use body::Constants;
pub use signatures::Signature;

/// Checking in progress.
pub struct Checker<'a> {
    /// The texts.
    pub sources: &'a Sources,
    /// What names mean.
    pub names: Names<'a>,
    /// What is known so far.
    pub program: Program,
    /// The messages so far.
    pub diagnostics: Diagnostics,
    /// By method: what [`Checker::signature`] found.
    signatures: Vec<signatures::Progress<Signature>>,
    /// By field: what [`Checker::field_type`] found.
    field_types: Vec<signatures::Progress<Type>>,
    /// Values of static methods.
    constants: Constants,
    /// Warnings that wait for all bodies.
    suspicions: Vec<quiet::Suspicion>,
}

/// What checking gives.
pub struct Checked<'a> {
    /// The program; not to be used if there are errors.
    pub program: Program,
    /// What names mean, for reports.
    pub names: Names<'a>,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
}

/// Checks a whole program.
pub fn check<'a>(sources: &'a Sources, ast: &'a ast::Program, target: Target) -> Checked<'a> {
    let mut program = Program { target, ..Program::default() };
    let mut diagnostics = Diagnostics::new();
    let names = Names::build(ast, &mut program, &mut diagnostics);
    let mut checker = Checker {
        sources,
        names,
        signatures: vec![signatures::Progress::NotYet; program.methods.len()],
        field_types: vec![signatures::Progress::NotYet; program.fields.len()],
        program,
        diagnostics,
        constants: Constants::default(),
        suspicions: Vec::new(),
    };
    checker.resolve_all_signatures();
    checker.infer_defaults();
    checker.check_overrides();
    checker.check_bodies();
    checker.check_layouts();
    checker.check_exceptions();
    checker.report_suspicions();
    Checked { program: checker.program, names: checker.names, diagnostics: checker.diagnostics }
}

impl Checker<'_> {
    /// Gives an error message.
    pub fn error(&mut self, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(span, message));
    }

    /// Gives a message.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn check_bodies(&mut self) {
        for method in self.program.method_ids() {
            let body = match self.names.method_ast(method) {
                Some(_) => self.body(method),
                None => self.generated_body(method),
            };
            self.program[method].body = body;
        }
    }
}

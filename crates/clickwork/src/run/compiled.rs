//! Compiled code for a router while it runs: looked up, made in the background, installed between two batches.

use super::compiler::Compiler;
use crate::report::Report;
use clickwork_compile::{CompileError, Leash, Library, Scope, compile, coverage, kept, linked, text_of};
use clickwork_router::Router;
use std::sync::Arc;

/// What is compiled in a run, and by whom.
pub struct Compiled {
    scope: Scope,
    /// Whether a compiler may be called for what is not there yet.
    may_compile: bool,
    /// The code that is there.
    library: Option<Library>,
    compiler: Compiler,
    report: Report,
    /// What was last said to be wrong.
    warned: String,
}

impl Compiled {
    /// For a run in which all elements are compiled that can be (`everything`), or those that a tool has specialised.
    /// `attached` is code that came with the program; if there is some, no compiler is called unless everything is asked for.
    pub fn new(everything: bool, attached: Option<Library>, report: Report) -> Compiled {
        let all = everything || attached.is_some();
        let may_compile = everything || attached.is_none();
        let scope = if all { Scope::All } else { Scope::Specialised };
        let (compiler, warned) = (Compiler::default(), String::new());
        Compiled { scope, may_compile, library: attached, compiler, report, warned }
    }

    /// Begins with a router: installs the code that there is, and begins to make the rest. With `wait`, or if the code is that
    /// of elements which a tool has specialised, it is made before this returns.
    pub fn begin(&mut self, router: &mut Router, wait: bool) {
        if self.may_compile
            && (wait || self.scope == Scope::Specialised)
            && let Some(text) = text_of(router, self.scope)
        {
            self.finish(compile(&text, &Leash::default()).map(|(library, _)| library));
            return self.install(router);
        }
        self.go_on(router);
    }

    /// Goes on with another router, which runs meanwhile.
    pub fn go_on(&mut self, router: &mut Router) {
        let text = text_of(router, self.scope).filter(|_| self.may_compile);
        match text.as_ref().and_then(kept) {
            Some(library) => {
                self.library = Some(library);
                self.compiler.want(None);
            }
            None => self.compiler.want(text),
        }
        self.install(router);
    }

    /// Whether code is being made.
    pub fn is_pending(&self) -> bool {
        self.compiler.is_busy()
    }

    /// Installs code that has been made since the last call.
    pub fn look(&mut self, router: &mut Router) {
        let Some(done) = self.compiler.look() else { return };
        match done.made {
            Ok(library) if !done.is_wanted && !self.is_better(&library, router) => {}
            made => {
                self.finish(made);
                self.install(router);
            }
        }
    }

    /// Makes no more code.
    pub fn stop(&mut self) {
        self.compiler = Compiler::default();
    }

    /// Whether code that was made for another router is of more use to this one than what it has.
    fn is_better(&self, library: &Library, router: &Router) -> bool {
        let use_of = |library| coverage(router, self.scope, library);
        use_of(library) > self.library.as_ref().map_or(0, use_of)
    }

    fn finish(&mut self, made: Result<Library, CompileError>) {
        match made {
            Ok(library) => self.library = Some(library),
            Err(e) => self.warn(&format!("the router runs interpreted: {e}")),
        }
    }

    /// The same is wrong with every new configuration: it is said once.
    fn warn(&mut self, message: &str) {
        if self.warned != message {
            self.report.warning(message);
            self.warned = message.to_string();
        }
    }

    fn install(&self, router: &mut Router) {
        let Some(library) = self.library.clone() else { return };
        let scope = self.scope;
        router.install_by(Arc::new(move |router: &Router| linked(router, scope, &library)));
        if self.report.notes {
            let (compiled, all) = (router.elements_in_segments(), router.len());
            self.report.note(&format!("{compiled} of {all} elements run compiled"));
        }
    }
}

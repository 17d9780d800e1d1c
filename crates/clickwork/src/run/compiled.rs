//! Compiled code for a router while it runs: looked up, made in the background, installed between two batches.

use crate::report::Report;
use clickwork_compile::{CompileError, Library, Scope, Text, cache, compile, linked, text_of};
use clickwork_router::Router;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

/// What is compiled in a run, and by whom.
pub struct Compiled {
    scope: Scope,
    /// Whether a compiler may be called for what is not there yet.
    may_compile: bool,
    /// The code that is there.
    library: Option<Library>,
    pending: Option<Receiver<Result<Library, CompileError>>>,
    report: Report,
}

impl Compiled {
    /// For a run in which all elements are compiled that can be (`everything`), or those that a tool has specialised.
    /// `attached` is code that came with the program; if there is some, no compiler is called unless everything is asked for.
    pub fn new(everything: bool, attached: Option<Library>, report: Report) -> Compiled {
        let all = everything || attached.is_some();
        let may_compile = everything || attached.is_none();
        let scope = if all { Scope::All } else { Scope::Specialised };
        Compiled { scope, may_compile, library: attached, pending: None, report }
    }

    /// Begins with a router: installs the code that there is, and begins to make the rest. With `wait`, or if the code is that
    /// of elements which a tool has specialised, it is made before this returns.
    pub fn begin(&mut self, router: &mut Router, wait: bool) {
        self.pending = None;
        let Some(text) = text_of(router, self.scope) else { return };
        if self.may_compile {
            let wait = wait || self.scope == Scope::Specialised;
            let there = wait || cache::directory().is_ok_and(|cache| cache.has(&text));
            match there {
                true => self.finish(compile(&text)),
                false => self.pending = Some(begin_compiling(text)),
            }
        }
        self.install(router);
    }

    /// Whether code is being made.
    pub fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// Installs code that has been made since the last call.
    pub fn look(&mut self, router: &mut Router) {
        let Some(pending) = &self.pending else { return };
        match pending.try_recv() {
            Err(TryRecvError::Empty) => return,
            Err(TryRecvError::Disconnected) => {}
            Ok(made) => self.finish(made),
        }
        self.pending = None;
        self.install(router);
    }

    fn finish(&mut self, made: Result<Library, CompileError>) {
        match made {
            Ok(library) => self.library = Some(library),
            Err(e) => self.report.warning(&format!("the router runs interpreted: {e}")),
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

fn begin_compiling(text: Text) -> Receiver<Result<Library, CompileError>> {
    let (done, pending) = channel();
    // If the run is over before, nobody wants the answer; the library stays in the cache.
    std::thread::spawn(move || drop(done.send(compile(&text))));
    pending
}

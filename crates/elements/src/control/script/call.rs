//! Handler calls and variables in script text.

use super::handlers::{EINVAL, runs};
use super::report::Report;
use super::state::Script;
use super::words::{shift_word, unquote};
use clickwork_lang::expand::{Variables, expand};
use clickwork_router::args::{FromArg, HandlerRef, Names};
use clickwork_router::{ElementId, HandlerError, Router, Target};
use clickwork_source::text::{decode, into_bytes};
use std::cell::RefCell;
use std::sync::Arc;

/// What a script needs while it runs: the router, its place in it, and where errors go.
pub struct Run<'r> {
    /// The router, with no element running but those that wait for the script.
    pub router: &'r mut Router,
    /// The script's element.
    pub me: ElementId,
    /// Errors.
    pub report: Report,
}

/// Which side of a handler is called.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Read,
    Write,
}

/// A handler that was found, and the text for it.
struct Call {
    target: Target,
    name: String,
    value: String,
}

impl Call {
    /// The call as the messages name it.
    fn context(&self) -> String {
        let space = if self.value.is_empty() { "" } else { " " };
        format!("While calling '{}{space}{}':", self.name, self.value)
    }
}

impl<'r> Run<'r> {
    /// A run whose errors are printed.
    pub fn printing(router: &'r mut Router, me: ElementId) -> Run<'r> {
        let report = Report::printed(router.log());
        Run { router, me, report }
    }

    /// `name :: Class` of the script's element.
    pub fn declaration(&self) -> String {
        let info = self.router.info(self.me);
        format!("{} :: {}", info.name, info.class_name)
    }

    /// Reads `handler parameter`, naming the call if it fails: the handler's full name and what it says. `None` if there
    /// is no such handler.
    pub fn read(&mut self, text: &str, unquoted: bool) -> Option<(String, Vec<u8>)> {
        let call = self.find(text, unquoted, Side::Read)?;
        self.report.enter(call.context());
        let value = self.read_call(&call);
        self.report.leave();
        Some((call.name, value))
    }

    /// Reads `handler parameter`, in the course of something else.
    fn read_plainly(&mut self, text: &str) -> Option<Vec<u8>> {
        let call = self.find(text, false, Side::Read)?;
        Some(self.read_call(&call))
    }

    fn read_call(&mut self, call: &Call) -> Vec<u8> {
        match self.router.read_target(&call.target, &call.value) {
            Ok(value) => value.0,
            Err(e) => {
                self.report.error(&e.to_string());
                self.value_despite_errors(&call.target)
            }
        }
    }

    /// What a script returned although it reported errors on its way. A script that fails returns nothing.
    fn value_despite_errors(&self, target: &Target) -> Vec<u8> {
        let answer = self.running(target).map(|script| script.answer());
        answer.filter(|a| a.status >= 0).map_or(Vec::new(), |a| into_bytes(a.value))
    }

    /// Writes `handler value`: the call's status, negative if it failed. `None` if there is no such handler.
    pub fn write(&mut self, text: &str, unquoted: bool) -> Option<i32> {
        let call = self.find(text, unquoted, Side::Write)?;
        let outcome = self.router.write_target(&call.target, &call.value);
        Some(match outcome {
            // Scripts answer with their status, other handlers with nothing.
            Ok(value) => value.text().parse().unwrap_or(0),
            Err(e) => {
                self.report.enter(call.context());
                self.report.error(&e.to_string());
                self.report.leave();
                self.failure(&call.target)
            }
        })
    }

    /// The status of a call with errors: a script knows its own, which may be 0; otherwise Click's -EINVAL.
    fn failure(&self, target: &Target) -> i32 {
        self.running(target).map_or(EINVAL, |script| script.state().call_status)
    }

    /// The script that a handler runs or moves, if it does.
    fn running(&self, target: &Target) -> Option<Arc<Script>> {
        let script = self.router.exported::<Script>(target.element?)?;
        runs(&script, &target.handler).then_some(script)
    }

    fn find(&mut self, text: &str, unquoted: bool, side: Side) -> Option<Call> {
        let (name, value) = shift_word(text);
        let value = if unquoted { unquote(value) } else { value.to_string() };
        let found = self.resolve(name).and_then(|target| self.check(target, value, side));
        found.map_err(|e| self.report.error(&e)).ok()
    }

    fn resolve(&self, name: &str) -> Result<Target, String> {
        if name.is_empty() {
            return Err("missing handler name".to_string());
        }
        let handler = HandlerRef::from_arg(name, &Names::default()).map_err(|e| e.to_string())?;
        self.router.resolve_ref(&handler, self.me).map_err(|e: HandlerError| e.to_string())
    }

    fn check(&self, target: Target, value: String, side: Side) -> Result<Call, String> {
        let element = target.element.map(|id| format!("{}.", self.router.info(id).name));
        let name = format!("{}{}", element.unwrap_or_default(), target.handler);
        let access = self.router.access(&target);
        match side {
            Side::Read if !access.is_some_and(|a| a.read) => Err(format!("no '{name}' read handler")),
            Side::Write if !access.is_some_and(|a| a.write) => Err(format!("no '{name}' write handler")),
            Side::Read if !value.is_empty() && !access.is_some_and(|a| a.parameter) => {
                Err(format!("read handler '{name}' does not take parameters"))
            }
            _ => Ok(Call { target, name, value }),
        }
    }

    /// Replaces variables and handler calls in text. `quote_values` puts quotes around values that stand outside quotes.
    pub fn expand(&mut self, script: &Script, text: &str, quote_values: bool) -> String {
        let scope = Scope { script, run: RefCell::new(self) };
        let expanded = expand(text, &scope, quote_values);
        expanded.unwrap_or_else(|e| {
            self.report.error(&e.to_string());
            String::new()
        })
    }
}

/// The variables that script text sees.
struct Scope<'a, 'r> {
    script: &'a Script,
    run: RefCell<&'a mut Run<'r>>,
}

impl Variables for Scope<'_, '_> {
    fn value(&self, name: &str) -> Option<String> {
        self.script.value(name)
    }

    fn call(&self, text: &str) -> Option<String> {
        let value = self.run.borrow_mut().read_plainly(text)?;
        Some(decode(value))
    }

    fn nested(&self) -> bool {
        false
    }
}

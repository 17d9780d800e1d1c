//! Handler calls: finding a handler by name, and reading or writing it.
//!
//! A handler is named `element.handler`, `handler` (or `.handler`) for the router's own, and may be written relative to
//! an element, whose compound is searched first.

use crate::args::{HIDDEN, HandlerOwner, HandlerRef};
use crate::facts::Class;
use crate::handler::{Action, Handler, HandlerError, Members, Value};
use crate::pieces::Pieces;
use crate::router::{ElementId, Router};
use crate::standard;

/// Where a handler call goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// The element, or `None` for the router.
    pub element: Option<ElementId>,
    /// The handler's name.
    pub handler: String,
}

/// What can be done with a handler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// It can be read.
    pub read: bool,
    /// It can be written.
    pub write: bool,
    /// Reading it takes a parameter.
    pub parameter: bool,
    /// It is hidden from control connections.
    pub private: bool,
}

type Outcome = Result<Value, HandlerError>;

/// A handler that was found: which one, and what comes first in its text: the number that stood in its name, or for a
/// handler that the element added, the name.
struct Found {
    handler: Handler,
    prefix: Option<String>,
}

impl Found {
    /// The text that the handler function sees.
    fn text(&self, text: &str) -> String {
        match &self.prefix {
            Some(n) => format!("{n} {text}").trim_end().to_string(),
            None => text.to_string(),
        }
    }
}

/// Whether elements of the class tell their configuration themselves.
pub(crate) fn says_config(class: &Class) -> bool {
    class.handlers.iter().any(|h| h.name == "config" && h.read.is_some())
}

impl Router {
    /// Resolves `element.handler`, seen from `context` or from the top.
    ///
    /// # Errors
    /// If there is no such element.
    pub fn resolve_handler(&self, name: &str, context: Option<ElementId>) -> Result<Target, HandlerError> {
        let name = name.trim();
        let Some((element, handler)) = name.rsplit_once('.') else {
            return Ok(Target { element: None, handler: name.to_string() });
        };
        if element.is_empty() {
            return Ok(Target { element: None, handler: handler.to_string() });
        }
        let found = match context {
            Some(c) => self.find_from(element, c),
            None => self.find(element),
        };
        // Click lets an element be called by its number, counted from 1.
        let by_number = || element.parse::<u32>().ok().filter(|&n| n >= 1 && n as usize <= self.len());
        match found.or_else(|| by_number().map(|n| ElementId(n - 1))) {
            Some(id) => Ok(Target { element: Some(id), handler: handler.to_string() }),
            None => Err(HandlerError::NoElement(format!("no element named '{element}'"))),
        }
    }

    /// Resolves a handler named in the configuration of the element `context`.
    ///
    /// # Errors
    /// If there is no such element.
    pub fn resolve_ref(&self, name: &HandlerRef, context: ElementId) -> Result<Target, HandlerError> {
        let own = || self.find_handler(context, &name.handler).is_ok();
        let element = match &name.owner {
            HandlerOwner::Element(e) => {
                let missing = || HandlerError::NoElement(format!("no element named '{}'", e.0));
                Some(self.find_from(&e.0, context).ok_or_else(missing)?)
            }
            HandlerOwner::SelfOrRouter if own() => Some(context),
            HandlerOwner::SelfOrRouter | HandlerOwner::Router => None,
        };
        Ok(Target { element, handler: name.handler.clone() })
    }

    /// Reads `element.handler` with a parameter (empty if none).
    ///
    /// # Errors
    /// If there is no such element or handler, it cannot be read, or it fails.
    pub fn read(&mut self, name: &str, parameter: &str) -> Outcome {
        let target = self.resolve_handler(name, None)?;
        self.read_target(&target, parameter)
    }

    /// Writes `element.handler`.
    ///
    /// # Errors
    /// If there is no such element or handler, it cannot be written, or it refuses the value.
    pub fn write(&mut self, name: &str, value: &str) -> Outcome {
        let target = self.resolve_handler(name, None)?;
        self.write_target(&target, value)
    }

    /// Reads a resolved handler.
    ///
    /// # Errors
    /// As [`Router::read`].
    pub fn read_target(&mut self, target: &Target, parameter: &str) -> Outcome {
        match target.element {
            Some(id) => self.read_handler(id, &target.handler, parameter),
            None => standard::read_global(self, &target.handler, parameter).map(Value::from),
        }
    }

    /// As [`Router::read_target`], without a copy of what is long. If `without_keys`, for somebody who may not write: keys
    /// are hidden.
    ///
    /// # Errors
    /// As [`Router::read`].
    pub fn read_pieces(
        &mut self,
        target: &Target,
        parameter: &str,
        without_keys: bool,
    ) -> Result<Pieces, HandlerError> {
        let hidden = std::mem::replace(&mut self.hides_keys, without_keys);
        let outcome = match target.element {
            None => standard::read_global(self, &target.handler, parameter),
            Some(id) => {
                let outcome = self.read_handler(id, &target.handler, parameter).map(Pieces::from);
                if self.guards_keys() { self.hider().outcome(outcome) } else { outcome }
            }
        };
        self.hides_keys = hidden;
        outcome
    }

    /// The configuration of an element as it is shown at present.
    fn config_shown(&mut self, id: ElementId, value: Value) -> Value {
        if !self.guards_keys() {
            return value;
        }
        self.hider().config(self.info(id), &value.text()).into()
    }

    /// The configuration of an element, by its own words if it can tell.
    pub(crate) fn present_config(&mut self, id: ElementId) -> String {
        let hidden = std::mem::replace(&mut self.hides_keys, false);
        let own = says_config(self.info(id).class).then(|| self.read_handler(id, "config", ""));
        self.hides_keys = hidden;
        own.and_then(Result::ok).map_or_else(|| self.info(id).config.clone(), |config| config.text())
    }

    /// Writes a resolved handler.
    ///
    /// # Errors
    /// As [`Router::write`].
    pub fn write_target(&mut self, target: &Target, value: &str) -> Outcome {
        match target.element {
            Some(id) => self.write_handler(id, &target.handler, value),
            None => standard::write_global(self, &target.handler, value),
        }
    }

    /// Reads a handler of an element.
    ///
    /// # Errors
    /// As [`Router::read`].
    pub fn read_handler(&mut self, id: ElementId, name: &str, parameter: &str) -> Outcome {
        let found = self.find_handler(id, name)?;
        match found.handler.read {
            Some(_) if found.handler.secret && self.hides_keys => Ok(Value::from(HIDDEN)),
            Some(action) => {
                let value = self.act(id, action, &found.text(parameter), |_, _| {})?;
                Ok(if name == "config" { self.config_shown(id, value) } else { value })
            }
            None => Err(self.wrong_kind(id, name, "read")),
        }
    }

    /// Writes a handler of an element.
    ///
    /// # Errors
    /// As [`Router::write`].
    pub fn write_handler(&mut self, id: ElementId, name: &str, value: &str) -> Outcome {
        let found = self.find_handler(id, name)?;
        match found.handler.write {
            Some(action) => self.act(id, action, &found.text(value), Router::recheck_segments),
            None => Err(self.wrong_kind(id, name, "write")),
        }
    }

    /// What writing a handler does, if there is such a one.
    pub(crate) fn write_action(&self, id: ElementId, name: &str) -> Option<Action> {
        self.find_handler(id, name).ok()?.handler.write
    }

    /// Carries out a handler, then does what is to follow before packets that it emitted move on.
    fn act(
        &mut self,
        id: ElementId,
        action: Action,
        text: &str,
        then: fn(&mut Router, ElementId),
    ) -> Outcome {
        let result = match action {
            Action::Router(f) => {
                let result = f(self, id, text);
                then(self, id);
                result
            }
            Action::Element(f) => {
                let before = self.made_before(id);
                let result = self.call(id, |e, cx| f(e, text, cx));
                then(self, id);
                self.count_made(id, before);
                self.deliver();
                let busy = "the element is busy: its own handlers cannot be called from within it";
                result.unwrap_or_else(|| Err(busy.to_string()))
            }
        };
        result.map_err(HandlerError::Failed)
    }

    fn find_handler(&self, id: ElementId, name: &str) -> Result<Found, HandlerError> {
        let own = self.info(id).class.handlers;
        let named = |list: &[Handler]| list.iter().find(|h| h.name == name && h.numbered.is_none()).copied();
        let standard = standard::handlers(self, id);
        let both = match (named(own), named(&standard)) {
            (Some(own), Some(standard)) => Some(instead(own, &standard)),
            (own, standard) => own.or(standard),
        };
        if let Some(handler) = both {
            return Ok(Found { handler, prefix: None });
        }
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = &name[stem.len()..];
        let is_member =
            |h: &Handler| h.name == stem && (0..self.members(id, h)).any(|n| n.to_string() == number);
        match own.iter().find(|h| is_member(h)) {
            Some(&handler) => Ok(Found { handler, prefix: Some(number.to_string()) }),
            None => {
                self.find_added(id, name).ok_or_else(|| HandlerError::NoHandler(self.no_handler(id, name)))
            }
        }
    }

    /// How many handlers of this family the element has.
    fn members(&self, id: ElementId, family: &Handler) -> usize {
        let (inputs, outputs) = (self.info(id).inputs.len(), self.info(id).outputs.len());
        match family.numbered {
            None => 0,
            Some(Members::Inputs) => inputs,
            Some(Members::Outputs) => outputs,
            Some(Members::Ports) => inputs.max(outputs),
        }
    }

    /// A handler that the element has because of its configuration.
    fn find_added(&self, id: ElementId, name: &str) -> Option<Found> {
        let exports = &self.exports[id.index()];
        let added = exports.handlers.iter().find(|(n, _)| n == name).map(|(_, h)| *h);
        let handler = added.or(exports.other_handlers.filter(|_| !name.is_empty()))?;
        Some(Found { handler, prefix: Some(name.to_string()) })
    }

    fn no_handler(&self, id: ElementId, name: &str) -> String {
        format!("no '{}.{name}' handler", self.info(id).name)
    }

    fn wrong_kind(&self, id: ElementId, name: &str, kind: &str) -> HandlerError {
        HandlerError::WrongKind(format!("'{}.{name}' is not a {kind} handler", self.info(id).name))
    }

    /// What can be done with a handler, if there is such a one.
    pub fn access(&self, target: &Target) -> Option<Access> {
        let Some(id) = target.element else { return standard::global_access(self, &target.handler) };
        let handler = self.find_handler(id, &target.handler).ok()?.handler;
        let (read, write) = (handler.read.is_some(), handler.write.is_some());
        Some(Access { read, write, parameter: handler.parameter, private: handler.private })
    }

    /// Whether the element has a readable handler of that name.
    pub fn has_read_handler(&self, id: ElementId, name: &str) -> bool {
        self.find_handler(id, name).is_ok_and(|f| f.handler.read.is_some())
    }

    /// Whether the value of a handler is data to be printed as it is.
    pub fn is_raw(&self, id: ElementId, name: &str) -> bool {
        self.find_handler(id, name).is_ok_and(|f| f.handler.raw)
    }

    /// Whether the element has a writable handler of that name.
    pub fn has_write_handler(&self, id: ElementId, name: &str) -> bool {
        self.find_handler(id, name).is_ok_and(|f| f.handler.write.is_some())
    }

    /// The handlers of an element, its own first, then the standard ones; numbered families are spelled out over the
    /// element's ports.
    pub fn handlers(&self, id: ElementId) -> Vec<(String, Handler)> {
        let mut list = Vec::new();
        for &h in self.info(id).class.handlers {
            match h.numbered {
                None => list.push((h.name.to_string(), h)),
                Some(_) => list.extend((0..self.members(id, &h)).map(|n| (format!("{}{n}", h.name), h))),
            }
        }
        list.extend(self.exports[id.index()].handlers.iter().cloned());
        for h in standard::handlers(self, id) {
            match list.iter_mut().find(|(name, _)| name == h.name) {
                Some((_, own)) => *own = instead(*own, &h),
                None => list.push((h.name.to_string(), h)),
            }
        }
        list
    }
}

/// A class's own handler in the place of a standard one: the class may read it in its own way and leave the writing to us.
fn instead(own: Handler, standard: &Handler) -> Handler {
    Handler { write: own.write.or(standard.write), ..own }
}

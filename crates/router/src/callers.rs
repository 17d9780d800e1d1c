//! Which elements may write handlers while packets pass, and from where such elements are reached.
//!
//! An element that calls handlers says so when it checks the call ([`Cx::check_call`]) or, where it cannot know which ones it
//! will call, by [`Cx::calls_handlers`]. Compiled code needs to know: a handler may change what elements do with packets of the
//! same batch that are on their way to them, so that code must not have run ahead there.
//!
//! [`Cx::check_call`]: crate::Cx::check_call
//! [`Cx::calls_handlers`]: crate::Cx::calls_handlers

use crate::calls::Target;
use crate::facts::Processing;
use crate::handler::Action;
use crate::router::{ElementId, Endpoint, Router};

/// The handlers that an element may write.
#[derive(Default, Debug)]
pub(crate) struct Calls {
    any: bool,
    known: Vec<Target>,
}

impl Router {
    /// Notes that an element may write a handler, or any if it does not say which.
    pub(crate) fn note_call(&mut self, id: ElementId, target: Option<Target>) {
        let calls = &mut self.exports[id.index()].calls;
        match target {
            None if calls.any => return,
            None => calls.any = true,
            Some(target) if calls.known.contains(&target) => return,
            Some(target) => calls.known.push(target),
        }
        if !self.segments.is_empty() {
            self.commands.push_back(Box::new(Router::replan_segments));
        }
    }

    /// Whether an element has said that it may write a handler. The router's own change no element.
    pub(crate) fn said_it_calls(&self, id: ElementId, target: &Target) -> bool {
        let calls = &self.exports[id.index()].calls;
        target.element.is_none() || calls.any || calls.known.contains(target)
    }

    /// For each element, whether a packet that enters it can, before its delivery ends, lead to a handler being written
    /// that may change what elements do.
    pub fn leads_to_calls(&self) -> Vec<bool> {
        let callers = self.callers();
        let mut leads: Vec<bool> = self.ids().map(|id| self.may_change_others(id)).collect();
        let mut waiting: Vec<ElementId> = self.ids().filter(|id| leads[id.index()]).collect();
        while let Some(id) = waiting.pop() {
            for before in self.before(id).chain(callers[id.index()].iter().copied()) {
                if !std::mem::replace(&mut leads[before.index()], true) {
                    waiting.push(before);
                }
            }
        }
        leads
    }

    /// For each element, those that call its handlers.
    fn callers(&self) -> Vec<Vec<ElementId>> {
        let mut callers = vec![Vec::new(); self.len()];
        for id in self.ids() {
            for target in &self.exports[id.index()].calls.known {
                target.element.into_iter().for_each(|called| callers[called.index()].push(id));
            }
        }
        callers
    }

    /// Whether an element itself calls handlers that may change what elements do with packets.
    fn may_change_others(&self, id: ElementId) -> bool {
        let calls = &self.exports[id.index()].calls;
        calls.any || calls.known.iter().any(|target| self.may_change_elements(target))
    }

    /// The router's own handlers change nothing before the driver returns, and a handler that acts on its element alone
    /// changes code only if the element has any.
    fn may_change_elements(&self, target: &Target) -> bool {
        let Some(id) = target.element else { return false };
        let acts_on_element = matches!(self.write_action(id, &target.handler), Some(Action::Element(_)));
        !acts_on_element || self.info(id).class.fast.is_some()
    }

    /// The elements that bring packets to an element: those that push to it, and those that pull from it.
    fn before(&self, id: ElementId) -> impl Iterator<Item = ElementId> {
        let info = self.info(id);
        let port = move |port: usize| Endpoint { element: id, port: port as u16 };
        let pushed = info.inputs.iter().enumerate().filter(|(_, kind)| **kind == Processing::Push);
        let pulled = info.outputs.iter().enumerate().filter(|(_, kind)| **kind == Processing::Pull);
        let pushing = pushed.flat_map(move |(n, _)| self.sources(port(n)));
        pushing.chain(pulled.flat_map(move |(n, _)| self.targets(port(n)))).map(|end| end.element)
    }
}

//! Live reconfiguration: one element gets new arguments while the router runs, by its write handler `config`.
//!
//! A second element of the class is made with the new arguments. Only if that succeeds does it take the place of the
//! first, and take over its state as in a hot swap. Elements that others hold on to (by notifiers or shared handles)
//! or that wait for something (a task, a timer) cannot be replaced so; a hot swap replaces them together with the rest.

use crate::args::Args;
use crate::cx::Cx;
use crate::router::{ElementId, Router};

impl Router {
    /// Whether the element's arguments may be changed while the router runs.
    pub(crate) fn can_reconfigure(&self, id: ElementId) -> bool {
        let (info, exports) = (self.info(id), &self.exports[id.index()]);
        let on_the_way = !info.inputs.is_empty() && !info.outputs.is_empty();
        let held = !exports.handles.is_empty() || !exports.notifiers.is_empty();
        let own_handlers = !exports.handlers.is_empty() || exports.other_handlers.is_some();
        let waits = self.tasks.is_scheduled(id.index()) || self.timers.any(id.0);
        on_the_way && !held && !own_handlers && !waits
    }

    /// Gives the element new arguments.
    ///
    /// # Errors
    /// What is wrong with them. Nothing has changed then.
    pub(crate) fn reconfigure(&mut self, id: ElementId, arguments: &str) -> Result<(), String> {
        let (class, name) = (self.info(id).class, self.info(id).name.clone());
        let mut new = (class.make)();
        let mut args = Args::new(class.args, arguments, &self.arg_names.for_element(&name));
        new.configure(&mut args, &mut Cx { router: self, me: id });
        args.finish().map_err(|e| e.to_string())?;
        new.initialize(&mut Cx { router: self, me: id })?;
        let Some(mut old) = self.elements[id.index()].take() else {
            return Err("the element is busy".to_string());
        };
        new.take_state(&mut *old, &mut Cx { router: self, me: id });
        old.cleanup(&mut Cx { router: self, me: id });
        self.elements[id.index()] = Some(new);
        self.infos[id.index()].config = arguments.trim().to_string();
        self.shown.changed(id);
        Ok(())
    }
}

//! Calls: on the object itself, on others, by names of views, by names alone.

use super::Generator;
use super::expressions::{Want, places};
use super::model::{ModuleId, Slot, SlotId, Ty};
use super::node::Node;
use super::scope::Scope;

impl Generator {
    /// A call whose value serves, if anything can be called.
    pub fn call(&mut self, s: &mut Scope, want: Want, d: u32) -> Option<Node> {
        let serves = |ty: &Ty| match want {
            Want::Int => matches!(ty, Ty::Int(_)),
            Want::Bool => matches!(ty, Ty::Bool),
            Want::Void => true,
        };
        if self.random.percent(30)
            && let Some(node) = self.super_call(s, &serves, d)
        {
            return Some(node);
        }
        self.call_where(s, serves, want.simple(), d)
    }

    /// A call that gives an object of exactly this module.
    pub fn object_call(&mut self, s: &mut Scope, module: ModuleId, d: u32) -> Option<Node> {
        self.call_where(s, |ty| *ty == Ty::Object(module), "", d)
    }

    fn call_where(
        &mut self,
        s: &mut Scope,
        serves: impl Fn(&Ty) -> bool,
        simple: &'static str,
        d: u32,
    ) -> Option<Node> {
        let mut all = self.callable(s);
        all.retain(|(_, slot)| {
            serves(&self.model.slots[*slot].returns) && may_call(&self.model.slots[*slot], s)
        });
        let slots = &self.model.slots;
        let dispatched = |call: &(String, SlotId)| call.0.contains("->") && slots[call.1].is_overridden;
        let (name, slot) = self.random.prefer(&all, 35, dispatched)?.clone();
        s.budget -= self.model.slots[slot].cost;
        self.call_of(s, &name, slot, simple, d)
    }

    fn call_of(
        &mut self,
        s: &mut Scope,
        name: &str,
        slot: SlotId,
        simple: &'static str,
        d: u32,
    ) -> Option<Node> {
        let params = self.model.slots[slot].params.clone();
        let mut args = self.arguments(s, &params, d)?;
        if self.model.slots[slot].counts
            && let Some(first) = args.first_mut()
        {
            *first = Node::new("", "($ & 7)", vec![std::mem::take(first)]);
        }
        if args.is_empty() && self.random.percent(70) {
            return Some(Node::new(simple, name, vec![]));
        }
        Some(Node::new(simple, format!("{name}({})", places(args.len())), args))
    }

    /// `super.f(...)`, once in a definition.
    fn super_call(&mut self, s: &mut Scope, serves: &impl Fn(&Ty) -> bool, d: u32) -> Option<Node> {
        let slot = s.overridden?;
        let Slot { returns, throws, .. } = &self.model.slots[slot];
        if !serves(returns) || !throws.is_subset(&s.allowed) {
            return None;
        }
        s.overridden = None;
        let name = self.model.modules[s.module].names.get(&slot)?.clone();
        self.call_of(s, &format!("super.{name}"), slot, "", d)
    }

    /// All methods that can be named, as they are named.
    fn callable(&mut self, s: &Scope) -> Vec<(String, SlotId)> {
        let here = &self.model.modules[s.module];
        let mut all = Vec::new();
        for (&slot, name) in here.names.iter().chain(&here.implicit) {
            let Slot { is_static, is_detached, .. } = self.model.slots[slot];
            if is_static || s.complete || (s.this && is_detached && here.names.contains_key(&slot)) {
                all.push((name.clone(), slot));
                if !is_static && s.complete && here.names.contains_key(&slot) {
                    all.push((format!("self.{name}"), slot));
                }
            }
        }
        for &view in &here.imports {
            let view = &self.model.views[view];
            let statics = view.names.iter().filter(|(slot, _)| self.model.slots[**slot].is_static);
            all.extend(statics.map(|(&slot, name)| (format!("{}.{name}", view.name), slot)));
        }
        self.add_calls_on_objects(s, &mut all);
        let shadowed = |name: &str| s.vars.iter().any(|v| v.name == name);
        all.retain(|(name, _)| !shadowed(name));
        all
    }

    fn add_calls_on_objects(&mut self, s: &Scope, all: &mut Vec<(String, SlotId)>) {
        for path in self.paths(s) {
            let (view, arrow) = match path.ty {
                Ty::Object(module) => (self.model.modules[module].view, "."),
                Ty::Pointer(view) => (view, "->"),
                _ => continue,
            };
            let dynamic =
                self.model.views[view].names.iter().filter(|(slot, _)| !self.model.slots[**slot].is_static);
            all.extend(dynamic.map(|(&slot, name)| (format!("{}{arrow}{name}", path.text), slot)));
        }
    }
}

fn may_call(slot: &Slot, s: &Scope) -> bool {
    slot.rank < s.rank && slot.cost <= s.budget && slot.throws.is_subset(&s.allowed)
}

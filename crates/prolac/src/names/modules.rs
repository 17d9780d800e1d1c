//! The original namespace of each module: everything its own code can name (section 4.3).

use std::collections::BTreeMap;

use clickwork_source::{Diagnostic, Span};

use super::headers::Part;
use super::members::entry;
use super::operators::is_same;
use super::space::{Entry, Feature, Link, LinkKind, Space, Using};
use super::{Builder, State, View};
use crate::Name;
use crate::program::{MethodId, MethodKind, ModuleId};

impl Builder<'_, '_> {
    /// Builds the original namespaces of all modules, parents before children.
    pub(super) fn build_modules(&mut self) {
        for index in 0..self.names.modules.len() {
            self.build_with_parents(ModuleId(index as u32));
        }
    }

    /// Builds a module after everything it is derived from. Without recursion: chains can be long.
    fn build_with_parents(&mut self, module: ModuleId) {
        let mut stack = vec![module];
        while let Some(&top) = stack.last() {
            match self.state(top) {
                State::Done(_) => {
                    stack.pop();
                }
                State::Working => {
                    self.build(top);
                    stack.pop();
                }
                State::NotYet => {
                    self.names.modules[top.0 as usize].original = State::Working;
                    let parents = self.parent_modules(top);
                    stack.extend(parents.into_iter().filter(|&p| self.state(p) == State::NotYet));
                }
            }
        }
    }

    fn state(&self, module: ModuleId) -> State {
        self.names.modules[module.0 as usize].original
    }

    fn parent_modules(&self, module: ModuleId) -> Vec<ModuleId> {
        let parents = &self.names.modules[module.0 as usize].header.parents;
        parents.iter().filter_map(|part| self.target_module(part.target)).collect()
    }

    fn build(&mut self, module: ModuleId) {
        let mut space = self.inherit(module);
        self.add_links(module, &mut space);
        let body = self.names.modules[module.0 as usize].body.clone();
        self.merge(module, &mut space, &body, &mut Vec::new());
        self.complete_constructor(module, &mut space);
        let used = super::unresolved::unresolved(self.names.modules[module.0 as usize].ast, &space);
        for (name, span) in used {
            let id = self.add_implicit(module, name.clone(), span);
            space.insert(name, entry(Feature::Implicit(id), module, span));
        }
        let view = self.add_view(View::new(module, space));
        self.names.modules[module.0 as usize].original = State::Done(view);
    }

    /// What the parents show, without their links.
    fn inherit(&mut self, module: ModuleId) -> Space {
        let parents = self.names.modules[module.0 as usize].header.parents.clone();
        let Some((parent, real)) = self.real_parent(module, &parents) else { return Space::default() };
        let mut space = match self.part_view(parent) {
            Some(view) => self.names.view(view).space.clone(),
            None => return Space::default(),
        };
        self.program[module].parent = Some(real);
        self.program[module].table = self.program[real].table.clone();
        self.program[real].children.push(module);
        for other in parents.into_iter().filter(|part| part.target != parent.target) {
            let ancestor = self.target_module(other.target);
            if ancestor.is_some_and(|ancestor| self.program.is_derived(real, ancestor)) {
                self.reapply(other, real, &mut space);
            }
        }
        space
    }

    /// The parent that all other parents are ancestors of, and its module. `None` without one, or after a message.
    fn real_parent<'p>(&mut self, module: ModuleId, parents: &[Part<'p>]) -> Option<(Part<'p>, ModuleId)> {
        let known: Vec<(Part<'p>, ModuleId)> =
            parents.iter().filter_map(|&part| Some((part, self.target_module(part.target)?))).collect();
        for &(part, parent) in &known {
            if self.state(parent) == State::Working {
                self.report_cycle(module, part);
                return None;
            }
        }
        let is_real = |candidate: ModuleId| known.iter().all(|&(_, p)| self.program.is_derived(candidate, p));
        let real = known.iter().find(|&&(_, candidate)| is_real(candidate)).copied();
        if let (None, Some((first, ..)), Some((last, ..))) = (real, known.first(), known.last()) {
            self.names.modules[module.0 as usize].lost_parent = true;
            self.report(
                Diagnostic::error(last.ast.span, "a module has one parent")
                    .label(first.ast.span, "the other one")
                    .hint("a further parent must be an ancestor of the first; import it with `has` instead"),
            );
            return known.first().copied();
        }
        real
    }

    fn report_cycle(&mut self, module: ModuleId, part: Part<'_>) {
        self.names.modules[module.0 as usize].lost_parent = true;
        let name = self.program.module_name(module);
        self.report(
            Diagnostic::error(part.ast.span, format!("`{name}` is derived from itself"))
                .label(self.program[module].span, "this module")
                .hint("parents may not form a cycle; imports (`has`) may"),
        );
    }

    /// A further ancestor in the header: what its view shows is visible, with its `using` and levels.
    fn reapply(&mut self, part: Part<'_>, parent: ModuleId, space: &mut Space) {
        let Some(view) = self.part_view(part) else { return };
        let shown = self.names.view(view).space.clone();
        self.show_again(parent, &shown, space);
    }

    fn show_again(&self, parent: ModuleId, shown: &Space, space: &mut Space) {
        for (name, entry) in shown.iter() {
            let Some(mine) = space.get_mut(name) else {
                space.insert(name.clone(), self.as_used_by(parent, entry));
                continue;
            };
            if let (Feature::Space(mine, first), Feature::Space(shown, second)) =
                (&mut mine.feature, &entry.feature)
            {
                if first == second {
                    self.show_again(parent, shown, mine);
                }
            } else if is_same(mine, &self.as_used_by(parent, entry)) {
                mine.using = if entry.using == Using::Closed { mine.using } else { entry.using };
                mine.level = entry.level.or(mine.level);
            }
        }
    }

    /// An entry with the definitions that `module` uses: its own, or those of its nearest ancestor.
    fn as_used_by(&self, module: ModuleId, entry: &Entry) -> Entry {
        let feature = match &entry.feature {
            Feature::Space(inner, name) => {
                let mut used = Space::default();
                for (name, entry) in inner.iter() {
                    used.insert(name.clone(), self.as_used_by(module, entry));
                }
                Feature::Space(used, name.clone())
            }
            Feature::Method(method) => Feature::Method(self.used_by(module, *method)),
            Feature::Implicit(id) => {
                let overrides = &self.names.implicits[id.0 as usize].overridden_by;
                let mine =
                    overrides.iter().find(|&&m| self.program.is_derived(module, self.program[m].module));
                mine.map_or(entry.feature.clone(), |&method| Feature::Method(self.used_by(module, method)))
            }
            other => other.clone(),
        };
        Entry { feature, ..entry.clone() }
    }

    fn used_by(&self, module: ModuleId, method: MethodId) -> MethodId {
        if !self.program[method].is_static {
            return self.program.definition_in(module, method);
        }
        let overridden = |m: MethodId| std::iter::successors(Some(m), |&m| self.program[m].overrides);
        let mut methods = self.program.ancestry(module).flat_map(|m| &self.program[m].methods);
        methods.find(|&&m| overridden(m).any(|m| m == method)).copied().unwrap_or(method)
    }

    /// Binds the module's own name and those of its parents and imports.
    fn add_links(&mut self, module: ModuleId, space: &mut Space) {
        let decl = &self.names.modules[module.0 as usize];
        let own = self.program[module].path.last().cloned();
        let mut links: Vec<(Name, Link, Span)> = Vec::new();
        if let Some(own) = own.filter(|own| space.get(own).is_none()) {
            let link = Link { kind: LinkKind::Own, module, view: Link::UNKNOWN };
            links.push((own, link, self.program[module].span));
        }
        let header = &decl.header;
        for (part, kind) in header
            .parents
            .iter()
            .map(|p| (p, LinkKind::Parent))
            .chain(header.imports.iter().map(|p| (p, LinkKind::Import)))
        {
            if let Some(target) = self.target_module(part.target) {
                links.push((part.name(), Link { kind, module: target, view: Link::UNKNOWN }, part.ast.span));
            }
        }
        for (name, link, span) in links {
            space.insert(name, entry(Feature::Module(link), module, span));
        }
    }

    /// Adds what a body defines to what is inherited.
    fn merge(&mut self, module: ModuleId, space: &mut Space, body: &Space, path: &mut Vec<Name>) {
        for (name, mine) in body.iter() {
            let Some(old) = space.get(name).cloned() else {
                self.enter_new(module, &mine.feature);
                if let Feature::Space(inner, original) = &mine.feature {
                    let mut empty = Space::default();
                    self.merge(module, &mut empty, inner, path);
                    let feature = Feature::Space(empty, original.clone());
                    space.insert(name.clone(), Entry { feature, ..mine.clone() });
                } else {
                    space.insert(name.clone(), mine.clone());
                }
                continue;
            };
            match (&old.feature, &mine.feature) {
                (Feature::Space(..), Feature::Space(inner, _)) => {
                    path.push(name.clone());
                    if let Some(Entry { feature: Feature::Space(target, _), .. }) = space.get_mut(name) {
                        self.merge(module, target, inner, path);
                    }
                    path.pop();
                }
                (Feature::Method(overridden), Feature::Method(method)) => {
                    self.override_method(module, *overridden, *method);
                    space.insert(
                        name.clone(),
                        Entry { feature: mine.feature.clone(), span: mine.span, ..old },
                    );
                }
                (Feature::Implicit(id), Feature::Method(method)) => {
                    self.names.implicits[id.0 as usize].overridden_by.push(*method);
                    self.enter_new(module, &mine.feature);
                    space.insert(
                        name.clone(),
                        Entry { feature: mine.feature.clone(), span: mine.span, ..old },
                    );
                }
                (Feature::Constructor(_), Feature::Constructor(_)) => {
                    space.insert(name.clone(), mine.clone());
                }
                (Feature::Module(link), _) if link.kind == LinkKind::Own => {
                    self.enter_new(module, &mine.feature);
                    space.insert(name.clone(), mine.clone());
                }
                _ => self.report_clash(name, &old, mine),
            }
        }
    }

    fn report_clash(&mut self, name: &Name, old: &Entry, mine: &Entry) {
        let (old_is, mine_is) = (old.feature.describe(), mine.feature.describe());
        let message = match (&old.feature, &mine.feature) {
            (Feature::Module(_), _) => {
                format!("`{name}` is the name of a module in the header, and {mine_is} here")
            }
            (Feature::Field(_), Feature::Field(_)) => {
                format!("field `{name}` is inherited; fields cannot be overridden")
            }
            _ => format!("`{name}` is {mine_is} here, but {old_is} is inherited under this name"),
        };
        self.report(
            Diagnostic::error(mine.span, message)
                .label(old.span, "the other one")
                .hint("give it another name, or hide the inherited one in the header"),
        );
    }

    /// A method that overrides nothing has a slot of its own, unless it is static.
    fn enter_new(&mut self, module: ModuleId, feature: &Feature) {
        if let Feature::Method(method) = *feature
            && !self.program[method].is_static
        {
            self.program[module].table.insert(method, method);
        }
    }

    fn override_method(&mut self, module: ModuleId, old: MethodId, new: MethodId) {
        if self.program[old].is_static != self.program[new].is_static {
            self.report_mixed(old, new);
            return;
        }
        self.program[new].overrides = Some(old);
        if self.program[new].is_static {
            return;
        }
        let slot = self.program[old].slot;
        self.program[new].slot = slot;
        let before = self.program[module].table.insert(slot, new);
        if let Some(twice) = before.filter(|&m| self.program[m].module == module) {
            self.report_twice(old, new, twice);
        }
    }

    pub(super) fn report_twice(&mut self, old: MethodId, new: MethodId, twice: MethodId) {
        let name = self.program.method_name(old);
        self.report(
            Diagnostic::error(self.program[new].span, format!("`{name}` is overridden twice in this module"))
                .label(self.program[twice].span, "here too, under another name"),
        );
    }

    pub(super) fn report_mixed(&mut self, old: MethodId, new: MethodId) {
        let (kind, other) = match self.program[new].is_static {
            true => ("static", "dynamic"),
            false => ("dynamic", "static"),
        };
        let message = format!("a {kind} method cannot override a {other} one");
        self.report(
            Diagnostic::error(self.program[new].span, message)
                .label(self.program[old].span, format!("the {other} method"))
                .hint("make both static or both dynamic, or give this one another name"),
        );
    }

    /// Makes a constructor if none is written, and notes it.
    fn complete_constructor(&mut self, module: ModuleId, space: &mut Space) {
        let name = Name::new("constructor");
        let written = match self.names.modules[module.0 as usize].body.get(&name) {
            Some(Entry { feature: Feature::Constructor(id), .. }) => Some(*id),
            _ => None,
        };
        let constructor = written.unwrap_or_else(|| {
            let span = self.program[module].span;
            self.add_method(module, vec![name.clone()], MethodKind::GeneratedConstructor, false, span)
        });
        self.program[module].constructor = constructor;
        let span = self.program[constructor].span;
        space.insert(name, entry(Feature::Constructor(constructor), module, span));
    }

    /// Puts the views of parents and imports into the links of all modules.
    pub(super) fn link_views(&mut self) {
        for index in 0..self.names.modules.len() {
            let module = ModuleId(index as u32);
            let State::Done(original) = self.state(module) else { continue };
            let header = self.names.modules[index].header.clone();
            let mut views: BTreeMap<Name, _> = BTreeMap::new();
            if let Some(own) = self.program[module].path.last() {
                views.insert(own.clone(), original);
            }
            for part in header.parents.iter().chain(&header.imports) {
                if let Some(view) = self.part_view(*part) {
                    views.insert(part.name(), view);
                }
            }
            let space = &mut self.names.views[original.0 as usize].space;
            for (name, view) in views {
                if let Some(Entry { feature: Feature::Module(link), .. }) = space.get_mut(&name) {
                    link.view = view;
                }
            }
        }
    }
}

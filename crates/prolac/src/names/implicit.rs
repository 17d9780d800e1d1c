//! Implicit methods: names that a module uses without having them (section 8).
//!
//! The search goes generation by generation: the module's own imports and fields, then those of its parent, and so on.
//! Imports offer static methods and exceptions, fields dynamic methods, each only where `using` is in effect.

use clickwork_source::{Diagnostic, Span};

use super::space::{Entry, Feature, ImplicitId, LevelId, LinkKind, Using};
use super::{Builder, Names, State};
use crate::Name;
use crate::program::{FieldId, MethodId, MethodKind, ModuleId, Program, ViewId};
use crate::syntax::ast::{self, TypeKind};

/// A name used without being there.
pub struct Implicit {
    module: ModuleId,
    name: Name,
    /// The first use.
    span: Span,
    /// Nothing matches: the name is undeclared, and every use gets a message.
    pub missing: bool,
    /// Whether that is known.
    settled: bool,
    /// What it stands for; `None` if nothing does or after a message.
    pub target: Option<Entry>,
    /// Methods of derived modules that override it.
    pub overridden_by: Vec<MethodId>,
}

/// Where a forwarder finds its target.
#[derive(Clone, Copy, Debug)]
pub struct Forward {
    /// The method it calls.
    pub method: MethodId,
    /// Through what.
    pub via: Via,
    /// The inline level of the view it was found in.
    pub level: Option<LevelId>,
}

/// What leads to the target of a forwarder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// An imported module.
    Import(ModuleId),
    /// A field.
    Field(FieldId),
}

/// A parent's or own import or field that implicit search looks into.
pub struct Source {
    via: Via,
    view: ViewId,
    name: Name,
    span: Span,
    pointer: bool,
}

/// A feature that implicit search passed by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearMiss {
    /// How the source can name it: `tcb->len`.
    pub path: String,
    /// Where the field or import stands.
    pub span: Span,
    /// Why it was passed by.
    pub reason: &'static str,
}

impl Names<'_> {
    /// A feature called `name` of an import or field that implicit search does not offer, for hints.
    pub fn near_miss(&self, program: &Program, module: ModuleId, name: &Name) -> Option<NearMiss> {
        let generations = program.ancestry(module).filter_map(|m| self.sources.get(m.0 as usize));
        let misses = generations.flatten().filter_map(|source| {
            let view = self.views.get(source.view.0 as usize)?;
            let (rank, reason) = match view.space.get(name) {
                Some(entry) => passed_by(program, source.via, entry)?,
                None => {
                    view.hidden.get(name).map(|_| (u8::from(!via_field(source.via)), "its view hides it"))?
                }
            };
            let link = if source.pointer { "->" } else { "." };
            let path = format!("{}{link}{name}", source.name);
            Some((rank, NearMiss { path, span: source.span, reason }))
        });
        misses.min_by_key(|&(rank, _)| rank).map(|(_, miss)| miss)
    }
}

fn via_field(via: Via) -> bool {
    matches!(via, Via::Field(_))
}

/// Why implicit search does not offer an entry, after how far that is from offering it.
fn passed_by(program: &Program, via: Via, entry: &Entry) -> Option<(u8, &'static str)> {
    let is_static = match entry.feature {
        Feature::Field(field) if program[field].is_static || via_field(via) => {
            return Some((1, "implicit search finds methods, not fields"));
        }
        Feature::Field(_) => return None,
        Feature::Method(method) => program[method].is_static,
        _ => matches!(via, Via::Import(_)),
    };
    match via {
        Via::Import(_) if !is_static => {
            Some((3, "an import offers static methods only; a dynamic one needs an object"))
        }
        Via::Field(_) if is_static => Some((2, "a field offers dynamic methods only")),
        _ if entry.using == Using::Closed => {
            Some((0, "it is not open for implicit search: say `using` after the module"))
        }
        _ => None,
    }
}

/// Something that matches.
struct Candidate {
    via: Via,
    /// As the source would write it: `tcb.len`.
    path: String,
    /// Where the field or import stands.
    span: Span,
    entry: Entry,
}

/// What a field or import has for a name.
enum Offer {
    Nothing,
    Some(Box<Candidate>),
    /// First it must be known what this implicit name stands for.
    Needs(usize),
    /// What it has is wrong; a message was given.
    Lost,
}

/// How a search ends.
enum Search {
    Found(Vec<Candidate>),
    Needs(usize),
    Lost,
}

impl Builder<'_, '_> {
    pub(super) fn add_implicit(&mut self, module: ModuleId, name: Name, span: Span) -> ImplicitId {
        let id = ImplicitId(self.names.implicits.len() as u32);
        self.names.implicits.push(Implicit {
            module,
            name,
            span,
            missing: false,
            settled: false,
            target: None,
            overridden_by: Vec::new(),
        });
        id
    }

    /// Finds out what all implicit names stand for.
    pub(super) fn resolve_implicits(&mut self) {
        self.names.sources =
            (0..self.names.modules.len() as u32).map(|index| self.sources_of(ModuleId(index))).collect();
        for index in 0..self.names.implicits.len() {
            self.resolve_implicit(index);
        }
        for index in 0..self.names.implicits.len() {
            self.settle_overrides(index);
        }
    }

    /// Finds out what one implicit name stands for, and before it those that it may stand for.
    fn resolve_implicit(&mut self, index: usize) {
        let mut waiting = vec![index];
        while let Some(&index) = waiting.last() {
            if self.names.implicits[index].settled {
                waiting.pop();
                continue;
            }
            match self.search(index) {
                Search::Found(candidates) => self.settle(index, candidates),
                Search::Lost => {}
                Search::Needs(needed) => {
                    match waiting.iter().position(|&w| w == needed) {
                        Some(start) => self.report_circle(&waiting.split_off(start)),
                        None => waiting.push(needed),
                    }
                    continue;
                }
            }
            self.names.implicits[index].settled = true;
            waiting.pop();
        }
    }

    fn report_circle(&mut self, circle: &[usize]) {
        for &index in circle {
            let implicit = &mut self.names.implicits[index];
            implicit.settled = true;
            let message = format!(
                "`{}` leads back to itself: it stands for an implicit method that stands for it",
                implicit.name
            );
            let message = Diagnostic::error(implicit.span, message);
            self.report(message.hint("name the field or import that is meant"));
        }
    }

    /// What a name may stand for, in the nearest generation that has something.
    fn search(&self, index: usize) -> Search {
        for generation in self.generations(self.names.implicits[index].module) {
            let mut found = Vec::new();
            for source in &self.names.sources[generation.0 as usize] {
                match self.candidate(source, index) {
                    Offer::Nothing => {}
                    Offer::Some(candidate) => found.push(*candidate),
                    Offer::Needs(other) => return Search::Needs(other),
                    Offer::Lost => return Search::Lost,
                }
            }
            if !found.is_empty() {
                return Search::Found(found);
            }
        }
        Search::Found(Vec::new())
    }

    /// The module and its ancestors, up to one that a header names with `notusing all`.
    fn generations(&self, module: ModuleId) -> impl Iterator<Item = ModuleId> {
        let mut closed = Vec::new();
        self.program.ancestry(module).take_while(move |generation| {
            let open = !closed.contains(generation);
            let parents = &self.names.modules[generation.0 as usize].header.parents;
            let shut = parents.iter().filter(|part| closes(part.ast));
            closed.extend(shut.filter_map(|part| self.target_module(part.target)));
            open
        })
    }

    /// The imports and module-typed fields of a module, with their views.
    fn sources_of(&mut self, module: ModuleId) -> Vec<Source> {
        let State::Done(_) = self.names.modules[module.0 as usize].original else { return Vec::new() };
        let mut sources = Vec::new();
        for part in self.names.modules[module.0 as usize].header.imports.clone() {
            let entry = self.names.top(module).and_then(|top| top.get(&part.name()));
            if let Some(Entry { feature: Feature::Module(link), .. }) = entry
                && link.kind == LinkKind::Import
            {
                let (via, view) = (Via::Import(link.module), link.view);
                sources.push(Source { via, view, name: part.name(), span: part.ast.span, pointer: false });
            }
        }
        for field in self.program[module].fields.clone() {
            let ast = self.names.field_ast(field);
            let pointer = matches!(ast.ty.kind, TypeKind::Pointer(_));
            let Some(expr) = module_in(&ast.ty) else { continue };
            let scope = self.names.field_scope(self.program, field);
            // Mistakes in the type are reported where types are checked.
            let mut unheard = Default::default();
            let found = self.names.module_expr_view(self.program, &scope, expr, &mut unheard);
            if let (Some((_, view)), Some(name)) = (found, self.program[field].path.last()) {
                let (via, name) = (Via::Field(field), name.clone());
                sources.push(Source { via, view, name, span: self.program[field].span, pointer });
            }
        }
        sources
    }

    /// What a field or import offers under an implicit name.
    fn candidate(&self, source: &Source, index: usize) -> Offer {
        let name = &self.names.implicits[index].name;
        let view = self.names.views.get(source.view.0 as usize);
        let Some(outer) = view.and_then(|view| view.space.get(name)) else { return Offer::Nothing };
        let Some(entry) = callable(outer) else { return Offer::Nothing };
        let (target, level) = match entry.feature {
            _ if entry.using == Using::Closed => return Offer::Nothing,
            // While a name is looked for, it stands for nothing itself.
            Feature::Implicit(id) if id.0 as usize == index => return Offer::Nothing,
            Feature::Implicit(id) => {
                let implicit = &self.names.implicits[id.0 as usize];
                match &implicit.target {
                    _ if !implicit.settled => return Offer::Needs(id.0 as usize),
                    Some(target) => (target, entry.level.or(target.level)),
                    None if implicit.missing => return Offer::Nothing,
                    None => return Offer::Lost,
                }
            }
            _ => (entry, entry.level),
        };
        if entry.using == Using::IfStatic && !self.is_static(&target.feature)
            || !self.offers(source.via, &target.feature)
        {
            return Offer::Nothing;
        }
        let path = format!("{}.{name}", source.name);
        let entry = Entry { level, ..target.clone() };
        Offer::Some(Box::new(Candidate { via: source.via, path, span: source.span, entry }))
    }

    fn is_static(&self, feature: &Feature) -> bool {
        match feature {
            Feature::Method(method) => self.program[*method].is_static,
            Feature::Exception(_) => true,
            _ => false,
        }
    }

    /// Imports offer what is static, fields what is dynamic.
    fn offers(&self, via: Via, feature: &Feature) -> bool {
        match (via, feature) {
            (Via::Import(_), Feature::Method(method)) => self.program[*method].is_static,
            (Via::Import(_), Feature::Exception(_)) => true,
            (Via::Field(_), Feature::Method(method)) => !self.program[*method].is_static,
            _ => false,
        }
    }

    fn settle(&mut self, index: usize, mut candidates: Vec<Candidate>) {
        if candidates.len() > 1 {
            self.report_ambiguous(index, &candidates);
            return;
        }
        let Some(candidate) = candidates.pop() else {
            self.names.implicits[index].missing = true;
            return;
        };
        let mut entry = candidate.entry;
        if let Feature::Method(target) = entry.feature {
            let forwarder = self.make_forwarder(index, candidate.via, target, entry.level);
            entry.feature = Feature::Method(forwarder);
            entry.level = None;
        }
        entry.using = Using::Closed;
        self.names.implicits[index].target = Some(entry);
    }

    fn make_forwarder(
        &mut self,
        index: usize,
        via: Via,
        method: MethodId,
        level: Option<LevelId>,
    ) -> MethodId {
        let Implicit { module, name, span, .. } = &self.names.implicits[index];
        let (module, path, span) = (*module, vec![name.clone()], *span);
        let is_static = match via {
            Via::Import(_) => true,
            Via::Field(field) => self.program[field].is_static,
        };
        let id = self.add_method(module, path, MethodKind::Forwarder, is_static, span);
        self.program[id].params = self.program[method].params;
        self.names.methods[id.0 as usize].forward = Some(super::Forward { method, via, level });
        if !is_static {
            for derived in self.program.descendants(module) {
                let table = &mut self.program[derived].table;
                if table.get(&id).is_none() {
                    table.insert(id, id);
                }
            }
        }
        id
    }

    fn report_ambiguous(&mut self, index: usize, candidates: &[Candidate]) {
        let Implicit { name, span, .. } = &self.names.implicits[index];
        let paths: Vec<String> = candidates.iter().map(|c| format!("`{}`", c.path)).collect();
        let kind = match candidates.iter().all(|c| matches!(c.via, Via::Field(_))) {
            true => "fields",
            false => "fields or imports",
        };
        let number = if candidates.len() == 2 { "two".into() } else { candidates.len().to_string() };
        let message = format!("`{name}` is ambiguous: {number} {kind} match: {}", paths.join(" and "));
        let mut message = Diagnostic::error(*span, message);
        for candidate in candidates {
            message = message.label(candidate.span, format!("`{}` is found here", candidate.path));
        }
        let hint = format!("write the one you mean in full, or say `notusing {name}` on the other");
        self.report(message.hint(hint));
    }

    /// Methods that override a forwarder, which was not known when they were declared.
    fn settle_overrides(&mut self, index: usize) {
        let overriding = self.names.implicits[index].overridden_by.clone();
        match self.names.implicits[index].target.clone() {
            Some(Entry { feature: Feature::Method(forwarder), .. }) => {
                overriding.into_iter().for_each(|method| self.override_forwarder(forwarder, method));
            }
            Some(other) => {
                overriding.into_iter().for_each(|method| self.report_no_method(index, method, &other))
            }
            None => {}
        }
    }

    fn override_forwarder(&mut self, forwarder: MethodId, method: MethodId) {
        if self.program[method].is_static != self.program[forwarder].is_static {
            self.report_mixed(forwarder, method);
            return;
        }
        self.program[method].overrides = Some(forwarder);
        if self.program[method].is_static {
            return;
        }
        let old = self.program[method].slot;
        self.program[method].slot = forwarder;
        let module = self.program[method].module;
        for derived in self.program.descendants(module) {
            let definition = self.program[derived].table.remove(&old).unwrap_or(method);
            self.program[definition].slot = forwarder;
            let known = self.program[derived].table.get(&forwarder).copied();
            match known.filter(|&known| known != definition && self.is_nearer(known, definition)) {
                Some(twice) if derived == module => self.report_twice(forwarder, method, twice),
                Some(_) => {}
                None => drop(self.program[derived].table.insert(forwarder, definition)),
            }
        }
    }

    /// Whether the first method's module is the second's or derived from it.
    fn is_nearer(&self, first: MethodId, second: MethodId) -> bool {
        self.program.is_derived(self.program[first].module, self.program[second].module)
    }

    /// A method in the place of an implicit name that stands for an exception.
    fn report_no_method(&mut self, index: usize, method: MethodId, inherited: &Entry) {
        let name = &self.names.implicits[index].name;
        let message = format!(
            "`{name}` is a method here, but {} is inherited under this name",
            inherited.feature.describe()
        );
        self.report(
            Diagnostic::error(self.program[method].span, message)
                .label(self.names.implicits[index].span, "an implicit name, which stands for it")
                .hint("give it another name, or hide the inherited one in the header"),
        );
    }
}

/// The entry itself, or the member `n.n` of a namespace.
fn callable(entry: &Entry) -> Option<&Entry> {
    match &entry.feature {
        Feature::Space(inner, original) => {
            inner.get(original).filter(|entry| !matches!(entry.feature, Feature::Space(..)))
        }
        _ => Some(entry),
    }
}

/// The module that a type is or points to.
fn module_in(ty: &ast::Type) -> Option<&ast::ModuleExpr> {
    match &ty.kind {
        TypeKind::Module(expr) => Some(expr),
        TypeKind::Pointer(to) => match &to.kind {
            TypeKind::Module(expr) => Some(expr),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a parent is named `notusing all`, so that the search for implicit names ends below it.
fn closes(expr: &ast::ModuleExpr) -> bool {
    let using = expr.operators.iter().rev().find_map(|operator| {
        let all = operator.operands.iter().any(
            |o| matches!(o, ast::Operand::Name(path) if path.parts.len() == 1 && path.parts[0].name == "all"),
        );
        match operator.kind {
            ast::ModuleOperatorKind::Using if all => Some(true),
            ast::ModuleOperatorKind::NotUsing if all => Some(false),
            _ => None,
        }
    });
    using == Some(false)
}

//! Module operators: `hide show rename using notusing inline` (section 4.2).
//!
//! They make a new view and leave the old one alone. `show` looks a name up in the original namespace; all others work on
//! what the view shows. `show all` undoes what views hid; what a module hides behind its own closing brace is private,
//! and comes back only by name.

use std::rc::Rc;

use clickwork_source::{Diagnostic, Diagnostics, Span, suggest};

use super::glob::matches_glob;
use super::space::{Entry, Feature, LevelId, Space, Using};
use super::{Names, View};
use crate::Name;
use crate::program::{ModuleId, Program, ViewId};
use crate::syntax::ast::{self, ExprKind, InlineLevel, ModuleOperatorKind, Operand};

/// The view after all operators; `base` itself if there are none.
pub fn apply_all(
    names: &mut Names<'_>,
    program: &Program,
    base: ViewId,
    operators: &[ast::ModuleOperator],
    diagnostics: &mut Diagnostics,
) -> ViewId {
    if operators.is_empty() {
        return base;
    }
    let key = same_everywhere(operators).map(|text| (base, text));
    if let Some(&known) = key.as_ref().and_then(|key| names.known_views.get(key)) {
        return known;
    }
    let messages = diagnostics.len();
    let view = names.view(base).clone();
    let mut operation = Operation { names, program, view, diagnostics, span: Span::NONE };
    operators.iter().for_each(|operator| operation.apply(operator));
    let view = operation.view;
    let silent = diagnostics.len() == messages;
    let view = names.add_view(view);
    if let Some(key) = key.filter(|_| silent) {
        names.known_views.insert(key, view);
    }
    view
}

/// The operators as text, if they give the same view wherever they stand. What `hide` and `show` do is noted with its
/// place, for messages; the others are written at many fields of the same type.
fn same_everywhere(operators: &[ast::ModuleOperator]) -> Option<String> {
    let mut text = String::new();
    for operator in operators {
        text.push_str(match &operator.kind {
            ModuleOperatorKind::Using => "using",
            ModuleOperatorKind::NotUsing => "notusing",
            ModuleOperatorKind::Inline(InlineLevel::Fixed(level)) => {
                ["0", "1", "2"].get(usize::from(*level)).unwrap_or(&"3")
            }
            _ => return None,
        });
        for operand in &operator.operands {
            let Operand::Name(path) = operand else { return None };
            text.push(' ');
            path.parts.iter().for_each(|part| text.extend([".", &part.name.to_c()]));
        }
        text.push(';');
    }
    Some(text)
}

/// One operator at work.
struct Operation<'o, 'a> {
    names: &'o mut Names<'a>,
    program: &'o Program,
    view: View,
    diagnostics: &'o mut Diagnostics,
    /// The operator.
    span: Span,
}

/// What an operand other than a pair picks.
enum Pick {
    All,
    AllStatic,
    /// `ns.all`
    Inside(Vec<Name>),
    /// `P.all`
    From(ModuleId),
    /// A name, in namespaces perhaps.
    One(Vec<Name>),
    Glob(String),
}

impl Operation<'_, '_> {
    fn apply(&mut self, operator: &ast::ModuleOperator) {
        self.span = operator.span;
        let level = match &operator.kind {
            ModuleOperatorKind::Inline(level) => Some(self.level(level)),
            _ => None,
        };
        for operand in &operator.operands {
            match (&operator.kind, operand) {
                (ModuleOperatorKind::Show, Operand::Pair { new, old }) => self.show(new, old),
                (ModuleOperatorKind::Rename, Operand::Pair { new, old }) => self.rename(new, old),
                (_, Operand::Pair { new, .. }) => {
                    self.error(new.span, "only `show` and `rename` take `new = old`");
                }
                (ModuleOperatorKind::Show, Operand::Name(path)) if is_all(path) => self.show_all(path.span),
                (ModuleOperatorKind::Show, Operand::Name(path)) => self.show(path, path),
                (ModuleOperatorKind::Rename, _) => {
                    let hint = "write `rename (new = old)`";
                    self.diagnostics.push(
                        Diagnostic::error(operand_span(operand), "`rename` needs two names").hint(hint),
                    );
                }
                (ModuleOperatorKind::Hide, _) => self.hide(operand),
                (ModuleOperatorKind::Using, _) => self.flag(operand, true),
                (ModuleOperatorKind::NotUsing, _) => self.flag(operand, false),
                (ModuleOperatorKind::Inline(_), _) => self.set_level(operand, level),
                (ModuleOperatorKind::Show, Operand::Pattern { span, .. }) => {
                    self.error(*span, "`show` takes names, not patterns");
                }
            }
        }
    }

    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(span, message));
    }

    /// What an operand stands for; `None` after a message.
    fn pick(&mut self, operand: &Operand) -> Option<Pick> {
        let path = match operand {
            Operand::Pattern { glob, .. } => return Some(Pick::Glob(glob.clone())),
            Operand::Name(path) => path,
            Operand::Pair { new, .. } => {
                self.error(new.span, "only `show` and `rename` take `new = old`");
                return None;
            }
        };
        let names: Vec<Name> = path.parts.iter().map(|part| part.name.clone()).collect();
        let (last, outer) = names.split_last()?;
        if outer.is_empty() {
            return Some(match () {
                () if *last == "all" => Pick::All,
                () if *last == "allstatic" => Pick::AllStatic,
                () => Pick::One(names),
            });
        }
        if self.view.space.at(outer).is_some() {
            return Some(if *last == "all" { Pick::Inside(outer.to_vec()) } else { Pick::One(names) });
        }
        match self.ancestor(outer) {
            Some(module) if *last == "all" => Some(Pick::From(module)),
            Some(module) => self.introduced(module, last, path.span),
            None => {
                let first = path.parts[0].span;
                self.error(first, format!("`{}` is no namespace or ancestor of this module", outer[0]));
                None
            }
        }
    }

    /// The ancestor of the view's module (or itself) that `path` names by its last component or in full.
    fn ancestor(&self, path: &[Name]) -> Option<ModuleId> {
        let by_path = self.program.ancestry(self.view.module).find(|&m| self.program[m].path.ends_with(path));
        by_path.or_else(|| {
            let [name] = path else { return None };
            self.program.ancestry(self.view.module).find_map(|m| {
                let header = &self.names.modules[m.0 as usize].header;
                let part = header.parents.iter().find(|part| part.name() == *name)?;
                self.names.module_of(part.target)
            })
        })
    }

    /// `P.x`: x only if P introduced it.
    fn introduced(&mut self, module: ModuleId, name: &Name, span: Span) -> Option<Pick> {
        if self.view.space.get(name).is_none_or(|entry| entry.origin == module) {
            return Some(Pick::One(vec![name.clone()]));
        }
        let message = format!("`{name}` was not introduced by `{}`", self.program.module_name(module));
        self.diagnostics.push(Diagnostic::warning(span, message));
        None
    }

    fn hide(&mut self, operand: &Operand) {
        let Some(pick) = self.pick(operand) else { return };
        let before = self.view.space.clone();
        let mut matched = false;
        let mut hidden = Vec::new();
        match &pick {
            Pick::One(path) => {
                let (last, outer) = path.split_last().unwrap_or((&path[0], &[]));
                let space = self.view.space.at_mut(outer);
                matched = space.is_some_and(|space| space.remove(last).is_some());
                hidden.push(last.clone());
            }
            Pick::Glob(glob) => {
                let names = before.iter().map(|(name, _)| name).filter(|name| matches_glob(glob, name));
                hidden.extend(names.cloned());
                matched = !hidden.is_empty();
                hidden.iter().for_each(|name| drop(self.view.space.remove(name)));
            }
            _ => {
                let program = self.program;
                let keep = &mut |name: &Name, entry: &Entry| {
                    let hit = picks(&pick, program, entry);
                    matched |= hit;
                    if hit {
                        hidden.push(name.clone());
                    }
                    !hit
                };
                match &pick {
                    Pick::Inside(path) => {
                        if let Some(space) = self.view.space.at_mut(path) {
                            space.retain(keep);
                        }
                    }
                    _ => self.view.space.retain(keep),
                }
            }
        }
        // A namespace goes with the last of what it has.
        self.view.space.prune();
        if let Pick::Inside(path) = &pick
            && self.view.space.at(path).is_none()
        {
            hidden.extend(path.last().cloned());
        }
        for name in hidden {
            Rc::make_mut(&mut self.view.hidden).insert(name, self.span);
        }
        if !matched && !matches!(pick, Pick::All) {
            self.warn_no_match(operand, &before);
        }
    }

    fn warn_no_match(&mut self, operand: &Operand, space: &Space) {
        let mut message = Diagnostic::warning(operand_span(operand), "nothing of this name is visible here");
        if let Operand::Name(path) = operand
            && let Some(last) = path.parts.last()
            && let Some(near) = suggest(last.name.as_str(), space.iter().map(|(name, _)| name.as_str()))
        {
            message = message.hint(format!("did you mean `{near}`?"));
        }
        self.diagnostics.push(message);
    }

    /// `show new = old`, and `show x` as `show x = x`.
    fn show(&mut self, new: &ast::Path, old: &ast::Path) {
        let (new_names, old_names) = (names_of(new), names_of(old));
        let original = self.names.original_view(self.view.module);
        let Some(entry) = self.names.views.get(original.0 as usize).and_then(|v| v.space.find(&old_names))
        else {
            self.report_missing(old, original);
            self.lose(new);
            return;
        };
        let entry = entry.clone();
        if matches!(entry.feature, Feature::Module(_)) {
            self.error(old.span, "a parent or import of a module cannot be shown");
        } else if matches!(entry.feature, Feature::Constructor(_)) && new_names != old_names {
            self.error(new.span, "the constructor has no other name");
        } else {
            self.bind(new, entry);
        }
    }

    fn report_missing(&mut self, path: &ast::Path, view: ViewId) {
        let module = self.program.module_name(self.view.module);
        let Some(last) = path.parts.last() else { return };
        let mut message = Diagnostic::error(path.span, format!("`{module}` has no feature `{}`", last.name));
        let names = self.names.views.get(view.0 as usize).map(|v| &v.space);
        let candidates = names.into_iter().flat_map(|space| space.iter().map(|(name, _)| name.as_str()));
        if let Some(near) = suggest(last.name.as_str(), candidates) {
            message = message.hint(format!("did you mean `{near}`?"));
        }
        self.diagnostics.push(message);
    }

    /// Binds a path in the view, opening namespaces. Another feature under this name is an error.
    fn bind(&mut self, path: &ast::Path, entry: Entry) {
        let Some((last, outer)) = path.parts.split_last() else { return };
        let mut space = &mut self.view.space;
        for part in outer {
            if space.get(&part.name).is_none() {
                let feature = Feature::Space(Space::default(), part.name.clone());
                space.insert(part.name.clone(), Entry { feature, ..entry.clone() });
            }
            match space.at_mut(std::slice::from_ref(&part.name)) {
                Some(inner) => space = inner,
                None => {
                    let message = format!("`{}` is not a namespace here", part.name);
                    self.diagnostics.push(Diagnostic::error(part.span, message));
                    return;
                }
            }
        }
        if let Some(other) = space.get(&last.name)
            && !is_same(other, &entry)
        {
            let message = format!("this view already shows another `{}`", last.name);
            let label = other.span;
            self.diagnostics.push(
                Diagnostic::error(path.span, message)
                    .label(label, "the one it shows")
                    .hint("hide that one first"),
            );
            return;
        }
        space.insert(last.name.clone(), entry);
        Rc::make_mut(&mut self.view.hidden).remove(&last.name);
    }

    /// `show all`: whatever the module's default view shows.
    fn show_all(&mut self, span: Span) {
        let default = self.names.default_view(self.view.module);
        let mut missing = Vec::new();
        if let Some(default) = default {
            find_missing(&self.view.space, &self.names.view(default).space, &mut Vec::new(), &mut missing);
        }
        if missing.is_empty() {
            let module = self.program.module_name(self.view.module);
            let mut message = Diagnostic::error(
                span,
                format!("`show all` has nothing to show: no view of `{module}` hid anything"),
            );
            if let Some((name, &place)) = self.view.hidden.iter().next() {
                message = message
                    .label(place, "what a module hides behind its own closing brace stays hidden")
                    .hint(format!("show it by its name: `show {name}`"));
            }
            self.diagnostics.push(message);
            return;
        }
        for (path, entry) in missing {
            let Some((last, outer)) = path.split_last() else { continue };
            Rc::make_mut(&mut self.view.hidden).remove(last);
            if let Some(space) = self.view.space.at_mut(outer) {
                space.insert(last.clone(), entry);
            }
        }
    }

    fn rename(&mut self, new: &ast::Path, old: &ast::Path) {
        let old_names = names_of(old);
        let Some((last, outer)) = old_names.split_last() else { return };
        let Some(entry) = self.view.space.find(&old_names).cloned() else {
            let message = format!("this view shows no `{last}`");
            let mut message = Diagnostic::error(old.span, message);
            if let Some(&place) = self.view.hidden.get(last) {
                message = message.label(place, "hidden here");
            }
            self.diagnostics.push(message);
            self.lose(new);
            return;
        };
        if matches!(entry.feature, Feature::Constructor(_)) {
            self.error(old.span, "the constructor cannot be renamed");
            return;
        }
        if let Some(space) = self.view.space.at_mut(outer) {
            space.remove(last);
        }
        Rc::make_mut(&mut self.view.hidden).insert(last.clone(), self.span);
        self.bind(new, entry);
        self.view.space.prune();
    }

    /// A name that could not be bound, about which a message was given.
    fn lose(&mut self, path: &ast::Path) {
        let name = path.parts.last().map(|part| part.name.clone());
        Rc::make_mut(&mut self.view.lost).extend(name);
    }

    /// `using` and `notusing`.
    fn flag(&mut self, operand: &Operand, using: bool) {
        if let Operand::Pattern { span, .. } = operand {
            self.error(*span, "`using` takes names, not patterns");
            return;
        }
        let Some(pick) = self.pick(operand) else { return };
        if matches!(pick, Pick::AllStatic) && !using {
            self.error(operand_span(operand), "`notusing allstatic` does not exist; use `notusing all`");
            return;
        }
        let only_static = matches!(pick, Pick::AllStatic);
        self.change(operand, &pick, |entry| {
            entry.using = match (using, &entry.feature) {
                (false, _) => Using::Closed,
                (true, Feature::Implicit(_)) if only_static => match entry.using {
                    Using::Closed => Using::IfStatic,
                    known => known,
                },
                (true, _) => Using::Open,
            }
        });
    }

    fn set_level(&mut self, operand: &Operand, level: Option<LevelId>) {
        if let Some(pick) = self.pick(operand) {
            self.change(operand, &pick, |entry| entry.level = level);
        }
    }

    fn change(&mut self, operand: &Operand, pick: &Pick, change: impl Fn(&mut Entry)) {
        let mut matched = false;
        match pick {
            Pick::One(path) => {
                let (last, outer) = path.split_last().unwrap_or((&path[0], &[]));
                if let Some(entry) = self.view.space.at_mut(outer).and_then(|space| space.get_mut(last)) {
                    match &mut entry.feature {
                        Feature::Space(inner, _) => inner.for_each_mut(&mut |_, e| change(e)),
                        _ => change(entry),
                    }
                    matched = true;
                }
            }
            _ => {
                let space = match pick {
                    Pick::Inside(path) => self.view.space.at_mut(path),
                    _ => Some(&mut self.view.space),
                };
                let program = self.program;
                if let Some(space) = space {
                    space.for_each_mut(&mut |_, entry| {
                        if picks(pick, program, entry) {
                            change(entry);
                        }
                    });
                }
                matched = true;
            }
        }
        if !matched {
            self.report_unmatched(operand);
        }
    }

    fn report_unmatched(&mut self, operand: &Operand) {
        let Operand::Name(path) = operand else { return };
        let view_has_hidden = path.parts.last().and_then(|part| self.view.hidden.get(&part.name));
        if let Some(&place) = view_has_hidden {
            let message =
                Diagnostic::error(path.span, "this view does not show that name").label(place, "hidden here");
            self.diagnostics.push(message);
            return;
        }
        let original = self.names.original_view(self.view.module);
        self.report_missing(path, original);
    }

    /// The level of an inline operator. More than 3 means 3, as old programs write `inline[4]`.
    fn level(&mut self, level: &InlineLevel) -> LevelId {
        let value = match level {
            InlineLevel::Fixed(value) => *value,
            InlineLevel::Computed(expr) => match &expr.kind {
                ExprKind::Int { value, .. } if *value <= 3 => *value as u8,
                ExprKind::Int { .. } => {
                    let message =
                        Diagnostic::warning(expr.span, "inline levels go from 0 to 3; this means 3");
                    self.diagnostics.push(message);
                    3
                }
                _ => {
                    self.error(
                        expr.span,
                        "the inline level of a module operator must be a number from 0 to 3",
                    );
                    1
                }
            },
        };
        self.names.levels.push(value);
        LevelId(self.names.levels.len() as u32 - 1)
    }
}

/// Whether an operand that picks several picks this entry.
fn picks(pick: &Pick, program: &Program, entry: &Entry) -> bool {
    match pick {
        Pick::All | Pick::Inside(_) => true,
        Pick::AllStatic => match &entry.feature {
            Feature::Method(method) => program[*method].is_static,
            Feature::Field(field) => program[*field].is_static,
            // What an implicit name stands for is not known yet.
            Feature::Exception(_) | Feature::Implicit(_) => true,
            _ => false,
        },
        Pick::From(module) => entry.origin == *module && !matches!(entry.feature, Feature::Constructor(_)),
        Pick::Glob(_) | Pick::One(_) => false,
    }
}

/// Whether two entries stand for the same feature. A namespace is known by its name and by who opened it first.
pub(super) fn is_same(a: &Entry, b: &Entry) -> bool {
    match (&a.feature, &b.feature) {
        (Feature::Method(a), Feature::Method(b)) | (Feature::Constructor(a), Feature::Constructor(b)) => {
            a == b
        }
        (Feature::Field(a), Feature::Field(b)) => a == b,
        (Feature::Exception(a), Feature::Exception(b)) => a == b,
        (Feature::Implicit(a), Feature::Implicit(b)) => a == b,
        (Feature::Space(_, first), Feature::Space(_, second)) => first == second && a.origin == b.origin,
        _ => false,
    }
}

/// What `full` has and `part` lacks, with the namespaces around it.
fn find_missing(part: &Space, full: &Space, outer: &mut Vec<Name>, missing: &mut Vec<(Vec<Name>, Entry)>) {
    for (name, entry) in full.iter() {
        outer.push(name.clone());
        match (part.get(name).map(|e| &e.feature), &entry.feature) {
            (None, _) => missing.push((outer.clone(), entry.clone())),
            (Some(Feature::Space(part, a)), Feature::Space(full, b)) if a == b => {
                find_missing(part, full, outer, missing);
            }
            _ => {}
        }
        outer.pop();
    }
}

fn is_all(path: &ast::Path) -> bool {
    matches!(&path.parts[..], [one] if one.name == "all")
}

fn names_of(path: &ast::Path) -> Vec<Name> {
    path.parts.iter().map(|part| part.name.clone()).collect()
}

fn operand_span(operand: &Operand) -> Span {
    match operand {
        Operand::Name(path) => path.span,
        Operand::Pair { new, old } => new.span.join(old.span),
        Operand::Pattern { span, .. } => *span,
    }
}

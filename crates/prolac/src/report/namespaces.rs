//! `--emit=namespaces`: the original namespace of each module (section 4.3).

use clickwork_source::{Diagnostics, Sources, Span};

use super::{dotted, signature, table};
use crate::Name;
use crate::names::{Entry, Feature, Link, LinkKind, Names, Space, Using, Via};
use crate::program::{ModuleId, Program, ViewId};
use crate::syntax::ast;

/// For each module, every name that its own code sees: what it is, which module introduced it and where it is defined,
/// and what operators did to it.
pub fn namespaces(syntax: &ast::Program, program: &Program, sources: &Sources) -> String {
    // Names are not kept after checking; building them again gives the same numbers.
    let mut scratch = Program { target: program.target, ..Program::default() };
    let names = Names::build(syntax, &mut scratch, &mut Diagnostics::new());
    let report = Report { names: &names, program, sources };
    program.module_ids().map(|module| report.module(module)).collect::<Vec<_>>().join("\n")
}

struct Report<'a> {
    names: &'a Names<'a>,
    program: &'a Program,
    sources: &'a Sources,
}

impl Report<'_> {
    fn module(&self, module: ModuleId) -> String {
        let parent = self.program[module].parent;
        let parent = parent.map_or(String::new(), |p| format!(" :> {}", self.program.module_name(p)));
        let place = self.sources.landmark(self.program[module].span);
        let head = format!("module {}{parent}  {place}\n", self.program.module_name(module));
        let mut rows = Vec::new();
        let view = self.names.view(self.names.original_view(module));
        self.space(module, &view.space, &mut Vec::new(), &mut rows);
        let hidden: Vec<String> = view.hidden.iter().map(|(name, span)| self.taken(name, *span)).collect();
        let hidden = match hidden.as_slice() {
            [] => String::new(),
            _ => format!("  not here: {}\n", hidden.join(", ")),
        };
        format!("{head}{}{hidden}", table(&rows, "  "))
    }

    /// A name that the module lacks because an operator of its header hid it.
    fn taken(&self, name: &Name, span: Span) -> String {
        format!("{name} (hidden at {})", self.sources.landmark(span))
    }

    fn space(&self, module: ModuleId, space: &Space, path: &mut Vec<Name>, rows: &mut Vec<Vec<String>>) {
        for (name, entry) in space.iter() {
            path.push(name.clone());
            match &entry.feature {
                Feature::Space(inner, _) => self.space(module, inner, path, rows),
                _ => rows.extend(self.row(module, path, entry)),
            }
            path.pop();
        }
    }

    fn row(&self, module: ModuleId, path: &[Name], entry: &Entry) -> Option<Vec<String>> {
        let what = self.what(entry)?;
        let origin = match entry.feature {
            Feature::Module(_) | Feature::Implicit(_) => String::new(),
            _ if entry.origin == module => String::new(),
            _ => format!("from {}", self.program.module_name(entry.origin)),
        };
        let place = self.sources.landmark(entry.span);
        Some(vec![dotted(path), what, origin, place, self.remarks(module, path, entry).join(", ")])
    }

    /// What a name stands for; `None` for implicit names that stand for nothing.
    fn what(&self, entry: &Entry) -> Option<String> {
        Some(match &entry.feature {
            Feature::Method(method) | Feature::Constructor(method) => {
                let module = self.program[*method].module;
                format!("{} in {}", signature(self.program, *method), self.program.module_name(module))
            }
            Feature::Field(field) => {
                let field = &self.program[*field];
                let kind = if field.is_static { "static field" } else { "field" };
                let offset = field.offset.map_or(String::new(), |at| format!(" @ {at}"));
                format!("{kind} :> {}{offset}", self.program.type_name(&field.ty))
            }
            Feature::Exception(_) => "exception".into(),
            Feature::Space(..) => "namespace".into(),
            Feature::Module(link) => {
                let kind = match link.kind {
                    LinkKind::Own => "itself",
                    LinkKind::Parent => "parent",
                    LinkKind::Import => "import",
                };
                format!("{kind}: module {}", self.program.module_name(link.module))
            }
            Feature::Implicit(id) => format!("implicit: {}", self.target(self.names.implicit(*id)?)),
        })
    }

    /// What an implicit name stands for.
    fn target(&self, entry: &Entry) -> String {
        match entry.feature {
            Feature::Method(forwarder) => match self.names.forward(forwarder) {
                Some(forward) => {
                    let through = match forward.via {
                        Via::Field(field) => format!("the field {}", self.program.field_name(field)),
                        Via::Import(module) => format!("the import {}", self.program.module_name(module)),
                    };
                    format!("{} through {through}", self.program.method_name(forward.method))
                }
                None => self.program.method_name(forwarder),
            },
            Feature::Exception(exception) => self.program.exception_name(exception),
            _ => entry.feature.describe().into(),
        }
    }

    /// What operators did, and whether clients see the name.
    fn remarks(&self, module: ModuleId, path: &[Name], entry: &Entry) -> Vec<String> {
        let mut remarks = Vec::new();
        match entry.using {
            Using::Open => remarks.push("using".to_string()),
            Using::IfStatic => remarks.push("using if static".to_string()),
            Using::Closed => {}
        }
        if let Some(level) = entry.level {
            remarks.push(format!("inline[{}]", self.names.level(level)));
        }
        if let Feature::Module(link) = entry.feature
            && link.kind != LinkKind::Own
            && link.view != Link::UNKNOWN
        {
            remarks.extend(self.view(link.view));
        }
        let is_feature = match entry.feature {
            Feature::Module(_) => false,
            Feature::Implicit(_) => entry.origin != module,
            _ => true,
        };
        let default = self.names.default_view(module).map(|view| &self.names.view(view).space);
        if is_feature && default.is_some_and(|space| space.find(path).is_none()) {
            remarks.push("hidden from others".to_string());
        }
        remarks
    }

    /// What a view shows and prefers.
    fn view(&self, view: ViewId) -> Vec<String> {
        let view = self.names.view(view);
        let mut remarks = Vec::new();
        let hidden: Vec<&str> = view.hidden.keys().map(Name::as_str).collect();
        if !hidden.is_empty() {
            remarks.push(format!("hides {}", hidden.join(", ")));
        }
        let entries: Vec<(&Name, &Entry)> = view.space.iter().collect();
        remarks.extend(shared("using".into(), &entries, |entry| entry.using != Using::Closed));
        for level in 0..=3 {
            let has = |entry: &Entry| entry.level.is_some_and(|l| self.names.level(l) == level);
            remarks.extend(shared(format!("inline[{level}]"), &entries, has));
        }
        remarks
    }
}

/// What some names have: `using a, b`, or `using all`.
fn shared(word: String, entries: &[(&Name, &Entry)], has: impl Fn(&Entry) -> bool) -> Option<String> {
    let named: Vec<&str> =
        entries.iter().filter(|(_, entry)| has(entry)).map(|(name, _)| name.as_str()).collect();
    match named.len() {
        0 => None,
        n if n == entries.len() => Some(format!("{word} all")),
        _ => Some(format!("{word} {}", named.join(", "))),
    }
}

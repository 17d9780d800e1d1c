//! The parts of the page about modules: what each is derived from, its fields, exceptions and methods.

use std::collections::{BTreeMap, BTreeSet};

use clickwork_source::Span;

use super::source::Source;
use super::{Input, escape, link};
use crate::program::{ExceptionId, FieldId, MethodId, MethodKind, ModuleId, Program};
use crate::report::calls::{self, behind};
use crate::report::{dotted, signature};

/// Writes the parts.
pub struct Modules<'a> {
    program: &'a Program,
    files: &'a [Source<'a>],
    /// By method: those whose bodies can call it.
    callers: BTreeMap<MethodId, BTreeSet<MethodId>>,
    /// By method: those that its body can call.
    callees: BTreeMap<MethodId, BTreeSet<MethodId>>,
    /// By method: those that override it.
    overriders: BTreeMap<MethodId, BTreeSet<MethodId>>,
}

impl<'a> Modules<'a> {
    pub fn new(input: &Input<'a>, files: &'a [Source<'a>]) -> Self {
        let program = input.program;
        let (mut callers, mut callees) =
            (BTreeMap::<_, BTreeSet<_>>::new(), BTreeMap::<_, BTreeSet<_>>::new());
        for site in calls::call_sites(program) {
            // A forwarder is how its module calls something, not a caller of interest.
            if program[site.caller].kind == MethodKind::Forwarder {
                continue;
            }
            for target in site.targets {
                let target = behind(program, target);
                callers.entry(target).or_default().insert(site.caller);
                callees.entry(site.caller).or_default().insert(target);
            }
        }
        let mut overriders = BTreeMap::<_, BTreeSet<_>>::new();
        for method in program.method_ids() {
            if let Some(old) = program[method].overrides {
                overriders.entry(old).or_default().insert(method);
            }
        }
        Modules { program, files, callers, callees, overriders }
    }

    /// The modules as a tree of derivation, for the side of the page.
    pub fn contents(&self) -> String {
        let roots: Vec<ModuleId> =
            self.program.module_ids().filter(|&m| self.program[m].parent.is_none()).collect();
        format!("<ul class=\"tree\">{}</ul>", self.branch(&roots))
    }

    fn branch(&self, modules: &[ModuleId]) -> String {
        let item = |&m: &ModuleId| {
            let name = self.program.module_name(m);
            let children = &self.program[m].children;
            let below = match children.is_empty() {
                true => String::new(),
                false => format!("<ul>{}</ul>", self.branch(children)),
            };
            format!("<li>{}{below}</li>", link(&name, &name))
        };
        modules.iter().map(item).collect()
    }

    /// All modules in the order of their definition.
    pub fn all(&self) -> String {
        self.program.module_ids().map(|m| self.module(m)).collect()
    }

    fn module(&self, module: ModuleId) -> String {
        let m = &self.program[module];
        let name = escape(&self.program.module_name(module));
        let equations = self.program.equations.iter().filter(|e| e.module == module);
        let equations: String = equations
            .map(|e| {
                let name = escape(&dotted(&e.path));
                format!(
                    "<p>Also known as <code id=\"{name}\" data-what=\"equation\">{name}</code> {}</p>",
                    self.place(e.span)
                )
            })
            .collect();
        let fields: String = m.fields.iter().map(|&f| self.field(f)).collect();
        let exceptions = (0..self.program.exceptions.len() as u32).map(ExceptionId);
        let exceptions: String =
            exceptions.filter(|&e| self.program[e].module == module).map(|e| self.exception(e)).collect();
        let methods: String = m.methods.iter().map(|&method| self.method(method)).collect();
        format!(
            "<section id=\"{name}\" data-what=\"module\">\n<h2>{name} {}</h2>\n{}<pre>{}</pre>\n{}{equations}{}{}{}</section>\n",
            self.place(m.span),
            self.comment(m.span),
            self.head(m.span),
            self.chain(module),
            part("Fields", &fields),
            part("Exceptions", &exceptions),
            part("Methods", &methods),
        )
    }

    /// The line of derivation from the first ancestor to the module, and what is derived from it.
    fn chain(&self, module: ModuleId) -> String {
        let mut ancestry: Vec<ModuleId> = self.program.ancestry(module).collect();
        ancestry.reverse();
        let boxed = |&m: &ModuleId| {
            let name = self.program.module_name(m);
            let class = if m == module { " class=\"this\"" } else { "" };
            format!("<li{class}>{}</li>", link(&name, &name))
        };
        let above: String = ancestry.iter().map(boxed).collect();
        let below: Vec<ModuleId> = self.line_below(module);
        let below: String = below.iter().map(boxed).collect();
        if ancestry.len() == 1 && below.is_empty() {
            return String::new();
        }
        format!("<ol class=\"chain\" aria-label=\"Derivation\">{above}{below}</ol>\n")
    }

    /// What follows as long as one module is derived from the one before; then all that are derived from the last.
    fn line_below(&self, module: ModuleId) -> Vec<ModuleId> {
        let mut line = Vec::new();
        let mut last = module;
        while let [only] = self.program[last].children[..] {
            line.push(only);
            last = only;
        }
        line.extend(&self.program[last].children);
        line
    }

    fn field(&self, field: FieldId) -> String {
        let f = &self.program[field];
        self.entry(&self.program.field_name(field), "field", &self.head(f.span), f.span, String::new())
    }

    fn exception(&self, exception: ExceptionId) -> String {
        let e = &self.program[exception];
        self.entry(
            &self.program.exception_name(exception),
            "exception",
            &self.head(e.span),
            e.span,
            String::new(),
        )
    }

    fn method(&self, method: MethodId) -> String {
        let m = &self.program[method];
        let name = self.program.method_name(method);
        let rows = self.rows(method);
        match m.kind {
            MethodKind::Plain | MethodKind::Constructor => {
                let code = self.source(m.span).map_or(String::new(), |s| s.code(m.span));
                let body = format!("{rows}<details><summary>source</summary><pre>{code};</pre></details>\n");
                self.entry(&name, "method", &self.head(m.span), m.span, body)
            }
            MethodKind::Forwarder => {
                let target = self.program.method_name(behind(self.program, method));
                let text = format!("<p>Implicit: stands for {}.</p>\n{rows}", link(&target, &target));
                self.entry(&name, "implicit", &escape(&signature(self.program, method)), Span::NONE, text)
            }
            MethodKind::GeneratedConstructor => {
                let text = format!("<p>Made because none is written.</p>\n{rows}");
                self.entry(&name, "generated", &escape(&signature(self.program, method)), Span::NONE, text)
            }
        }
    }

    /// What a method has to do with others.
    fn rows(&self, method: MethodId) -> String {
        let overrides: BTreeSet<MethodId> = self.program[method].overrides.into_iter().collect();
        let none = BTreeSet::new();
        let names = |ids: &BTreeSet<MethodId>| -> Vec<String> {
            ids.iter().map(|&m| self.program.method_name(m)).collect()
        };
        let throws = self.program[method].throws.iter().map(|&e| self.program.exception_name(e)).collect();
        let rows = [
            ("Overrides", names(&overrides)),
            ("Overridden by", names(self.overriders.get(&method).unwrap_or(&none))),
            ("Raises", throws),
            ("Called by", names(self.callers.get(&method).unwrap_or(&none))),
            ("Calls", names(self.callees.get(&method).unwrap_or(&none))),
        ];
        let rows = rows.iter().filter(|(_, names)| !names.is_empty()).map(|(title, names)| {
            let links: Vec<String> = names.iter().map(|name| link(name, name)).collect();
            format!("<dt>{title}</dt><dd>{}</dd>", links.join(", "))
        });
        let rows: String = rows.collect();
        if rows.is_empty() { rows } else { format!("<dl>{rows}</dl>\n") }
    }

    fn entry(&self, name: &str, what: &str, head: &str, span: Span, body: String) -> String {
        format!(
            "<article id=\"{}\" data-what=\"{what}\">\n<pre class=\"head\">{head}</pre> {}\n{}{body}</article>\n",
            escape(name),
            self.place(span),
            self.comment(span),
        )
    }

    fn source(&self, span: Span) -> Option<&Source<'a>> {
        self.files.iter().find(|source| source.holds(span))
    }

    fn place(&self, span: Span) -> String {
        self.source(span).map_or(String::new(), |source| source.place(span))
    }

    fn head(&self, span: Span) -> String {
        self.source(span).map_or(String::new(), |source| source.head(span))
    }

    fn comment(&self, span: Span) -> String {
        let text = self.source(span).map_or(String::new(), |source| source.comment(span));
        let paragraphs = text.split("\n\n").filter(|p| !p.is_empty());
        paragraphs.map(|p| format!("<p>{}</p>\n", escape(p))).collect()
    }
}

fn part(title: &str, body: &str) -> String {
    if body.is_empty() { String::new() } else { format!("<h3>{title}</h3>\n{body}") }
}

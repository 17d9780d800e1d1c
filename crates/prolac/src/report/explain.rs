//! `--explain Module.method`: every definition of a method, which one each object uses, and what each call reaches.

use clickwork_source::{Sources, Span};

use super::calls::behind;
use super::find::find_method;
use super::{dotted, made, source_line, table};
use crate::optimize::{CallSite, Report};
use crate::program::tree::{Expr, ExprKind};
use crate::program::{MethodId, MethodKind, Program};
use crate::syntax::tokenize;

/// The explanation of the method with this name. The module is called by its full name or that of an equation, or by the
/// end of its full name if no other ends so; a method that it inherits will do.
///
/// # Errors
/// If there is no such method.
pub fn explain(program: &Program, report: &Report, sources: &Sources, name: &str) -> Result<String, String> {
    let method = find_method(program, name)?;
    let definitions = definitions(program, method);
    let explainer = Explainer { program, report, sources, definitions };
    Ok(explainer.text(method))
}

/// All definitions for the slot of a method, ancestors first.
fn definitions(program: &Program, method: MethodId) -> Vec<MethodId> {
    let root = std::iter::successors(Some(method), |&m| program[m].overrides).last().unwrap_or(method);
    let mut found = vec![root];
    let mut next = 0;
    while let Some(&definition) = found.get(next) {
        found.extend(program.method_ids().filter(|&m| program[m].overrides == Some(definition)));
        next += 1;
    }
    found
}

struct Explainer<'a> {
    program: &'a Program,
    report: &'a Report,
    sources: &'a Sources,
    definitions: Vec<MethodId>,
}

impl Explainer<'_> {
    fn text(&self, method: MethodId) -> String {
        let count = self.definitions.len();
        let plural = if count == 1 { "definition" } else { "definitions, in the order of overriding" };
        let head = format!("{}: {count} {plural}\n", dotted(&self.program[method].path));
        [head, self.all_definitions(), self.objects(), self.callers(), self.callees()].concat()
    }

    fn all_definitions(&self) -> String {
        let one = |(number, &definition): (usize, &MethodId)| {
            let m = &self.program[definition];
            let over = m.overrides.and_then(|o| self.definitions.iter().position(|&d| d == o));
            let over = over.map_or(String::new(), |at| format!("  overrides {}", at + 1));
            format!(
                "\n{:>3}  {}  {}{over}\n{}",
                number + 1,
                self.name(definition),
                self.sources.landmark(m.span),
                self.source_of(definition).iter().map(|line| format!("       {line}\n")).collect::<String>(),
            )
        };
        self.definitions.iter().enumerate().map(one).collect()
    }

    /// The lines of a definition; of a method that was made, the line that made it necessary.
    fn source_of(&self, method: MethodId) -> Vec<&str> {
        let m = &self.program[method];
        match m.kind {
            MethodKind::Plain | MethodKind::Constructor => definition_source(self.sources, m.span),
            _ => vec![source_line(self.sources, m.span)],
        }
    }

    /// Which definition the objects of each module use.
    fn objects(&self) -> String {
        let first = self.definitions[0];
        if self.program[first].is_static || self.program[first].kind.is_constructor() {
            return String::new();
        }
        let owner = self.program[first].module;
        let derived = self.program.module_ids().filter(|&m| self.program.is_derived(m, owner));
        let rows: Vec<Vec<String>> = derived
            .map(|m| {
                let equations = self.program.equations.iter().filter(|e| e.module == m);
                let names: Vec<String> = equations.map(|e| dotted(&e.path)).collect();
                let names = if names.is_empty() { String::new() } else { format!("= {}", names.join(" = ")) };
                let used = self.number(self.program.definition_in(m, first));
                vec![self.program.module_name(m), format!("uses {used}"), names]
            })
            .collect();
        format!("\nAn object of\n{}", table(&rows, "  "))
    }

    fn callers(&self) -> String {
        // A caller of a forwarder means what that stands for.
        let means = |&target: &MethodId| self.definitions.contains(&behind(self.program, target));
        let all = self.report.calls.iter();
        let sites = all.filter(|site| means(&site.method) || site.targets.iter().any(means));
        self.calls("Calls of it, in methods that can run", sites, |site| self.name(site.caller))
    }

    fn callees(&self) -> String {
        let own = self.report.calls.iter().filter(|site| self.definitions.contains(&site.caller));
        let own = own.filter(|site| !is_constant(self.program, site.method, &mut Vec::new()));
        self.calls("Calls in its definitions", own, |site| {
            format!("in {}: {}", self.number(site.caller), self.name(site.method))
        })
    }

    fn calls<'r>(
        &self,
        title: &str,
        sites: impl Iterator<Item = &'r CallSite>,
        name: impl Fn(&CallSite) -> String,
    ) -> String {
        let rows: Vec<Vec<String>> = sites
            .map(|site| {
                let on = site.dispatched_on.map(|m| format!("on {}", self.program.module_name(m)));
                let reaches: Vec<String> = site.targets.iter().map(|&t| self.number(t)).collect();
                vec![
                    name(site),
                    self.sources.landmark(site.span),
                    on.unwrap_or_default(),
                    format!("reaches {}", reaches.join(" or ")),
                    site.fate.to_string(),
                ]
            })
            .collect();
        if rows.is_empty() {
            format!("\n{title}: none\n")
        } else {
            format!("\n{title}:\n{}", table(&rows, "  "))
        }
    }

    /// A definition by its number, another method by its name.
    fn number(&self, method: MethodId) -> String {
        match self.definitions.iter().position(|&d| d == method) {
            Some(at) => (at + 1).to_string(),
            None => self.name(method),
        }
    }

    fn name(&self, method: MethodId) -> String {
        let made = made(self.program[method].kind).map_or(String::new(), |made| format!(" ({made})"));
        format!("{}{made}", self.program.method_name(method))
    }
}

/// The text of the definition whose name stands at `name`, from `static` to the `;`, as lines without the indentation that
/// they share.
fn definition_source(sources: &Sources, name: Span) -> Vec<&str> {
    let text = sources.text(name.file);
    let tokens: Vec<_> =
        tokenize(sources, name.file).list.into_iter().filter(|t| !t.kind.is_trivia()).collect();
    let at = tokens.partition_point(|t| t.start < name.start);
    let from =
        tokens[..at].iter().rposition(|t| [";", "{", "}"].contains(&t.text(text))).map_or(0, |i| i + 1);
    let end = tokens[at..].iter().find(|t| t.text(text) == ";");
    let (Some(first), Some(end)) = (tokens.get(from), end) else { return vec![source_line(sources, name)] };
    let lines: Vec<&str> = text[first.start as usize..end.end as usize].lines().map(str::trim_end).collect();
    let indent = |line: &&str| line.len() - line.trim_start().len();
    let shared = lines.iter().skip(1).filter(|line| !line.is_empty()).map(indent).min().unwrap_or(0);
    let outer = text[..first.start as usize].rfind('\n').map_or(0, |n| n + 1);
    let own = indent(&&text[outer..first.start as usize]).min(shared);
    lines
        .iter()
        .enumerate()
        .map(|(i, line)| if i == 0 { line } else { line.get(own..).unwrap_or("") })
        .collect()
}

/// Whether a method is a constant, which leaves no call (9.6).
fn is_constant(program: &Program, method: MethodId, open: &mut Vec<MethodId>) -> bool {
    let m = &program[method];
    if !m.is_static || m.params > 0 || open.contains(&method) || open.len() > 30 {
        return false;
    }
    open.push(method);
    let constant = folds(program, &m.body.root, open);
    open.pop();
    constant
}

fn folds(program: &Program, e: &Expr, open: &mut Vec<MethodId>) -> bool {
    match &e.kind {
        ExprKind::Int(_) => true,
        ExprKind::Convert(a) | ExprKind::Unary(_, a) | ExprKind::Outline(_, a) => folds(program, a, open),
        ExprKind::Binary(_, a, b) | ExprKind::MinMax(_, a, b) | ExprKind::And(a, b) | ExprKind::Or(a, b) => {
            folds(program, a, open) && folds(program, b, open)
        }
        ExprKind::Conditional(a, b, c) => [a, b, c].into_iter().all(|e| folds(program, e, open)),
        ExprKind::Call(call) => is_constant(program, call.method, open),
        _ => false,
    }
}

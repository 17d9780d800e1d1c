//! `--emit=chain`: who is derived from whom, and what each layer overrides.

use clickwork_source::Sources;

use super::{dotted, made};
use crate::program::{MethodId, ModuleId, Program};

/// Each module that has no parent, with all that is derived from it below it. The end of a line of derivation is marked,
/// with the names that equations give it.
pub fn chains(program: &Program, sources: &Sources) -> String {
    let report = Report { program, sources };
    let roots = program.module_ids().filter(|&m| program[m].parent.is_none());
    roots.map(|root| report.tree(root)).collect()
}

struct Report<'a> {
    program: &'a Program,
    sources: &'a Sources,
}

impl Report<'_> {
    fn tree(&self, root: ModuleId) -> String {
        let mut text = String::new();
        let mut open = vec![(root, 0)];
        while let Some((module, depth)) = open.pop() {
            self.layer(module, depth, &mut text);
            // A chain stays in its column; only branches are indented.
            let children = &self.program[module].children;
            let deeper = depth + usize::from(children.len() > 1 || depth == 0);
            open.extend(children.iter().rev().map(|&child| (child, deeper)));
        }
        text
    }

    fn layer(&self, module: ModuleId, depth: usize, text: &mut String) {
        let indent = "  ".repeat(depth);
        let place = self.sources.landmark(self.program[module].span);
        let arrow = if depth > 0 { ":> " } else { "" };
        let end = match (self.program[module].children.is_empty(), depth) {
            (true, 1..) => " (the end of the chain)",
            _ => "",
        };
        text.push_str(&format!("{indent}{arrow}{}  {place}{end}\n", self.program.module_name(module)));
        for equation in self.program.equations.iter().filter(|e| e.module == module) {
            let place = self.sources.landmark(equation.span);
            text.push_str(&format!("{indent}     is also {}  {place}\n", dotted(&equation.path)));
        }
        for (word, methods) in self.work(module) {
            if !methods.is_empty() {
                text.push_str(&format!("{indent}     {word} {}\n", methods.join(", ")));
            }
        }
    }

    /// What a module overrides, with the module whose definition it replaces, and what it adds.
    fn work(&self, module: ModuleId) -> [(&'static str, Vec<String>); 2] {
        let written = self.program[module].methods.iter().copied();
        let written = written.filter(|&m| made(self.program[m].kind).is_none() && !self.is_constructor(m));
        let (overrides, adds): (Vec<MethodId>, Vec<MethodId>) =
            written.partition(|&m| self.program[m].overrides.is_some());
        let name = |m: MethodId| dotted(&self.program[m].path);
        let replaced = |m: MethodId| match self.program[m].overrides {
            Some(old) => format!("{} ({})", name(m), self.program.module_name(self.program[old].module)),
            None => name(m),
        };
        [
            ("overrides", overrides.into_iter().map(replaced).collect()),
            ("adds", adds.into_iter().map(name).collect()),
        ]
    }

    fn is_constructor(&self, method: MethodId) -> bool {
        self.program[method].kind.is_constructor()
    }
}

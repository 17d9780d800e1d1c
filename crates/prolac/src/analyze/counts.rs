//! The numbers of `--stats`: what the paper reports (section 12).
//!
//! Dispatches are counted under four rules, each a better one than that before: as if every dynamic call were dispatched;
//! direct if the method is defined once in the program; direct if there is no override below the static type; direct if
//! only one definition is left among the modules that are constructed. "After inlining" the program is inlined with the
//! dispatches that the rule leaves, so that copies of a dispatch count.

use std::fmt;

use super::Reach;
use crate::optimize::COLD as OUTLINED;
use crate::optimize::devirtualise::Rule;
use crate::optimize::{Options, Report, optimize_for_counts};
use crate::program::Program;
use crate::program::tree::{Dispatch, Expr, ExprKind};

/// The rules with their names, worst first.
const RULES: [(Rule, &str); 4] = [
    (Rule::Naive, "naive"),
    (Rule::DefinedOnce, "defined once"),
    (Rule::Leaf, "leaf"),
    (Rule::Construction, "leaf with construction"),
];

/// Calls and dispatches of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// All calls, with those of constructors.
    pub calls: usize,
    /// Those that look for their target at run time.
    pub dispatches: usize,
    /// Nodes of the trees.
    pub nodes: usize,
    /// Nodes in branches that `outline` moves, each branch with all that is in it.
    pub outlined: usize,
    /// Those branches.
    pub branches: usize,
}

/// What `--stats` prints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Modules in the program.
    pub modules: usize,
    /// Methods in the program, with those the compiler made.
    pub methods: usize,
    /// Methods that can run.
    pub reached: usize,
    /// Methods that are left after optimisation.
    pub left: usize,
    /// Calls that were replaced by what they call, of those in the source.
    pub inlined: usize,
    /// For each rule, from the worst to the best: before inlining.
    pub before: [Calls; 4],
    /// For each rule: after inlining.
    pub after: [Calls; 4],
}

/// Counts a program that is checked and not optimised.
pub fn counts(program: &Program, options: &Options) -> Counts {
    let plain = Options { inline: false, ..*options };
    let outcomes = RULES.map(|(rule, _)| [&plain, options].map(|options| outcome(program, options, rule)));
    let best = &outcomes[3][1];
    Counts {
        modules: program.modules.len(),
        methods: program.methods.len(),
        reached: Reach::new(program).methods().count(),
        left: best.left,
        inlined: best.report.inlined(),
        before: [0, 1, 2, 3].map(|i| outcomes[i][0].calls),
        after: [0, 1, 2, 3].map(|i| outcomes[i][1].calls),
    }
}

struct Outcome {
    report: Report,
    calls: Calls,
    left: usize,
}

fn outcome(program: &Program, options: &Options, rule: Rule) -> Outcome {
    let mut program = program.clone();
    let report = optimize_for_counts(&mut program, options, rule);
    let reach = Reach::new(&program);
    Outcome { report, calls: count(&program, &reach), left: reach.methods().count() }
}

fn count(program: &Program, reach: &Reach) -> Calls {
    let mut found = Calls::default();
    for method in reach.methods() {
        count_outlined(&program[method].body.root, &mut found);
        program[method].body.root.walk(&mut |expr| {
            found.nodes += 1;
            found.calls += usize::from(super::callee(program, expr).is_some());
            let dispatched = matches!(&expr.kind, ExprKind::Call(call) if call.dispatch == Dispatch::Dynamic);
            found.dispatches += usize::from(dispatched);
        });
    }
    found
}

fn count_outlined(expr: &Expr, found: &mut Calls) {
    match &expr.kind {
        ExprKind::Outline(level, branch) if *level >= OUTLINED => {
            found.branches += 1;
            branch.walk(&mut |_| found.outlined += 1);
        }
        _ => expr.for_each_child(|part| count_outlined(part, found)),
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<28}{:>16}", "modules", self.modules)?;
        writeln!(f, "{:<28}{:>16}", "methods", self.methods)?;
        writeln!(f, "{:<28}{:>16}", "  that can run", self.reached)?;
        writeln!(f, "{:<28}{:>16}", "  left", self.left)?;
        writeln!(f, "{:<28}{:>16}", "calls inlined", self.inlined)?;
        writeln!(f, "{:<28}{:>16}{:>16}", "", "before inlining", "after")?;
        let calls = (self.before[3].calls, self.after[3].calls);
        writeln!(f, "{:<28}{:>16}{:>16}", "calls", calls.0, calls.1)?;
        let (before, after) = (&self.before[3], &self.after[3]);
        writeln!(f, "{:<28}{:>16}{:>16}", "nodes of trees", before.nodes, after.nodes)?;
        writeln!(f, "{:<28}{:>16}{:>16}", "  outlined", before.outlined, after.outlined)?;
        writeln!(f, "{:<28}{:>16}{:>16}", "branches outlined", before.branches, after.branches)?;
        writeln!(f, "dispatches, by rule")?;
        for (i, (_, name)) in RULES.iter().enumerate() {
            let (before, after) = (self.before[i].dispatches, self.after[i].dispatches);
            writeln!(f, "  {name:<26}{before:>16}{after:>16}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::testing::{self, Builder};
    use crate::program::Type;

    #[test]
    fn better_rules_leave_fewer_dispatches() {
        let mut b = Builder::default();
        let base = b.module("Base", None);
        let derived = b.module("Derived", Some(base.0));
        let once = b.method(base, "once", Type::Bool, testing::truth());
        let hook = b.method(base, "hook", Type::Bool, testing::truth());
        b.method(derived, "hook", Type::Bool, testing::truth());
        let leaf = b.send(testing::this_pointer(derived), hook);
        let other = b.send(testing::this_pointer(base), hook);
        let alone = b.send(testing::this_pointer(base), once);
        let run = b.method(base, "run", Type::Bool, testing::sequence(vec![leaf, other, alone]));
        b.program.exports = vec![run, b.program[derived].constructor];
        let counts = counts(&b.program, &Options::default());
        assert_eq!(counts.before.map(|c| c.dispatches), [3, 2, 1, 0]);
        assert_eq!(counts.after.map(|c| c.dispatches), [3, 2, 1, 0]);
        assert_eq!((counts.inlined, counts.left), (3, 2));
    }
}

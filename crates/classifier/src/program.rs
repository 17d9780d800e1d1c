//! A finished program: the optimised steps, laid out for reading, for code generation and for running.
//!
//! [`Program::steps`] is the explicit form: a flat list of tests whose targets lie further down. What runs is
//! derived from it, step by step with the same numbers, in `run`, or for large sets of rules from the rules, in `search`.

use std::collections::BTreeSet;
use std::fmt;

use crate::diagram::{Diagram, Node, Target};
use crate::expr::Expr;
use crate::headers::{Base, Headers};
use crate::optimise::optimise;
use crate::run::Code;
use crate::search::Search;

/// A classifier ready to run.
///
/// `Display` prints it as Click's `program` handler does.
#[derive(Debug, Clone)]
pub struct Program {
    start: Target,
    steps: Vec<Node>,
    code: Code,
    /// For many rules with little in common: what finds their decisions faster than the steps.
    search: Option<Box<Search>>,
}

impl Program {
    /// The program that gives each packet the decision of the first rule it satisfies, and drops packets that
    /// satisfy none.
    ///
    /// # Panics
    /// If a decision is a [`Target::Step`]: rules end in an output or a drop.
    pub fn from_rules(rules: &[(Expr, Target)]) -> Self {
        assert!(
            rules.iter().all(|(_, decision)| !matches!(decision, Target::Step(_))),
            "a rule leads to a step"
        );
        let mut program = Self::of_diagram(rules);
        let longest = program.code.longest(&program.steps);
        program.search = Search::if_faster(rules, longest).map(Box::new);
        program
    }

    /// The program that gives output 0 to packets that satisfy the condition.
    pub(crate) fn of_condition(condition: &Expr) -> Self {
        Self::of_diagram(&[(condition.clone(), Target::Output(0))])
    }

    fn of_diagram(rules: &[(Expr, Target)]) -> Self {
        let (diagram, start) = Diagram::from_rules(rules);
        let (diagram, start) = optimise(diagram, start);
        Self::laid_out(&diagram.nodes, start)
    }

    fn laid_out(nodes: &[Node], start: Target) -> Self {
        let order = reading_order(nodes, start);
        let mut number_of = vec![0; nodes.len()];
        for (number, &node) in order.iter().enumerate() {
            number_of[node as usize] = number as u32;
        }
        let renumber = |target| match target {
            Target::Step(node) => Target::Step(number_of[node as usize]),
            decision => decision,
        };
        let steps: Vec<Node> = order
            .iter()
            .map(|&number| nodes[number as usize])
            .map(|node| Node { yes: renumber(node.yes), no: renumber(node.no), ..node })
            .collect();
        let start = renumber(start);
        let code = Code::new(&steps, start);
        Self { start, steps, code, search: None }
    }

    /// The output port for a packet, or `None` to drop it.
    #[inline]
    pub fn classify(&self, headers: &Headers<'_>) -> Option<usize> {
        match &self.search {
            None => self.code.classify(headers),
            Some(search) => self.find(search, headers),
        }
    }

    /// The same for a program of `Classifier` patterns, whose offsets all count from the start of `data`. Faster than
    /// through [`Headers`], which a processor writes and reads back.
    #[inline]
    pub fn classify_raw(&self, data: &[u8]) -> Option<usize> {
        debug_assert!(self.steps.iter().all(|step| step.test.base == Base::Ether));
        match &self.search {
            None => self.code.classify_raw(data),
            Some(search) => self.find(search, &Headers::raw(data)),
        }
    }

    /// Apart, so that small programs stay small where they are inlined.
    #[inline(never)]
    fn find(&self, search: &Search, headers: &Headers<'_>) -> Option<usize> {
        search.classify(headers).unwrap_or_else(|| self.follow(headers))
    }

    /// What the steps say.
    pub(crate) fn follow(&self, headers: &Headers<'_>) -> Option<usize> {
        self.code.classify(headers)
    }

    /// Where every packet begins: step 0, or a decision if the program asks nothing.
    pub fn start(&self) -> Target {
        self.start
    }

    /// The tests. Steps lead only to later steps; all are reachable.
    pub fn steps(&self) -> &[Node] {
        &self.steps
    }

    /// How many bytes a section must have so that no test on it meets a packet too short for it.
    pub fn safe_length(&self, base: Base) -> usize {
        let of_base = self.steps.iter().filter(|step| step.test.base == base);
        of_base.map(|step| step.test.required_length()).max().unwrap_or(0)
    }

    /// The search, if it would be faster than the steps even if they were compiled.
    pub(crate) fn search_of_code(&self) -> Option<&Search> {
        // Compiled, a step costs about a third.
        let longest = self.code.longest(&self.steps);
        self.search.as_deref().filter(|search| 3 * search.cost() < longest)
    }

    /// The output ports that some packet may take.
    pub fn outputs(&self) -> BTreeSet<usize> {
        let targets = self.steps.iter().flat_map(|step| [step.yes, step.no]).chain([self.start]);
        targets
            .filter_map(|target| if let Target::Output(port) = target { Some(port as usize) } else { None })
            .collect()
    }

    /// The safe length as Click prints it: over all bases, each with its offset added.
    fn printed_safe_length(&self) -> usize {
        let lengths = Base::ALL.map(|base| (base, self.safe_length(base)));
        let printed = lengths
            .iter()
            .filter(|(_, length)| *length > 0)
            .map(|(base, length)| base.printed_offset() + length);
        printed.max().unwrap_or(0)
    }
}

/// The reachable nodes, each before the nodes it leads to, a yes branch before the no branch.
fn reading_order(nodes: &[Node], start: Target) -> Vec<u32> {
    let mut finished = Vec::new();
    let mut seen = vec![false; nodes.len()];
    let mut stack = vec![(start, false)];
    while let Some((target, left)) = stack.pop() {
        let Target::Step(number) = target else { continue };
        if left {
            finished.push(number);
        } else if !std::mem::replace(&mut seen[number as usize], true) {
            let node = &nodes[number as usize];
            stack.extend([(target, true), (node.yes, false), (node.no, false)]);
        }
    }
    finished.reverse();
    finished
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Step(number) => write!(f, "step {number}"),
            Target::Output(port) => write!(f, "[{port}]"),
            Target::Drop => f.write_str("[X]"),
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let test = &self.test;
        let offset = test.base.printed_offset() + usize::from(test.offset);
        write!(f, "{offset:3}/{:08x}%{:08x}  yes->{}  no->{}", test.value, test.mask, self.yes, self.no)?;
        f.write_str(if test.short { "  short->yes" } else { "" })
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, step) in self.steps.iter().enumerate() {
            writeln!(f, "{number:2} {step}")?;
        }
        if self.steps.is_empty() {
            writeln!(f, "all->{}", self.start)?;
        }
        writeln!(f, "safe length {}", self.printed_safe_length())?;
        writeln!(f, "alignment offset 0")
    }
}

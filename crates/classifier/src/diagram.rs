//! The decision diagram: shared nodes, each a test with two ways on.
//!
//! Not the form that runs (see [`crate::program`]) and not the optimiser ([`crate::optimise`]). Read first:
//! Bryant, "Graph-based algorithms for Boolean function manipulation" (1986), §2, for diagrams and their
//! reduction; ours are not ordered.
//!
//! Nodes live in one vector and point only to earlier ones, so that every pass is a loop over the vector and
//! no depth of nesting can exhaust the stack.

use std::collections::HashMap;

use crate::expr::{Expr, Test};

/// Where a decision leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// A further test, by its number.
    Step(u32),
    /// The decision: this output port.
    Output(u32),
    /// The decision: no output.
    Drop,
}

/// One test and where its outcomes lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Node {
    /// The question.
    pub test: Test,
    /// Next if the test holds.
    pub yes: Target,
    /// Next if it does not.
    pub no: Target,
}

impl Node {
    /// Where a packet too short for the test goes.
    pub fn short(&self) -> Target {
        if self.test.short { self.yes } else { self.no }
    }
}

/// Nodes under construction. Every target of a node has a smaller number than the node itself.
#[derive(Debug, Default)]
pub(crate) struct Diagram {
    pub nodes: Vec<Node>,
    numbers: HashMap<Node, u32>,
}

impl Diagram {
    /// The diagram that sends each packet where the first rule that it satisfies says, or drops it, and where
    /// it starts.
    pub fn from_rules(rules: &[(Expr, Target)]) -> (Self, Target) {
        let mut diagram = Self::default();
        let start = rules
            .iter()
            .rev()
            .fold(Target::Drop, |rest, (condition, decision)| diagram.decide(condition, *decision, rest));
        (diagram, start)
    }

    /// The target equivalent to `node`: an equal node if there is one, or none at all if both ways on are the
    /// same.
    pub fn share(&mut self, node: Node) -> Target {
        if node.yes == node.no || node.test.mask == 0 {
            return node.yes;
        }
        let nodes = &mut self.nodes;
        let number = *self.numbers.entry(node).or_insert_with(|| {
            nodes.push(node);
            nodes.len() as u32 - 1
        });
        Target::Step(number)
    }

    /// The target that leads to `yes` if `condition` holds and else to `no`.
    fn decide(&mut self, condition: &Expr, yes: Target, no: Target) -> Target {
        match condition {
            Expr::Always(truth) => {
                if *truth {
                    yes
                } else {
                    no
                }
            }
            Expr::Test(test) => self.share(Node { test: *test, yes, no }),
            Expr::Not(inner) => self.decide(inner, no, yes),
            Expr::And(parts) => {
                in_test_order(parts).iter().rev().fold(yes, |yes, part| self.decide(part, yes, no))
            }
            Expr::Or(parts) => parts.iter().rev().fold(no, |no, part| self.decide(part, yes, no)),
            Expr::Choice(cases, otherwise) => {
                let last = self.decide(otherwise, yes, no);
                cases.iter().rev().fold(last, |rest, (condition, result)| {
                    let chosen = self.decide(result, yes, no);
                    self.decide(condition, chosen, rest)
                })
            }
        }
    }
}

/// The parts of a conjunction in an order that depends on their tests only, so that rules share more.
fn in_test_order(parts: &[Expr]) -> Vec<&Expr> {
    let mut flat = Vec::with_capacity(parts.len());
    flatten_and(parts, &mut flat);
    flat.sort_by_cached_key(|part| first_test(part).map(test_rank));
    flat
}

fn flatten_and<'a>(parts: &'a [Expr], flat: &mut Vec<&'a Expr>) {
    for part in parts {
        match part {
            Expr::And(inner) => flatten_and(inner, flat),
            other => flat.push(other),
        }
    }
}

/// The test that is asked first.
fn first_test(expr: &Expr) -> Option<&Test> {
    match expr {
        Expr::Always(_) => None,
        Expr::Test(test) => Some(test),
        Expr::Not(inner) => first_test(inner),
        Expr::And(parts) | Expr::Or(parts) => parts.first().and_then(first_test),
        Expr::Choice(cases, otherwise) => {
            first_test(cases.first().map_or(otherwise, |(condition, _)| condition))
        }
    }
}

/// Order of tests in a conjunction: the IP protocol, then the fragment offset (most rules ask both), then by
/// place and bits.
fn test_rank(test: &Test) -> (u8, Test) {
    use crate::headers::Base::Network;
    let rank = match (test.base, test.offset) {
        (Network, 8) => 0,
        (Network, 4) => 1,
        _ => 2,
    };
    (rank, *test)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::Base;

    fn test(offset: u16, value: u32) -> Expr {
        Expr::Test(Test::new(Base::Ether, offset, 0xffff_0000, value << 16))
    }

    #[test]
    fn equal_nodes_are_shared() {
        let rules = [(Expr::And(vec![test(0, 1), test(4, 1)]), Target::Output(0))];
        let either = Expr::Or(vec![rules[0].0.clone(), rules[0].0.clone()]);
        let (one, _) = Diagram::from_rules(&rules);
        let (ternary, _) = Diagram::from_rules(&[(
            Expr::Choice(vec![(test(8, 1), rules[0].0.clone())], Box::new(rules[0].0.clone())),
            Target::Output(0),
        )]);
        let (twice, _) = Diagram::from_rules(&[(either, Target::Output(0))]);
        assert_eq!(one.nodes.len(), 2);
        assert_eq!(ternary.nodes.len(), 2, "both branches are one, so the question is not asked");
        assert!(twice.nodes.len() <= 4);
    }

    #[test]
    fn conjunctions_are_put_in_order() {
        let forward = Diagram::from_rules(&[(Expr::And(vec![test(0, 1), test(4, 1)]), Target::Output(0))]);
        let backward = Diagram::from_rules(&[(Expr::And(vec![test(4, 1), test(0, 1)]), Target::Output(0))]);
        assert_eq!(forward.0.nodes, backward.0.nodes);
    }
}

//! Lets each path through a small diagram skip what it has settled, even where another path has not.
//!
//! [`crate::optimise`] must leave a test in place if one path to it does not know its outcome. Here the rest
//! of the diagram is copied for each state of knowledge in which it is reached, and what comes out equal is
//! shared again. That can grow without bound, so it stops at [`GROWTH`] times the nodes and at a number of
//! visits, and then the diagram stays as it was.

use std::collections::HashMap;

use crate::diagram::{Diagram, Node, Target};
use crate::facts::Facts;
use crate::headers::Base;

/// Larger diagrams stay as they are; this also bounds the recursion.
const LARGEST: usize = 200;
const GROWTH: usize = 3;
const VISITS: usize = 3000;

/// The diagram with paths split and where it starts, or `None` if it would grow too much.
pub(crate) fn split(diagram: &Diagram, start: Target) -> Option<(Diagram, Target)> {
    if diagram.nodes.len() > LARGEST {
        return None;
    }
    let mut splitter = Splitter {
        old: &diagram.nodes,
        words: words_ahead(&diagram.nodes),
        new: Diagram::default(),
        done: HashMap::new(),
        most: diagram.nodes.len() * GROWTH + 16,
    };
    let start = splitter.visit(start, Facts::default())?;
    Some((splitter.new, start))
}

struct Splitter<'a> {
    old: &'a [Node],
    /// For each node, the words that are looked at from there on.
    words: Vec<Vec<(Base, u16)>>,
    new: Diagram,
    done: HashMap<(u32, Facts), Target>,
    most: usize,
}

impl Splitter<'_> {
    /// The target that decides like `target` for packets of which `facts` hold.
    fn visit(&mut self, mut target: Target, mut facts: Facts) -> Option<Target> {
        let (number, node) = loop {
            let Target::Step(number) = target else { return Some(target) };
            let node = self.old[number as usize];
            match facts.decide(&node.test) {
                Some(outcome) => target = if outcome { node.yes } else { node.no },
                None => break (number, node),
            }
        };
        facts.keep_only(&self.words[number as usize]);
        if let Some(target) = self.done.get(&(number, facts.clone())) {
            return Some(*target);
        }
        if self.done.len() == VISITS || self.new.nodes.len() > self.most {
            return None;
        }
        let mut holds = facts.clone();
        holds.learn(&node.test, true);
        let yes = self.visit(node.yes, holds)?;
        let mut fails = facts.clone();
        fails.learn(&node.test, false);
        let no = self.visit(node.no, fails)?;
        let target = self.new.share(Node { test: node.test, yes, no });
        self.done.insert((number, facts), target);
        Some(target)
    }
}

fn words_ahead(nodes: &[Node]) -> Vec<Vec<(Base, u16)>> {
    let mut words: Vec<Vec<(Base, u16)>> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let mut ahead = vec![(node.test.base, node.test.offset)];
        for target in [node.yes, node.no] {
            if let Target::Step(next) = target {
                ahead.extend_from_slice(&words[next as usize]);
            }
        }
        ahead.sort_unstable();
        ahead.dedup();
        words.push(ahead);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Expr, Test};

    fn byte(offset: u16, value: u32) -> Expr {
        Test::new(Base::Ether, offset, 0xff00_0000, value << 24).into()
    }

    #[test]
    fn a_path_that_knows_the_outcome_skips_the_test() {
        let either = Expr::Or(vec![Expr::And(vec![byte(0, 1), byte(4, 1)]), byte(8, 1)]);
        let rules = [(either, Target::Output(0)), (byte(0, 1), Target::Output(1))];
        let (diagram, start) = Diagram::from_rules(&rules);
        let (split, start) = split(&diagram, start).unwrap();
        let Target::Step(first) = start else { panic!("there is a first test") };
        let mut target = split.nodes[first as usize].yes;
        let mut tests = 0;
        while let Target::Step(number) = target {
            target = split.nodes[number as usize].no;
            tests += 1;
        }
        assert_eq!((tests, target), (2, Target::Output(1)), "byte 0 is not asked again");
    }

    #[test]
    fn what_would_grow_too_much_is_left() {
        let rules: Vec<_> = (0..100)
            .map(|rule| {
                let condition = Expr::And(vec![
                    byte(rule % 12 * 4, 1),
                    byte((rule * 5 + 1) % 12 * 4, 1 + u32::from(rule)),
                ]);
                (condition, Target::Output(u32::from(rule)))
            })
            .collect();
        let (diagram, start) = Diagram::from_rules(&rules);
        assert!(split(&diagram, start).is_none());
    }
}

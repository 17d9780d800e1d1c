//! Makes a decision diagram smaller and its paths shorter without changing a decision.
//!
//! Two passes alternate until nothing changes. [`follow_facts`] walks from the start with the [`Facts`] that
//! hold on every path to a node, and lets each edge skip the tests whose outcome is already known (Click's
//! "dominators", with facts that are the meet of all paths). [`rebuild`] walks back, shares equal nodes and
//! drops unreachable ones. Then paths are split ([`split`]), neighbouring tests of one word are joined, and
//! at last alternatives on one word put in order ([`regroup`]).
//!
//! Cost: one step per node, edge and skipped test; [`SKIP_BUDGET`] bounds the skipping, so that no input
//! takes long.

use crate::diagram::{Diagram, Node, Target};
use crate::expr::Test;
use crate::facts::Facts;
use crate::regroup::regroup;
use crate::split::split;

/// Rounds of both passes; three suffice for all filters we know.
const ROUNDS: usize = 4;
/// Tests skipped per diagram before edges stay as they are.
const SKIP_BUDGET: usize = 8_000_000;

/// The diagram improved, and where it starts.
pub(crate) fn optimise(diagram: Diagram, start: Target) -> (Diagram, Target) {
    let (mut diagram, mut start) = settle(diagram, start);
    if let Some(split) = split(&diagram, start) {
        (diagram, start) = split;
    }
    let joined = rebuild(&diagram, start, join);
    if joined.0.nodes != diagram.nodes {
        (diagram, start) = settle(joined.0, joined.1);
    }
    regroup(&diagram, start)
}

fn settle(mut diagram: Diagram, mut start: Target) -> (Diagram, Target) {
    let mut budget = SKIP_BUDGET;
    for _ in 0..ROUNDS {
        let before = diagram.nodes.clone();
        follow_facts(&mut diagram.nodes, start, &mut budget);
        (diagram, start) = rebuild(&diagram, start, |_, node| node);
        if diagram.nodes == before {
            break;
        }
    }
    (diagram, start)
}

/// Lets every edge skip the tests that the paths to it have settled.
fn follow_facts(nodes: &mut [Node], start: Target, budget: &mut usize) {
    let mut entry: Vec<Option<Facts>> = vec![None; nodes.len()];
    arrive(&mut entry, start, Facts::default());
    for number in (0..nodes.len()).rev() {
        let Some(facts) = entry[number].take() else { continue };
        let Node { test, yes, no } = nodes[number];
        if let Some(outcome) = facts.decide(&test) {
            let target = skip_settled(nodes, if outcome { yes } else { no }, &facts, budget);
            (nodes[number].yes, nodes[number].no) = (target, target);
            arrive(&mut entry, target, facts);
            continue;
        }
        let mut holds = facts.clone();
        holds.learn(&test, true);
        nodes[number].yes = skip_settled(nodes, yes, &holds, budget);
        arrive(&mut entry, nodes[number].yes, holds);
        let mut fails = facts;
        fails.learn(&test, false);
        nodes[number].no = skip_settled(nodes, no, &fails, budget);
        arrive(&mut entry, nodes[number].no, fails);
    }
}

fn arrive(entry: &mut [Option<Facts>], target: Target, facts: Facts) {
    if let Target::Step(number) = target {
        match &mut entry[number as usize] {
            Some(known) => known.meet(&facts),
            unknown => *unknown = Some(facts),
        }
    }
}

fn skip_settled(nodes: &[Node], mut target: Target, facts: &Facts, budget: &mut usize) -> Target {
    while let Target::Step(number) = target
        && *budget > 0
    {
        let node = &nodes[number as usize];
        let Some(outcome) = facts.decide(&node.test) else { break };
        *budget -= 1;
        target = if outcome { node.yes } else { node.no };
    }
    target
}

/// A copy of the reachable part with equal nodes shared; each node passes through `improve` once its targets
/// are final.
fn rebuild(old: &Diagram, start: Target, improve: impl Fn(&[Node], Node) -> Node) -> (Diagram, Target) {
    let mut reachable = vec![false; old.nodes.len()];
    mark(&mut reachable, start);
    for number in (0..old.nodes.len()).rev() {
        if reachable[number] {
            mark(&mut reachable, old.nodes[number].yes);
            mark(&mut reachable, old.nodes[number].no);
        }
    }
    let mut new = Diagram::default();
    let mut moved = vec![Target::Drop; old.nodes.len()];
    let new_target = |moved: &[Target], target| match target {
        Target::Step(number) => moved[number as usize],
        decision => decision,
    };
    for (number, node) in old.nodes.iter().enumerate().filter(|(number, _)| reachable[*number]) {
        let node = Node { yes: new_target(&moved, node.yes), no: new_target(&moved, node.no), ..*node };
        let node = improve(&new.nodes, node);
        moved[number] = new.share(node);
    }
    let start = new_target(&moved, start);
    (new, start)
}

fn mark(reachable: &mut [bool], target: Target) {
    if let Target::Step(number) = target {
        reachable[number as usize] = true;
    }
}

/// Joins a node with the tests of the same word that follow it, as long as one test can say the same.
fn join(nodes: &[Node], mut node: Node) -> Node {
    while let Some(joined) = join_conjunction(nodes, &node).or_else(|| join_alternatives(nodes, &node)) {
        node = joined;
    }
    node
}

/// `a` and then `b` on the same word, both failing to the same place, as one test.
fn join_conjunction(nodes: &[Node], node: &Node) -> Option<Node> {
    let Target::Step(next) = node.yes else { return None };
    let next = nodes[next as usize];
    let next = if next.no == node.no { next } else { flipped(&next).filter(|next| next.no == node.no)? };
    let (first, second) = (node.test, next.test);
    let same_word = (first.base, first.offset) == (second.base, second.offset);
    let compatible = first.mask & second.mask & (first.value ^ second.value) == 0;
    let short_alike = !first.short && (!second.short || second.need() <= first.need());
    (same_word && compatible && short_alike).then(|| {
        let test = Test { mask: first.mask | second.mask, value: first.value | second.value, ..first };
        Node { test, yes: next.yes, no: node.no }
    })
}

/// `a` or else `b` on the same word, differing in one bit and leading to the same place, as one test without
/// the bit.
fn join_alternatives(nodes: &[Node], node: &Node) -> Option<Node> {
    let Target::Step(next) = node.no else { return None };
    let next = nodes[next as usize];
    let (first, second) = (node.test, next.test);
    let difference = first.value ^ second.value;
    let alike = (first.base, first.offset, first.mask) == (second.base, second.offset, second.mask)
        && next.yes == node.yes
        && difference.is_power_of_two()
        && !first.short
        && !second.short;
    let mask = first.mask & !difference;
    let test = Test { mask, value: first.value & mask, ..first };
    (alike && test.need() == first.need()).then_some(Node { test, yes: node.yes, no: next.no })
}

/// A single-bit test asked the other way round.
fn flipped(node: &Node) -> Option<Node> {
    let Test { mask, value, short, .. } = node.test;
    let test = Test { value: value ^ mask, short: !short, ..node.test };
    mask.is_power_of_two().then_some(Node { test, yes: node.no, no: node.yes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Expr;
    use crate::headers::Base;

    fn test(offset: u16, mask: u32, value: u32) -> Expr {
        Expr::Test(Test::new(Base::Ether, offset, mask, value))
    }

    fn optimised(rules: &[Expr]) -> Vec<Node> {
        let rules: Vec<_> = rules
            .iter()
            .enumerate()
            .map(|(port, rule)| (rule.clone(), Target::Output(port as u32)))
            .collect();
        let (diagram, start) = Diagram::from_rules(&rules);
        optimise(diagram, start).0.nodes
    }

    #[test]
    fn a_settled_test_is_not_repeated() {
        let arp = test(12, 0xffff_0000, 0x0806_0000);
        let rules = [
            Expr::And(vec![arp.clone(), test(20, 0xffff_0000, 0x0001_0000)]),
            Expr::And(vec![arp, test(20, 0xffff_0000, 0x0002_0000)]),
        ];
        assert_eq!(optimised(&rules).len(), 3);
    }

    #[test]
    fn a_rule_behind_a_wider_one_vanishes() {
        let rules = [test(0, 0xf000_0000, 0x4000_0000), test(0, 0xff00_0000, 0x4500_0000)];
        assert_eq!(optimised(&rules).len(), 1);
    }

    #[test]
    fn conjunctions_and_alternatives_of_one_word_become_one_test() {
        let both = Expr::And(vec![test(0, 0xffff_0000, 5 << 16), test(0, 0xffff, 7)]);
        assert_eq!(optimised(&[both]).len(), 1);
        let either = Expr::Or(vec![test(0, 0xff, 6), test(0, 0xff, 7)]);
        assert_eq!(optimised(&[either]).len(), 1);
    }

    #[test]
    fn alternatives_stay_apart_if_a_shorter_packet_would_pass() {
        let either = Expr::Or(vec![test(0, 0xff01_0000, 0), test(0, 0xff01_0000, 0x1_0000)]);
        assert_eq!(optimised(&[either]).len(), 2);
    }
}

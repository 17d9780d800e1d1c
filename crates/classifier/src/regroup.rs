//! Puts alternatives on one word in an order in which those with equal masks stand together.
//!
//! `src 10.1.0.0/16`, `src 10.2.3.0/24`, `src 10.4.0.0/16`, ... asked one after the other may change places
//! as long as no packet satisfies two of them that lead to different decisions. Runs with equal masks then
//! become one look-up each ([`crate::run`]).

use crate::diagram::{Diagram, Node, Target};
use crate::run::TABLE_MINIMUM;

/// Longer chains are ordered piece by piece, because every pair may have to be compared.
const PIECE: usize = 4096;

/// The diagram with its chains of alternatives in order, and where it starts.
pub(crate) fn regroup(old: &Diagram, start: Target) -> (Diagram, Target) {
    let entries = entries(old, start);
    let mut new = Diagram::default();
    let mut moved: Vec<Option<Target>> = vec![None; old.nodes.len()];
    let renewed = |moved: &[Option<Target>], target| match target {
        Target::Step(number) => moved[number as usize].expect("a target is built before what leads to it"),
        decision => decision,
    };
    for number in 0..old.nodes.len() {
        if entries[number] == Entry::Inner {
            continue;
        }
        let chain = chain_from(old, number, &entries);
        let end = old.nodes[*chain.last().expect("a chain has its first node")].no;
        let nodes: Vec<Node> = chain.iter().map(|&number| old.nodes[number]).collect();
        let target = grouped(&nodes).iter().rev().fold(renewed(&moved, end), |no, node| {
            new.share(Node { yes: renewed(&moved, node.yes), no, ..*node })
        });
        moved[number] = Some(target);
    }
    let start = renewed(&moved, start);
    (new, start)
}

/// How a node is reached.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Entry {
    /// In several ways, or as a different question than the one before: a chain begins here.
    First,
    /// Only when an alternative on the same word failed.
    Inner,
}

fn entries(diagram: &Diagram, start: Target) -> Vec<Entry> {
    let mut ways = vec![0u32; diagram.nodes.len()];
    let mut continues = vec![false; diagram.nodes.len()];
    let mut count = |target| {
        if let Target::Step(number) = target {
            ways[number as usize] += 1;
        }
    };
    count(start);
    for node in &diagram.nodes {
        count(node.yes);
        count(node.no);
        if let Target::Step(next) = node.no {
            continues[next as usize] = same_word(node, &diagram.nodes[next as usize]);
        }
    }
    let inner = ways.iter().zip(continues).map(|(&ways, continues)| ways == 1 && continues);
    inner.map(|inner| if inner { Entry::Inner } else { Entry::First }).collect()
}

fn same_word(first: &Node, second: &Node) -> bool {
    let place = |node: &Node| (node.test.base, node.test.offset);
    place(first) == place(second) && !first.test.short && !second.test.short
}

fn chain_from(diagram: &Diagram, first: usize, entries: &[Entry]) -> Vec<usize> {
    let mut chain = vec![first];
    let mut last = first;
    while let Target::Step(next) = diagram.nodes[last].no
        && entries[next as usize] == Entry::Inner
        && same_word(&diagram.nodes[last], &diagram.nodes[next as usize])
    {
        last = next as usize;
        chain.push(last);
    }
    chain
}

fn grouped(chain: &[Node]) -> Vec<Node> {
    if chain.len() < TABLE_MINIMUM {
        return chain.to_vec();
    }
    chain.chunks(PIECE).flat_map(grouped_piece).collect()
}

/// Moves each node forward to the last group with its mask that it can reach.
fn grouped_piece(chain: &[Node]) -> Vec<Node> {
    let mut groups: Vec<Vec<Node>> = Vec::new();
    for node in chain {
        let behind = groups.iter().rev().take_while(|group| {
            group[0].test.mask != node.test.mask && group.iter().all(|other| may_swap(other, node))
        });
        let passed = behind.count();
        match groups.iter_mut().rev().nth(passed) {
            Some(group) if group[0].test.mask == node.test.mask => group.push(*node),
            _ => groups.push(vec![*node]),
        }
    }
    groups.concat()
}

fn may_swap(first: &Node, second: &Node) -> bool {
    let both = first.test.mask & second.test.mask;
    both & (first.test.value ^ second.test.value) != 0 || first.yes == second.yes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Expr, Test};
    use crate::headers::Base;

    fn masks(prefixes: &[(u32, u32, u32)]) -> Vec<u32> {
        let rules: Vec<_> = prefixes
            .iter()
            .map(|&(address, mask, port)| {
                (Expr::from(Test::new(Base::Network, 12, mask, address)), Target::Output(port))
            })
            .collect();
        let (diagram, start) = Diagram::from_rules(&rules);
        let (diagram, mut target) = regroup(&diagram, start);
        let mut masks = Vec::new();
        while let Target::Step(number) = target {
            let node = diagram.nodes[number as usize];
            masks.push(node.test.mask);
            target = node.no;
        }
        masks
    }

    const WIDE: u32 = 0xffff_0000;
    const NARROW: u32 = 0xffff_ff00;

    #[test]
    fn disjoint_alternatives_are_sorted_by_mask() {
        let prefixes = [
            (0x0a01_0000, WIDE, 0),
            (0x0a02_0300, NARROW, 1),
            (0x0a04_0000, WIDE, 2),
            (0x0a05_0600, NARROW, 3),
            (0x0a07_0000, WIDE, 4),
        ];
        assert_eq!(masks(&prefixes), [WIDE, WIDE, WIDE, NARROW, NARROW]);
        assert_eq!(masks(&prefixes[..4]), [WIDE, NARROW, WIDE, NARROW], "too few for a look-up");
    }

    #[test]
    fn overlapping_alternatives_keep_their_order() {
        let mut prefixes = [
            (0x0a01_0000, WIDE, 0),
            (0x0a02_0300, NARROW, 1),
            (0x0a02_0000, WIDE, 2),
            (0x0a05_0600, NARROW, 3),
            (0x0a07_0000, WIDE, 4),
        ];
        assert_eq!(masks(&prefixes), [WIDE, NARROW, NARROW, WIDE, WIDE]);
        prefixes[1].2 = 2;
        assert_eq!(masks(&prefixes), [WIDE, WIDE, WIDE, NARROW, NARROW], "both lead to 2");
    }
}

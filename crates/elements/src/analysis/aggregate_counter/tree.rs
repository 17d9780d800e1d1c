//! Counts by aggregate, in a tree whose order is that of the aggregates.
//!
//! A Patricia tree as tcpdpriv has it: an inner node stands for the first bits that its two children share, and counts
//! for the aggregate that has zeros behind them. A tree of n aggregates has at most 2n nodes of 16 bytes.

/// One node. Children are 0 for none: node 0 is the root, nobody's child.
#[derive(Clone, Copy, Default)]
struct Node {
    aggregate: u32,
    count: u32,
    children: [u32; 2],
}

/// The tree.
pub struct Tree {
    nodes: Vec<Node>,
    capacity: usize,
}

impl Default for Tree {
    fn default() -> Tree {
        Tree::with_capacity(usize::MAX)
    }
}

/// The number of the first bit that differs, counted from 1; greater than all bits if none does.
fn first_difference(a: u32, b: u32) -> u32 {
    (a ^ b).leading_zeros() + 1
}

/// The bit of `a` with that number.
fn bit(a: u32, number: u32) -> usize {
    (a >> (32 - number) & 1) as usize
}

impl Tree {
    /// A tree that holds at most about so many aggregates.
    pub fn with_capacity(aggregates: usize) -> Tree {
        Tree { nodes: vec![Node::default()], capacity: aggregates.saturating_mul(2) }
    }

    /// Forgets all counts.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.nodes.push(Node::default());
    }

    /// The count of an aggregate. If there is none it is made, unless the tree is frozen or full.
    pub fn count(&mut self, aggregate: u32, frozen: bool) -> Option<&mut u32> {
        let mut at = 0;
        loop {
            let node = self.nodes[at];
            if node.aggregate == aggregate {
                let is_known = node.count > 0 || !frozen;
                return is_known.then(|| &mut self.nodes[at].count);
            }
            let [left, right] = node.children.map(|child| child as usize);
            let differs = first_difference(aggregate, node.aggregate);
            let splits = match left {
                0 => 0,
                _ => first_difference(self.nodes[left].aggregate, self.nodes[right].aggregate),
            };
            if differs >= splits && left != 0 {
                at = if bit(aggregate, splits) == 1 { right } else { left };
                continue;
            }
            if frozen || self.nodes.len() >= self.capacity {
                return None;
            }
            let made = self.split(at, aggregate, differs);
            return Some(&mut self.nodes[made].count);
        }
    }

    /// Puts two nodes below `at`, what was there and a new aggregate, which differ first in bit `differs`. Returns the
    /// node that counts for the new one.
    fn split(&mut self, at: usize, aggregate: u32, differs: u32) -> usize {
        let side = bit(aggregate, differs);
        let mut children = [self.nodes[at]; 2];
        children[side] = Node { aggregate, ..Node::default() };
        let prefix = children[0].aggregate & !(u32::MAX >> (differs - 1));
        // The left child may have nothing but zeros behind the prefix: then the inner node counts for it.
        let count = if children[0].aggregate == prefix { std::mem::take(&mut children[0].count) } else { 0 };
        let first = self.nodes.len();
        self.nodes.extend(children);
        self.nodes[at] = Node { aggregate: prefix, count, children: [first as u32, first as u32 + 1] };
        if prefix == aggregate { at } else { first + side }
    }

    /// The nodes, each before its children.
    fn walk(&self) -> impl Iterator<Item = &Node> {
        let mut stack = vec![0usize];
        std::iter::from_fn(move || {
            let node = &self.nodes[stack.pop()?];
            if node.children[0] != 0 {
                stack.extend([node.children[1] as usize, node.children[0] as usize]);
            }
            Some(node)
        })
    }

    /// Aggregates with counts that are not zero, in order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.walk().filter(|node| node.count > 0).map(|node| (node.aggregate, node.count))
    }

    /// The counts of all nodes, those of inner nodes that count for nothing too.
    pub fn all_counts(&self) -> Vec<u32> {
        self.walk().map(|node| node.count).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn counts_as_a_map_does(aggregates in prop::collection::vec(prop_oneof![any::<u32>(), 0u32..20, Just(u32::MAX)], 0..200)) {
            let (mut tree, mut map) = (Tree::default(), BTreeMap::new());
            for aggregate in aggregates {
                prop_assert_eq!(tree.count(aggregate, true).is_some(), map.contains_key(&aggregate));
                *tree.count(aggregate, false).unwrap() += 1;
                *map.entry(aggregate).or_insert(0) += 1;
            }
            prop_assert_eq!(tree.iter().collect::<Vec<_>>(), map.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_full_tree_takes_no_more() {
        let mut tree = Tree::with_capacity(100);
        let taken = (1..10_000).filter(|&n| tree.count(n, false).map(|c| *c += 1).is_some()).count();
        assert!((99..=101).contains(&taken), "{taken}");
        assert!(tree.count(5, false).is_some());
    }
}

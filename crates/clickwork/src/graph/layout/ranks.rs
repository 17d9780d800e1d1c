//! Ranks: which nodes stand on the same level, so that edges point down and are short.

use super::simplex::{self, Edge as Spring};
use super::{Edge, Node, Pin};
use std::collections::HashMap;

/// The rank of each node, and which edges run upwards.
pub struct Ranks {
    /// By node, from 0 at the top.
    pub of: Vec<usize>,
    /// By edge: it closes a circle and runs upwards.
    pub upward: Vec<bool>,
}

/// Assigns ranks.
pub fn assign(nodes: &[Node], edges: &[Edge]) -> Ranks {
    let mut upward = find_upward(nodes.len(), edges);
    let mut springs: Vec<Spring> = edges
        .iter()
        .zip(&upward)
        .filter(|(_, up)| !**up)
        .map(|(e, _)| Spring::new(e.from.node, e.to.node, 1, 1))
        .collect();
    for (top, _) in nodes.iter().enumerate().filter(|(_, n)| n.pin == Pin::Top) {
        let others = (0..nodes.len()).filter(|&n| nodes[n].pin != Pin::Top);
        springs.extend(others.map(|n| Spring::new(top, n, 1, 0)));
    }
    let mut of: Vec<usize> =
        simplex::solve(nodes.len(), &springs).into_iter().map(|rank| rank as usize).collect();
    pin(nodes, &mut of);
    // With the ranks known, some edges that were to run upwards need not.
    for (up, e) in upward.iter_mut().zip(edges) {
        *up = of[e.to.node] <= of[e.from.node];
    }
    // A turn above the first rank needs a rank to stand in.
    let first = edges.iter().zip(&upward).filter(|(_, up)| **up).any(|(e, _)| of[e.to.node] == 0);
    of.iter_mut().for_each(|rank| *rank += usize::from(first));
    Ranks { of, upward }
}

fn pin(nodes: &[Node], of: &mut [usize]) {
    let free = |n: &usize| nodes[*n].pin != Pin::Bottom;
    let last = (0..nodes.len()).filter(free).map(|n| of[n] + 1).max().unwrap_or(0);
    for (rank, node) in of.iter_mut().zip(nodes) {
        match node.pin {
            Pin::Top => *rank = 0,
            Pin::Bottom => *rank = last,
            Pin::Free => {}
        }
    }
}

/// The edges to run upwards, so that the others form no circle: those that lead back in a sequence of all nodes.
fn find_upward(nodes: usize, edges: &[Edge]) -> Vec<bool> {
    let mut sequence = Sequence::new(nodes, edges);
    sequence.take(&(0..nodes).collect::<Vec<_>>());
    let mut place = vec![0; nodes];
    sequence.order.iter().enumerate().for_each(|(at, &node)| place[node] = at);
    edges.iter().map(|e| place[e.to.node] <= place[e.from.node]).collect()
}

/// A sequence of the nodes in which few edges lead back.
///
/// Nodes are taken when all before them are. Of nodes on circles, the first is one where edges enter from outside, and of
/// several such the one with the most edges ahead; without it, the others are ordered in the same way.
struct Sequence {
    out: Vec<Vec<usize>>,
    /// Whether an edge from a node taken before leads there.
    entered: Vec<bool>,
    order: Vec<usize>,
}

impl Sequence {
    fn new(nodes: usize, edges: &[Edge]) -> Sequence {
        let mut out = vec![Vec::new(); nodes];
        edges.iter().for_each(|e| out[e.from.node].push(e.to.node));
        Sequence { out, entered: vec![false; nodes], order: Vec::new() }
    }

    fn take(&mut self, nodes: &[usize]) {
        for group in components(nodes, &self.out) {
            let first = self.first(&group);
            self.order.push(first);
            self.out[first].iter().for_each(|&to| self.entered[to] = true);
            let rest: Vec<usize> = group.into_iter().filter(|&n| n != first).collect();
            if !rest.is_empty() {
                self.take(&rest);
            }
        }
    }

    /// Where to begin with nodes that are all on common circles.
    fn first(&self, group: &[usize]) -> usize {
        // Edges ahead less edges before, within the group.
        let mut surplus: HashMap<usize, i64> = group.iter().map(|&n| (n, 0)).collect();
        for &from in group {
            let targets = self.out[from].iter().filter(|to| group.binary_search(to).is_ok());
            for to in targets {
                *surplus.entry(from).or_default() += 1;
                *surplus.entry(*to).or_default() -= 1;
            }
        }
        let key = |n: &usize| (!self.entered[*n], -surplus[n], *n);
        group.iter().copied().min_by_key(key).unwrap_or(group[0])
    }
}

/// The strongly connected components of some nodes, each sorted, those first that edges come from (Tarjan, without
/// recursion).
fn components(nodes: &[usize], out: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let count = out.len();
    let mut inside = vec![false; count];
    nodes.iter().for_each(|&n| inside[n] = true);
    let (mut number, mut low, mut closed) = (vec![NEW; count], vec![0; count], vec![false; count]);
    let (mut next, mut open, mut found) = (0, Vec::new(), Vec::new());
    // From the last, so that the reversed result keeps the given order where there is a choice.
    for &start in nodes.iter().rev() {
        let mut stack = vec![(start, 0)];
        while let Some((node, edge)) = stack.pop() {
            if edge == 0 {
                if number[node] != NEW {
                    continue;
                }
                (number[node], low[node]) = (next, next);
                next += 1;
                open.push(node);
            }
            match out[node].get(edge) {
                Some(&to) => {
                    stack.push((node, edge + 1));
                    if inside[to] && number[to] == NEW {
                        stack.push((to, 0));
                    }
                }
                None => {
                    let near = out[node].iter().filter(|&&to| inside[to] && !closed[to]);
                    low[node] = near.map(|&to| low[to]).fold(low[node], usize::min);
                    if low[node] == number[node] {
                        let at = open.iter().rposition(|&n| n == node).unwrap_or(0);
                        let mut group = open.split_off(at);
                        group.iter().for_each(|&n| closed[n] = true);
                        group.sort_unstable();
                        found.push(group);
                    }
                }
            }
        }
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::layout::PortAt;

    #[test]
    fn a_circle_is_entered_where_edges_come_from_outside() {
        // 0 -> 1 -> 2 -> 3 -> 1, and 2 -> 4.
        let edge = |(a, b)| Edge { from: PortAt { node: a, port: 0 }, to: PortAt { node: b, port: 0 } };
        let edges: Vec<Edge> = [(0, 1), (1, 2), (2, 3), (3, 1), (2, 4)].map(edge).into();
        assert_eq!(find_upward(5, &edges), [false, false, false, true, false]);
        assert_eq!(find_upward(1, &[edge((0, 0))]), [true]);
    }

    #[test]
    fn components_come_in_the_order_of_the_edges() {
        let out = [vec![1], vec![2, 4], vec![3], vec![1], vec![], vec![0]];
        assert_eq!(components(&[0, 1, 2, 3, 4, 5], &out), [vec![5], vec![0], vec![1, 2, 3], vec![4]]);
        assert_eq!(components(&[1, 2, 4], &out), [vec![1], vec![2], vec![4]]);
    }
}

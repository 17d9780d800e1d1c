//! Ranks: which nodes stand on the same level, so that edges point down and are short.

use super::simplex::{self, Edge as Spring};
use super::{Edge, Node, Pin};

/// The rank of each node, and which edges run upwards.
pub struct Ranks {
    /// By node, from 0 at the top.
    pub of: Vec<usize>,
    /// By edge: it closes a circle and runs upwards.
    pub upward: Vec<bool>,
}

/// Assigns ranks.
pub fn assign(nodes: &[Node], edges: &[Edge]) -> Ranks {
    let upward = find_upward(nodes.len(), edges);
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

#[derive(Clone, Copy, PartialEq)]
enum Visit {
    New,
    Open,
    Done,
}

/// The edges that lead back to a node from which the walk came: without them there is no circle.
fn find_upward(nodes: usize, edges: &[Edge]) -> Vec<bool> {
    let mut out = vec![Vec::new(); nodes];
    let mut has_input = vec![false; nodes];
    for (index, e) in edges.iter().enumerate() {
        out[e.from.node].push(index);
        has_input[e.to.node] = true;
    }
    out.iter_mut().for_each(|list| list.sort_by_key(|&e| edges[e].from.port));
    let mut visits = vec![Visit::New; nodes];
    let mut upward = vec![false; edges.len()];
    let sources = (0..nodes).filter(|&n| !has_input[n]);
    for start in sources.chain(0..nodes) {
        walk(start, edges, &out, &mut visits, &mut upward);
    }
    upward
}

fn walk(start: usize, edges: &[Edge], out: &[Vec<usize>], visits: &mut [Visit], upward: &mut [bool]) {
    if visits[start] != Visit::New {
        return;
    }
    visits[start] = Visit::Open;
    let mut stack = vec![(start, 0)];
    while let Some((node, next)) = stack.pop() {
        let Some(&edge) = out[node].get(next) else {
            visits[node] = Visit::Done;
            continue;
        };
        stack.push((node, next + 1));
        let to = edges[edge].to.node;
        match visits[to] {
            Visit::Open => upward[edge] = true,
            Visit::Done => {}
            Visit::New => {
                visits[to] = Visit::Open;
                stack.push((to, 0));
            }
        }
    }
}

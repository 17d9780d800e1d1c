//! Network simplex: places points on a line so that springs between them are as short as possible.
//!
//! Each edge says that its head stands at least so far behind its tail, and how much every unit beyond counts. Gansner,
//! Koutsofios, North and Vo, "A technique for drawing directed graphs" (IEEE TSE 1993, §2.3) use it twice, and so do we:
//! for the ranks of elements and for their horizontal places.

use std::collections::VecDeque;

/// `head` stands at `tail + length` or behind; each unit beyond costs `weight`.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The point in front.
    pub tail: usize,
    /// The point behind.
    pub head: usize,
    /// The least distance.
    pub length: i64,
    /// The cost of each unit of distance.
    pub weight: i64,
}

impl Edge {
    /// An edge.
    pub fn new(tail: usize, head: usize, length: i64, weight: i64) -> Edge {
        Edge { tail, head, length, weight }
    }
}

/// Exchanges of edges after which the result is taken as good enough; small graphs are solved long before.
const MOST_EXCHANGES: usize = 20_000;
/// Work on large graphs is bounded as well: exchanges times edges.
const MOST_WORK: usize = 20_000_000;

/// The places of `count` points, from 0 on. The edges must not form a circle.
pub fn solve(count: usize, edges: &[Edge]) -> Vec<i64> {
    if count == 0 {
        return Vec::new();
    }
    // A root in front of all points makes the graph connected.
    let root = count;
    let mut all = edges.to_vec();
    all.extend((0..count).map(|n| Edge::new(root, n, 0, 0)));
    let mut solver = Solver::new(count + 1, all);
    solver.make_tight();
    let limit = MOST_EXCHANGES.min(MOST_WORK / solver.edges.len());
    for _ in 0..limit {
        solver.measure();
        let Some(leaving) = solver.leaving() else { break };
        solver.exchange(leaving);
    }
    let mut places = solver.places;
    places.truncate(count);
    let first = places.iter().copied().min().unwrap_or(0);
    places.iter_mut().for_each(|p| *p -= first);
    places
}

struct Solver {
    edges: Vec<Edge>,
    /// The edges at each point.
    at: Vec<Vec<usize>>,
    places: Vec<i64>,
    in_tree: Vec<bool>,
    /// What moving apart at each tree edge would save: negative if it would help to lengthen the edge.
    cut: Vec<i64>,
    /// The tree edge towards the root of the tree walk.
    parent: Vec<Option<usize>>,
    /// The points in the order of the tree walk, parents first, and each point's place in that order.
    order: Vec<usize>,
    low: Vec<usize>,
    last: Vec<usize>,
    /// Where the search for an edge to leave goes on.
    next: usize,
}

impl Solver {
    fn new(points: usize, edges: Vec<Edge>) -> Solver {
        let mut at = vec![Vec::new(); points];
        for (index, e) in edges.iter().enumerate() {
            at[e.tail].push(index);
            at[e.head].push(index);
        }
        let places = longest_paths(points, &edges);
        Solver {
            in_tree: vec![false; edges.len()],
            cut: vec![0; edges.len()],
            parent: vec![None; points],
            order: Vec::new(),
            low: vec![0; points],
            last: vec![0; points],
            next: 0,
            at,
            places,
            edges,
        }
    }

    fn slack(&self, edge: usize) -> i64 {
        let e = self.edges[edge];
        self.places[e.head] - self.places[e.tail] - e.length
    }

    fn other(&self, edge: usize, point: usize) -> usize {
        let e = self.edges[edge];
        if e.tail == point { e.head } else { e.tail }
    }

    /// Grows a tree of edges without slack until it spans all points, moving the grown part where there is none.
    fn make_tight(&mut self) {
        let points = self.places.len();
        let mut inside = vec![false; points];
        let mut size = self.grow(points - 1, &mut inside);
        while size < points {
            let crossing = (0..self.edges.len())
                .filter(|&e| inside[self.edges[e].tail] != inside[self.edges[e].head])
                .min_by_key(|&e| self.slack(e));
            let Some(edge) = crossing else { break };
            let slack = self.slack(edge);
            let shift = if inside[self.edges[edge].head] { -slack } else { slack };
            (0..points).filter(|&p| inside[p]).for_each(|p| self.places[p] += shift);
            let Edge { tail, head, .. } = self.edges[edge];
            self.in_tree[edge] = true;
            let fresh = if inside[tail] { head } else { tail };
            size += self.grow(fresh, &mut inside);
        }
    }

    /// Adds to the tree what can be reached from `start` by edges without slack; returns how many points that are.
    fn grow(&mut self, start: usize, inside: &mut [bool]) -> usize {
        inside[start] = true;
        let mut waiting = vec![start];
        let mut size = 0;
        while let Some(point) = waiting.pop() {
            size += 1;
            for index in 0..self.at[point].len() {
                let edge = self.at[point][index];
                let far = self.other(edge, point);
                if !inside[far] && self.slack(edge) == 0 {
                    inside[far] = true;
                    self.in_tree[edge] = true;
                    waiting.push(far);
                }
            }
        }
        size
    }

    /// Walks the tree and computes all cut values, from the leaves up.
    fn measure(&mut self) {
        self.walk();
        for index in (1..self.order.len()).rev() {
            let point = self.order[index];
            if let Some(edge) = self.parent[point] {
                self.cut[edge] = self.cut_value(edge, point);
            }
        }
    }

    /// Numbers the points so that those below a point have the numbers `low..=last` of it.
    fn walk(&mut self) {
        self.order.clear();
        self.parent.iter_mut().for_each(|p| *p = None);
        let root = self.places.len() - 1;
        let mut stack = vec![(root, 0)];
        self.low[root] = 0;
        self.order.push(root);
        while let Some((point, mut index)) = stack.pop() {
            let mut child = None;
            while child.is_none() && index < self.at[point].len() {
                let edge = self.at[point][index];
                index += 1;
                if self.in_tree[edge] && self.parent[point] != Some(edge) {
                    child = Some(edge);
                }
            }
            match child {
                Some(edge) => {
                    stack.push((point, index));
                    let far = self.other(edge, point);
                    self.parent[far] = Some(edge);
                    self.low[far] = self.order.len();
                    self.order.push(far);
                    stack.push((far, 0));
                }
                None => self.last[point] = self.order.len() - 1,
            }
        }
    }

    /// The cut value of the tree edge above `point`, of its other edges and the cut values of the tree edges below.
    fn cut_value(&self, edge: usize, point: usize) -> i64 {
        let points_up = self.edges[edge].tail == point;
        let mut value = self.edges[edge].weight;
        for &e in self.at[point].iter().filter(|&&e| e != edge) {
            let leaves = self.edges[e].tail == point;
            let same = leaves == points_up;
            let mut part = self.edges[e].weight;
            let below = self.in_tree[e] && self.parent[point] != Some(e);
            if below {
                part -= self.cut[e];
            }
            value += if same { part } else { -part };
        }
        value
    }

    fn leaving(&mut self) -> Option<usize> {
        let count = self.edges.len();
        let at = (0..count).map(|n| (self.next + n) % count).find(|&e| self.in_tree[e] && self.cut[e] < 0)?;
        self.next = at + 1;
        Some(at)
    }

    /// Replaces a tree edge by the edge with the least slack that connects the two parts the other way round.
    fn exchange(&mut self, leaving: usize) {
        let Edge { tail, head, .. } = self.edges[leaving];
        let child = if self.parent[tail] == Some(leaving) { tail } else { head };
        let range = self.low[child]..=self.last[child];
        let mut number = vec![0; self.places.len()];
        self.order.iter().enumerate().for_each(|(n, &p)| number[p] = n);
        let below = |p: usize| range.contains(&number[p]);
        let tail_below = child == tail;
        let crosses =
            |e: &usize| below(self.edges[*e].tail) != tail_below && below(self.edges[*e].head) == tail_below;
        let entering = (0..self.edges.len()).filter(crosses).min_by_key(|&e| self.slack(e));
        let Some(entering) = entering else {
            // Cannot happen while the root holds all points; nothing to gain then.
            self.cut[leaving] = 0;
            return;
        };
        let slack = self.slack(entering);
        let shift = if tail_below { -slack } else { slack };
        let moved: Vec<usize> = (0..self.places.len()).filter(|&p| below(p)).collect();
        moved.into_iter().for_each(|p| self.places[p] += shift);
        self.in_tree[leaving] = false;
        self.in_tree[entering] = true;
    }
}

/// Each point as far in front as its edges allow.
fn longest_paths(points: usize, edges: &[Edge]) -> Vec<i64> {
    let mut places = vec![0i64; points];
    let mut missing = vec![0usize; points];
    let mut out = vec![Vec::new(); points];
    for (index, e) in edges.iter().enumerate() {
        missing[e.head] += 1;
        out[e.tail].push(index);
    }
    let mut ready: VecDeque<usize> = (0..points).filter(|&p| missing[p] == 0).collect();
    while let Some(point) = ready.pop_front() {
        for &index in &out[point] {
            let e = edges[index];
            places[e.head] = places[e.head].max(places[point] + e.length);
            missing[e.head] -= 1;
            if missing[e.head] == 0 {
                ready.push_back(e.head);
            }
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cost(places: &[i64], edges: &[Edge]) -> i64 {
        edges.iter().map(|e| e.weight * (places[e.head] - places[e.tail] - e.length)).sum()
    }

    #[test]
    fn a_lone_source_moves_to_what_it_feeds() {
        // 0 -> 1 -> 2 -> 3 and 4 -> 3.
        let e = |t, h| Edge::new(t, h, 1, 1);
        assert_eq!(solve(5, &[e(0, 1), e(1, 2), e(2, 3), e(4, 3)]), [0, 1, 2, 3, 2]);
        assert_eq!(solve(0, &[]), Vec::<i64>::new());
        assert_eq!(solve(2, &[]), [0, 0]);
    }

    proptest! {
        #[test]
        fn no_single_move_makes_it_better(
            raw in prop::collection::vec((0usize..7, 0usize..7, 0i64..4, 0i64..4), 0..14),
        ) {
            let forward = raw.into_iter().filter(|(a, b, ..)| a != b);
            let edges: Vec<Edge> =
                forward.map(|(a, b, l, w)| Edge::new(a.min(b), a.max(b), l, w)).collect();
            let places = solve(7, &edges);
            for e in &edges {
                prop_assert!(places[e.head] - places[e.tail] >= e.length);
            }
            // Optimal: every set of points moved by one, if allowed, costs no less.
            for set in 1u32..127 {
                for step in [-1, 1] {
                    let moved: Vec<i64> =
                        places.iter().enumerate().map(|(p, x)| x + step * i64::from(set >> p & 1)).collect();
                    let allowed = edges.iter().all(|e| moved[e.head] - moved[e.tail] >= e.length);
                    prop_assert!(!allowed || cost(&moved, &edges) >= cost(&places, &edges));
                }
            }
        }
    }
}

//! The coarsest partition of a graph: nodes are together unless something tells them apart, which is their colour, or
//! that steps with the same number lead from them to nodes that are not together.
//!
//! This is what minimises a deterministic automaton (Hopcroft, "An n log n algorithm for minimizing states in a finite
//! automaton", 1971; for partial functions Valmari and Lehtinen, 2008). Every block is used to split the others. Of a block
//! that was used and is split later, only the smaller part is used again, so each node is used at most log n times.

use std::collections::BTreeMap;

/// A partition.
#[derive(Debug)]
pub struct Partition {
    /// The block of each node. Blocks are numbered in the order of their first nodes.
    pub block: Vec<usize>,
    /// How many times a step was looked at, which is what the time goes into.
    pub looks: usize,
}

/// The coarsest partition of nodes with these colours, from which these steps lead. Nodes of one colour have equally many.
pub fn coarsest(colours: &[usize], steps: &[Vec<usize>]) -> Partition {
    let mut blocks = Blocks::new(colours);
    let mut into: Vec<Vec<(usize, usize)>> = vec![Vec::new(); colours.len()];
    for (node, targets) in steps.iter().enumerate() {
        for (number, &target) in targets.iter().enumerate() {
            into[target].push((number, node));
        }
    }
    let mut looks = 0;
    while let Some(splitter) = blocks.next_splitter() {
        let mut sources: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for &target in blocks.members(splitter) {
            for &(number, node) in &into[target] {
                sources.entry(number).or_default().push(node);
                looks += 1;
            }
        }
        for nodes in sources.values() {
            blocks.split(nodes);
        }
    }
    Partition { block: blocks.numbered(), looks }
}

/// A partition that is being refined.
struct Blocks {
    /// All nodes, those of a block together.
    nodes: Vec<usize>,
    /// Where each node is among them.
    place: Vec<usize>,
    /// The block of each node.
    block: Vec<usize>,
    ranges: Vec<Range>,
    /// The blocks that are still to be used as splitters.
    waiting: Vec<usize>,
}

/// The places of a block's nodes: `first..end`, of which those before `marked` are marked.
struct Range {
    first: usize,
    marked: usize,
    end: usize,
    waits: bool,
}

impl Blocks {
    fn new(colours: &[usize]) -> Blocks {
        let mut nodes: Vec<usize> = (0..colours.len()).collect();
        nodes.sort_by_key(|&node| colours[node]);
        let mut blocks = Blocks {
            place: vec![0; nodes.len()],
            block: vec![0; nodes.len()],
            ranges: Vec::new(),
            waiting: Vec::new(),
            nodes,
        };
        let mut first = 0;
        let sizes: Vec<usize> =
            blocks.nodes.chunk_by(|&a, &b| colours[a] == colours[b]).map(<[usize]>::len).collect();
        for size in sizes {
            blocks.add(first, first + size);
            first += size;
        }
        (0..blocks.ranges.len()).for_each(|block| blocks.wait(block));
        blocks
    }

    /// Makes a block of the nodes at some places.
    fn add(&mut self, first: usize, end: usize) -> usize {
        let block = self.ranges.len();
        self.ranges.push(Range { first, marked: first, end, waits: false });
        for place in first..end {
            self.place[self.nodes[place]] = place;
            self.block[self.nodes[place]] = block;
        }
        block
    }

    fn members(&self, block: usize) -> &[usize] {
        &self.nodes[self.ranges[block].first..self.ranges[block].end]
    }

    fn wait(&mut self, block: usize) {
        if !std::mem::replace(&mut self.ranges[block].waits, true) {
            self.waiting.push(block);
        }
    }

    fn next_splitter(&mut self) -> Option<usize> {
        let block = self.waiting.pop()?;
        self.ranges[block].waits = false;
        Some(block)
    }

    /// Tells these nodes, each given once, from the others of their blocks.
    fn split(&mut self, nodes: &[usize]) {
        let mut touched = Vec::new();
        for &node in nodes {
            let block = self.block[node];
            let range = &mut self.ranges[block];
            if range.marked == range.first {
                touched.push(block);
            }
            let (from, to) = (self.place[node], range.marked);
            range.marked += 1;
            self.nodes.swap(from, to);
            self.place[self.nodes[from]] = from;
            self.place[node] = to;
        }
        touched.into_iter().for_each(|block| self.split_marked(block));
    }

    /// Makes a new block of the smaller part of a block, marked or not, and unmarks all.
    fn split_marked(&mut self, block: usize) {
        let Range { first, marked, end, .. } = self.ranges[block];
        self.ranges[block].marked = first;
        if marked == end {
            return;
        }
        let new = if marked - first <= end - marked {
            (self.ranges[block].first, self.ranges[block].marked) = (marked, marked);
            self.add(first, marked)
        } else {
            self.ranges[block].end = marked;
            self.add(marked, end)
        };
        // If the old block waits, now both parts do. Otherwise it has been used, and the smaller part tells the rest.
        self.wait(new);
    }

    /// The blocks, numbered in the order of their first nodes.
    fn numbered(&self) -> Vec<usize> {
        let mut numbers = BTreeMap::new();
        self.block
            .iter()
            .map(|block| {
                let next = numbers.len();
                *numbers.entry(*block).or_insert(next)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same as [`coarsest`], in the words of its definition: of all pairs of one colour, those are taken away from which a
    /// step leads to a pair that is not there.
    fn by_definition(colours: &[usize], steps: &[Vec<usize>]) -> Vec<usize> {
        let nodes = 0..colours.len();
        let mut alike: Vec<Vec<bool>> =
            nodes.clone().map(|a| nodes.clone().map(|b| colours[a] == colours[b]).collect()).collect();
        loop {
            let apart = |a: usize, b: usize| steps[a].iter().zip(&steps[b]).any(|(&x, &y)| !alike[x][y]);
            let pairs = nodes.clone().flat_map(|a| nodes.clone().map(move |b| (a, b)));
            let wrong: Vec<_> = pairs.filter(|&(a, b)| alike[a][b] && apart(a, b)).collect();
            if wrong.is_empty() {
                break;
            }
            wrong.into_iter().for_each(|(a, b)| alike[a][b] = false);
        }
        let firsts: Vec<usize> =
            alike.iter().map(|row| row.iter().position(|&alike| alike).unwrap_or(0)).collect();
        let mut order = firsts.clone();
        order.sort_unstable();
        order.dedup();
        firsts.iter().map(|first| order.partition_point(|other| other < first)).collect()
    }

    /// Graphs of up to 14 nodes in up to three colours. Nodes of a colour have as many steps.
    fn graphs() -> impl Strategy<Value = (Vec<usize>, Vec<Vec<usize>>)> {
        (1..14usize, [0..4usize, 0..4, 0..4]).prop_flat_map(|(count, lengths)| {
            let node = (0..3usize).prop_flat_map(move |colour| {
                (Just(colour), prop::collection::vec(0..count, lengths[colour]))
            });
            prop::collection::vec(node, count).prop_map(|nodes| nodes.into_iter().unzip())
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]
        #[test]
        fn the_partition_is_the_one_that_is_defined((colours, steps) in graphs()) {
            prop_assert_eq!(coarsest(&colours, &steps).block, by_definition(&colours, &steps));
        }
    }

    #[test]
    fn circles_are_alike_all_round() {
        let circle: Vec<Vec<usize>> = (0..6).map(|n| vec![(n + 1) % 6]).collect();
        assert_eq!(coarsest(&[0; 6], &circle).block, [0; 6]);
        assert_eq!(coarsest(&[0, 1, 0, 1, 0, 1], &circle).block, [0, 1, 0, 1, 0, 1]);
        assert_eq!(coarsest(&[0, 1, 0, 0, 0, 0], &circle).block, [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn thousands_of_nodes_take_few_looks() {
        const COUNT: usize = 5000;
        let log = COUNT.ilog2() as usize + 1;
        let chain: Vec<Vec<usize>> = (0..COUNT).map(|n| vec![n.saturating_sub(1)]).collect();
        let mut colours = vec![0; COUNT];
        colours[0] = 1;
        let partition = coarsest(&colours, &chain);
        assert_eq!(partition.block.iter().max(), Some(&(COUNT - 1)));
        assert!(partition.looks <= COUNT * (log + 1), "{}", partition.looks);
        // A tree in which nodes of one height are alike, and one with a leaf that is not as the others.
        let tree: Vec<Vec<usize>> =
            (0..COUNT).map(|n| if 2 * n + 2 < COUNT { vec![2 * n + 1, 2 * n + 2] } else { vec![] }).collect();
        let mut colours: Vec<usize> = tree.iter().map(|steps| steps.len()).collect();
        assert!(coarsest(&colours, &tree).looks <= 2 * COUNT * (log + 1));
        colours[COUNT - 1] = 3;
        let partition = coarsest(&colours, &tree);
        assert!(partition.block[0] != partition.block[1] && partition.looks <= 2 * COUNT * (log + 1));
    }
}

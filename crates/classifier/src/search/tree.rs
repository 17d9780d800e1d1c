//! A decision tree over boxes: each node asks one field, each leaf has the few boxes that are left.
//!
//! A node either divides the values of a field into equal parts, chosen by some of its bits, or in two at a value. It takes
//! the question after which the fewest boxes are to be expected, where a box counts as often as it is hit. A box that
//! reaches over a border goes to both sides; how often that may happen is limited from the start. Read first: Gupta and
//! McKeown, "Classifying packets with hierarchical intelligent cuttings" (2000), and Qi et al., "Packet
//! classification algorithms: from theory to practice" (2009), for the two kinds of nodes.

use super::boxes::RuleBox;
use super::fields::{FIELDS, Field, Values};

/// Boxes that need no further question.
const LEAF: usize = 4;
/// Nodes below one another.
const DEEPEST: usize = 48;
/// Bits that a node looks at.
const MOST_BITS: u32 = 8;
/// How often a box may be in a tree, on average, and how many nodes there may be for each.
const COPIES: usize = 12;
const NODES: usize = 64;

/// A tree; its boxes are known by their numbers.
#[derive(Debug, Clone)]
pub struct Tree {
    nodes: Vec<Node>,
    /// The boxes of all leaves, each leaf's in order.
    leaves: Vec<u32>,
    /// The first box.
    pub first: u32,
}

/// A question or a leaf. Both kinds of questions are one computation, so that a processor need not guess which comes next.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// The first of the children, or of the boxes of a leaf.
    child: u32,
    /// The next child is taken for values above this. In a leaf, the number of its boxes.
    limit: u32,
    field: u8,
    /// These bits of the value, after a shift, are the number of the child.
    shift: u8,
    bits: u8,
    is_leaf: bool,
}

/// What a node asks of a field's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Whether it is at least this.
    Divide { at: u32 },
    /// What `count` bits of it are that have `shift` bits behind them.
    Bits { shift: u32, count: u32 },
}

impl Tree {
    /// The tree over the boxes with these numbers.
    pub fn new(boxes: &[RuleBox], numbers: &[u32], fields: &[Field]) -> Tree {
        let mut high = [0; FIELDS];
        high.iter_mut().zip(fields).for_each(|(high, field)| *high = field.last());
        let first = numbers.first().copied().unwrap_or(0);
        let tree = Tree { nodes: vec![Node::leaf(0, 0)], leaves: Vec::new(), first };
        let most_nodes = numbers.len() * NODES + 1024;
        let mut builder = Builder { boxes, fields: fields.len(), most_nodes, tree };
        let region = Region { low: [0; FIELDS], high };
        builder.grow(0, region, numbers.to_vec(), numbers.len() * COPIES + 64, 0);
        builder.tree
    }

    /// The boxes that a packet with these values may lie in, in order.
    #[inline]
    pub fn find(&self, values: &Values) -> &[u32] {
        let mut node = &self.nodes[0];
        while !node.is_leaf {
            let value = values[usize::from(node.field) % FIELDS];
            let child = (value >> (node.shift & 31) & u32::from(node.bits)) + u32::from(value > node.limit);
            node = &self.nodes[(node.child + child) as usize];
        }
        &self.leaves[node.child as usize..][..node.limit as usize]
    }

    /// The nodes as numbers: child, limit, and field, shift, bits and whether it is a leaf from the last byte up.
    pub fn words(&self) -> Vec<[u32; 3]> {
        let packed =
            |node: &Node| u32::from_le_bytes([node.field, node.shift, node.bits, u8::from(node.is_leaf)]);
        self.nodes.iter().map(|node| [node.child, node.limit, packed(node)]).collect()
    }

    /// The boxes of all leaves.
    pub fn leaves(&self) -> &[u32] {
        &self.leaves
    }

    /// How many boxes a packet in one of them is compared with, if it is as often in one as in any other.
    pub fn expected(&self) -> usize {
        let leaves = self.nodes.iter().filter(|node| node.is_leaf).map(|node| node.limit as usize);
        let squares: usize = leaves.map(|boxes| boxes * boxes).sum();
        squares.div_ceil(self.leaves.len().max(1))
    }
}

impl Node {
    fn leaf(first: u32, boxes: usize) -> Node {
        Node { child: first, limit: boxes as u32, field: 0, shift: 0, bits: 0, is_leaf: true }
    }

    fn new(question: &Question, child: u32) -> Node {
        let field = question.field as u8;
        let (limit, shift, bits) = match question.kind {
            Kind::Divide { at } => (at - 1, 0, 0),
            Kind::Bits { shift, count } => (u32::MAX, shift as u8, ((1u32 << count) - 1) as u8),
        };
        Node { child, limit, field, shift, bits, is_leaf: false }
    }
}

/// The values that reach a node.
#[derive(Clone, Copy)]
struct Region {
    low: Values,
    high: Values,
}

/// A question, and the number of boxes that each answer leaves.
struct Question {
    field: usize,
    kind: Kind,
    counts: Vec<usize>,
}

impl Question {
    fn copies(&self) -> usize {
        self.counts.iter().sum()
    }

    /// How many boxes are left if each box is hit as often as any other.
    fn expected(&self) -> f64 {
        let squares: f64 = self.counts.iter().map(|&count| (count * count) as f64).sum();
        squares / self.copies().max(1) as f64
    }
}

struct Builder<'a> {
    boxes: &'a [RuleBox],
    fields: usize,
    most_nodes: usize,
    tree: Tree,
}

impl Builder<'_> {
    /// Makes a node of the boxes that meet a region, with at most so many copies of them below.
    fn grow(&mut self, node: usize, region: Region, mut numbers: Vec<u32>, most: usize, depth: usize) {
        self.forget_covered(&region, &mut numbers);
        let done = numbers.len() <= LEAF || depth == DEEPEST || self.tree.nodes.len() > self.most_nodes;
        let question = if done { None } else { self.best(&region, &numbers, most) };
        let Some(question) = question else { return self.leaf(node, &numbers) };
        let first = self.tree.nodes.len();
        self.tree.nodes[node] = Node::new(&question, first as u32);
        self.tree.nodes.resize(first + question.counts.len(), Node::leaf(0, 0));
        let copies = question.copies().max(1);
        for (answer, count) in question.counts.iter().enumerate() {
            let region = answered(&region, &question, answer as u32);
            let meets = |number: &u32| self.boxes[*number as usize].meets(&region.low, &region.high);
            let some = if *count > 0 { &numbers[..] } else { &[] };
            let left: Vec<u32> = some.iter().copied().filter(meets).collect();
            let most = (most as u64 * *count as u64 / copies as u64) as usize;
            self.grow(first + answer, region, left, most, depth + 1);
        }
    }

    fn leaf(&mut self, node: usize, numbers: &[u32]) {
        let child = self.tree.leaves.len() as u32;
        self.tree.nodes[node] = Node::leaf(child, numbers.len());
        self.tree.leaves.extend_from_slice(numbers);
    }

    /// Takes out the boxes behind one that takes everything.
    fn forget_covered(&self, region: &Region, numbers: &mut Vec<u32>) {
        let covers = |number: &u32| self.boxes[*number as usize].covers(&region.low, &region.high);
        if let Some(last) = numbers.iter().position(covers) {
            numbers.truncate(last + 1);
        }
    }

    /// The question that leaves the fewest boxes to be expected.
    fn best(&self, region: &Region, numbers: &[u32], most: usize) -> Option<Question> {
        let most = most.min(2 * numbers.len() + 2);
        let mut best: Option<(f64, Question)> = None;
        for field in 0..self.fields {
            let mut intervals: Vec<(u32, u32)> = numbers
                .iter()
                .map(|&number| {
                    let of = &self.boxes[number as usize];
                    (of.low[field].max(region.low[field]), of.high[field].min(region.high[field]))
                })
                .collect();
            let bounds = (region.low[field], region.high[field]);
            let mut questions = by_bits(field, bounds, &intervals);
            questions.extend(in_two(field, bounds, &mut intervals));
            for question in questions {
                let expected = question.expected();
                let better = best.as_ref().is_none_or(|(least, _)| expected < *least);
                if better && question.copies() <= most && expected < 0.95 * numbers.len() as f64 {
                    best = Some((expected, question));
                }
            }
        }
        best.map(|(_, question)| question)
    }
}

/// The values that give this answer.
fn answered(region: &Region, question: &Question, answer: u32) -> Region {
    let mut part = *region;
    let (low, high) = (&mut part.low[question.field], &mut part.high[question.field]);
    match question.kind {
        Kind::Divide { at } if answer == 0 => *high = at - 1,
        Kind::Divide { at } => *low = at,
        Kind::Bits { shift, count } => {
            let behind = ((1u64 << shift) - 1) as u32;
            let asked = ((1u64 << (shift + count)) - 1) as u32;
            let first = *low & !asked | answer << shift;
            (*low, *high) = ((*low).max(first), (*high).min(first | behind));
        }
    }
    part
}

/// Questions for the first bits in which the values differ, from one bit up.
fn by_bits(field: usize, (low, high): (u32, u32), intervals: &[(u32, u32)]) -> Vec<Question> {
    let differing = 32 - (low ^ high).leading_zeros();
    let useful = (2 * intervals.len()).ilog2() + 1;
    let most = differing.min(useful).min(MOST_BITS);
    let question = |bits| {
        let kind = Kind::Bits { shift: differing - bits, count: bits };
        Question { field, kind, counts: counts_by_bits(differing, bits, intervals) }
    };
    (1..=most).map(question).collect()
}

fn counts_by_bits(differing: u32, bits: u32, intervals: &[(u32, u32)]) -> Vec<usize> {
    let (shift, parts) = (differing - bits, 1usize << bits);
    let part = |value: u32| (value >> shift) as usize & (parts - 1);
    let mut begins = vec![0isize; parts + 1];
    for &(low, high) in intervals {
        begins[part(low)] += 1;
        begins[part(high) + 1] -= 1;
    }
    let running = begins[..parts].iter().scan(0, |count, change| {
        *count += change;
        Some(*count as usize)
    });
    running.collect()
}

/// The question that divides the values at the best border of an interval.
fn in_two(field: usize, (low, high): (u32, u32), intervals: &mut [(u32, u32)]) -> Option<Question> {
    let mut begins: Vec<u32> = intervals.iter().map(|(low, _)| *low).collect();
    let mut ends: Vec<u32> = intervals.iter().map(|(_, high)| *high).collect();
    begins.sort_unstable();
    ends.sort_unstable();
    let mut borders: Vec<u32> =
        begins.iter().copied().chain(ends.iter().filter_map(|end| end.checked_add(1))).collect();
    borders.sort_unstable();
    borders.dedup();
    let question = |border: u32| {
        let before = begins.partition_point(|&begin| begin < border);
        let behind = ends.len() - ends.partition_point(|&end| end < border);
        Question { field, kind: Kind::Divide { at: border }, counts: vec![before, behind] }
    };
    let inside = borders.into_iter().filter(|&border| low < border && border <= high);
    inside.map(question).min_by(|one, other| one.expected().total_cmp(&other.expected()))
}

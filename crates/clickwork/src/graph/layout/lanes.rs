//! Layers: the nodes of each rank, and between them lanes for the edges that pass.
//!
//! An edge that goes down by more than one rank passes the ranks between in lanes. An edge that goes up leaves its node
//! downwards, turns, rises in lanes beside the nodes from the rank it leaves to the rank it enters, turns again and
//! enters from above; so it has a turn in the rank below and one in the rank above. Edges into the same port share
//! their lanes and turns.

use super::ranks::Ranks;
use super::{Edge, Node, PortAt};
use std::collections::HashMap;

/// What stands in a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A node.
    Node(usize),
    /// A lane in which edges to a port go down.
    Down(PortAt),
    /// A lane in which edges to a port go up.
    Up(PortAt),
    /// Where edges to a port turn upwards, or turn down again.
    Turn(PortAt),
}

/// A member of a layer.
#[derive(Clone, Debug)]
pub struct Member {
    /// What it is.
    pub kind: Kind,
    /// Its layer.
    pub rank: usize,
    /// Its size.
    pub width: i64,
    /// Distance to its neighbours.
    pub margin: i64,
}

/// A connection between members of neighbouring layers, the upper one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Link {
    /// The upper member.
    pub upper: usize,
    /// Where it is attached, from the member's left edge.
    pub upper_at: i64,
    /// The lower member.
    pub lower: usize,
    /// Where it is attached, from the member's left edge.
    pub lower_at: i64,
    /// How much it should be straight.
    pub weight: i64,
}

/// A bend of an upward edge: its lane, and the node and place where it leaves or enters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bend {
    /// The lane.
    pub lane: usize,
    /// The member of the node.
    pub node: usize,
    /// Where on the node.
    pub at: i64,
}

/// The graph in layers.
pub struct Layers {
    /// All members; the first ones are the nodes.
    pub members: Vec<Member>,
    /// The members of each layer, from left to right.
    pub layers: Vec<Vec<usize>>,
    /// Connections between layers.
    pub links: Vec<Link>,
    /// Where upward edges leave their nodes.
    pub leaving: Vec<Bend>,
    /// Where upward edges enter their nodes.
    pub entering: Vec<Bend>,
    /// Which edges go through each of them, by number.
    pub users: Users,
}

/// The numbers of the edges that share a link or bend, in the order of [`Layers`]' lists.
#[derive(Default)]
pub struct Users {
    /// Of links.
    pub links: Vec<Vec<usize>>,
    /// Of bends where edges leave.
    pub leaving: Vec<Vec<usize>>,
    /// Of bends where edges enter.
    pub entering: Vec<Vec<usize>>,
}

const NODE_MARGIN: i64 = 26;
const LANE_MARGIN: i64 = 16;

/// Puts nodes and lanes into layers.
pub fn build(nodes: &[Node], edges: &[Edge], ranks: &Ranks) -> Layers {
    let mut builder = Builder::new(nodes, ranks);
    for (number, (edge, &up)) in edges.iter().zip(&ranks.upward).enumerate() {
        builder.edge = number;
        if up { builder.upward(edge) } else { builder.downward(edge) }
    }
    builder.finish()
}

struct Builder<'a> {
    nodes: &'a [Node],
    ranks: &'a Ranks,
    built: Layers,
    known: HashMap<(Kind, usize), usize>,
    /// The number of the edge that is being built.
    edge: usize,
}

impl<'a> Builder<'a> {
    fn new(nodes: &'a [Node], ranks: &'a Ranks) -> Self {
        let member = |(n, node): (usize, &Node)| Member {
            kind: Kind::Node(n),
            rank: ranks.of[n],
            width: node.width,
            margin: NODE_MARGIN,
        };
        let members = nodes.iter().enumerate().map(member).collect();
        let built = Layers {
            members,
            layers: vec![],
            links: vec![],
            leaving: vec![],
            entering: vec![],
            users: Users::default(),
        };
        Builder { nodes, ranks, built, known: HashMap::new(), edge: 0 }
    }

    /// The lane or turn of that kind in a layer, made if there is none.
    fn member(&mut self, kind: Kind, rank: usize) -> usize {
        let members = &mut self.built.members;
        *self.known.entry((kind, rank)).or_insert_with(|| {
            members.push(Member { kind, rank, width: 0, margin: LANE_MARGIN });
            members.len() - 1
        })
    }

    /// Links a lower member. `main`: how much this is the way of most packets.
    fn link(&mut self, (upper, upper_at): (usize, i64), (lower, lower_at): (usize, i64), main: i64) {
        let is_lane = |&m: &usize| !matches!(self.built.members[m].kind, Kind::Node(_));
        let weight = match [upper, lower].iter().filter(|m| is_lane(m)).count() {
            0 => main,
            1 => 2,
            _ => 8,
        };
        let link = Link { upper, upper_at, lower, lower_at, weight };
        share(&mut self.built.links, &mut self.built.users.links, link, self.edge);
    }

    /// A node's first output matters more than the others, its only output most: those chains should be straight.
    fn main(&self, from: PortAt) -> i64 {
        match (from.port, self.nodes[from.node].outputs.len()) {
            (_, 1) => 6,
            (0, _) => 3,
            _ => 1,
        }
    }

    fn output(&self, p: PortAt) -> (usize, i64) {
        (p.node, self.nodes[p.node].outputs[p.port])
    }

    fn input(&self, p: PortAt) -> (usize, i64) {
        (p.node, self.nodes[p.node].inputs[p.port])
    }

    fn downward(&mut self, edge: &Edge) {
        let (from, to) = (self.ranks.of[edge.from.node], self.ranks.of[edge.to.node]);
        let mut above = self.output(edge.from);
        for rank in from + 1..to {
            let lane = (self.member(Kind::Down(edge.to), rank), 0);
            self.link(above, lane, 1);
            above = lane;
        }
        self.link(above, self.input(edge.to), self.main(edge.from));
    }

    fn upward(&mut self, edge: &Edge) {
        let (from, to) = (self.ranks.of[edge.from.node], self.ranks.of[edge.to.node]);
        let turn = (self.member(Kind::Turn(edge.to), to - 1), 0);
        self.link(turn, self.input(edge.to), 1);
        let mut above = turn;
        for rank in to..=from {
            let lane = (self.member(Kind::Up(edge.to), rank), 0);
            self.link(above, lane, 1);
            above = lane;
        }
        let turn = (self.member(Kind::Turn(edge.to), from + 1), 0);
        self.link(above, turn, 1);
        self.link(self.output(edge.from), turn, 1);
        let first = self.known[&(Kind::Up(edge.to), to)];
        let (node, at) = self.input(edge.to);
        let bend = Bend { lane: first, node, at };
        share(&mut self.built.entering, &mut self.built.users.entering, bend, self.edge);
        let (node, at) = self.output(edge.from);
        let bend = Bend { lane: above.0, node, at };
        share(&mut self.built.leaving, &mut self.built.users.leaving, bend, self.edge);
    }

    fn finish(mut self) -> Layers {
        let count = self.built.members.iter().map(|m| m.rank + 1).max().unwrap_or(0);
        self.built.layers = vec![Vec::new(); count];
        for (index, member) in self.built.members.iter().enumerate() {
            self.built.layers[member.rank].push(index);
        }
        self.built
    }
}

/// Lets an edge use an item of a list, which is added if it is not there.
fn share<T: PartialEq>(list: &mut Vec<T>, users: &mut Vec<Vec<usize>>, item: T, edge: usize) {
    match list.iter().position(|known| *known == item) {
        Some(at) => users[at].push(edge),
        None => {
            list.push(item);
            users.push(vec![edge]);
        }
    }
}

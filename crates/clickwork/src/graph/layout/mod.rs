//! Layered drawing of a directed graph whose nodes have ports: Sugiyama's method.
//!
//! Nodes get ranks from top to bottom ([`ranks`]), long edges get lanes between the nodes of the ranks they pass
//! ([`lanes`]), nodes and lanes get an order in each rank that crosses few edges ([`order`]), then places ([`columns`]),
//! and edges become curves ([`route`]); this for each connected part ([`parts`]). Edges that close a circle run upwards, in lanes of their own.
//!
//! Edges into the same port share lanes, as wires join in a drawing by hand. This module knows nothing of routers.

mod columns;
mod lanes;
mod order;
mod parts;
mod ranks;
mod route;
mod simplex;

/// Where a node may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pin {
    /// Anywhere.
    Free,
    /// Above all others.
    Top,
    /// Below all others.
    Bottom,
}

/// A box with ports: inputs on its upper edge, outputs on its lower one.
#[derive(Clone, Debug)]
pub struct Node {
    /// Size.
    pub width: i64,
    /// Size.
    pub height: i64,
    /// Distance of each input from the left edge.
    pub inputs: Vec<i64>,
    /// Distance of each output from the left edge.
    pub outputs: Vec<i64>,
    /// Where it may stand.
    pub pin: Pin,
}

/// A port of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PortAt {
    /// The node.
    pub node: usize,
    /// The input or output.
    pub port: usize,
}

/// An edge from an output to an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    /// The output.
    pub from: PortAt,
    /// The input.
    pub to: PortAt,
}

/// A place in the drawing; y grows downwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// From the left.
    pub x: i64,
    /// From the top.
    pub y: i64,
}

/// A piece of a curve, from where the last one ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A straight line to a point.
    Line(Point),
    /// A cubic curve: two control points and the end.
    Curve(Point, Point, Point),
}

/// A curve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Where it begins.
    pub start: Point,
    /// How it goes on.
    pub pieces: Vec<Piece>,
    /// The node it arrives at, if it ends at one and not where it joins another curve.
    pub arrives: Option<usize>,
    /// The numbers of the edges that it is part of.
    pub edges: Vec<usize>,
}

/// A finished layout.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Size of the whole.
    pub width: i64,
    /// Size of the whole.
    pub height: i64,
    /// Upper left corner of each node.
    pub places: Vec<Point>,
    /// The curves of all edges.
    pub routes: Vec<Route>,
}

/// Lays a graph out, its connected parts side by side.
pub fn layout(nodes: &[Node], edges: &[Edge]) -> Layout {
    parts::side_by_side(nodes, edges, |nodes, edges| {
        let ranks = ranks::assign(nodes, edges);
        let mut layers = lanes::build(nodes, edges, &ranks);
        order::reduce_crossings(&mut layers);
        let xs = columns::assign(&layers);
        route::draw(nodes, &layers, &xs)
    })
}

impl Point {
    /// The point moved by a distance.
    pub fn plus(self, by: Point) -> Point {
        Point { x: self.x + by.x, y: self.y + by.y }
    }
}

impl Route {
    /// The curve moved by a distance.
    pub fn moved(&self, by: Point) -> Route {
        let piece = |p: &Piece| match *p {
            Piece::Line(a) => Piece::Line(a.plus(by)),
            Piece::Curve(a, b, c) => Piece::Curve(a.plus(by), b.plus(by), c.plus(by)),
        };
        Route {
            start: self.start.plus(by),
            pieces: self.pieces.iter().map(piece).collect(),
            arrives: self.arrives,
            edges: self.edges.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn node(inputs: usize, outputs: usize, width: i64) -> Node {
        let spread = |n: usize| (0..n).map(|i| width * (i as i64 + 1) / (n as i64 + 1)).collect();
        Node { width, height: 30, inputs: spread(inputs), outputs: spread(outputs), pin: Pin::Free }
    }

    fn edge(a: usize, i: usize, b: usize, j: usize) -> Edge {
        Edge { from: PortAt { node: a, port: i }, to: PortAt { node: b, port: j } }
    }

    #[test]
    fn a_chain_is_a_straight_column() {
        let nodes = [node(0, 1, 80), node(1, 1, 120), node(1, 0, 60)];
        let l = layout(&nodes, &[edge(0, 0, 1, 0), edge(1, 0, 2, 0)]);
        let middle = |n: usize| l.places[n].x + nodes[n].width / 2;
        assert!(middle(0) == middle(1) && middle(1) == middle(2));
        assert!(l.places[0].y < l.places[1].y && l.places[1].y < l.places[2].y);
        assert_eq!(l.routes.iter().filter_map(|r| r.arrives).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn an_edge_that_closes_a_circle_goes_round_the_nodes() {
        let nodes = [node(1, 1, 80), node(1, 2, 80), node(1, 0, 80)];
        let l = layout(&nodes, &[edge(0, 0, 1, 0), edge(1, 0, 2, 0), edge(1, 1, 0, 0)]);
        assert!(l.places[0].y < l.places[1].y && l.places[1].y < l.places[2].y);
        let back = l.routes.iter().find(|r| r.arrives == Some(0)).unwrap();
        assert!(back.pieces.iter().any(|p| matches!(p, Piece::Curve(..))));
    }

    proptest! {
        #[test]
        fn nodes_never_overlap_and_every_edge_arrives(
            sizes in prop::collection::vec(20i64..150, 1..9),
            raw in prop::collection::vec((0usize..9, 0usize..3, 0usize..9, 0usize..3), 0..14),
        ) {
            let n = sizes.len();
            let nodes: Vec<Node> = sizes.iter().map(|&w| node(3, 3, w)).collect();
            let mut edges: Vec<Edge> =
                raw.into_iter().map(|(a, i, b, j)| edge(a % n, i, b % n, j)).collect();
            edges.sort();
            edges.dedup();
            let l = layout(&nodes, &edges);
            for a in 0..n {
                let (p, q) = (l.places[a], &nodes[a]);
                prop_assert!(p.x >= 0 && p.x + q.width <= l.width && p.y >= 0 && p.y + q.height <= l.height);
                for (r, s) in l.places.iter().zip(&nodes).take(a) {
                    prop_assert!(
                        p.x + q.width < r.x || r.x + s.width < p.x || p.y + q.height < r.y || r.y + s.height < p.y
                    );
                }
            }
            for (number, e) in edges.iter().enumerate() {
                let top = Point {
                    x: l.places[e.to.node].x + nodes[e.to.node].inputs[e.to.port],
                    y: l.places[e.to.node].y,
                };
                let arrives = |r: &Route| {
                    r.arrives == Some(e.to.node)
                        && r.edges.contains(&number)
                        && matches!(r.pieces.last(), Some(Piece::Line(p) | Piece::Curve(_, _, p)) if *p == top)
                };
                prop_assert!(l.routes.iter().any(arrives));
            }
        }
    }
}

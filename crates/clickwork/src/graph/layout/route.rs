//! Vertical places, and the curves of the edges.
//!
//! Within the band of a rank an edge runs straight down its lane, so it cannot touch a node; between two bands it may go
//! where it likes, in a curve that begins and ends vertically.

use super::lanes::{Bend, Kind, Layers, Link};
use super::{Layout, Node, Piece, Point, Route};

/// Least distance between two ranks.
const GAP: i64 = 38;
/// Greatest distance.
const WIDEST_GAP: i64 = 90;
/// The last bit of the way to a node is straight, for the arrowhead.
const STRAIGHT_END: i64 = 7;

/// The band of a rank.
#[derive(Clone, Copy)]
struct Band {
    top: i64,
    bottom: i64,
}

/// Draws the layers.
pub fn draw(nodes: &[Node], layers: &Layers, xs: &[i64]) -> Layout {
    let bands = bands(nodes, layers, xs);
    let place = |n: usize| {
        let band = bands[layers.members[n].rank];
        Point { x: xs[n], y: band.top + (band.bottom - band.top - nodes[n].height) / 2 }
    };
    let places: Vec<Point> = (0..nodes.len()).map(place).collect();
    let artist = Artist { nodes, layers, xs, bands: &bands, places: &places };
    let width = layers.members.iter().zip(xs).map(|(m, x)| x + m.width).max().unwrap_or(0);
    let height = bands.last().map_or(0, |b| b.bottom);
    let routes = artist.routes();
    Layout { width, height, places, routes }
}

/// The bands from top to bottom; the gaps are wider where edges go far to the side.
fn bands(nodes: &[Node], layers: &Layers, xs: &[i64]) -> Vec<Band> {
    let mut bands = Vec::new();
    let mut top = 0;
    for (rank, layer) in layers.layers.iter().enumerate() {
        let height = |&m: &usize| match layers.members[m].kind {
            Kind::Node(n) => nodes[n].height,
            _ => 0,
        };
        let bottom = top + layer.iter().map(height).max().unwrap_or(0);
        bands.push(Band { top, bottom });
        top = bottom + gap(layers, xs, rank);
    }
    bands
}

fn gap(layers: &Layers, xs: &[i64], rank: usize) -> i64 {
    let here = layers.links.iter().filter(|l| layers.members[l.upper].rank == rank);
    let farthest = here.map(|l| (xs[l.upper] + l.upper_at - xs[l.lower] - l.lower_at).abs()).max();
    (GAP + farthest.unwrap_or(0) / 14).min(WIDEST_GAP)
}

struct Artist<'a> {
    nodes: &'a [Node],
    layers: &'a Layers,
    xs: &'a [i64],
    bands: &'a [Band],
    places: &'a [Point],
}

impl Artist<'_> {
    fn routes(&self) -> Vec<Route> {
        let Layers { links, leaving, entering, users, .. } = self.layers;
        let of = |mut route: Route, edges: &Vec<usize>| {
            route.edges.clone_from(edges);
            route
        };
        let links = links.iter().zip(&users.links).filter_map(|(l, edges)| Some(of(self.link(l)?, edges)));
        let leaving = leaving.iter().zip(&users.leaving).map(|(b, edges)| of(self.leaving(b), edges));
        let entering = entering.iter().zip(&users.entering).map(|(b, edges)| of(self.entering(b), edges));
        links.chain(leaving).chain(entering).collect()
    }

    fn band(&self, member: usize) -> Band {
        self.bands[self.layers.members[member].rank]
    }

    fn kind(&self, member: usize) -> Kind {
        self.layers.members[member].kind
    }

    /// The curve of a link, with the way through the band of the lane it leads to. Turns are drawn by their bends.
    fn link(&self, l: &Link) -> Option<Route> {
        let is_turn = |m: usize| matches!(self.kind(m), Kind::Turn(_));
        if is_turn(l.upper) || is_turn(l.lower) {
            return None;
        }
        let (a, b) = (self.xs[l.upper] + l.upper_at, self.xs[l.lower] + l.lower_at);
        let (upper, lower) = (self.band(l.upper), self.band(l.lower));
        let (high, low) = (Point { x: a, y: upper.bottom }, Point { x: b, y: lower.top });
        if let Kind::Up(_) = self.kind(l.lower) {
            let above = Point { x: a, y: upper.top };
            return Some(Route {
                start: low,
                pieces: vec![curve(low, high), Piece::Line(above)],
                arrives: None,
                edges: Vec::new(),
            });
        }
        let start = self.lower_end(l.upper, a);
        let straight = if matches!(self.kind(l.lower), Kind::Node(_)) { STRAIGHT_END } else { 0 };
        let mut pieces = vec![Piece::Line(high), curve(high, Point { x: b, y: lower.top - straight })];
        let arrives = match self.kind(l.lower) {
            Kind::Node(n) => {
                pieces.push(Piece::Line(Point { x: b, y: self.places[n].y }));
                Some(n)
            }
            _ => {
                pieces.push(Piece::Line(Point { x: b, y: lower.bottom }));
                None
            }
        };
        Some(Route { start, pieces, arrives, edges: Vec::new() })
    }

    /// The lower end of a member: a node's lower edge, or the bottom of a lane's band.
    fn lower_end(&self, member: usize, x: i64) -> Point {
        match self.kind(member) {
            Kind::Node(n) => Point { x, y: self.places[n].y + self.nodes[n].height },
            _ => Point { x, y: self.band(member).bottom },
        }
    }

    /// Down out of a node, round, and up its lane to the top of the band.
    fn leaving(&self, &Bend { lane, node, at }: &Bend) -> Route {
        let (x, up) = (self.xs[node] + at, self.xs[lane]);
        let band = self.band(node);
        let out = Point { x, y: band.bottom };
        let pieces = vec![
            Piece::Line(out),
            turn(out, Point { x: up, y: band.bottom }, depth(x, up)),
            Piece::Line(Point { x: up, y: band.top }),
        ];
        Route { start: self.lower_end(node, x), pieces, arrives: None, edges: Vec::new() }
    }

    /// Out of the top of a lane, round, and down into a node.
    fn entering(&self, &Bend { lane, node, at }: &Bend) -> Route {
        let (x, up) = (self.xs[node] + at, self.xs[lane]);
        let band = self.band(node);
        let (start, down) = (Point { x: up, y: band.top }, Point { x, y: band.top });
        let end = Point { x, y: self.places[node].y };
        let pieces = vec![turn(start, down, -depth(x, up)), Piece::Line(end)];
        Route { start, pieces, arrives: Some(node), edges: Vec::new() }
    }
}

/// A curve that begins and ends vertically.
fn curve(from: Point, to: Point) -> Piece {
    let middle = (to.y - from.y) / 2;
    Piece::Curve(Point { x: from.x, y: from.y + middle }, Point { x: to.x, y: to.y - middle }, to)
}

/// How far a turn reaches: wide turns farther than narrow ones, so that those into one lane do not cross.
fn depth(from: i64, to: i64) -> i64 {
    16 + ((from - to).abs() / 16).min(24)
}

/// A curve that ends in the direction opposite to its start, `depth` away (upwards if negative).
fn turn(from: Point, to: Point, depth: i64) -> Piece {
    Piece::Curve(Point { x: from.x, y: from.y + depth }, Point { x: to.x, y: to.y + depth }, to)
}

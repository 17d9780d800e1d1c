//! Horizontal places: links as straight as possible, neighbours at their distance (Gansner et al. §4.2).

use super::lanes::Layers;
use super::simplex::{Edge, solve};

/// The left edge of each member.
pub fn assign(layers: &Layers) -> Vec<i64> {
    let members = layers.members.len();
    let mut springs = Vec::new();
    for layer in &layers.layers {
        for pair in layer.windows(2) {
            let (a, b) = (&layers.members[pair[0]], &layers.members[pair[1]]);
            springs.push(Edge::new(pair[0], pair[1], a.width + (a.margin + b.margin) / 2, 0));
        }
    }
    // A link is two springs from a point of its own, which settles where both ends are equally far: no sign is needed.
    for (n, link) in layers.links.iter().enumerate() {
        let shift = link.lower_at - link.upper_at;
        springs.push(Edge::new(members + n, link.upper, shift.max(0), link.weight));
        springs.push(Edge::new(members + n, link.lower, (-shift).max(0), link.weight));
    }
    let mut xs = solve(members + layers.links.len(), &springs);
    xs.truncate(members);
    let first = xs.iter().copied().min().unwrap_or(0);
    xs.iter_mut().for_each(|x| *x -= first);
    xs
}

/// The length of all links in the best places for the present order, by weight.
pub fn length(layers: &Layers) -> i64 {
    let xs = assign(layers);
    let one = |l: &super::lanes::Link| (xs[l.upper] + l.upper_at - xs[l.lower] - l.lower_at).abs() * l.weight;
    layers.links.iter().map(one).sum()
}

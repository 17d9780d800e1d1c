//! The order of each layer: sweeps down and up put each member near those it is linked to, then neighbours are swapped
//! where that helps.
//!
//! Of the orders that the sweeps come by, the one wins that has few crossings and, once its members have places, short
//! links: of two orders that cross equally often, the straighter one is the better picture.

use super::columns;
use super::lanes::Layers;

const SWEEPS: usize = 16;
/// How much detour a crossing is worth, in units of length times weight.
const CROSSING: i64 = 150;
/// Orders with so many more crossings than the best one are not looked at closely.
const SLACK: usize = 3;
/// Orders that are looked at closely.
const CANDIDATES: usize = 12;
/// Larger graphs get fewer sweeps and candidates: about so many members are handled in all.
const EFFORT: usize = 10_000;

/// Reorders the layers.
pub fn reduce_crossings(layers: &mut Layers) {
    let sides = Sides::new(layers);
    let affordable = 1 + EFFORT / (1 + layers.members.len());
    let mut found: Vec<(usize, Vec<Vec<usize>>)> = Vec::new();
    for (leftmost_first, ties) in [(true, false), (false, false), (true, true), (false, true)] {
        walk_order(layers, &sides, leftmost_first);
        for sweep in 0..=SWEEPS.min(affordable) {
            if sweep > 0 {
                sort_all(layers, &sides, sweep % 2 == 1);
                swap_neighbours(layers, &sides, ties);
            }
            if !found.iter().any(|(_, order)| *order == layers.layers) {
                found.push((crossings(layers, &sides), layers.layers.clone()));
            }
        }
    }
    found.sort_by_key(|(count, _)| *count);
    let fewest = found.first().map_or(0, |f| f.0);
    let close = found.into_iter().take(CANDIDATES.min(affordable)).filter(|f| f.0 <= fewest + SLACK);
    let best = close.min_by_key(|(count, order)| {
        layers.layers.clone_from(order);
        columns::length(layers) + CROSSING * *count as i64
    });
    if let Some((_, order)) = best {
        layers.layers = order;
    }
}

/// The links of each member, by the side they are on.
struct Sides {
    /// (other member, where on this member, where on the other).
    up: Vec<Vec<(usize, i64, i64)>>,
    down: Vec<Vec<(usize, i64, i64)>>,
}

impl Sides {
    fn new(layers: &Layers) -> Sides {
        let mut sides = Sides {
            up: vec![Vec::new(); layers.members.len()],
            down: vec![Vec::new(); layers.members.len()],
        };
        for l in &layers.links {
            sides.down[l.upper].push((l.lower, l.upper_at, l.lower_at));
            sides.up[l.lower].push((l.upper, l.lower_at, l.upper_at));
        }
        for list in sides.up.iter_mut().chain(&mut sides.down) {
            list.sort_by_key(|&(other, here, _)| (here, other));
        }
        sides
    }
}

/// A first order: as a walk from the top meets the members, those at the leftmost ports first or last; so connected
/// parts stand together.
fn walk_order(layers: &mut Layers, sides: &Sides, leftmost_first: bool) {
    let mut seen = vec![false; layers.members.len()];
    let mut order: Vec<Vec<usize>> = vec![Vec::new(); layers.layers.len()];
    let mut starts: Vec<usize> = layers.layers.iter().flatten().copied().collect();
    starts.sort_by_key(|&m| (layers.members[m].rank, m));
    for start in starts {
        let mut stack = vec![start];
        while let Some(member) = stack.pop() {
            if std::mem::replace(&mut seen[member], true) {
                continue;
            }
            order[layers.members[member].rank].push(member);
            for links in [&sides.up[member], &sides.down[member]] {
                let mut near: Vec<usize> = links.iter().map(|l| l.0).filter(|&m| !seen[m]).collect();
                if leftmost_first {
                    near.reverse();
                }
                stack.extend(near);
            }
        }
    }
    if !leftmost_first {
        order.iter_mut().for_each(|layer| layer.reverse());
    }
    layers.layers = order;
}

/// Where each member stands in its layer.
fn positions(layers: &Layers) -> Vec<usize> {
    let mut position = vec![0; layers.members.len()];
    for layer in &layers.layers {
        layer.iter().enumerate().for_each(|(at, &m)| position[m] = at);
    }
    position
}

/// The place of a link's far end: the member's position, and the port's within it.
fn end(layers: &Layers, position: &[usize], member: usize, at: i64) -> f64 {
    position[member] as f64 + (at + 1) as f64 / (layers.members[member].width + 2) as f64
}

fn sort_all(layers: &mut Layers, sides: &Sides, downwards: bool) {
    let count = layers.layers.len();
    let ranks: Vec<usize> =
        if downwards { (1..count).collect() } else { (0..count.saturating_sub(1)).rev().collect() };
    let links = if downwards { &sides.up } else { &sides.down };
    let mut position = positions(layers);
    for rank in ranks {
        let middle = |&m: &usize| {
            let ends: Vec<f64> = links[m].iter().map(|&(o, _, at)| end(layers, &position, o, at)).collect();
            match ends.is_empty() {
                true => None,
                false => Some(ends.iter().sum::<f64>() / ends.len() as f64),
            }
        };
        let keyed: Vec<(usize, Option<f64>)> = layers.layers[rank].iter().map(|m| (*m, middle(m))).collect();
        layers.layers[rank] = sort_around_fixed(keyed);
        layers.layers[rank].iter().enumerate().for_each(|(at, &m)| position[m] = at);
    }
}

/// Sorts the members that have a key; the others keep their places.
fn sort_around_fixed(keyed: Vec<(usize, Option<f64>)>) -> Vec<usize> {
    let mut movable: Vec<(usize, f64)> = keyed.iter().filter_map(|&(m, key)| key.map(|k| (m, k))).collect();
    movable.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut movable = movable.into_iter();
    keyed
        .into_iter()
        .map(|(m, key)| if key.is_some() { movable.next().map_or(m, |x| x.0) } else { m })
        .collect()
}

/// Swaps neighbours as long as that saves crossings; with `ties`, also where it costs none, which leads to other orders.
fn swap_neighbours(layers: &mut Layers, sides: &Sides, ties: bool) {
    let mut position = positions(layers);
    for _ in 0..8 {
        let mut improved = false;
        for rank in 0..layers.layers.len() {
            for at in 1..layers.layers[rank].len() {
                let (a, b) = (layers.layers[rank][at - 1], layers.layers[rank][at]);
                let count = |l, r| {
                    pair_crossings(layers, &sides.up, &position, l, r)
                        + pair_crossings(layers, &sides.down, &position, l, r)
                };
                let (swapped, now) = (count(b, a), count(a, b));
                if swapped < now || (ties && swapped == now && now > 0) {
                    layers.layers[rank].swap(at - 1, at);
                    (position[a], position[b]) = (at, at - 1);
                    improved |= swapped < now;
                }
            }
        }
        if !improved {
            return;
        }
    }
}

/// Crossings between the links of two members of a layer when `left` stands left of `right`.
fn pair_crossings(
    layers: &Layers,
    links: &[Vec<(usize, i64, i64)>],
    position: &[usize],
    left: usize,
    right: usize,
) -> usize {
    let ends = |m: usize| links[m].iter().map(move |&(o, _, at)| end(layers, position, o, at));
    ends(left).map(|l| ends(right).filter(|&r| r < l).count()).sum()
}

/// All crossings.
fn crossings(layers: &Layers, sides: &Sides) -> usize {
    let position = positions(layers);
    let mut count = 0;
    for layer in &layers.layers {
        let ends: Vec<(f64, f64)> = layer
            .iter()
            .flat_map(|&m| sides.down[m].iter().map(move |l| (m, l)))
            .map(|(m, &(o, here, there))| (end(layers, &position, m, here), end(layers, &position, o, there)))
            .collect();
        for (index, a) in ends.iter().enumerate() {
            count += ends[..index].iter().filter(|b| (a.0 - b.0) * (a.1 - b.1) < 0.0).count();
        }
    }
    count
}

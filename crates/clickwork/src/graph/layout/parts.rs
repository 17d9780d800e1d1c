//! Connected parts: each is laid out by itself, so that none is stretched by another, and they are put side by side.

use super::{Edge, Layout, Node, Pin, Point, PortAt};

/// Distance between parts.
const GAP: i64 = 44;
/// A row of parts gets no longer than this, or than its longest part.
const ROW: i64 = 1800;

/// Lays each connected part out with `lay_out` and joins the results.
pub fn side_by_side(nodes: &[Node], edges: &[Edge], lay_out: impl Fn(&[Node], &[Edge]) -> Layout) -> Layout {
    let nowhere = Point { x: 0, y: 0 };
    let mut whole = Layout { width: 0, height: 0, places: vec![nowhere; nodes.len()], routes: Vec::new() };
    // Rows would part nodes that have to be at the top or bottom from it.
    let one_row = nodes.iter().any(|n| n.pin != Pin::Free);
    let (mut at, mut row_height) = (nowhere, 0);
    for group in groups(nodes.len(), edges) {
        let (own_edges, part) = lay_out_group(&group, nodes, edges, &lay_out);
        if at.x > 0 && at.x + part.width > ROW && !one_row {
            at = Point { x: 0, y: at.y + row_height + GAP };
            row_height = 0;
        }
        for (&node, place) in group.iter().zip(&part.places) {
            whole.places[node] = place.plus(at);
        }
        for route in &part.routes {
            let mut route = route.moved(at);
            route.arrives = route.arrives.map(|n| group[n]);
            route.edges.iter_mut().for_each(|e| *e = own_edges[*e]);
            whole.routes.push(route);
        }
        whole.width = whole.width.max(at.x + part.width);
        whole.height = whole.height.max(at.y + part.height);
        row_height = row_height.max(part.height);
        at.x += part.width + GAP;
    }
    whole
}

/// The layout of a part, and which edges it has.
fn lay_out_group(
    group: &[usize],
    nodes: &[Node],
    edges: &[Edge],
    lay_out: impl Fn(&[Node], &[Edge]) -> Layout,
) -> (Vec<usize>, Layout) {
    let own: Vec<Node> = group.iter().map(|&n| nodes[n].clone()).collect();
    let number = |p: PortAt| group.binary_search(&p.node).ok().map(|node| PortAt { node, ..p });
    let edge = |e: &Edge| Some(Edge { from: number(e.from)?, to: number(e.to)? });
    let inside = edges.iter().enumerate().filter_map(|(n, e)| Some((n, edge(e)?)));
    let (numbers, edges): (Vec<usize>, Vec<Edge>) = inside.unzip();
    (numbers, lay_out(&own, &edges))
}

/// The connected parts, each sorted, in the order of their first nodes.
fn groups(nodes: usize, edges: &[Edge]) -> Vec<Vec<usize>> {
    let mut near = vec![Vec::new(); nodes];
    for e in edges {
        near[e.from.node].push(e.to.node);
        near[e.to.node].push(e.from.node);
    }
    let mut seen = vec![false; nodes];
    let mut groups = Vec::new();
    for start in 0..nodes {
        let (mut group, mut stack) = (Vec::new(), vec![start]);
        while let Some(node) = stack.pop() {
            if !std::mem::replace(&mut seen[node], true) {
                group.push(node);
                stack.extend(&near[node]);
            }
        }
        if !group.is_empty() {
            group.sort_unstable();
            groups.push(group);
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_what_edges_connect() {
        let edge = |(a, b)| Edge { from: PortAt { node: a, port: 0 }, to: PortAt { node: b, port: 0 } };
        let edges: Vec<Edge> = [(4, 0), (1, 3), (3, 1)].map(edge).into();
        assert_eq!(groups(5, &edges), [vec![0, 4], vec![1, 3], vec![2]]);
    }
}

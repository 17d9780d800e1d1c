//! Small route tables as Rust text, for the fast path of the lookup elements: a tree of comparisons.
//!
//! Not the tables themselves: a text is made of what a table answers, and forgotten when the table changes. The outputs
//! stand in the leaves, so that code behind an output can follow its leaf without another jump.

use super::lookup::{Hop, RouteTable};
use clickwork_packet::addr::Ipv4Address;
use std::fmt::Write;

/// The most routes that are worth a text: beyond, comparisons are wrongly predicted too often.
pub(crate) const ROUTES: usize = 64;

/// Neighbouring addresses from `first` on that have the same hop, up to the next piece.
#[derive(Debug, PartialEq)]
struct Piece {
    first: u32,
    hop: Option<Hop>,
}

/// The text of a fast path that looks up what the table does, and leaves to the element what it has no route to or what
/// its `outputs` do not include. `None` if there are too many routes, or masks with holes.
pub fn text(table: &impl RouteTable, outputs: u32) -> Option<String> {
    if table.len() > ROUTES {
        return None;
    }
    let mut body = String::new();
    let leaves: Vec<_> = pieces(table, outputs)?
        .into_iter()
        .map(|Piece { first, hop }| {
            (format!("{first:#010x}"), Ipv4Address::from_bits(first).to_string(), leaf(hop))
        })
        .collect();
    write_tree(&mut body, &leaves, 1);
    Some(format!(
        "//! A route table: set the gateway and choose the output.\n\n\
         use clickwork_packet::Packet;\n\n\
         /// What the code knows of the element is in its text.\n\
         pub struct Constants;\n\n\
         /// Packets that have a route.\n\
         #[inline(always)]\n\
         #[allow(unused_variables)]\n\
         pub fn fast(_: &Constants, p: &mut Packet) -> Option<u16> {{\n    \
             let to = p.dst_ip().to_bits();\n{body}}}\n"
    ))
}

/// All addresses in order, as few pieces.
fn pieces(table: &impl RouteTable, outputs: u32) -> Option<Vec<Piece>> {
    let mut borders = vec![0];
    for route in table.routes() {
        let prefix = route.prefix();
        prefix.prefix_len()?;
        borders.push(prefix.network().address.to_bits());
        borders.extend(prefix.broadcast().to_bits().checked_add(1));
    }
    borders.sort_unstable();
    let hop_of = |first| table.lookup(Ipv4Address::from_bits(first)).filter(|hop| hop.port < outputs);
    let mut pieces: Vec<_> = borders.into_iter().map(|first| Piece { first, hop: hop_of(first) }).collect();
    pieces.dedup_by_key(|piece| piece.hop);
    Some(pieces)
}

/// Writes the choice among pieces, of which there is at least one: the first address of each, as a number and for people,
/// and its leaf.
pub(crate) fn write_tree(out: &mut String, pieces: &[(String, String, String)], depth: usize) {
    let indent = "    ".repeat(depth);
    let (lower, upper) = pieces.split_at(pieces.len() / 2);
    let _ = match lower {
        [] => writeln!(out, "{indent}{}", pieces[0].2),
        _ => {
            let (border, address, _) = &upper[0];
            let _ = writeln!(out, "{indent}if to < {border} {{ // {address}");
            write_tree(out, lower, depth + 1);
            let _ = writeln!(out, "{indent}}} else {{");
            write_tree(out, upper, depth + 1);
            writeln!(out, "{indent}}}")
        }
    };
}

fn leaf(hop: Option<Hop>) -> String {
    let Some(Hop { gateway, port }) = hop else { return "None".to_string() };
    if gateway.is_unspecified() {
        return format!("Some({port})");
    }
    let bits = gateway.to_bits();
    format!(
        "{{ p.set_dst_ip(clickwork_packet::addr::Ipv4Address::from_bits({bits:#010x})); Some({port}) }} // {gateway}"
    )
}

#[cfg(test)]
mod tests {
    use super::super::lookup::{LinearTable, Route, StaticTable};
    use super::*;
    use clickwork_packet::addr::Ipv4Prefix;

    fn route(prefix: Ipv4Prefix, port: u32) -> Route {
        Route::new(prefix, Ipv4Address::UNSPECIFIED, port)
    }

    #[test]
    fn neighbours_with_the_same_hop_are_one_piece() {
        let mut table = StaticTable::default();
        for (octet, port) in [(0, 1), (64, 1), (128, 2), (192, 7)] {
            let prefix = Ipv4Prefix::with_len(Ipv4Address::new(octet, 0, 0, 0), 2);
            table.insert(route(prefix, port), false).unwrap();
        }
        let found = pieces(&table, 3).unwrap();
        let firsts: Vec<_> = found.iter().map(|p| (p.first >> 24, p.hop.map(|h| h.port))).collect();
        assert_eq!(firsts, [(0, Some(1)), (128, Some(2)), (192, None)]);
    }

    #[test]
    fn many_routes_and_masks_with_holes_have_no_text() {
        let mut table = StaticTable::default();
        for n in 0..65 {
            assert!(text(&table, 1).is_some(), "{n} routes");
            table.insert(route(Ipv4Prefix::host(Ipv4Address::from_bits(n)), 0), false).unwrap();
        }
        assert_eq!(text(&table, 1), None);
        let mut table = LinearTable::default();
        let holes = Ipv4Prefix::new(Ipv4Address::new(0, 0, 0, 1), Ipv4Address::new(255, 0, 0, 255));
        table.insert(route(holes, 0), false).unwrap();
        assert_eq!(text(&table, 1), None);
    }
}

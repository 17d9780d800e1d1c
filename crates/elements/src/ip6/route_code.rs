//! Small IPv6 route tables as Rust text, for the fast path of LookupIP6Route: a tree of comparisons, as IPv4 tables have.

use super::lookup::{Hop, Table};
use crate::ip::route_code::{ROUTES, write_tree};
use clickwork_packet::addr::{Ipv6Address, Ipv6Prefix};

/// The text of a fast path that looks up what the table does, and leaves to the element what it has no route to or what
/// its `outputs` do not include. `None` if there are too many routes.
pub fn text(table: &Table, outputs: u32) -> Option<String> {
    if table.len() > ROUTES {
        return None;
    }
    let mut body = String::new();
    let leaves: Vec<_> = pieces(table, outputs)
        .into_iter()
        .map(|(first, hop)| (format!("{first:#034x}"), Ipv6Address::from_bits(first).to_string(), leaf(hop)))
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
             let to = p.dst_ip6().to_bits();\n{body}}}\n"
    ))
}

/// All addresses in order, as few pieces: the first address of each, and its hop.
fn pieces(table: &Table, outputs: u32) -> Vec<(u128, Option<Hop>)> {
    let mut borders = vec![0];
    for prefix in table.routes().map(|route| route.prefix()) {
        borders.push(prefix.address().to_bits());
        borders.extend(last(prefix).checked_add(1));
    }
    borders.sort_unstable();
    let hop_of = |first| table.lookup(Ipv6Address::from_bits(first)).filter(|hop| hop.port < outputs);
    let mut pieces: Vec<_> = borders.into_iter().map(|first| (first, hop_of(first))).collect();
    pieces.dedup_by_key(|piece| piece.1);
    pieces
}

fn last(prefix: Ipv6Prefix) -> u128 {
    prefix.address().to_bits() | !prefix.mask().to_bits()
}

fn leaf(hop: Option<Hop>) -> String {
    let Some(Hop { gateway, port }) = hop else { return "None".to_string() };
    if gateway.is_unspecified() {
        return format!("Some({port})");
    }
    let bits = gateway.to_bits();
    format!(
        "{{ p.set_dst_ip6(clickwork_packet::addr::Ipv6Address::from_bits({bits:#034x})); Some({port}) }} // {gateway}"
    )
}

#[cfg(test)]
mod tests {
    use super::super::lookup::Route;
    use super::*;

    #[test]
    fn neighbours_with_the_same_hop_are_one_piece() {
        let mut table = Table::default();
        for (prefix, port) in [("::/2", 1), ("4000::/2", 1), ("8000::/2", 2), ("c000::/2", 7)] {
            table.insert(Route::new(prefix.parse().unwrap(), Ipv6Address::UNSPECIFIED, port)).unwrap();
        }
        let found: Vec<_> =
            pieces(&table, 3).iter().map(|(first, hop)| (first >> 120, hop.map(|h| h.port))).collect();
        assert_eq!(found, [(0, Some(1)), (128, Some(2)), (192, None)]);
    }

    #[test]
    fn many_routes_have_no_text() {
        let mut table = Table::default();
        for n in 0..65 {
            assert!(text(&table, 1).is_some(), "{n} routes");
            let prefix = Ipv6Prefix::new(Ipv6Address::from_bits(n), 128);
            table.insert(Route::new(prefix, Ipv6Address::UNSPECIFIED, 0)).unwrap();
        }
        assert_eq!(text(&table, 1), None);
    }
}

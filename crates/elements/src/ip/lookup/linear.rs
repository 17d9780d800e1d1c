//! Linear search: no structure at all. Slow with many routes, right with any masks.

use super::indexed::Index;
use super::route::{Hop, Route, RouteError};
use super::store::RouteStore;
use clickwork_packet::addr::{Ipv4Address, Ipv4Prefix};

/// Searches the whole record on each lookup.
///
/// The first route that holds the address stands until a later one holds it too and has all the mask bits of the standing
/// one. For masks of leading ones this is the longest prefix; for masks with holes the order decides where neither mask
/// includes the other.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scan;

impl Index for Scan {
    fn accept(&self, _prefix: Ipv4Prefix) -> Result<(), RouteError> {
        Ok(())
    }

    fn inserted(&mut self, _route: &Route, _old: Option<&Route>, _store: &RouteStore) {}

    fn removed(&mut self, _route: &Route, _store: &RouteStore) {}

    fn lookup(&self, address: Ipv4Address, store: &RouteStore) -> Option<Hop> {
        let holding = store.iter().filter(|route| route.prefix().contains(address));
        let best = holding.reduce(|best, route| {
            if route.prefix().mask.mask_as_specific(best.prefix().mask) { route } else { best }
        });
        best.map(|route| route.hop)
    }
}

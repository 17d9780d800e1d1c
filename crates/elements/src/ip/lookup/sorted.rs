//! A list with the most specific routes first, so that a search ends at the first hit.

use super::indexed::Index;
use super::printed::Order;
use super::route::{Hop, Route, RouteError};
use super::store::RouteStore;
use clickwork_packet::addr::{Ipv4Address, Ipv4Prefix};

/// The routes ordered by the number of bits in their masks, most first, then by age.
///
/// A mask that includes another has more bits, so this order is right for masks with holes too.
#[derive(Clone, Debug, Default)]
pub struct MostSpecificFirst {
    routes: Vec<Route>,
}

fn mask_bits(route: &Route) -> u32 {
    route.prefix().mask.to_bits().count_ones()
}

impl Index for MostSpecificFirst {
    const ORDER: Order = Order::Contained;

    fn accept(&self, _prefix: Ipv4Prefix) -> Result<(), RouteError> {
        Ok(())
    }

    fn inserted(&mut self, route: &Route, old: Option<&Route>, store: &RouteStore) {
        if let Some(old) = old {
            self.removed(old, store);
        }
        let place = self.routes.partition_point(|other| mask_bits(other) >= mask_bits(route));
        self.routes.insert(place, *route);
    }

    fn removed(&mut self, route: &Route, _store: &RouteStore) {
        self.routes.retain(|other| other.prefix() != route.prefix());
    }

    fn lookup(&self, address: Ipv4Address, _store: &RouteStore) -> Option<Hop> {
        self.routes.iter().find(|route| route.prefix().contains(address)).map(|route| route.hop)
    }
}

//! The order in which Click's tables print their routes.
//!
//! Only for reading: no lookup depends on it. Most tables print the places of their record one after another; some walk a
//! structure of their own, whose order configurations that print the table have come to expect.

use super::route::Route;
use super::store::RouteStore;
use clickwork_packet::addr::Ipv4Prefix;
use std::cmp::Reverse;

/// How a table prints its routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By their places in the record.
    Places,
    /// By the bucket of the prefix in Click's hash table, the newest first in each.
    Buckets,
    /// Each after all the more specific routes that it contains.
    Contained,
}

impl Order {
    /// The routes of a record in this order.
    pub fn of(self, store: &RouteStore) -> Vec<Route> {
        let routes: Vec<Route> = store.iter().copied().collect();
        match self {
            Self::Places => routes,
            Self::Buckets => by_bucket(routes),
            Self::Contained => contained_first(&routes),
        }
    }
}

fn by_bucket(routes: Vec<Route>) -> Vec<Route> {
    let mut numbered: Vec<_> = routes.into_iter().enumerate().collect();
    // The default route has been in its bucket since before all others.
    numbered.sort_by_cached_key(|(place, route)| {
        (bucket(route.prefix()), route.prefix().prefix_len() == Some(0), Reverse(*place))
    });
    numbered.into_iter().map(|(_, route)| route).collect()
}

/// The bucket, of 65536, that a prefix has in the tables of Click's DirectIPLookup and RangeIPLookup.
fn bucket(prefix: Ipv4Prefix) -> u32 {
    let address = prefix.address.to_bits();
    let len = u32::from(prefix.prefix_len().unwrap_or(0));
    let mixed = address ^ len << 5 ^ (address >> (len >> 2)).wrapping_sub(len);
    let folded = mixed ^ mixed >> 23 ^ (mixed >> 15).wrapping_mul(len) ^ (address >> 17).wrapping_mul(53);
    // A shift by 32 is one by 0 on the processors that Click runs on.
    let spread = folded.wrapping_shr(len).wrapping_mul(7) ^ (folded >> 11).wrapping_mul(103);
    let hash = folded.wrapping_sub(address >> 3 ^ spread);
    (hash ^ hash >> 17) & 0xFFFF
}

/// Sorts topologically: a route that waits for no other one comes next, and behind it those that waited for it alone.
fn contained_first(routes: &[Route]) -> Vec<Route> {
    let contains = |outer: usize, inner: usize| {
        let (outer, inner) = (routes[outer].prefix(), routes[inner].prefix());
        outer != inner && outer.mask.to_bits() & !inner.mask.to_bits() == 0 && outer.contains(inner.address)
    };
    let all = 0..routes.len();
    let mut waits: Vec<usize> =
        all.clone().map(|i| all.clone().filter(|&j| contains(i, j)).count()).collect();
    let mut order: Vec<usize> = Vec::with_capacity(routes.len());
    for start in all.clone().filter(|&i| waits[i] == 0).collect::<Vec<_>>() {
        let mut next = order.len();
        order.push(start);
        while next < order.len() {
            for outer in all.clone().filter(|&outer| contains(outer, order[next])).collect::<Vec<_>>() {
                waits[outer] -= 1;
                if waits[outer] == 0 {
                    order.push(outer);
                }
            }
            next += 1;
        }
    }
    order.into_iter().map(|i| routes[i]).collect()
}

#[cfg(test)]
mod tests {
    use super::super::store::Reuse;
    use super::*;

    fn printed(order: Order, prefixes: &[&str]) -> Vec<String> {
        let mut store = RouteStore::new(Reuse::First);
        for text in prefixes {
            store.insert(Route::new(text.parse().unwrap(), Default::default(), 0), false).unwrap();
        }
        order.of(&store).iter().map(|route| route.prefix().to_string()).collect()
    }

    #[test]
    fn a_route_comes_after_those_that_it_contains() {
        assert_eq!(
            printed(Order::Contained, &["0/0", "10/8", "20/8", "10.1/16", "20.1/16", "10.2/16"]),
            ["10.1.0.0/16", "20.1.0.0/16", "20.0.0.0/8", "10.2.0.0/16", "10.0.0.0/8", "0.0.0.0/0"]
        );
    }

    #[test]
    fn every_route_is_printed_once_in_every_order() {
        let prefixes = ["10.0.0.0/8", "0.0.0.0/0", "10.0.0.2/32", "10.0.0.0/24", "18.0.0.0/6"];
        for order in [Order::Places, Order::Buckets, Order::Contained] {
            let mut lines = printed(order, &prefixes);
            lines.sort_unstable();
            assert_eq!(lines, ["0.0.0.0/0", "10.0.0.0/24", "10.0.0.0/8", "10.0.0.2/32", "16.0.0.0/6"]);
        }
    }

    /// Worked out by hand from the steps of the hash.
    #[test]
    fn buckets_follow_the_bits_of_the_prefix() {
        assert_eq!(bucket("0/0".parse().unwrap()), 0);
        assert_eq!(printed(Order::Buckets, &["10/8", "0/0"]), ["0.0.0.0/0", "10.0.0.0/8"]);
    }
}

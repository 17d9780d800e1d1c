//! All routes at once: a table so small that comparing with every route is the fastest way.

use super::route::{Hop, Route};
use clickwork_packet::addr::Ipv4Address;

/// How many routes fit.
pub const CAPACITY: usize = 16;

/// Up to [`CAPACITY`] routes, most specific first, in arrays that vector instructions compare without a branch.
#[derive(Clone, Debug)]
pub struct FewRoutes {
    masks: [u32; CAPACITY],
    addresses: [u32; CAPACITY],
    hops: [Option<Hop>; CAPACITY],
}

impl Default for FewRoutes {
    fn default() -> Self {
        // In a free place, no address under the mask 0 is 1.
        Self { masks: [0; CAPACITY], addresses: [1; CAPACITY], hops: [None; CAPACITY] }
    }
}

impl FewRoutes {
    /// The table of at most [`CAPACITY`] routes with masks of leading ones.
    pub fn new<'a>(routes: impl Iterator<Item = &'a Route>) -> Self {
        let mut sorted: Vec<&Route> = routes.collect();
        sorted.sort_by_key(|route| std::cmp::Reverse(route.prefix().mask));
        let mut table = Self::default();
        for (place, route) in sorted.into_iter().enumerate() {
            table.masks[place] = route.prefix().mask.to_bits();
            table.addresses[place] = route.prefix().address.to_bits();
            table.hops[place] = Some(route.hop);
        }
        table
    }

    /// Where packets to `address` go.
    #[inline]
    pub fn lookup(&self, address: Ipv4Address) -> Option<Hop> {
        let address = address.to_bits();
        let mut holding = 0u32;
        for place in 0..CAPACITY {
            holding |= u32::from(address & self.masks[place] == self.addresses[place]) << place;
        }
        self.hops.get(holding.trailing_zeros() as usize).copied().flatten()
    }
}

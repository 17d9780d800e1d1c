//! All routes at once: a table so small that comparing with every route is the fastest way.

use super::route::{Hop, Route};
use clickwork_packet::addr::Ipv4Address;

/// How many routes fit.
pub const CAPACITY: usize = 16;

/// Routes that are compared together, as many as fit a vector register of any x86-64 or ARM processor.
const LANES: usize = 4;

/// Up to [`CAPACITY`] routes, most specific first, compared without a branch that depends on the address.
#[derive(Clone, Debug, Default)]
pub struct FewRoutes {
    blocks: Vec<Block>,
    hops: Vec<Hop>,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    masks: [u32; LANES],
    addresses: [u32; LANES],
}

impl Block {
    /// Routes that hold no address: under the mask 0 none is 1.
    const EMPTY: Self = Self { masks: [0; LANES], addresses: [1; LANES] };

    /// One bit for each route that holds the address, the first lowest.
    #[inline]
    fn holding(&self, address: u32) -> u32 {
        let lane = |i: usize| if address & self.masks[i] == self.addresses[i] { 1u32 << i } else { 0 };
        lane(0) | lane(1) | lane(2) | lane(3)
    }
}

impl FewRoutes {
    /// The table of at most [`CAPACITY`] routes with masks of leading ones.
    pub fn new<'a>(routes: impl Iterator<Item = &'a Route>) -> Self {
        let mut sorted: Vec<&Route> = routes.collect();
        sorted.sort_by_key(|route| std::cmp::Reverse(route.prefix().mask));
        let blocks = sorted.chunks(LANES).map(|routes| {
            let mut block = Block::EMPTY;
            for (lane, route) in routes.iter().enumerate() {
                block.masks[lane] = route.prefix().mask.to_bits();
                block.addresses[lane] = route.prefix().address.to_bits();
            }
            block
        });
        Self { blocks: blocks.collect(), hops: sorted.iter().map(|route| route.hop).collect() }
    }

    /// Where packets to `address` go.
    #[inline]
    pub fn lookup(&self, address: Ipv4Address) -> Option<Hop> {
        let address = address.to_bits();
        let mut holding = 0u32;
        for (i, block) in self.blocks.iter().enumerate() {
            holding |= block.holding(address) << (i * LANES);
        }
        self.hops.get(holding.trailing_zeros() as usize).copied()
    }
}

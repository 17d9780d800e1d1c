//! All routes at once: a table so small that comparing with every route is the fastest way.

use super::{Hop, Route};

/// How many routes fit.
pub const CAPACITY: usize = 16;

/// Up to [`CAPACITY`] routes, most specific first, compared without a branch that depends on the address.
#[derive(Clone, Debug, Default)]
pub struct FewRoutes {
    /// Masks and addresses, in halves.
    rules: Vec<([u64; 2], [u64; 2])>,
    hops: Vec<Hop>,
}

fn halves(bits: u128) -> [u64; 2] {
    [(bits >> 64) as u64, bits as u64]
}

impl FewRoutes {
    /// The table of at most [`CAPACITY`] routes.
    pub fn new<'a>(routes: impl Iterator<Item = &'a Route>) -> Self {
        let mut sorted: Vec<&Route> = routes.collect();
        sorted.sort_by_key(|route| std::cmp::Reverse(route.prefix().prefix_len()));
        let rule = |route: &&Route| {
            (halves(route.prefix().mask().to_bits()), halves(route.prefix().address().to_bits()))
        };
        Self {
            rules: sorted.iter().map(rule).collect(),
            hops: sorted.iter().map(|route| route.hop).collect(),
        }
    }

    /// Where packets to `address` go.
    #[inline]
    pub fn lookup(&self, address: u128) -> Option<Hop> {
        let [high, low] = halves(address);
        let mut holding = 0u32;
        for (i, (mask, prefix)) in self.rules.iter().enumerate() {
            let differs = (high & mask[0] ^ prefix[0]) | (low & mask[1] ^ prefix[1]);
            holding |= u32::from(differs == 0) << i;
        }
        self.hops.get(holding.trailing_zeros() as usize).copied()
    }
}

//! Two hosts that talk, whoever began, and the order in which tables of such pairs are walked.

use clickwork_packet::addr::Ipv4Address;
use std::collections::HashMap;

/// Two addresses, in an order of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HostPair {
    /// The one that comes first.
    pub a: Ipv4Address,
    /// The other.
    pub b: Ipv4Address,
}

/// The address as the number by which Click orders and hashes it: its bytes, the first being the lowest.
fn number(address: Ipv4Address) -> u32 {
    u32::from_le_bytes(address.octets())
}

impl HostPair {
    /// The pair of two hosts.
    pub fn new(x: Ipv4Address, y: Ipv4Address) -> HostPair {
        if number(x) > number(y) { HostPair { a: y, b: x } } else { HostPair { a: x, b: y } }
    }

    fn hash(&self) -> u32 {
        let a = number(self.a);
        (a << 12).wrapping_add(number(self.b)).wrapping_add(a >> 20 & 0x1f)
    }
}

/// When pairs were first seen. Tables are walked in the order of Click's hash table, so that what is written at the end
/// comes in the order that Click's users know.
#[derive(Default)]
pub struct PairOrder {
    seen: HashMap<HostPair, u64>,
    next: u64,
}

const FIRST_BUCKETS: usize = 63;

impl PairOrder {
    /// Notes a pair.
    pub fn note(&mut self, pair: HostPair) {
        if let std::collections::hash_map::Entry::Vacant(entry) = self.seen.entry(pair) {
            entry.insert(self.next);
            self.next += 1;
        }
    }

    /// Forgets a pair.
    pub fn forget(&mut self, pair: &HostPair) {
        self.seen.remove(pair);
    }

    /// The pairs in order: by bucket, in a bucket the last first.
    pub fn pairs(&self) -> Vec<HostPair> {
        let mut buckets = FIRST_BUCKETS;
        while self.seen.len() > 2 * buckets {
            buckets = 2 * buckets + 1;
        }
        let mut pairs: Vec<HostPair> = self.seen.keys().copied().collect();
        pairs.sort_by_key(|pair| (pair.hash() as usize % buckets, std::cmp::Reverse(self.seen[pair])));
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_the_same_in_both_directions() {
        let (x, y) = (Ipv4Address::new(10, 0, 0, 1), Ipv4Address::new(9, 0, 0, 2));
        assert_eq!(HostPair::new(x, y), HostPair::new(y, x));
        assert_eq!(HostPair::new(x, y).a, x);
    }

    #[test]
    fn pairs_are_walked_by_bucket() {
        let mut order = PairOrder::default();
        let pair = |n: u8| HostPair::new(Ipv4Address::new(0, 0, 0, 0), Ipv4Address::new(n, 0, 0, 0));
        for n in [64, 3, 1, 2] {
            order.note(pair(n));
        }
        assert_eq!(order.pairs(), [pair(1), pair(64), pair(2), pair(3)]);
        order.forget(&pair(2));
        assert_eq!(order.pairs().len(), 3);
    }
}

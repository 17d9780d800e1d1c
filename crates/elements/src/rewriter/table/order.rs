//! The order in which Click lists mappings: that of its hash table, which shows in what handlers print.
//!
//! Click's table has chains in 2^k-1 buckets, at first 63. A new entry goes to the head of its chain. When there are more
//! than two entries to a bucket, all are moved to a larger table, chain by chain, again each to the head. So the order
//! follows from the order of arrival and from the moments of growth, which are noted here.

use super::super::flow_id::FlowId;
use std::collections::VecDeque;

/// What is known of Click's table of the same mappings.
pub struct Order {
    /// Entries: two of each flow.
    entries: usize,
    buckets: usize,
    /// The flow after whose arrival the table grew, and the buckets from then on.
    growths: Vec<(u64, usize)>,
}

/// Buckets at first.
const FIRST: usize = 63;

impl Default for Order {
    fn default() -> Order {
        Order { entries: 0, buckets: FIRST, growths: Vec::new() }
    }
}

/// Click's hash of a flow, whose addresses it sees in network byte order on a little-endian machine.
fn hash(id: &FlowId) -> u64 {
    let rotated = |address: u32, by: u32| {
        let address = address.swap_bytes();
        u64::from(address) << by | u64::from(address.checked_shr(32 - by).unwrap_or(address))
    };
    let (s, d) = (id.source_port, id.destination_port);
    let ports = (i32::from(d) << 16 | i32::from(s)) as i64 as u64;
    rotated(id.source, u32::from(s % 16)) ^ rotated(id.destination, u32::from(31 - d % 16)) ^ ports
}

impl Order {
    /// Notes that flow number `born` arrived.
    pub fn add(&mut self, born: u64) {
        self.entries += 2;
        if self.entries > 2 * self.buckets {
            self.buckets = 2 * self.buckets + 1;
            self.growths.push((born, self.buckets));
        }
    }

    /// Notes that a flow was removed.
    pub fn remove(&mut self) {
        self.entries = self.entries.saturating_sub(2);
    }

    /// Sorts entries, each with the number of its flow and given in the order of arrival, as Click lists them.
    pub fn list<'a, T>(&self, entries: impl Iterator<Item = (u64, &'a FlowId, T)>) -> Vec<T> {
        let mut table: Chains<T> = chains(FIRST);
        let mut growths = self.growths.iter().peekable();
        for (born, id, entry) in entries {
            while let Some((_, buckets)) = growths.next_if(|(after, _)| *after < born) {
                table = moved(table, *buckets);
            }
            insert(&mut table, hash(id), entry);
        }
        for (_, buckets) in growths {
            table = moved(table, *buckets);
        }
        table.into_iter().flatten().map(|(_, entry)| entry).collect()
    }
}

type Chains<T> = Vec<VecDeque<(u64, T)>>;

fn chains<T>(buckets: usize) -> Chains<T> {
    (0..buckets).map(|_| VecDeque::new()).collect()
}

fn insert<T>(table: &mut Chains<T>, hash: u64, entry: T) {
    let bucket = (hash % table.len() as u64) as usize;
    table[bucket].push_front((hash, entry));
}

fn moved<T>(old: Chains<T>, buckets: usize) -> Chains<T> {
    let mut new = chains(buckets);
    old.into_iter().flatten().for_each(|(hash, entry)| insert(&mut new, hash, entry));
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_are_in_the_order_of_click() {
        // Ports 0 and no rotation of sources: the hash is the source in network order, if the destination is 0.
        let id = |source: u32| FlowId { source: source.swap_bytes(), ..FlowId::default() };
        assert_eq!(hash(&id(77)), 77);
        let ids: Vec<FlowId> = [5, 68, 1, 131, 62].map(id).into();
        let mut order = Order::default();
        let list = |order: &Order| {
            order
                .list(ids.iter().enumerate().map(|(n, id)| (n as u64, id, n)))
                .into_iter()
                .collect::<Vec<_>>()
        };
        // 5, 68 and 131 share a chain: the last is first.
        assert_eq!(list(&order), [2, 3, 1, 0, 4]);
        // After a growth to 127 buckets when all had come, 131 is in bucket 4, and 68 is on its own.
        order.growths.push((10, 127));
        assert_eq!(list(&order), [2, 3, 0, 4, 1]);
    }

    #[test]
    fn it_grows_beyond_two_entries_to_a_bucket() {
        let mut order = Order::default();
        (0..63).for_each(|n| order.add(n));
        assert!(order.growths.is_empty());
        order.remove();
        order.add(63);
        order.add(64);
        assert_eq!(order.growths, [(64, 127)]);
    }

    #[test]
    fn the_hash_is_that_of_click() {
        // Computed by hand: 10.0.0.1 is 0x0100000a in memory order; 1111 % 16 is 7, 53 % 16 is 5, so shifts of 7 and 26; of the first,
        // no bits come back in.
        let id = FlowId::new("10.0.0.1".parse().unwrap(), 1111, "9.9.9.9".parse().unwrap(), 53);
        let source = 0x0100_000Au64 << 7;
        let destination = (0x0909_0909u64 << 26) | (0x0909_0909 >> 6);
        assert_eq!(hash(&id), source ^ destination ^ (53 << 16 | 1111));
        let high = FlowId { destination_port: 0x8000, ..FlowId::default() };
        assert_eq!(hash(&high), 0xFFFF_FFFF_8000_0000);
    }
}

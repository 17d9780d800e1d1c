//! A table with an entry for each station (or other key) that was heard, listed in the order of Click's HashMap, so that
//! handlers print what they print there.
//!
//! What strangers send makes entries, so the table has a limit: then the entry made longest ago gives way.

use clickwork_packet::addr::{EtherAddress, Ipv4Address};
use std::collections::VecDeque;

/// The number that decides where Click's hash tables have a key.
pub trait HashCode: Copy + PartialEq {
    /// The number.
    fn hash_code(self) -> u64;
}

impl HashCode for EtherAddress {
    fn hash_code(self) -> u64 {
        let [a, b, c, d, e, f] = self.0;
        let part = |low, high| u64::from(u16::from_le_bytes([low, high]));
        (part(e, f) | part(c, d) << 16) ^ part(a, b) << 9
    }
}

impl HashCode for Ipv4Address {
    fn hash_code(self) -> u64 {
        u64::from(u32::from_le_bytes(self.octets()))
    }
}

impl<T: HashCode> HashCode for (T, T) {
    fn hash_code(self) -> u64 {
        self.0.hash_code().wrapping_add(self.1.hash_code())
    }
}

/// Entries that a table may have.
pub const LIMIT: usize = 16_384;
/// Chains of a new table, and the most.
const FEW_CHAINS: usize = 127;
const MANY_CHAINS: usize = 32_767;
/// Entries for each chain before there are more chains.
const ENTRIES_A_CHAIN: usize = 3;

#[derive(Clone, Debug)]
struct Entry<K, V> {
    key: K,
    value: V,
    number: u64,
}

/// The table.
#[derive(Clone, Debug)]
pub struct StationMap<K, V> {
    /// In each chain the newest entry is last; it is listed first.
    chains: Vec<Vec<Entry<K, V>>>,
    /// Keys and numbers of entries in the order in which they were made; some may have been removed.
    made: VecDeque<(K, u64)>,
    next_number: u64,
    length: usize,
    limit: usize,
}

impl<K: HashCode, V> Default for StationMap<K, V> {
    fn default() -> Self {
        StationMap::bounded(LIMIT)
    }
}

impl<K: HashCode, V> StationMap<K, V> {
    /// A table with another limit.
    pub fn bounded(limit: usize) -> Self {
        let chains = std::iter::repeat_with(Vec::new).take(FEW_CHAINS).collect();
        StationMap { chains, made: VecDeque::new(), next_number: 0, length: 0, limit }
    }

    fn chain(&self, key: K) -> usize {
        (key.hash_code() % self.chains.len() as u64) as usize
    }

    /// Entries.
    pub fn len(&self) -> usize {
        self.length
    }

    /// The value of a key.
    pub fn get(&self, key: K) -> Option<&V> {
        self.chains[self.chain(key)].iter().find(|e| e.key == key).map(|e| &e.value)
    }

    /// The value of a key, to change.
    pub fn get_mut(&mut self, key: K) -> Option<&mut V> {
        let chain = self.chain(key);
        self.chains[chain].iter_mut().find(|e| e.key == key).map(|e| &mut e.value)
    }

    /// The value of a key, made if there is none.
    pub fn entry(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        if self.get(key).is_none() {
            self.add(key, make());
        }
        let chain = self.chain(key);
        let at =
            self.chains[chain].iter().position(|e| e.key == key).expect("it was there or has been added");
        &mut self.chains[chain][at].value
    }

    /// Sets the value of a key.
    pub fn insert(&mut self, key: K, value: V) {
        match self.get_mut(key) {
            Some(slot) => *slot = value,
            None => self.add(key, value),
        }
    }

    fn add(&mut self, key: K, value: V) {
        if self.length >= self.limit {
            self.forget_oldest();
        }
        if self.length >= self.chains.len() * ENTRIES_A_CHAIN && self.chains.len() < MANY_CHAINS {
            self.grow();
        }
        let (chain, number) = (self.chain(key), self.next_number);
        self.chains[chain].push(Entry { key, value, number });
        self.made.push_back((key, number));
        self.next_number += 1;
        self.length += 1;
    }

    fn forget_oldest(&mut self) {
        while let Some((key, number)) = self.made.pop_front() {
            let chain = self.chain(key);
            if let Some(at) = self.chains[chain].iter().position(|e| e.key == key && e.number == number) {
                self.chains[chain].remove(at);
                self.length -= 1;
                return;
            }
        }
    }

    fn grow(&mut self) {
        let more = (self.chains.len() + 1) * 2 - 1;
        let fresh = std::iter::repeat_with(Vec::new).take(more).collect();
        for chain in std::mem::replace(&mut self.chains, fresh) {
            // As Click moves them: first listed, first moved, and so last listed.
            for e in chain.into_iter().rev() {
                let to = self.chain(e.key);
                self.chains[to].push(e);
            }
        }
    }

    /// Removes a key.
    pub fn remove(&mut self, key: K) {
        let chain = self.chain(key);
        let before = self.chains[chain].len();
        self.chains[chain].retain(|e| e.key != key);
        self.length -= before - self.chains[chain].len();
        if self.made.len() > 2 * self.limit {
            let chains = &self.chains;
            let is_there = |&(key, number): &(K, u64)| {
                let chain = (key.hash_code() % chains.len() as u64) as usize;
                chains[chain].iter().any(|e| e.number == number)
            };
            self.made.retain(is_there);
        }
    }

    /// Keeps the entries that pass a test.
    pub fn retain(&mut self, mut keep: impl FnMut(K, &V) -> bool) {
        let gone: Vec<K> =
            self.iter().filter(|(key, value)| !keep(*key, value)).map(|(key, _)| key).collect();
        gone.into_iter().for_each(|key| self.remove(key));
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        self.chains.iter_mut().for_each(Vec::clear);
        self.made.clear();
        self.length = 0;
    }

    /// The entries in Click's order.
    pub fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        self.chains.iter().flat_map(|chain| chain.iter().rev()).map(|e| (e.key, &e.value))
    }

    /// The values in Click's order, to change.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.chains.iter_mut().flat_map(|chain| chain.iter_mut().rev()).map(|e| &mut e.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(n: u32) -> EtherAddress {
        let [a, b, c, d] = n.to_be_bytes();
        EtherAddress([0, 0, a, b, c, d])
    }

    #[test]
    fn entries_are_listed_by_chain_and_the_newest_of_a_chain_first() {
        let mut map = StationMap::default();
        // The last byte counts 256 in the hash, modulo 127 that is 2; 0 and 127 share a chain.
        for last in [127, 2, 1, 0] {
            map.insert(address(last), last);
        }
        let listed: Vec<u32> = map.iter().map(|(_, v)| *v).collect();
        assert_eq!(listed, [0, 127, 1, 2]);
        map.remove(address(0));
        assert_eq!((map.get(address(127)), map.get(address(0)), map.len()), (Some(&127), None, 3));
    }

    #[test]
    fn a_flood_of_stations_displaces_the_oldest() {
        let mut map = StationMap::default();
        for n in 0..3 * LIMIT as u32 {
            map.insert(address(n), n);
            if n % 3 == 0 {
                map.remove(address(n));
                map.insert(address(n), n);
            }
            assert!(map.len() <= LIMIT && map.made.len() <= 3 * LIMIT);
        }
        assert_eq!(map.get(address(0)), None);
        assert_eq!(map.get(address(3 * LIMIT as u32 - 1)), Some(&(3 * LIMIT as u32 - 1)));
        assert_eq!(map.iter().count(), map.len());
    }
}

//! Where stations are: the filtering database of a switch (IEEE 802.1D §7.9), in bounded memory.
//!
//! It knows no element and no clock; times are those of the frames, read as steady times. A full table learns no further station until one of
//! those in it has expired: a flood of forged sources so cannot drive out the stations that are there.

use clickwork_packet::Timestamp;
use clickwork_packet::addr::EtherAddress;
use indexmap::IndexMap;
use std::time::Duration;

/// How many stations a table holds unless told otherwise: at 24 bytes and some for the index, less than 6 MB.
pub const CAPACITY: usize = 1 << 17;
/// How many entries are looked at for one that has expired when a station finds the table full.
const LOOKED_AT: usize = 4;

/// An address as a number, which is hashed in one step.
fn key(address: EtherAddress) -> u64 {
    let [a, b, c, d, e, f] = address.0;
    u64::from_be_bytes([0, 0, a, b, c, d, e, f])
}

fn address_of(key: u64) -> EtherAddress {
    let [_, _, address @ ..] = key.to_be_bytes();
    EtherAddress(address)
}

/// The table. The hash is keyed, so nobody who chooses addresses can make it slow.
#[derive(Debug)]
pub struct Stations {
    table: IndexMap<u64, Station, foldhash::fast::RandomState>,
    capacity: usize,
    /// Where the search for expired entries goes on.
    hand: usize,
    refused: u64,
    ageing: Duration,
    short_ageing: Option<Duration>,
    /// Those not heard since are forgotten: the topology has changed meanwhile.
    forget_before: Timestamp,
}

#[derive(Debug, Clone, Copy)]
struct Station {
    port: u32,
    seen: Timestamp,
}

impl Stations {
    /// An empty table that forgets stations after this time.
    pub fn new(ageing: Duration) -> Stations {
        Stations {
            table: IndexMap::default(),
            capacity: CAPACITY,
            hand: 0,
            refused: 0,
            ageing,
            short_ageing: None,
            forget_before: Timestamp::from_nanos(i64::MIN),
        }
    }

    /// Sets how many stations may be known. Those that are known already stay.
    pub fn set_capacity(&mut self, capacity: usize) {
        self.capacity = capacity;
    }

    /// Sets how long after its last frame a station is forgotten.
    pub fn set_ageing(&mut self, ageing: Duration) {
        self.ageing = ageing;
    }

    /// Sets a shorter time for as long as the topology changes. When it ends, what it made forgotten stays so.
    pub fn set_short_ageing(&mut self, short: Option<Duration>, now: Timestamp) {
        if let (Some(before), None) = (self.short_ageing, short) {
            self.forget_before = now - before;
        }
        self.short_ageing = short;
    }

    /// Known stations, with those that have expired and were not asked for since.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// How often a station was not learned because the table was full.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// A frame came from a station by a port.
    pub fn learn(&mut self, address: EtherAddress, port: usize, now: Timestamp) {
        let (key, station) = (key(address), Station { port: port as u32, seen: now });
        if let Some(known) = self.table.get_mut(&key) {
            *known = station;
        } else if self.table.len() < self.capacity || self.reclaim(now) {
            self.table.insert(key, station);
        } else {
            self.refused += 1;
        }
    }

    /// Removes a few entries that have expired; whether there is room now.
    fn reclaim(&mut self, now: Timestamp) -> bool {
        for _ in 0..LOOKED_AT {
            self.hand = if self.hand < self.table.len() { self.hand } else { 0 };
            match self.table.get_index(self.hand) {
                Some((_, station)) if !self.holds(station, now) => {
                    self.table.swap_remove_index(self.hand);
                }
                _ => self.hand += 1,
            }
        }
        self.table.len() < self.capacity
    }

    fn holds(&self, station: &Station, now: Timestamp) -> bool {
        let ageing = self.short_ageing.map_or(self.ageing, |short| short.min(self.ageing));
        now < station.seen + ageing && station.seen >= self.forget_before
    }

    /// The port of a station; one that has expired is forgotten.
    pub fn find(&mut self, address: EtherAddress, now: Timestamp) -> Option<usize> {
        let key = key(address);
        let station = *self.table.get(&key)?;
        if self.holds(&station, now) {
            return Some(station.port as usize);
        }
        self.table.swap_remove(&key);
        None
    }

    /// The stations in the order of their addresses, with their ports.
    pub fn list(&self) -> Vec<(EtherAddress, usize)> {
        let kept = self.table.iter().filter(|(_, s)| s.seen >= self.forget_before);
        let mut list: Vec<_> = kept.map(|(&key, s)| (address_of(key), s.port as usize)).collect();
        list.sort_unstable();
        list
    }

    /// Takes over what another table knows, but for ports from `ports` on; limits and times stay.
    pub fn take(&mut self, old: &mut Stations, ports: usize) {
        self.table = std::mem::take(&mut old.table);
        self.table.retain(|_, station| (station.port as usize) < ports);
        self.table.truncate(self.capacity);
        (self.forget_before, self.refused) = (old.forget_before, old.refused);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::new(seconds, 0)
    }

    fn address(number: u32) -> EtherAddress {
        let [a, b, c, d] = number.to_be_bytes();
        EtherAddress([2, 0, a, b, c, d])
    }

    fn ten_seconds() -> Stations {
        Stations::new(Duration::from_secs(10))
    }

    #[test]
    fn a_flood_of_addresses_neither_grows_a_full_table_nor_drives_out_who_is_there() {
        let mut s = ten_seconds();
        s.set_capacity(100);
        (0..100).for_each(|n| s.learn(address(n), 1, at(1)));
        let room = s.table.capacity();
        (1000..200_000).for_each(|n| s.learn(address(n), 2, at(2)));
        assert_eq!((s.len(), s.refused(), s.table.capacity()), (100, 199_000, room));
        assert!((0..100).all(|n| s.find(address(n), at(2)) == Some(1)));
    }

    #[test]
    fn a_full_table_finds_room_where_stations_have_expired() {
        let mut s = ten_seconds();
        s.set_capacity(100);
        (0..100).for_each(|n| s.learn(address(n), 1, at(1)));
        // Half of them are heard again.
        (0..50).for_each(|n| s.learn(address(n), 1, at(8)));
        (200..400).for_each(|n| s.learn(address(n), 2, at(12)));
        assert_eq!(s.len(), 100);
        assert_eq!((0..50).filter(|&n| s.find(address(n), at(12)) == Some(1)).count(), 50);
        let new = (200..400).filter(|&n| s.find(address(n), at(12)) == Some(2)).count();
        assert_eq!(new, 50);
    }

    #[test]
    fn what_a_change_of_topology_makes_forgotten_stays_so() {
        let mut s = ten_seconds();
        s.learn(address(1), 1, at(1));
        s.learn(address(2), 1, at(6));
        s.learn(address(3), 1, at(6));
        s.set_short_ageing(Some(Duration::from_secs(2)), at(7));
        assert_eq!((s.find(address(2), at(7)), s.find(address(2), at(8))), (Some(1), None));
        s.set_short_ageing(None, at(8));
        assert_eq!((s.find(address(1), at(8)), s.find(address(3), at(8))), (None, Some(1)));
        assert_eq!(s.list(), [(address(3), 1)]);
    }

    #[test]
    fn a_longer_time_of_change_does_not_prolong() {
        let mut s = ten_seconds();
        s.learn(address(1), 1, at(1));
        s.set_short_ageing(Some(Duration::from_secs(30)), at(2));
        assert_eq!(s.find(address(1), at(11)), None);
    }
}

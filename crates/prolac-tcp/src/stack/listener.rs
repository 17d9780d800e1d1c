//! Listeners: which of them takes a connection, and the connections that wait to be accepted.

use std::collections::VecDeque;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::flow::{Address, Flow, V4};
use super::types::Options;

/// What a listener has besides its TCB.
pub(crate) struct Listener {
    pub place: Place,
    pub options: Options,
    /// Ids of connections that are established and not accepted yet.
    pub queue: VecDeque<u64>,
}

/// Where a listener listens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    /// All zero: any address.
    pub address: Address,
    pub port: u16,
    pub family: u8,
    /// On any IPv6 address, and on any IPv4 address too.
    pub dual: bool,
}

impl Place {
    fn is_any(&self) -> bool {
        self.address == [0; 16]
    }

    fn serves(&self, family: u8) -> bool {
        self.family == family || (self.dual && family == V4)
    }

    /// How well the listener fits a connection; `None` if not at all. An address is better than any address, and a
    /// listener of the family better than one of both.
    fn rank(&self, flow: &Flow) -> Option<u8> {
        if !self.serves(flow.family) || !(self.is_any() || self.address == flow.local) {
            return None;
        }
        Some(2 * u8::from(!self.is_any()) + u8::from(self.family == flow.family))
    }

    /// Whether both would take the same connections.
    pub fn conflicts(&self, other: &Place) -> bool {
        let families = self.serves(other.family) || other.serves(self.family);
        let addresses = self.is_any() || other.is_any() || self.address == other.address;
        self.port == other.port && families && addresses
    }
}

/// Listeners by port: slots and where they listen.
#[derive(Default)]
pub(crate) struct Listeners {
    by_port: HashMap<u16, Vec<(u32, Place)>, RandomState>,
}

impl Listeners {
    pub fn insert(&mut self, slot: u32, place: Place) {
        self.by_port.entry(place.port).or_default().push((slot, place));
    }

    pub fn remove(&mut self, slot: u32, port: u16) {
        if let Some(list) = self.by_port.get_mut(&port) {
            list.retain(|&(other, _)| other != slot);
            if list.is_empty() {
                self.by_port.remove(&port);
            }
        }
    }

    /// The listener for a connection.
    #[inline]
    pub fn lookup(&self, flow: &Flow) -> Option<u32> {
        let list = self.by_port.get(&flow.local_port)?;
        let ranked = list.iter().filter_map(|(slot, place)| Some((place.rank(flow)?, *slot)));
        ranked.max_by_key(|&(rank, _)| rank).map(|(_, slot)| slot)
    }

    /// Listeners that take connections of `place` too.
    pub fn conflicting(&self, place: &Place) -> impl Iterator<Item = u32> {
        let list = self.by_port.get(&place.port).map(Vec::as_slice).unwrap_or_default();
        list.iter().filter(|(_, other)| other.conflicts(place)).map(|&(slot, _)| slot)
    }
}

#[cfg(test)]
mod tests {
    use super::super::flow::{V6, split};
    use super::*;

    fn place(address: &str, port: u16, dual: bool) -> Place {
        let (family, address) = split(address.parse().unwrap());
        Place { address, port, family, dual }
    }

    fn flow(local: &str, port: u16) -> Flow {
        let (family, local) = split(local.parse().unwrap());
        Flow { family, local, remote: [9; 16], local_port: port, remote_port: 7 }
    }

    #[test]
    fn the_closest_listener_takes_a_connection() {
        let mut listeners = Listeners::default();
        listeners.insert(1, place("::", 80, true));
        assert_eq!(listeners.lookup(&flow("10.0.0.1", 80)), Some(1));
        listeners.insert(2, place("0.0.0.0", 80, false));
        listeners.insert(3, place("10.0.0.2", 80, false));
        listeners.insert(4, place("::", 81, false));
        listeners.insert(5, place("fe80::1", 80, false));
        assert_eq!(listeners.lookup(&flow("10.0.0.1", 80)), Some(2));
        assert_eq!(listeners.lookup(&flow("10.0.0.2", 80)), Some(3));
        assert_eq!(listeners.lookup(&flow("fe80::1", 80)), Some(5));
        assert_eq!(listeners.lookup(&flow("fe80::2", 80)), Some(1));
        assert_eq!(listeners.lookup(&flow("10.0.0.1", 81)), None);
        assert_eq!(listeners.lookup(&flow("fe80::2", 81)), Some(4));
        listeners.remove(1, 80);
        assert_eq!(listeners.lookup(&flow("fe80::2", 80)), None);
    }

    #[test]
    fn listeners_conflict_where_both_would_take_a_connection() {
        let any = place("0.0.0.0", 80, false);
        assert!(any.conflicts(&place("::", 80, true)) && place("::", 80, true).conflicts(&any));
        assert!(!any.conflicts(&place("::", 80, false)));
        assert!(any.conflicts(&place("10.0.0.1", 80, false)));
        assert!(!place("10.0.0.2", 80, false).conflicts(&place("10.0.0.1", 80, false)));
        assert!(!any.conflicts(&place("0.0.0.0", 81, false)));
        assert_eq!(place("::", 80, true).family, V6);
    }
}

//! The neighbour cache: which Ethernet address an IPv6 address has, and the packet that waits to know it (RFC 4861 §5.1).
//! It knows no element and no clock.
//!
//! Entries stand in two lines, those that are known and those that are only asked for, each in the order of time, so that
//! the oldest is found at once. Both lines have a limit at all times: an attacker who has packets sent to every address of
//! a network displaces other addresses that are asked for, but none that is known (RFC 6583 §6.2).

use clickwork_packet::addr::{EtherAddress, Ipv6Address};
use clickwork_packet::{Packet, Timestamp};
use std::collections::HashMap;
use std::time::Duration;

/// Limits of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Addresses that are known.
    pub known: u32,
    /// Addresses that are asked for, each with a packet that waits.
    pub asked: u32,
}

/// How long an address is known after it was confirmed, and after what time it should be confirmed again.
const LIFETIME: Duration = Duration::from_secs(120);
const CONFIRM_AFTER: Duration = Duration::from_secs(60);
/// How long an address is asked for.
const PATIENCE: Duration = Duration::from_secs(60);
/// How many questions are asked at once for packets that come at once, and the time between questions after that
/// (RFC 4861 §10, RETRANS_TIMER).
const QUESTIONS_AT_ONCE: u8 = 10;
const QUESTION_INTERVAL: Duration = Duration::from_secs(1);

const NONE: u32 = u32::MAX;

#[derive(Debug)]
struct Entry {
    address: Ipv6Address,
    /// The Ethernet address, if it is known.
    ether: Option<EtherAddress>,
    /// Whether the next packet makes it be asked for again.
    confirm: bool,
    questions: u8,
    asked: Timestamp,
    /// When it joined its line.
    since: Timestamp,
    /// In which order entries were made.
    number: u64,
    waiting: Option<Packet>,
    older: u32,
    newer: u32,
}

/// What the cache says about an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// It is known; `ask` says that it should be asked for again, to confirm it.
    Known {
        /// The address.
        ether: EtherAddress,
        /// Whether to ask.
        ask: bool,
    },
    /// It is not known.
    Unknown,
}

/// What became of an advertisement.
pub enum Learned {
    /// The address is known now: whether it was another before, and the packet that waited.
    Known {
        /// Whether it was another before.
        changed: bool,
        /// The packet that waited.
        waiting: Option<Packet>,
    },
    /// Nobody asked, or another address is known that the advertisement does not override.
    Ignored,
}

/// The ends of a line of entries.
#[derive(Debug)]
struct Line {
    oldest: u32,
    newest: u32,
    len: u32,
}

impl Default for Line {
    fn default() -> Line {
        Line { oldest: NONE, newest: NONE, len: 0 }
    }
}

/// The cache.
#[derive(Debug, Default)]
pub struct NeighborCache {
    limits: Option<Limits>,
    /// The hash is keyed, so nobody who chooses addresses can make it slow.
    index: HashMap<u128, u32, foldhash::fast::RandomState>,
    entries: Vec<Entry>,
    free: Vec<u32>,
    /// Those that are asked for, and those that are known.
    lines: [Line; 2],
    made: u64,
    lost: u64,
}

const ASKED: usize = 0;
const KNOWN: usize = 1;

impl NeighborCache {
    /// Sets the limits; until then there are none.
    pub fn limit(&mut self, limits: Limits) {
        self.limits = Some(limits);
    }

    /// Takes the entries of another cache; the limits stay.
    pub fn take_entries(&mut self, other: &mut NeighborCache) {
        let limits = self.limits;
        std::mem::swap(self, other);
        self.limits = limits;
    }

    /// Entries.
    pub fn count(&self) -> usize {
        self.index.len()
    }

    /// Packets that waited in vain.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Looks an address up.
    #[inline]
    pub fn lookup(&mut self, address: Ipv6Address) -> Answer {
        let Some(&i) = self.index.get(&address.to_bits()) else { return Answer::Unknown };
        let e = &mut self.entries[i as usize];
        match e.ether {
            Some(ether) => Answer::Known { ether, ask: std::mem::take(&mut e.confirm) },
            None => Answer::Unknown,
        }
    }

    /// Lets a packet wait for an address that is not known, in the place of one that does. Returns whether to ask.
    pub fn wait(&mut self, address: Ipv6Address, p: Packet, now: Timestamp) -> bool {
        let i = self.ensure(address, now);
        self.make_room(ASKED);
        let e = &mut self.entries[i as usize];
        self.lost += u64::from(e.waiting.replace(p).is_some());
        let ask = e.questions < QUESTIONS_AT_ONCE || now >= e.asked + QUESTION_INTERVAL;
        if ask {
            (e.questions, e.asked) = (e.questions.saturating_add(1), now);
        }
        ask
    }

    /// Learns from an advertisement, if the address has been asked for or is known (RFC 4861 §7.2.5).
    pub fn learn(
        &mut self,
        address: Ipv6Address,
        ether: EtherAddress,
        overrides: bool,
        now: Timestamp,
    ) -> Learned {
        let Some(&i) = self.index.get(&address.to_bits()) else { return Learned::Ignored };
        let before = self.entries[i as usize].ether;
        let changed = before.is_some_and(|b| b != ether);
        if changed && !overrides {
            self.entries[i as usize].confirm = true;
            return Learned::Ignored;
        }
        Learned::Known { changed, waiting: self.know(i, ether, now) }
    }

    /// Enters an address and returns the packet that waited for it.
    pub fn insert(&mut self, address: Ipv6Address, ether: EtherAddress, now: Timestamp) -> Option<Packet> {
        let i = self.ensure(address, now);
        self.know(i, ether, now)
    }

    fn know(&mut self, i: u32, ether: EtherAddress, now: Timestamp) -> Option<Packet> {
        self.unlink(i);
        let e = &mut self.entries[i as usize];
        (e.ether, e.confirm, e.questions) = (Some(ether), false, 0);
        let waiting = e.waiting.take();
        self.link(i, now);
        self.make_room(KNOWN);
        waiting
    }

    /// Forgets an address.
    pub fn remove(&mut self, address: Ipv6Address) {
        if let Some(&i) = self.index.get(&address.to_bits()) {
            self.remove_entry(i);
        }
    }

    /// Forgets everything; packets that waited are lost.
    pub fn clear(&mut self) {
        for line in [ASKED, KNOWN] {
            while self.lines[line].oldest != NONE {
                self.remove_entry(self.lines[line].oldest);
            }
        }
    }

    /// Removes entries whose time is over, and marks those that should be confirmed.
    pub fn expire(&mut self, now: Timestamp) {
        for (line, time) in [(ASKED, PATIENCE), (KNOWN, LIFETIME)] {
            while let Some(e) = self.entries.get(self.lines[line].oldest as usize)
                && now > e.since + time
            {
                self.remove_entry(self.lines[line].oldest);
            }
        }
        let mut i = self.lines[KNOWN].oldest;
        while let Some(e) = self.entries.get_mut(i as usize)
            && now > e.since + CONFIRM_AFTER
        {
            (e.confirm, i) = (true, e.newer);
        }
    }

    /// The table in Click's form and order: by the first and the last byte of addresses, then the latest entry first.
    pub fn print(&self) -> String {
        let mut list: Vec<&Entry> = self.index.values().map(|&i| &self.entries[i as usize]).collect();
        list.sort_by_key(|e| {
            let octets = e.address.octets();
            (octets[0].wrapping_add(octets[15]), std::cmp::Reverse(e.number))
        });
        let line = |e: &Entry| {
            format!("{} {} {}\n", e.address, u8::from(e.ether.is_some()), e.ether.unwrap_or_default())
        };
        list.into_iter().map(line).collect()
    }

    /// The entry of an address, made if there is none.
    fn ensure(&mut self, address: Ipv6Address, now: Timestamp) -> u32 {
        if let Some(&i) = self.index.get(&address.to_bits()) {
            return i;
        }
        self.made += 1;
        let entry = Entry {
            address,
            ether: None,
            confirm: false,
            questions: 0,
            asked: now,
            since: now,
            number: self.made,
            waiting: None,
            older: NONE,
            newer: NONE,
        };
        let i = match self.free.pop() {
            Some(i) => {
                self.entries[i as usize] = entry;
                i
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
        };
        self.index.insert(address.to_bits(), i);
        self.link(i, now);
        i
    }

    fn line_of(&self, i: u32) -> usize {
        if self.entries[i as usize].ether.is_some() { KNOWN } else { ASKED }
    }

    /// Puts an entry at the end of its line.
    fn link(&mut self, i: u32, now: Timestamp) {
        let line = self.line_of(i);
        let before = std::mem::replace(&mut self.lines[line].newest, i);
        let e = &mut self.entries[i as usize];
        (e.older, e.newer, e.since) = (before, NONE, now);
        match before {
            NONE => self.lines[line].oldest = i,
            b => self.entries[b as usize].newer = i,
        }
        self.lines[line].len += 1;
    }

    /// Removes the oldest entries of a line that is too long.
    fn make_room(&mut self, line: usize) {
        let limit = self.limits.map_or(u32::MAX, |l| if line == KNOWN { l.known } else { l.asked });
        while self.lines[line].len > limit.max(1) {
            self.remove_entry(self.lines[line].oldest);
        }
    }

    fn unlink(&mut self, i: u32) {
        let line = self.line_of(i);
        let (older, newer) = (self.entries[i as usize].older, self.entries[i as usize].newer);
        match older {
            NONE => self.lines[line].oldest = newer,
            o => self.entries[o as usize].newer = newer,
        }
        match newer {
            NONE => self.lines[line].newest = older,
            n => self.entries[n as usize].older = older,
        }
        self.lines[line].len -= 1;
    }

    fn remove_entry(&mut self, i: u32) {
        self.unlink(i);
        let e = &mut self.entries[i as usize];
        self.lost += u64::from(e.waiting.take().is_some());
        self.index.remove(&e.address.to_bits());
        self.free.push(i);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(n: u128) -> Ipv6Address {
        Ipv6Address::from_bits(0x2001 << 112 | n)
    }

    fn ether(n: u8) -> EtherAddress {
        EtherAddress([2, 0, 0, 0, 0, n])
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::new(1000 + seconds, 0)
    }

    #[test]
    fn floods_displace_what_is_asked_for_but_not_what_is_known() {
        let mut cache = NeighborCache::default();
        cache.limit(Limits { known: 100, asked: 10 });
        for n in 0..100 {
            cache.insert(address(n), ether(1), at(0));
        }
        for n in 1000..5000 {
            cache.wait(address(n), Packet::new(b"x"), at(1));
        }
        assert_eq!((cache.count(), cache.lost()), (110, 3990));
        assert!((0..100).all(|n| cache.lookup(address(n)) != Answer::Unknown));
        // One more that is known displaces the oldest.
        cache.insert(address(100), ether(1), at(2));
        assert_eq!((cache.lookup(address(0)), cache.count()), (Answer::Unknown, 110));
        assert!(cache.entries.len() <= 112);
    }

    #[test]
    fn a_known_address_is_confirmed_after_a_minute_and_forgotten_after_two() {
        let mut cache = NeighborCache::default();
        cache.insert(address(1), ether(1), at(0));
        let known = |ask| Answer::Known { ether: ether(1), ask };
        cache.expire(at(60));
        assert_eq!(cache.lookup(address(1)), known(false));
        cache.expire(at(61));
        assert_eq!([cache.lookup(address(1)), cache.lookup(address(1))], [known(true), known(false)]);
        cache.expire(at(121));
        assert_eq!(cache.count(), 0);
    }

    #[test]
    fn questions_are_asked_at_a_limited_rate() {
        let mut cache = NeighborCache::default();
        let asked = (0..100).filter(|_| cache.wait(address(1), Packet::new(b"x"), at(0))).count();
        assert_eq!((asked, cache.lost()), (10, 99));
        assert!(cache.wait(address(1), Packet::new(b"x"), at(1)));
        assert!(!cache.wait(address(1), Packet::new(b"x"), at(1)));
        cache.expire(at(61));
        assert_eq!((cache.count(), cache.lost()), (0, 102));
    }

    #[test]
    fn an_address_changes_only_if_told_to() {
        let mut cache = NeighborCache::default();
        assert!(matches!(cache.learn(address(1), ether(1), true, at(0)), Learned::Ignored));
        cache.wait(address(1), Packet::new(b"x"), at(0));
        let learned = cache.learn(address(1), ether(1), false, at(0));
        assert!(matches!(learned, Learned::Known { changed: false, waiting: Some(_) }));
        assert!(matches!(cache.learn(address(1), ether(2), false, at(0)), Learned::Ignored));
        // But the known one is put to the proof.
        assert_eq!(cache.lookup(address(1)), Answer::Known { ether: ether(1), ask: true });
        let learned = cache.learn(address(1), ether(2), true, at(0));
        assert!(matches!(learned, Learned::Known { changed: true, waiting: None }));
        cache.clear();
        assert_eq!((cache.count(), cache.lines.each_ref().map(|l| l.len)), (0, [0, 0]));
    }
}

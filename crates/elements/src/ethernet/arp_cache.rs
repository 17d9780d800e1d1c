//! The ARP cache: which Ethernet address an IPv4 address has, and the packets that wait to know it (RFC 826,
//! RFC 1122 §2.3.2). Shared by ARPTable and ARPQuerier; it knows no element and no clock.
//!
//! Entries are linked in the order in which they were last confirmed, so that the oldest is found at once when space
//! runs out. Every limit holds at all times: a flood of addresses or of packets cannot grow the cache past it.

use clickwork_packet::Packet;
use clickwork_packet::Timestamp;
use clickwork_packet::addr::{EtherAddress, Ipv4Address};
use std::collections::{HashMap, VecDeque};
use std::time::Duration;

/// How many entries there may be if nothing else is said: as many as a network with a prefix of 12 bits has addresses, in
/// some 100 MB.
pub const MOST_ENTRIES: usize = 1 << 20;

/// Limits of a cache. 0 means no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Packets that wait, over all entries.
    pub packets: u32,
    /// Entries; 0 stands for [`MOST_ENTRIES`].
    pub entries: u32,
    /// Packets that wait for one entry.
    pub entry_packets: u32,
    /// When too many packets wait, one part in so many of the allowed number is dropped.
    pub slim_factor: u32,
    /// How long an entry holds after it was confirmed.
    pub timeout: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            packets: 2048,
            entries: 0,
            entry_packets: 0,
            slim_factor: 2,
            timeout: Duration::from_secs(300),
        }
    }
}

impl Limits {
    fn most_entries(&self) -> usize {
        if self.entries == 0 { MOST_ENTRIES } else { self.entries as usize }
    }
}

/// How often an address is asked for at first, and after ten questions without an answer.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
const SLOW_POLL_INTERVAL: Duration = Duration::from_secs(2);
const POLLS_BEFORE_SLOW: u8 = 10;

const NONE: u32 = u32::MAX;

#[derive(Debug)]
struct Entry {
    ip: Ipv4Address,
    ether: EtherAddress,
    known: bool,
    polls: u8,
    confirmed: Timestamp,
    polled: Timestamp,
    waiting: VecDeque<Packet>,
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

/// The cache. The hash is keyed, so nobody who chooses addresses can make it slow.
#[derive(Debug)]
pub struct ArpCache {
    /// Its limits.
    pub limits: Limits,
    index: HashMap<u32, u32, foldhash::fast::RandomState>,
    entries: Vec<Entry>,
    free: Vec<u32>,
    oldest: u32,
    newest: u32,
    /// The oldest entry that had not expired at the last look: all that are older had. Time moves it on, so that it passes
    /// each entry once.
    fresh: u32,
    packets: u32,
    drops: u64,
}

impl Default for ArpCache {
    fn default() -> ArpCache {
        ArpCache {
            limits: Limits::default(),
            index: HashMap::default(),
            entries: Vec::new(),
            free: Vec::new(),
            oldest: NONE,
            newest: NONE,
            fresh: NONE,
            packets: 0,
            drops: 0,
        }
    }
}

impl ArpCache {
    /// Entries.
    pub fn count(&self) -> usize {
        self.index.len()
    }

    /// Packets that wait.
    pub fn length(&self) -> u32 {
        self.packets
    }

    /// Packets that waited in vain.
    pub fn drops(&self) -> u64 {
        self.drops
    }

    fn is_known(&self, e: &Entry, now: Timestamp) -> bool {
        e.known && !self.is_expired(e, now)
    }

    fn is_expired(&self, e: &Entry, now: Timestamp) -> bool {
        !self.limits.timeout.is_zero() && now > e.confirmed + self.limits.timeout
    }

    /// Looks an address up. If it was last confirmed longer than `poll_after` ago, the answer says to ask again.
    #[inline]
    pub fn lookup(&mut self, ip: Ipv4Address, now: Timestamp, poll_after: Duration) -> Answer {
        let Some(&i) = self.index.get(&ip.to_bits()) else { return Answer::Unknown };
        let e = &self.entries[i as usize];
        if !self.is_known(e, now) {
            return Answer::Unknown;
        }
        let ether = e.ether;
        let stale = !poll_after.is_zero() && now >= e.confirmed + poll_after;
        Answer::Known { ether, ask: stale && self.may_poll(i, now) }
    }

    /// Whether the entry may be asked for now; if so, that is noted.
    fn may_poll(&mut self, i: u32, now: Timestamp) -> bool {
        let e = &mut self.entries[i as usize];
        let interval = if e.polls >= POLLS_BEFORE_SLOW { SLOW_POLL_INTERVAL } else { POLL_INTERVAL };
        let may = now >= e.polled + interval;
        if may {
            e.polled = now;
            e.polls = e.polls.saturating_add(1);
        }
        may
    }

    /// Learns that `ip` has address `ether` (or, for the broadcast address, that it is not known). Packets that wait for it
    /// go on waiting.
    pub fn insert(&mut self, ip: Ipv4Address, ether: EtherAddress, now: Timestamp) {
        let i = self.ensure(ip, now);
        self.unlink(i);
        let e = &mut self.entries[i as usize];
        (e.ether, e.known, e.confirmed, e.polls) = (ether, !ether.is_broadcast(), now, 0);
        e.polled = now - POLL_INTERVAL * 10;
        self.link_newest(i);
    }

    /// The packets that wait for `ip`, in order; they wait no longer.
    pub fn take_waiting(&mut self, ip: Ipv4Address) -> VecDeque<Packet> {
        let Some(&i) = self.index.get(&ip.to_bits()) else { return VecDeque::new() };
        let waiting = std::mem::take(&mut self.entries[i as usize].waiting);
        self.packets -= waiting.len() as u32;
        waiting
    }

    /// Lets a packet wait until `ip` is known. Returns whether to ask for it now; a packet that finds no room is dropped.
    pub fn wait(&mut self, ip: Ipv4Address, p: Packet, now: Timestamp) -> bool {
        let i = self.ensure(ip, now);
        self.keep_alive(i, now);
        let e = &self.entries[i as usize];
        if self.limits.entry_packets != 0 && e.waiting.len() >= self.limits.entry_packets as usize {
            self.drops += 1;
            return false;
        }
        // Room is made before the packet joins the queue: it is the youngest, whatever the age of its entry.
        self.packets += 1;
        if self.limits.packets != 0 && self.packets > self.limits.packets {
            self.expire(now);
            self.slim_packets();
        }
        self.entries[i as usize].waiting.push_back(p);
        self.may_poll(i, now)
    }

    /// An address that is asked for is as old as one that just does not expire: it goes before all that are younger. So
    /// it does not go for want of room now, and expires soon if there is no answer.
    fn keep_alive(&mut self, i: u32, now: Timestamp) {
        if self.is_expired(&self.entries[i as usize], now) {
            self.unlink(i);
            self.entries[i as usize].confirmed = now - self.limits.timeout;
            while self.fresh != NONE && self.is_expired(&self.entries[self.fresh as usize], now) {
                self.fresh = self.entries[self.fresh as usize].newer;
            }
            self.link_before(i, self.fresh);
            self.fresh = i;
        }
    }

    /// The entry of an address, made if there is none.
    fn ensure(&mut self, ip: Ipv4Address, now: Timestamp) -> u32 {
        if let Some(&i) = self.index.get(&ip.to_bits()) {
            return i;
        }
        if self.count() >= self.limits.most_entries() {
            self.expire(now);
        }
        while self.count() >= self.limits.most_entries() {
            self.remove_oldest();
        }
        let entry = Entry {
            ip,
            ether: EtherAddress::BROADCAST,
            known: false,
            polls: 0,
            confirmed: now,
            polled: now - POLL_INTERVAL * 10,
            waiting: VecDeque::new(),
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
        self.index.insert(ip.to_bits(), i);
        self.link_newest(i);
        i
    }

    fn link_newest(&mut self, i: u32) {
        self.link_before(i, NONE);
        if self.fresh == NONE {
            self.fresh = i;
        }
    }

    /// Links an entry so that `newer` follows it; none, if it is the newest.
    fn link_before(&mut self, i: u32, newer: u32) {
        let older = match newer {
            NONE => std::mem::replace(&mut self.newest, i),
            n => std::mem::replace(&mut self.entries[n as usize].older, i),
        };
        let e = &mut self.entries[i as usize];
        (e.older, e.newer) = (older, newer);
        match older {
            NONE => self.oldest = i,
            o => self.entries[o as usize].newer = i,
        }
    }

    fn unlink(&mut self, i: u32) {
        let (older, newer) = (self.entries[i as usize].older, self.entries[i as usize].newer);
        if self.fresh == i {
            self.fresh = newer;
        }
        match older {
            NONE => self.oldest = newer,
            o => self.entries[o as usize].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            n => self.entries[n as usize].older = older,
        }
    }

    fn remove_oldest(&mut self) {
        let i = self.oldest;
        if i == NONE {
            return;
        }
        self.unlink(i);
        let e = &mut self.entries[i as usize];
        let (ip, lost) = (e.ip, std::mem::take(&mut e.waiting).len() as u32);
        self.index.remove(&ip.to_bits());
        self.free.push(i);
        self.packets -= lost;
        self.drops += u64::from(lost);
    }

    /// Drops packets that have waited longest, those of the oldest entries first. One counted packet is yet to come.
    fn slim_packets(&mut self) {
        let goal = (self.limits.packets - self.limits.packets / self.limits.slim_factor.max(1)).max(1);
        let mut i = self.oldest;
        while self.packets > goal && i != NONE {
            let e = &mut self.entries[i as usize];
            while self.packets > goal && e.waiting.pop_front().is_some() {
                self.packets -= 1;
                self.drops += 1;
            }
            i = e.newer;
        }
    }

    /// Removes entries that have expired.
    pub fn expire(&mut self, now: Timestamp) {
        while self.oldest != NONE && self.is_expired(&self.entries[self.oldest as usize], now) {
            self.remove_oldest();
        }
    }

    /// Removes everything; packets that waited are dropped.
    pub fn clear(&mut self) {
        while self.oldest != NONE {
            self.remove_oldest();
        }
    }

    /// The entries, the oldest first: address, whether it is known, Ethernet address, age.
    pub fn table(&self, now: Timestamp) -> Vec<(Ipv4Address, bool, EtherAddress, Duration)> {
        let mut list = Vec::with_capacity(self.count());
        let mut i = self.oldest;
        while i != NONE {
            let e = &self.entries[i as usize];
            list.push((e.ip, self.is_known(e, now), e.ether, age(now, e.confirmed)));
            i = e.newer;
        }
        list
    }

    /// The table in Click's format.
    pub fn print(&self, now: Timestamp) -> String {
        let line = |(ip, known, ether, age): (Ipv4Address, bool, EtherAddress, Duration)| {
            format!("{ip} {} {ether} {}\n", u8::from(known), Timestamp::ZERO + age)
        };
        self.table(now).into_iter().map(line).collect()
    }
}

/// An age in Click's jiffies, which are milliseconds.
fn age(now: Timestamp, then: Timestamp) -> Duration {
    let jiffies = |t: Timestamp| t.nanos().div_euclid(1_000_000);
    Duration::from_millis((jiffies(now) - jiffies(then)).max(0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_made_from_what_waited_before() {
        let limits = Limits { packets: 2, ..Limits::default() };
        let mut c = ArpCache { limits, ..ArpCache::default() };
        let b = Ipv4Address::new(10, 0, 0, 2);
        c.wait(A, Packet::new(b"1"), at(1));
        c.wait(b, Packet::new(b"2"), at(1));
        c.wait(A, Packet::new(b"3"), at(1));
        assert_eq!((c.length(), c.drops()), (1, 2));
        c.insert(A, E, at(2));
        let got: Vec<u8> = c.take_waiting(A).iter().map(|p| p.data()[0]).collect();
        assert_eq!(got, *b"3");
    }

    #[test]
    fn a_packet_without_room_in_its_entry_asks_nothing() {
        let limits = Limits { entry_packets: 1, ..Limits::default() };
        let mut c = ArpCache { limits, ..ArpCache::default() };
        assert!(c.wait(A, packet(), at(1)));
        assert!(!c.wait(A, packet(), at(2)));
        assert_eq!((c.length(), c.drops()), (1, 1));
    }

    #[test]
    fn ages_are_whole_milliseconds() {
        let mut c = ArpCache::default();
        c.insert(A, E, at(1) + Duration::from_micros(999));
        assert!(c.print(at(1) + Duration::from_micros(1001)).ends_with(" 0.001000\n"));
    }

    const A: Ipv4Address = Ipv4Address::new(10, 0, 0, 1);
    const E: EtherAddress = EtherAddress([2, 0, 0, 0, 0, 1]);

    fn at(seconds: i64) -> Timestamp {
        Timestamp::new(seconds, 0)
    }

    fn packet() -> Packet {
        Packet::new(b"x")
    }

    #[test]
    fn packets_wait_in_order_for_the_answer() {
        let mut c = ArpCache::default();
        assert!(c.wait(A, Packet::new(b"1"), at(1)));
        assert!(!c.wait(A, Packet::new(b"2"), at(1)));
        c.insert(A, E, at(2));
        let got: Vec<u8> = c.take_waiting(A).iter().map(|p| p.data()[0]).collect();
        assert_eq!(got, *b"12");
        assert_eq!(c.lookup(A, at(2), Duration::from_secs(60)), Answer::Known { ether: E, ask: false });
        assert_eq!(c.length(), 0);
    }

    #[test]
    fn an_unanswered_address_is_asked_for_ten_times_a_second_then_every_two_seconds() {
        let mut c = ArpCache::default();
        let asked = (0..10_000).filter(|ms| c.wait(A, packet(), at(1) + Duration::from_millis(*ms))).count();
        assert_eq!(asked, 10 + 4);
    }

    #[test]
    fn a_known_address_is_confirmed_and_expires() {
        let mut c = ArpCache::default();
        c.insert(A, E, at(1));
        assert_eq!(c.lookup(A, at(62), Duration::from_secs(60)), Answer::Known { ether: E, ask: true });
        assert_eq!(c.lookup(A, at(62), Duration::from_secs(60)), Answer::Known { ether: E, ask: false });
        assert_eq!(c.lookup(A, at(302), Duration::from_secs(60)), Answer::Unknown);
        c.expire(at(302));
        assert_eq!(c.count(), 0);
    }

    /// A packet for an entry that has expired brings it back for a moment, behind all that have expired too.
    #[test]
    fn what_waits_for_an_expired_address_expires_with_it_before_younger_ones() {
        let mut c = ArpCache::default();
        let b = Ipv4Address::new(10, 0, 0, 2);
        let young = Ipv4Address::new(10, 0, 0, 3);
        c.insert(A, E, at(1));
        c.insert(b, E, at(2));
        c.insert(young, E, at(302));
        assert!(c.wait(A, packet(), at(303)));
        let shown: Vec<_> = c.table(at(303)).into_iter().map(|(ip, known, ..)| (ip, known)).collect();
        assert_eq!(shown, [(b, false), (A, true), (young, true)]);
        c.expire(at(304));
        assert_eq!((c.count(), c.length(), c.drops()), (1, 0, 1));
    }

    #[test]
    fn an_address_without_an_answer_shows_the_broadcast_address() {
        let mut c = ArpCache::default();
        c.wait(A, packet(), at(1));
        assert_eq!(c.print(at(1)), "10.0.0.1 0 FF-FF-FF-FF-FF-FF 0.000000\n");
    }

    #[test]
    fn floods_stay_within_the_limits() {
        let limits = Limits { packets: 100, entries: 50, entry_packets: 3, ..Limits::default() };
        let mut c = ArpCache { limits, ..ArpCache::default() };
        for n in 0..100_000u32 {
            c.wait(Ipv4Address::from_bits(n % 7919), packet(), at(1));
            assert!(c.count() <= 50 && c.length() <= 100);
        }
        assert!(c.entries.len() <= 51);
        assert_eq!(c.drops() + u64::from(c.length()), 100_000);
    }

    /// Entries that nobody limited are limited all the same, and the oldest go first.
    #[test]
    fn answers_that_nobody_asked_for_cannot_grow_the_cache_without_bound() {
        let mut c = ArpCache::default();
        let addresses = MOST_ENTRIES as u32 + 70_000;
        for n in 0..addresses {
            c.insert(Ipv4Address::from_bits(n), E, at(1));
        }
        assert_eq!((c.count(), c.entries.len()), (MOST_ENTRIES, MOST_ENTRIES));
        let known = |c: &mut ArpCache, n| {
            c.lookup(Ipv4Address::from_bits(n), at(1), Duration::ZERO) != Answer::Unknown
        };
        assert!(!known(&mut c, 69_999) && known(&mut c, 70_000) && known(&mut c, addresses - 1));
    }

    #[test]
    fn forgetting_keeps_what_waits() {
        let mut c = ArpCache::default();
        c.insert(A, E, at(1));
        c.insert(A, EtherAddress::BROADCAST, at(2));
        assert_eq!(c.lookup(A, at(2), Duration::ZERO), Answer::Unknown);
        assert_eq!(c.print(at(5)), "10.0.0.1 0 FF-FF-FF-FF-FF-FF 3.000000\n");
    }
}

//! The IPv6 route table: the most specific route that holds an address wins (RFC 8200 leaves routing to others; RFC 4291
//! §2.5 has the prefixes).
//!
//! A [`Table`] is a record of the routes and an index that answers lookups. A handful of routes are compared all at once
//! ([`few`]); more stand in a compressed trie ([`trie`]), whose leaves a new route paints over as one that is less specific
//! than what it finds there would not. Not the router element, which parses its arguments and holds a table. Read first:
//! [`trie`]; then Asai and Ohara, "Poptrie: a compressed trie with population count for fast and scalable software IP
//! routing table lookup" (SIGCOMM 2015).

pub mod entry;
mod few;
mod hops;
mod store;
mod trie;

use clickwork_packet::addr::{Ipv6Address, Ipv6Prefix};
use entry::Entry;
use few::FewRoutes;
use hops::Hops;
use std::fmt;
use store::Store;
use trie::Trie;

/// Where a lookup sends a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hop {
    /// The next router; `::` if the destination is on the link itself.
    pub gateway: Ipv6Address,
    /// The output port.
    pub port: u32,
}

/// Addresses and the hop that leads to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The addresses, host bits clear.
    prefix: Ipv6Prefix,
    /// Where packets to them go.
    pub hop: Hop,
}

impl Route {
    /// A route; host bits in `prefix` are cleared, as Click does.
    pub fn new(prefix: Ipv6Prefix, gateway: Ipv6Address, port: u32) -> Self {
        Self { prefix: prefix.network(), hop: Hop { gateway, port } }
    }

    /// The addresses, host bits clear.
    pub fn prefix(&self) -> Ipv6Prefix {
        self.prefix
    }
}

/// As the `table` handler prints it, without the newline.
impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\t{}\t{}", self.prefix, self.hop.gateway, self.hop.port)
    }
}

/// A trie gives way to a small table only when half of that is free, so that a table at the border does not flap.
const BACK_TO_FEW: usize = few::CAPACITY / 2;
/// The greatest number of packets that are looked up together.
pub const BATCH: usize = clickwork_packet::BATCH_SIZE;

/// A set of routes, at most one for each prefix, that finds the one for an address.
#[derive(Clone, Debug, Default)]
pub struct Table {
    store: Store,
    index: Index,
}

#[derive(Clone, Debug)]
enum Index {
    Few(FewRoutes),
    Many(Box<Many>),
}

impl Default for Index {
    fn default() -> Index {
        Index::Few(FewRoutes::default())
    }
}

impl Table {
    /// Adds a route, in the place of one for the same prefix if there is any, which is returned.
    ///
    /// # Errors
    /// If there are too many different hops.
    pub fn insert(&mut self, route: Route) -> Result<Option<Route>, TooManyHops> {
        if matches!(&self.index, Index::Many(many) if many.hops.is_full()) {
            return Err(TooManyHops);
        }
        let old = self.store.insert(route);
        match self.fitting_trie() {
            Some(many) => many.insert(&route, old.as_ref()),
            None => self.rebuild(),
        }
        Ok(old)
    }

    /// Removes the route for exactly this prefix, if there is one; its addresses go to the next less specific route.
    pub fn remove(&mut self, prefix: Ipv6Prefix) -> Option<Route> {
        let route = self.store.remove(prefix.network())?;
        let cover = self.store.cover(route.prefix).copied();
        match self.fitting_trie() {
            Some(many) => many.remove(&route, cover.as_ref()),
            None => self.rebuild(),
        }
        Some(route)
    }

    /// Where packets to `address` go, if any route leads there.
    #[inline]
    pub fn lookup(&self, address: Ipv6Address) -> Option<Hop> {
        match &self.index {
            Index::Few(few) => few.lookup(address.to_bits()),
            Index::Many(many) => many.hop(many.entry(address.to_bits())),
        }
    }

    /// Looks up to [`BATCH`] addresses up together: the memory that one lookup waits for comes while others are at work.
    #[inline]
    pub fn lookup_batch(&self, addresses: &[u128], mut found: impl FnMut(usize, Option<Hop>)) {
        match &self.index {
            Index::Few(few) => addresses.iter().enumerate().for_each(|(i, &a)| found(i, few.lookup(a))),
            Index::Many(many) => {
                let mut entries = [Entry::NONE; BATCH];
                many.trie.entries(addresses, &mut entries);
                for (i, (&address, entry)) in addresses.iter().zip(entries).enumerate() {
                    found(i, many.hop(many.or_short(address, entry)));
                }
            }
        }
    }

    /// Whether it pays to look packets up together.
    #[inline]
    pub fn is_large(&self) -> bool {
        matches!(self.index, Index::Many(_))
    }

    /// The number of routes.
    pub fn len(&self) -> usize {
        self.store.len()
    }

    /// Whether there is no route.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All routes, in the order in which Click prints them.
    pub fn routes(&self) -> impl Iterator<Item = &Route> {
        self.store.iter()
    }

    /// The text of the `table` handler: a heading, if there has ever been a route, and the routes.
    pub fn print(&self) -> String {
        let heading = if self.store.was_used() { "# Active routes\n" } else { "" };
        self.routes().fold(heading.to_string(), |text, route| text + &format!("{route}\n"))
    }

    fn fitting_trie(&mut self) -> Option<&mut Many> {
        match &mut self.index {
            Index::Many(many) if self.store.len() > BACK_TO_FEW => Some(many),
            _ => None,
        }
    }

    fn rebuild(&mut self) {
        self.index = if self.store.len() <= few::CAPACITY {
            Index::Few(FewRoutes::new(self.store.iter()))
        } else {
            let mut many = Box::<Many>::default();
            self.store.iter().for_each(|route| many.insert(route, None));
            Index::Many(many)
        };
    }
}

/// More different gateways and ports than an [`Entry`] can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyHops;

impl fmt::Display for TooManyHops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "more than {} different gateways and ports", entry::MAX_HOPS)
    }
}

impl std::error::Error for TooManyHops {}

/// Routes with at most this many bits are painted in a little array of their own, so that a default route need not fill the
/// trie.
const SHORT_BITS: u32 = 8;

/// The index of many routes.
#[derive(Clone, Debug)]
struct Many {
    /// The entries of routes with more than [`SHORT_BITS`] bits; where there is none, see `short`.
    trie: Trie,
    /// The entries of the other routes, by the first [`SHORT_BITS`] bits of the address.
    short: [Entry; 1 << SHORT_BITS],
    hops: Hops,
}

impl Default for Many {
    fn default() -> Many {
        Many { trie: Trie::default(), short: [Entry::NONE; 1 << SHORT_BITS], hops: Hops::default() }
    }
}

impl Many {
    /// Paints a route over whatever is less specific.
    fn insert(&mut self, route: &Route, old: Option<&Route>) {
        let new = Entry::route(route.prefix.prefix_len(), self.hops.acquire(route.hop));
        self.paint(route.prefix, |entry| if entry.specificity() <= new.specificity() { new } else { entry });
        if let Some(old) = old {
            self.hops.release(old.hop);
        }
    }

    /// Paints what covered a route where that has gone.
    fn remove(&mut self, route: &Route, cover: Option<&Route>) {
        let is_short = |len: u8| u32::from(len) <= SHORT_BITS;
        let len = route.prefix.prefix_len();
        let cover = cover.filter(|c| is_short(c.prefix.prefix_len()) == is_short(len));
        let shown = cover.and_then(|c| Some(Entry::route(c.prefix.prefix_len(), self.hops.number(c.hop)?)));
        let (shown, gone) = (shown.unwrap_or(Entry::NONE), u32::from(len) + 1);
        self.paint(route.prefix, |entry| if entry.specificity() == gone { shown } else { entry });
        self.hops.release(route.hop);
    }

    fn paint(&mut self, prefix: Ipv6Prefix, rule: impl Fn(Entry) -> Entry + Copy) {
        let (address, len) = (prefix.address().to_bits(), u32::from(prefix.prefix_len()));
        if len > SHORT_BITS {
            return self.trie.paint(address, len, rule);
        }
        let first = (address >> (128 - SHORT_BITS)) as usize;
        let covered = &mut self.short[first..first + (1 << (SHORT_BITS - len))];
        covered.iter_mut().for_each(|entry| *entry = rule(*entry));
    }

    #[inline]
    fn entry(&self, address: u128) -> Entry {
        self.or_short(address, self.trie.entry(address))
    }

    #[inline]
    fn or_short(&self, address: u128, entry: Entry) -> Entry {
        if entry == Entry::NONE { self.short[(address >> (128 - SHORT_BITS)) as usize] } else { entry }
    }

    #[inline]
    fn hop(&self, entry: Entry) -> Option<Hop> {
        entry.hop().map(|number| self.hops.at(number))
    }
}

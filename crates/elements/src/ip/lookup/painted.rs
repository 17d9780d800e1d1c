//! Longest-prefix match over structures that can be *painted*.
//!
//! Think of the address space as a line that routes paint, each its own stretch. A route paints over whatever is less
//! specific and leaves what is more specific; a removed route's colour is painted over with that of the route that covers
//! it. A structure needs only to paint a stretch by a rule and to say the colour of an address: see [`Canvas`]. This
//! module knows the rules and what the colours mean.

use super::entry::{Entry, MAX_HOPS};
use super::indexed::Index;
use super::printed::Order;
use super::route::{Hop, Route, RouteError};
use super::store::{Reuse, RouteStore};
use clickwork_packet::addr::{Ipv4Address, Ipv4Prefix};
use std::collections::HashMap;

/// Routes with at most this many bits are painted in a little array of their own, so that a default route does not have to
/// fill a wide structure.
const SHORT_BITS: u32 = 8;

/// A structure that maps every IPv4 address to an [`Entry`], at first [`Entry::NONE`].
pub trait Canvas: Default {
    /// What the Click element this structure serves does with the places of removed routes.
    const REUSE: Reuse = Reuse::First;
    /// The order in which it prints its routes.
    const ORDER: Order = Order::Places;

    /// Replaces each entry of the addresses that share the first `prefix_len` bits, 9 to 32, with `address` by what `rule`
    /// says.
    fn paint(&mut self, address: u32, prefix_len: u8, rule: impl Fn(Entry) -> Entry + Copy);

    /// The entry of an address; never a node.
    fn entry(&self, address: u32) -> Entry;

    /// Asks for the memory that `entry` will read.
    fn prefetch(&self, address: u32);
}

/// A canvas with the hops its entries name.
#[derive(Clone, Debug)]
pub struct Painted<C> {
    /// The entries of routes with more than [`SHORT_BITS`] bits; where there is none, see `short`.
    canvas: C,
    /// The entries of the other routes, by the first [`SHORT_BITS`] bits of the address.
    short: [Entry; 1 << SHORT_BITS],
    hops: Hops,
}

impl<C: Default> Default for Painted<C> {
    fn default() -> Self {
        Self { canvas: C::default(), short: [Entry::NONE; 1 << SHORT_BITS], hops: Hops::default() }
    }
}

impl<C: Canvas> Painted<C> {
    /// The index of the routes in `store`, whose masks all are of leading ones.
    pub fn of(store: &RouteStore) -> Self {
        let mut index = Self::default();
        store.iter().for_each(|route| index.inserted(route, None, store));
        index
    }
}

fn prefix_len(prefix: Ipv4Prefix) -> Result<u8, RouteError> {
    prefix.prefix_len().ok_or(RouteError::MaskWithHoles(prefix))
}

impl<C: Canvas> Index for Painted<C> {
    const REUSE: Reuse = C::REUSE;
    const ORDER: Order = C::ORDER;

    fn accept(&self, prefix: Ipv4Prefix) -> Result<(), RouteError> {
        prefix_len(prefix)?;
        if self.hops.is_full() { Err(RouteError::TooManyHops) } else { Ok(()) }
    }

    fn inserted(&mut self, route: &Route, old: Option<&Route>, _store: &RouteStore) {
        let Ok(len) = prefix_len(route.prefix()) else { return };
        let new = Entry::route(len, self.hops.acquire(route.hop));
        self.paint(
            route.prefix(),
            len,
            |entry| {
                if entry.specificity() <= new.specificity() { new } else { entry }
            },
        );
        if let Some(old) = old {
            self.hops.release(old.hop);
        }
    }

    fn removed(&mut self, route: &Route, store: &RouteStore) {
        let Ok(len) = prefix_len(route.prefix()) else { return };
        let cover = self.cover(route.prefix(), len, store);
        let gone = u32::from(len) + 1;
        self.paint(route.prefix(), len, |entry| if entry.specificity() == gone { cover } else { entry });
        self.hops.release(route.hop);
    }

    #[inline]
    fn lookup(&self, address: Ipv4Address, _store: &RouteStore) -> Option<Hop> {
        let address = address.to_bits();
        let entry = match self.canvas.entry(address) {
            Entry::NONE => self.short[(address >> (32 - SHORT_BITS)) as usize],
            entry => entry,
        };
        entry.hop().map(|hop| self.hops.list[hop].0)
    }

    #[inline]
    fn prefetch(&self, address: Ipv4Address) {
        self.canvas.prefetch(address.to_bits());
    }
}

impl<C: Canvas> Painted<C> {
    fn paint(&mut self, prefix: Ipv4Prefix, len: u8, rule: impl Fn(Entry) -> Entry + Copy) {
        let address = prefix.address.to_bits();
        if u32::from(len) > SHORT_BITS {
            return self.canvas.paint(address, len, rule);
        }
        let first = (address >> (32 - SHORT_BITS)) as usize;
        let covered = &mut self.short[first..first + (1 << (SHORT_BITS - u32::from(len)))];
        covered.iter_mut().for_each(|entry| *entry = rule(*entry));
    }

    /// What shows where a route has gone: the entry of the route that covers it, if that is painted in the same place.
    fn cover(&self, prefix: Ipv4Prefix, len: u8, store: &RouteStore) -> Entry {
        let Some(cover) = store.cover(prefix, len) else { return Entry::NONE };
        let place = |len: u8| u32::from(len) > SHORT_BITS;
        match (cover.prefix().prefix_len(), self.hops.numbers.get(&cover.hop)) {
            (Some(cover_len), Some(&hop)) if place(cover_len) == place(len) => Entry::route(cover_len, hop),
            _ => Entry::NONE,
        }
    }
}

/// The different hops of a table, numbered, with the number of routes that use each.
#[derive(Clone, Debug, Default)]
struct Hops {
    list: Vec<(Hop, u32)>,
    numbers: HashMap<Hop, u32>,
    free: Vec<u32>,
}

impl Hops {
    fn is_full(&self) -> bool {
        self.free.is_empty() && self.list.len() == MAX_HOPS
    }

    /// The number of a hop, which one more route uses.
    fn acquire(&mut self, hop: Hop) -> u32 {
        let number = *self.numbers.entry(hop).or_insert_with(|| {
            self.free.pop().unwrap_or_else(|| {
                self.list.push((hop, 0));
                self.list.len() as u32 - 1
            })
        });
        let (named, users) = &mut self.list[number as usize];
        *named = hop;
        *users += 1;
        number
    }

    /// One route fewer uses the hop.
    fn release(&mut self, hop: Hop) {
        let Some(&number) = self.numbers.get(&hop) else { return };
        let users = &mut self.list[number as usize].1;
        *users -= 1;
        if *users == 0 {
            self.numbers.remove(&hop);
            self.free.push(number);
        }
    }
}

//! A table made of a record of routes and an index for lookups.

use super::RouteTable;
use super::printed::Order;
use super::route::{Hop, Removal, Route, RouteError};
use super::store::{Reuse, RouteStore};
use clickwork_packet::addr::{Ipv4Address, Ipv4Prefix};

/// What answers lookups beside a record of routes. The record is always changed first, then the index is told.
pub trait Index: Default {
    /// What the Click element this index serves does with the places of removed routes.
    const REUSE: Reuse = Reuse::First;
    /// The order in which it prints its routes.
    const ORDER: Order = Order::Places;

    /// Whether a route for this prefix can be entered.
    fn accept(&self, prefix: Ipv4Prefix) -> Result<(), RouteError>;

    /// `store` now has `route`, in the place of `old` for the same prefix if there was one.
    fn inserted(&mut self, route: &Route, old: Option<&Route>, store: &RouteStore);

    /// `store` has lost `route`.
    fn removed(&mut self, route: &Route, store: &RouteStore);

    /// Where packets to `address` go.
    fn lookup(&self, address: Ipv4Address, store: &RouteStore) -> Option<Hop>;

    /// Asks for the memory that a lookup of `address` will read.
    fn prefetch(&self, _address: Ipv4Address) {}
}

/// A record of routes with an index.
#[derive(Clone, Debug)]
pub struct Indexed<I> {
    store: RouteStore,
    index: I,
}

impl<I: Index> Default for Indexed<I> {
    fn default() -> Self {
        Self { store: RouteStore::new(I::REUSE), index: I::default() }
    }
}

impl<I: Index> RouteTable for Indexed<I> {
    fn insert(&mut self, route: Route, replace: bool) -> Result<Option<Route>, RouteError> {
        self.index.accept(route.prefix())?;
        let old = self.store.insert(route, replace)?;
        self.index.inserted(&route, old.as_ref(), &self.store);
        Ok(old)
    }

    fn remove(&mut self, wanted: &Removal) -> Result<Route, RouteError> {
        let route = self.store.remove(wanted)?;
        self.index.removed(&route, &self.store);
        Ok(route)
    }

    #[inline]
    fn lookup(&self, address: Ipv4Address) -> Option<Hop> {
        self.index.lookup(address, &self.store)
    }

    #[inline]
    fn prefetch(&self, address: Ipv4Address) {
        self.index.prefetch(address);
    }

    fn len(&self) -> usize {
        self.store.len()
    }

    fn routes(&self) -> Box<dyn Iterator<Item = Route> + '_> {
        Box::new(I::ORDER.of(&self.store).into_iter())
    }

    fn clear(&mut self) {
        self.store.clear();
        self.index = I::default();
    }
}

//! The record of a table's routes: which there are, and in which order Click prints them.
//!
//! Not for forwarding: an [`Index`](super::Index) beside it answers lookups.

use super::route::{Removal, Route, RouteError};
use clickwork_packet::addr::Ipv4Prefix;
use std::collections::hash_map::Entry as MapEntry;
use std::collections::{BTreeSet, HashMap};

/// What becomes of the places of removed routes, which decides the printed order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reuse {
    /// A new route takes the first free place; a route that replaces another takes its place.
    First,
    /// A new route takes the place freed last, also when it replaces another, whose place is free afterwards.
    Latest,
}

/// The routes of a table, in printed order, and by prefix.
#[derive(Clone, Debug)]
pub struct RouteStore {
    places: Places,
    by_prefix: HashMap<Ipv4Prefix, u32>,
}

impl RouteStore {
    /// An empty record.
    pub fn new(reuse: Reuse) -> Self {
        Self { places: Places::new(reuse), by_prefix: HashMap::new() }
    }

    /// The number of routes.
    pub fn len(&self) -> usize {
        self.by_prefix.len()
    }

    /// Whether there is no route.
    pub fn is_empty(&self) -> bool {
        self.by_prefix.is_empty()
    }

    /// The routes in the order in which Click prints them.
    pub fn iter(&self) -> impl Iterator<Item = &Route> {
        self.places.routes.iter().flatten()
    }

    /// The route of exactly this prefix.
    pub fn get(&self, prefix: Ipv4Prefix) -> Option<&Route> {
        self.by_prefix.get(&prefix).map(|&place| self.places.at(place))
    }

    /// The most specific route that covers more than `prefix`, whose mask has `prefix_len` leading ones.
    pub fn cover(&self, prefix: Ipv4Prefix, prefix_len: u8) -> Option<&Route> {
        (0..prefix_len).rev().find_map(|len| self.get(Ipv4Prefix::with_len(prefix.address, len).network()))
    }

    /// Enters a route and returns the one of the same prefix that it replaces. If there is one and `replace` is not set,
    /// nothing changes.
    pub fn insert(&mut self, route: Route, replace: bool) -> Result<Option<Route>, RouteError> {
        match self.by_prefix.entry(route.prefix()) {
            MapEntry::Vacant(entry) => {
                entry.insert(self.places.occupy(route));
                Ok(None)
            }
            MapEntry::Occupied(mut entry) => {
                let old = *self.places.at(*entry.get());
                if !replace {
                    return Err(RouteError::Exists(old));
                }
                entry.insert(self.places.substitute(*entry.get(), route));
                Ok(Some(old))
            }
        }
    }

    /// Takes the wanted route out and returns it.
    pub fn remove(&mut self, wanted: &Removal) -> Result<Route, RouteError> {
        let found = self.get(wanted.prefix()).copied().filter(|route| wanted.matches(route));
        let route = found.ok_or(RouteError::NotFound(*wanted))?;
        if let Some(place) = self.by_prefix.remove(&route.prefix()) {
            self.places.vacate(place);
        }
        Ok(route)
    }

    /// Forgets all routes.
    pub fn clear(&mut self) {
        self.places.clear();
        self.by_prefix.clear();
    }
}

/// Numbered places, some of them free.
#[derive(Clone, Debug)]
struct Places {
    routes: Vec<Option<Route>>,
    free: FreePlaces,
}

#[derive(Clone, Debug)]
enum FreePlaces {
    First(BTreeSet<u32>),
    Latest(Vec<u32>),
}

impl Places {
    fn new(reuse: Reuse) -> Self {
        let free = match reuse {
            Reuse::First => FreePlaces::First(BTreeSet::new()),
            Reuse::Latest => FreePlaces::Latest(Vec::new()),
        };
        Self { routes: Vec::new(), free }
    }

    /// The route in an occupied place.
    fn at(&self, place: u32) -> &Route {
        self.routes[place as usize].as_ref().expect("the place is occupied")
    }

    fn occupy(&mut self, route: Route) -> u32 {
        let free = match &mut self.free {
            FreePlaces::First(free) => free.pop_first(),
            FreePlaces::Latest(free) => free.pop(),
        };
        match free {
            Some(place) => {
                self.routes[place as usize] = Some(route);
                place
            }
            None => {
                self.routes.push(Some(route));
                self.routes.len() as u32 - 1
            }
        }
    }

    /// Puts a route where, in the printed order, one that replaces the route in `place` belongs.
    fn substitute(&mut self, place: u32, route: Route) -> u32 {
        match self.free {
            FreePlaces::First(_) => {
                self.routes[place as usize] = Some(route);
                place
            }
            FreePlaces::Latest(_) => {
                let new = self.occupy(route);
                self.vacate(place);
                new
            }
        }
    }

    fn vacate(&mut self, place: u32) {
        self.routes[place as usize] = None;
        match &mut self.free {
            FreePlaces::First(free) => drop(free.insert(place)),
            FreePlaces::Latest(free) => free.push(place),
        }
    }

    fn clear(&mut self) {
        self.routes.clear();
        match &mut self.free {
            FreePlaces::First(free) => free.clear(),
            FreePlaces::Latest(free) => free.clear(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(text: &str) -> Route {
        Route::new(text.parse().unwrap(), Default::default(), 0)
    }

    fn order_after_changes(reuse: Reuse) -> String {
        let mut store = RouteStore::new(reuse);
        for text in ["1/8", "2/8", "3/8", "4/8"] {
            store.insert(route(text), false).unwrap();
        }
        for text in ["1/8", "3/8"] {
            store.remove(&Removal::new(text.parse().unwrap(), None)).unwrap();
        }
        store.insert(route("5/8"), false).unwrap();
        store.insert(route("2/8"), true).unwrap();
        store.iter().map(|route| route.prefix().address.octets()[0].to_string()).collect()
    }

    #[test]
    fn places_are_reused_in_the_order_asked_for() {
        assert_eq!(order_after_changes(Reuse::First), "524");
        assert_eq!(order_after_changes(Reuse::Latest), "254");
    }

    #[test]
    fn the_nearest_cover_is_found() {
        let mut store = RouteStore::new(Reuse::First);
        for text in ["0/0", "10/8", "10.1/16", "10.1.2/24"] {
            store.insert(route(text), false).unwrap();
        }
        let cover =
            |text: &str, len| store.cover(text.parse().unwrap(), len).map(|route| route.prefix().to_string());
        assert_eq!(cover("10.1.2/24", 24).unwrap(), "10.1.0.0/16");
        assert_eq!(cover("10/8", 8).unwrap(), "0.0.0.0/0");
        assert_eq!(cover("0/0", 0), None);
    }
}

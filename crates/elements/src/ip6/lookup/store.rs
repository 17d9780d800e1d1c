//! The record of a table's routes: which there are, and in which order Click prints them.

use super::Route;
use clickwork_packet::addr::Ipv6Prefix;
use std::collections::{BTreeSet, HashMap};

/// Routes in numbered places. A new route takes the first free one; a route that replaces another frees the other's first.
#[derive(Clone, Debug)]
pub struct Store {
    places: Vec<Option<Route>>,
    free: BTreeSet<usize>,
    by_prefix: HashMap<Ipv6Prefix, usize>,
    /// How many routes have a prefix of each length.
    lengths: [usize; 129],
}

impl Default for Store {
    fn default() -> Store {
        let (places, free, by_prefix) = Default::default();
        Store { places, free, by_prefix, lengths: [0; 129] }
    }
}

impl Store {
    /// The number of routes.
    pub fn len(&self) -> usize {
        self.by_prefix.len()
    }

    /// Whether there has ever been a route.
    pub fn was_used(&self) -> bool {
        !self.places.is_empty()
    }

    /// The routes in the order of their places.
    pub fn iter(&self) -> impl Iterator<Item = &Route> {
        self.places.iter().flatten()
    }

    fn get(&self, prefix: Ipv6Prefix) -> Option<&Route> {
        self.places[*self.by_prefix.get(&prefix)?].as_ref()
    }

    /// The most specific route that covers more than `prefix`.
    pub fn cover(&self, prefix: Ipv6Prefix) -> Option<&Route> {
        let lengths = (0..prefix.prefix_len()).rev().filter(|&len| self.lengths[usize::from(len)] > 0);
        lengths.map(|len| Ipv6Prefix::new(prefix.address(), len).network()).find_map(|p| self.get(p))
    }

    /// Enters a route and returns the one of the same prefix that it replaces.
    pub fn insert(&mut self, route: Route) -> Option<Route> {
        let old = self.remove(route.prefix());
        let place = self.free.pop_first().unwrap_or(self.places.len());
        if place == self.places.len() {
            self.places.push(None);
        }
        self.places[place] = Some(route);
        self.by_prefix.insert(route.prefix(), place);
        self.lengths[usize::from(route.prefix().prefix_len())] += 1;
        old
    }

    /// Takes a route out and returns it.
    pub fn remove(&mut self, prefix: Ipv6Prefix) -> Option<Route> {
        let place = self.by_prefix.remove(&prefix)?;
        self.free.insert(place);
        self.lengths[usize::from(prefix.prefix_len())] -= 1;
        self.places[place].take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(text: &str) -> Route {
        Route::new(text.parse().unwrap(), Default::default(), 0)
    }

    #[test]
    fn the_first_free_place_is_taken() {
        let mut store = Store::default();
        for text in ["1::/16", "2::/16", "3::/16", "4::/16"] {
            store.insert(route(text));
        }
        for text in ["1::/16", "3::/16"] {
            store.remove(text.parse().unwrap()).unwrap();
        }
        // The fourth frees the last place, and takes the first.
        store.insert(route("4::/16"));
        store.insert(route("5::/16"));
        let order: Vec<_> = store.iter().map(|r| r.prefix().to_string()).collect();
        assert_eq!(order, ["4::/16", "2::/16", "5::/16"]);
    }

    #[test]
    fn the_nearest_cover_is_found() {
        let mut store = Store::default();
        for text in ["::/0", "2001::/16", "2001:db8::/32", "2001:db8:1::/48"] {
            store.insert(route(text));
        }
        let cover = |text: &str| store.cover(text.parse().unwrap()).map(|r| r.prefix().to_string());
        assert_eq!(cover("2001:db8:1::/48").unwrap(), "2001:db8::/32");
        assert_eq!(cover("2002::/16").unwrap(), "::/0");
        assert_eq!(cover("::/0"), None);
    }
}

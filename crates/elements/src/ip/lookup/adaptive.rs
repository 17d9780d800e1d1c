//! The index that fits: chosen by the number of routes and their masks, and changed when they change.

use super::few::{self, FewRoutes};
use super::indexed::Index;
use super::linear::Scan;
use super::multibit::Multibit;
use super::painted::Painted;
use super::route::{Hop, Route, RouteError};
use super::store::RouteStore;
use clickwork_packet::addr::{Ipv4Address, Ipv4Prefix};

/// One of three indexes, which all answer as a search of the whole list would.
#[derive(Clone, Debug)]
pub struct Adaptive {
    structure: Structure,
    /// The number of routes whose masks have holes.
    with_holes: usize,
}

#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "one for each table, and a box would cost each lookup a memory access"
)]
enum Structure {
    /// A handful of routes.
    Few(FewRoutes),
    /// More.
    Many(Painted<Multibit<16>>),
    /// Some masks have holes.
    Any(Scan),
}

/// A trie gives way to a small table only when half of that is free, so that a table at the border does not flap.
const BACK_TO_FEW: usize = few::CAPACITY / 2;

impl Default for Adaptive {
    fn default() -> Self {
        Self { structure: Structure::Few(FewRoutes::default()), with_holes: 0 }
    }
}

fn holes(route: &Route) -> usize {
    usize::from(route.prefix().prefix_len().is_none())
}

impl Adaptive {
    /// Builds the structure that fits the record.
    fn rebuild(&mut self, store: &RouteStore) {
        self.structure = if self.with_holes > 0 {
            Structure::Any(Scan)
        } else if store.len() <= few::CAPACITY {
            Structure::Few(FewRoutes::new(store.iter()))
        } else {
            Structure::Many(Painted::of(store))
        };
    }

    /// The trie, if there is one and it still fits the record.
    fn fitting_trie(&mut self, routes: usize) -> Option<&mut Painted<Multibit<16>>> {
        match &mut self.structure {
            Structure::Many(trie) if self.with_holes == 0 && routes > BACK_TO_FEW => Some(trie),
            _ => None,
        }
    }
}

impl Index for Adaptive {
    fn accept(&self, prefix: Ipv4Prefix) -> Result<(), RouteError> {
        match &self.structure {
            Structure::Many(trie) if prefix.prefix_len().is_some() => trie.accept(prefix),
            _ => Ok(()),
        }
    }

    fn inserted(&mut self, route: &Route, old: Option<&Route>, store: &RouteStore) {
        self.with_holes += if old.is_none() { holes(route) } else { 0 };
        match self.fitting_trie(store.len()) {
            Some(trie) => trie.inserted(route, old, store),
            None => self.rebuild(store),
        }
    }

    fn removed(&mut self, route: &Route, store: &RouteStore) {
        self.with_holes -= holes(route);
        match self.fitting_trie(store.len()) {
            Some(trie) => trie.removed(route, store),
            None => self.rebuild(store),
        }
    }

    #[inline]
    fn lookup(&self, address: Ipv4Address, store: &RouteStore) -> Option<Hop> {
        match &self.structure {
            Structure::Few(routes) => routes.lookup(address),
            Structure::Many(trie) => trie.lookup(address, store),
            Structure::Any(scan) => scan.lookup(address, store),
        }
    }

    #[inline]
    fn prefetch(&self, address: Ipv4Address) {
        if let Structure::Many(trie) = &self.structure {
            trie.prefetch(address);
        }
    }
}

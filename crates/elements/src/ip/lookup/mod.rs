//! IPv4 route tables: one interface, several algorithms.
//!
//! All tables answer alike: the most specific route that holds an address wins (RFC 1812 §5.2.4.3). They differ in the
//! time and memory they take, and in the order in which they print their routes.
//!
//! | table | structure | for |
//! |---|---|---|
//! | [`StaticTable`] | whatever fits the number of routes | every purpose |
//! | [`LinearTable`] | a list, searched to its end | masks with holes, reading |
//! | [`SortedTable`] | a list, most specific first | masks with holes |
//! | [`RadixTable`] | a trie of 16, 8 and 8 bits | many routes |
//! | [`DirectTable`] | DIR-24-8: a trie of 24 and 8 bits | one memory access for most packets, if memory does not count |
//! | [`RangeTable`] | sorted address ranges | many routes in little memory |
//!
//! A table is a [`RouteStore`], which knows the routes, and an [`Index`], which answers lookups: [`Indexed`]. Not router
//! elements: those parse their arguments with [`commands`] and hold a table. Read first: [`painted`]; then Gupta, Lin,
//! McKeown, "Routing lookups in hardware at memory access speeds" (INFOCOM 1998) for DIR-24-8, and Zec, Rizzo, Mikuc,
//! "DXR: towards a billion routing lookups per second in software" (CCR 2012) for ranges.

mod adaptive;
pub mod commands;
pub mod entry;
mod few;
mod indexed;
mod linear;
mod multibit;
pub mod painted;
mod printed;
mod ranges;
mod route;
mod sorted;
mod store;

pub use adaptive::Adaptive;
pub use indexed::{Index, Indexed};
pub use linear::Scan;
pub use multibit::Multibit;
pub use painted::Painted;
pub use printed::Order;
pub use ranges::Ranges;
pub use route::{Hop, Removal, Route, RouteError};
pub use sorted::MostSpecificFirst;
pub use store::{Reuse, RouteStore};

use clickwork_packet::addr::Ipv4Address;

/// The table of StaticIPLookup.
pub type StaticTable = Indexed<Adaptive>;
/// The table of LinearIPLookup.
pub type LinearTable = Indexed<Scan>;
/// The table of SortedIPLookup.
pub type SortedTable = Indexed<MostSpecificFirst>;
/// The table of RadixIPLookup.
pub type RadixTable = Indexed<Painted<Multibit<16>>>;
/// The table of DirectIPLookup.
pub type DirectTable = Indexed<Painted<Multibit<24>>>;
/// The table of RangeIPLookup.
pub type RangeTable = Indexed<Painted<Ranges>>;

/// A set of routes, at most one for each prefix, that finds the one for an address.
pub trait RouteTable {
    /// Adds a route. If there is one for the same prefix, it is replaced and returned (`replace`), or nothing changes
    /// and it is in the error.
    fn insert(&mut self, route: Route, replace: bool) -> Result<Option<Route>, RouteError>;

    /// Removes a route and returns it; its addresses go to the next less specific route.
    fn remove(&mut self, wanted: &Removal) -> Result<Route, RouteError>;

    /// Where packets to `address` go, if any route leads there.
    fn lookup(&self, address: Ipv4Address) -> Option<Hop>;

    /// Asks for the memory that a lookup of `address` will read. Call it for a whole batch before the first lookup.
    fn prefetch(&self, address: Ipv4Address);

    /// The number of routes.
    fn len(&self) -> usize;

    /// Whether there is no route.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All routes, in the order in which Click prints them.
    fn routes(&self) -> Box<dyn Iterator<Item = Route> + '_>;

    /// Removes all routes.
    fn clear(&mut self);
}

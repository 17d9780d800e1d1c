//! RadixIPLookup: routes packets by destination address; follows a trie.

use super::ip_lookup::{Complaint, IpLookup, class};
use super::lookup::RadixTable;
use clickwork_router::Class;

/// The class facts.
pub static CLASS: Class = Class {
    help: "routes packets by destination address; follows a trie",
    manual: "Looks up the destination address annotation of each packet; the most specific route that holds \
             the address wins. Sets the annotation to the route's gateway, if it has one, and sends the \
             packet to the route's output. Packets without a route are dropped. A lookup follows a trie of \
             16, 8 and 8 bits: one to three memory accesses, whatever the number of routes.",
    example: "InfiniteSource(LIMIT 10, STOP true) \
              -> RadixIPLookup(10.0.0.0/8 0, 0/0 10.0.0.1 1) => Discard, Discard",
    ..class::<RadixTable>("RadixIPLookup", || {
        IpLookup::<RadixTable>::boxed(Complaint::NoRoute("IPRouteTable"))
    })
};

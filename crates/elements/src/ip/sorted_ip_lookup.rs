//! SortedIPLookup: routes packets by destination address; searches a sorted list.

use super::ip_lookup::{Complaint, IpLookup, class};
use super::lookup::SortedTable;
use clickwork_router::Class;

/// The class facts.
pub static CLASS: Class = Class {
    help: "routes packets by destination address; searches a sorted list",
    manual: "Looks up the destination address annotation of each packet; the most specific route that holds \
             the address wins. Sets the annotation to the route's gateway, if it has one, and sends the \
             packet to the route's output. Packets without a route are dropped. A lookup searches a list \
             with the most specific routes first, up to the first that holds the address. Masks may have \
             holes.",
    example: "InfiniteSource(LIMIT 10, STOP true) \
              -> SortedIPLookup(10.0.0.0/8 0, 0/0 10.0.0.1 1) => Discard, Discard",
    ..class::<SortedTable>("SortedIPLookup", || {
        IpLookup::<SortedTable>::discouraged(
            Complaint::NoGateway("SortedIPLookup"),
            "SortedIPLookup is deprecated; use LinearIPLookup or RadixIPLookup instead",
        )
    })
};

//! RangeIPLookup: routes packets by destination address; searches address ranges.

use super::ip_lookup::{Complaint, IpLookup, class};
use super::lookup::RangeTable;
use clickwork_router::Class;

/// The class facts.
pub static CLASS: Class = Class {
    help: "routes packets by destination address; searches address ranges",
    manual: "Looks up the destination address annotation of each packet; the most specific route that holds \
             the address wins. Sets the annotation to the route's gateway, if it has one, and sends the \
             packet to the route's output. Packets without a route are dropped. A lookup is a binary search \
             in a short sorted list of address ranges, which take little memory.",
    example: "InfiniteSource(LIMIT 10, STOP true) \
              -> RangeIPLookup(10.0.0.0/8 0, 0/0 10.0.0.1 1) => Discard, Discard",
    ..class::<RangeTable>("RangeIPLookup", || IpLookup::<RangeTable>::boxed(Complaint::None))
};

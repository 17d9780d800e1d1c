//! DirectIPLookup: routes packets by destination address; indexes one big array.

use super::ip_lookup::{Complaint, IpLookup, class};
use super::lookup::DirectTable;
use clickwork_router::Class;

/// The class facts.
pub static CLASS: Class = Class {
    help: "routes packets by destination address; indexes one big array",
    manual: "Looks up the destination address annotation of each packet; the most specific route that holds \
             the address wins. Sets the annotation to the route's gateway, if it has one, and sends the \
             packet to the route's output. Packets without a route are dropped. The first 24 bits of the \
             address index an array (DIR-24-8), so that routes of up to 24 bits take one memory access, \
             longer ones two. The array takes up to 64 MB, but only where there are routes.",
    example: "InfiniteSource(LIMIT 10, STOP true) \
              -> DirectIPLookup(10.0.0.0/8 0, 0/0 10.0.0.1 1) => Discard, Discard",
    ..class::<DirectTable>("DirectIPLookup", || IpLookup::<DirectTable>::boxed(Complaint::None))
};

//! LinearIPLookup: routes packets by destination address; searches a list.

use super::ip_lookup::{Complaint, IpLookup, class};
use super::lookup::LinearTable;
use clickwork_router::Class;

/// The class facts.
pub static CLASS: Class = Class {
    help: "routes packets by destination address; searches a list",
    manual: "Looks up the destination address annotation of each packet; the most specific route that holds \
             the address wins. Sets the annotation to the route's gateway, if it has one, and sends the \
             packet to the route's output. Packets without a route are dropped. Every lookup searches the \
             whole list of routes. Masks may have holes; where of two such masks neither includes the \
             other, the earlier route wins.",
    example: "InfiniteSource(LIMIT 10, STOP true) \
              -> LinearIPLookup(10.0.0.0/8 0, 0/0 10.0.0.1 1) => Discard, Discard",
    ..class::<LinearTable>("LinearIPLookup", || {
        IpLookup::<LinearTable>::boxed(Complaint::NoRoute("LinearIPLookup"))
    })
};

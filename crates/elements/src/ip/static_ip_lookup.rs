//! StaticIPLookup: routes packets by destination address.

use super::ip_lookup::{Complaint, IpLookup, class};
use super::lookup::StaticTable;
use clickwork_router::Class;

/// The class facts.
pub static CLASS: Class = facts("StaticIPLookup");

/// The same under the name it has in the papers on Click.
pub static LOOKUP_IP_ROUTE: Class = facts("LookupIPRoute");

/// The same under the name of a Click class that keeps a cache for each processor.
pub static LOOKUP_IP_ROUTE_MP: Class = facts("LookupIPRouteMP");

const fn facts(name: &'static str) -> Class {
    Class {
        help: "routes packets by destination address",
        manual: "Looks up the destination address annotation of each packet; the most specific route that \
                 holds the address wins. Sets the annotation to the route's gateway, if it has one, and \
                 sends the packet to the route's output. Packets without a route are dropped. The table \
                 takes the shape that suits the number of its routes, from a handful to millions: use this \
                 class unless you want to compare algorithms.",
        example: "InfiniteSource(LIMIT 10, STOP true) \
                  -> StaticIPLookup(10.0.0.0/8 0, 0/0 10.0.0.1 1) => Discard, Discard",
        ..class::<StaticTable>(name, || IpLookup::<StaticTable>::boxed(Complaint::NoRoute("LinearIPLookup")))
    }
}

//! IPv6: headers, neighbour discovery, routes, translation from and to IPv4.

use clickwork_router::Class;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[];

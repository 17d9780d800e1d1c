//! Rewriters of addresses and ports: NAT, load balancing, proxies.

use clickwork_router::Class;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[];

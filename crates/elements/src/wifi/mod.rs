//! Wireless: 802.11 encapsulation, rates, access points and stations.

use clickwork_router::Class;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[];

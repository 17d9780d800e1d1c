//! Devices: packets from and to network interfaces and tunnels. The system's side is in the crate `clickwork-device`.

mod from_device;
mod to_device;

use clickwork_router::{Class, Registry};

/// The classes of this family.
pub static CLASSES: &[&Class] = &[&from_device::CLASS, &to_device::CLASS];

/// Adds the older names that configurations know these classes by.
pub fn add_aliases(registry: &mut Registry) {
    registry.alias("PollDevice", &from_device::CLASS);
}

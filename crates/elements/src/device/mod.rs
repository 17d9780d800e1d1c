//! Devices: packets from and to network interfaces and tunnels, and the wires between routers. The system's side is in the crate `clickwork-device`.

mod from_device;
mod from_host;
mod host;
mod kernel_tun;
mod router_link;
mod to_device;
mod to_host;

use clickwork_router::{Class, Registry};

/// The classes of this family.
pub static CLASSES: &[&Class] = &[
    &from_device::CLASS,
    &from_host::CLASS,
    &kernel_tun::KERNEL_TAP,
    &kernel_tun::KERNEL_TUN,
    &router_link::CLASS,
    &to_device::CLASS,
    &to_host::CLASS,
];

/// Adds the older names that configurations know these classes by.
pub fn add_aliases(registry: &mut Registry) {
    registry.alias("PollDevice", &from_device::CLASS);
    registry.alias("FromLinux", &from_host::CLASS);
    registry.alias("ToLinux", &to_host::CLASS);
}

//! The addresses of this machine's network devices, under the devices' names.
//!
//! Look-ups of unknown names are frequent (every word of a filter may be one), so what the kernel says is kept for a
//! while.

use clickwork_device::{InterfaceAddresses, default_gateway};
use clickwork_packet::addr::{EtherAddress, Ipv4Address, Ipv4Prefix};
use clickwork_router::args::{DeviceAddresses, Names};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long an answer of the kernel holds.
const FRESH: Duration = Duration::from_secs(30);

/// Names for the arguments of a new router: those of network devices stand for their addresses.
pub fn names_of_devices() -> Names {
    let names = Names::default();
    names.set_devices(Arc::new(KernelDevices::default()));
    names
}

/// What the kernel says about its devices.
#[derive(Default)]
struct KernelDevices {
    known: Mutex<HashMap<String, Answer>>,
}

struct Answer {
    when: Instant,
    addresses: Option<InterfaceAddresses>,
}

impl KernelDevices {
    /// One fact about a device, asked anew if the last answer is old.
    fn ask<T>(&self, device: &str, fact: impl FnOnce(&InterfaceAddresses) -> Option<T>) -> Option<T> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = known.get(device).is_some_and(|answer| answer.when.elapsed() < FRESH);
        if !fresh {
            let addresses = InterfaceAddresses::of(device).ok();
            known.insert(device.to_string(), Answer { when: Instant::now(), addresses });
        }
        fact(known.get(device)?.addresses.as_ref()?)
    }
}

impl DeviceAddresses for KernelDevices {
    fn ip(&self, device: &str) -> Option<Ipv4Prefix> {
        let (address, length) = self.ask(device, |addresses| addresses.ipv4.first().copied())?;
        Some(Ipv4Prefix::with_len(address.into(), length))
    }

    fn ether(&self, device: &str) -> Option<EtherAddress> {
        self.ask(device, |addresses| addresses.ethernet).map(EtherAddress)
    }

    fn gateway(&self, device: &str) -> Option<Ipv4Address> {
        self.ask(device, |_| default_gateway(device)).map(Ipv4Address::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clickwork_router::args::{FromArg, HostOrPrefix};

    #[test]
    fn devices_stand_for_their_addresses() {
        let names = names_of_devices();
        assert_eq!(names.ip("lo").unwrap().to_string(), "127.0.0.1");
        assert_eq!(names.ip_prefix("lo:ipnet").unwrap().to_string(), "127.0.0.1/8");
        assert_eq!(names.ip("lo:bcast").unwrap().to_string(), "127.255.255.255");
        let host = HostOrPrefix::<Ipv4Prefix>::from_arg("lo", &names).unwrap().0;
        assert_eq!(host.to_string(), "127.0.0.1/32", "the address, where an address or a prefix can stand");
        assert_eq!((names.ip("absent0"), names.ether("absent0")), (None, None));
    }
}

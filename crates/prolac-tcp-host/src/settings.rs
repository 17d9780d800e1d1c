//! From names and addresses to a running host.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::time::{Duration, Instant};

use clickwork_device::{DeviceError, Fault, InterfaceAddresses, TunnelKind, TunnelOptions};
use clickwork_prolac_tcp::{Config, TcpStack};

use crate::engine::Engine;
use crate::host::Host;
use crate::shared::SharedHost;
use crate::tun::Tun;

/// What a host is to be.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The TUN device: made if there is none of the name.
    pub device: String,
    /// Our addresses, with the lengths of the prefixes in which the machine at the other end of the device is too.
    pub addresses: Vec<(IpAddr, u8)>,
    /// Leave checksums and segmentation to the kernel.
    pub offload: bool,
    /// The largest IP packet; the device's own if none.
    pub mtu: Option<u16>,
    /// Parameters of the TCP.
    pub config: Config,
}

impl Settings {
    /// A host on `device` with the address that `address/prefix` says.
    ///
    /// # Errors
    /// If it says none.
    pub fn new(device: &str, address: &str) -> io::Result<Settings> {
        let settings = Settings {
            device: device.to_string(),
            addresses: Vec::new(),
            offload: true,
            mtu: None,
            config: Config::default(),
        };
        settings.and_address(address)
    }

    /// With one more address.
    ///
    /// # Errors
    /// If `address` is not `address/prefix`.
    pub fn and_address(mut self, address: &str) -> io::Result<Settings> {
        let parsed = parse(address).ok_or_else(|| {
            let message =
                format!("`{address}` is not an address with the length of its prefix, such as 10.9.0.2/24");
            io::Error::new(io::ErrorKind::InvalidInput, message)
        });
        self.addresses.push(parsed?);
        Ok(self)
    }

    /// Opens the device and makes the stack. If the device has no address, it gets the first in our prefix that is not
    /// ours: it is the one of the machine.
    ///
    /// # Errors
    /// If the device cannot be opened.
    pub fn open(&self) -> io::Result<Host> {
        self.open_with(|stack| stack)
    }

    /// The same with something around the stack.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with<E: Engine>(&self, engine: impl FnOnce(TcpStack) -> E) -> io::Result<Host<E>> {
        let mut options = TunnelOptions { name: self.device.clone(), ..TunnelOptions::new(TunnelKind::Tun) };
        options.mtu = self.mtu.map(usize::from);
        let there = InterfaceAddresses::of(&self.device).unwrap_or_default();
        for &(address, prefix) in &self.addresses {
            match neighbour(address, prefix) {
                IpAddr::V4(host) if there.ipv4.is_empty() => options.address = Some((host, prefix)),
                IpAddr::V6(host) if there.ipv6.iter().all(|(ip, _)| ip.is_unicast_link_local()) => {
                    options.address6 = Some((host, prefix));
                }
                _ => {}
            }
        }
        let tun = Tun::open(&options, self.offload).map_err(device_error)?;
        if let Some((address, _)) = options.address6 {
            wait_for_address(address);
        }
        let mut config = self.config;
        config.mtu = mtu_of(tun.name(), config.mtu);
        let mut stack = TcpStack::new(config);
        self.addresses.iter().for_each(|&(address, _)| stack.add_address(address));
        Ok(Host::new(engine(stack), tun))
    }

    /// Opens it, and starts a thread that serves it.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn start(&self) -> io::Result<SharedHost> {
        SharedHost::start(self.open()?)
    }
}

fn device_error(error: DeviceError) -> io::Error {
    let kind = match error.fault() {
        Fault::NoSuchDevice | Fault::Vanished => io::ErrorKind::NotFound,
        Fault::NoPermission => io::ErrorKind::PermissionDenied,
        Fault::Down => io::ErrorKind::NetworkDown,
        Fault::Unsupported => io::ErrorKind::Unsupported,
        Fault::Other => io::ErrorKind::Other,
    };
    io::Error::new(kind, error)
}

/// A new IPv6 address can be used only when the machine has seen to it that nobody else has it (RFC 4862 §5.4), which
/// on a TUN device is soon. Connections before that would fail.
fn wait_for_address(address: Ipv6Addr) {
    let end = Instant::now() + Duration::from_secs(10);
    while UdpSocket::bind((address, 0)).is_err() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The device's MTU, unless it cannot be had.
fn mtu_of(device: &str, otherwise: u32) -> u32 {
    clickwork_device::Interface::find(device).map_or(otherwise, |device| device.mtu as u32)
}

fn parse(text: &str) -> Option<(IpAddr, u8)> {
    let (address, prefix) = text.split_once('/')?;
    let (address, prefix) = (address.parse::<IpAddr>().ok()?, prefix.parse().ok()?);
    let longest = if address.is_ipv4() { 32 } else { 128 };
    (prefix <= longest).then_some((address, prefix))
}

/// The first address of the prefix that is not ours, nor the prefix itself.
fn neighbour(ours: IpAddr, prefix: u8) -> IpAddr {
    match ours {
        IpAddr::V4(ours) => {
            let first = u32::from(ours) & u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0);
            Ipv4Addr::from(other(first.into(), u32::from(ours).into()) as u32).into()
        }
        IpAddr::V6(ours) => {
            let first = u128::from(ours) & u128::MAX.checked_shl(128 - u32::from(prefix)).unwrap_or(0);
            Ipv6Addr::from(other(first, ours.into())).into()
        }
    }
}

fn other(prefix: u128, ours: u128) -> u128 {
    let first = prefix.wrapping_add(1);
    if first == ours { prefix.wrapping_add(2) } else { first }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_has_the_first_free_address_of_the_prefix() {
        let neighbour = |text| {
            let (ours, prefix) = parse(text).unwrap();
            neighbour(ours, prefix).to_string()
        };
        assert_eq!(neighbour("10.9.0.2/24"), "10.9.0.1");
        assert_eq!(neighbour("10.9.0.1/24"), "10.9.0.2");
        assert_eq!(neighbour("10.9.7.9/16"), "10.9.0.1");
        assert_eq!(neighbour("fd00::2/64"), "fd00::1");
        assert_eq!(neighbour("1.2.3.4/0"), "0.0.0.1");
    }

    #[test]
    fn addresses_have_prefixes() {
        for wrong in ["10.9.0.2", "10.9.0.2/33", "10.9.0/24", "fd00::1/129", "/", ""] {
            assert!(Settings::new("tun0", wrong).is_err(), "{wrong}");
        }
        let settings = Settings::new("tun0", "10.9.0.2/24").unwrap().and_address("fd00::2/64").unwrap();
        assert_eq!(settings.addresses.len(), 2);
    }
}

//! TUN and TAP: interfaces whose other end is this process. What the host sends to them we read, what we write
//! the host receives. Read first: the kernel's `Documentation/networking/tuntap.rst`.

use crate::error::{DeviceError, Fault, Result};
use crate::sys::{ifreq, socket};
use rustix::fs::{Mode, OFlags};
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// What packets a tunnel carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TunnelKind {
    /// IP packets.
    Tun,
    /// Ethernet frames.
    Tap,
}

/// A tunnel to be made.
#[derive(Clone, Debug)]
pub struct TunnelOptions {
    /// IP packets or Ethernet frames.
    pub kind: TunnelKind,
    /// The name: empty for one of the kernel's choice, or with `%d` where it chooses a number.
    pub name: String,
    /// The host's address on the tunnel, with the length of the prefix that is reached through it.
    pub address: Option<(Ipv4Addr, u8)>,
    /// The host's IPv6 address, likewise.
    pub address6: Option<(Ipv6Addr, u8)>,
    /// The host's default route.
    pub gateway: Option<Ipv4Addr>,
    /// The host's Ethernet address (TAP).
    pub ethernet: Option<[u8; 6]>,
    /// The largest IP packet in bytes; the kernel's choice is 1500.
    pub mtu: Option<usize>,
    /// Every packet has a `virtio_net_hdr` in front, when read and when written (see [`crate::offload`]).
    pub header: bool,
}

impl TunnelOptions {
    /// A tunnel without address or name.
    pub fn new(kind: TunnelKind) -> TunnelOptions {
        TunnelOptions {
            kind,
            name: String::new(),
            address: None,
            address6: None,
            gateway: None,
            ethernet: None,
            mtu: None,
            header: false,
        }
    }

    /// Flags of `TUNSETIFF`.
    fn flags(&self) -> i32 {
        let kind = match self.kind {
            TunnelKind::Tun => libc::IFF_TUN,
            TunnelKind::Tap => libc::IFF_TAP,
        };
        kind | libc::IFF_NO_PI | if self.header { libc::IFF_VNET_HDR } else { 0 }
    }
}

/// An open tunnel. The interface goes away with it, unless it was there before and is persistent.
pub struct Tunnel {
    device: OwnedFd,
    name: String,
    kind: TunnelKind,
}

impl Tunnel {
    /// Makes (or attaches to) the interface, sets it up and brings it up.
    pub fn open(options: &TunnelOptions) -> Result<Tunnel> {
        let shown = if options.name.is_empty() { "tunnel" } else { &options.name };
        let device = open_driver().map_err(|error| driver_error(shown, &error))?;
        let name = ifreq::attach_tunnel(device.as_fd(), &options.name, options.flags())
            .map_err(|error| attach_error(shown, &error))?;
        let tunnel = Tunnel { device, name, kind: options.kind };
        tunnel.set_up(options)?;
        Ok(tunnel)
    }

    fn set_up(&self, options: &TunnelOptions) -> Result<()> {
        let name = self.name.as_str();
        let fail = |action| move |error: io::Error| DeviceError::system(name, action, &error);
        let control = socket::control_socket().map_err(fail("open a control socket"))?;
        let control = control.as_fd();
        if let Some(mac) = options.ethernet {
            // The address cannot change while the interface is up, as one that was there before may be.
            self.change_up(control, false).map_err(fail("bring it down"))?;
            ifreq::set_hardware_address(control, name, mac).map_err(fail("set the Ethernet address"))?;
        }
        if let Some(mtu) = options.mtu {
            ifreq::set_mtu(control, name, mtu).map_err(fail("set the MTU"))?;
        }
        if let Some((address, prefix)) = options.address {
            ifreq::set_address(control, name, address).map_err(fail("set the IP address"))?;
            ifreq::set_mask(control, name, mask(prefix)).map_err(fail("set the IP address mask"))?;
        }
        self.change_up(control, true).map_err(fail("bring it up"))?;
        if let Some(address) = options.address6 {
            self.add_address6(control, address).map_err(fail("add the IPv6 address"))?;
        }
        if let Some(gateway) = options.gateway {
            ifreq::add_default_route(control, gateway).map_err(fail("add the default route"))?;
        }
        Ok(())
    }

    fn add_address6(&self, control: BorrowedFd<'_>, (address, prefix): (Ipv6Addr, u8)) -> io::Result<()> {
        let index = ifreq::index(control, &self.name)?;
        match ifreq::add_address6(socket::control_socket6()?.as_fd(), index, address, prefix) {
            // An interface that was there before may have it.
            Err(error) if error.raw_os_error() == Some(libc::EEXIST) => Ok(()),
            other => other,
        }
    }

    fn change_up(&self, control: BorrowedFd<'_>, up: bool) -> io::Result<()> {
        let flags = ifreq::flags(control, &self.name)?;
        let flags = if up { flags | libc::IFF_UP } else { flags & !libc::IFF_UP };
        ifreq::set_flags(control, &self.name, flags)
    }

    /// The name of the interface, as the kernel settled it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the tunnel carries.
    pub fn kind(&self) -> TunnelKind {
        self.kind
    }

    /// Reads one packet without waiting; gives its length, or `None` if there is none. A packet longer than
    /// the buffer is cut.
    pub fn read(&self, buffer: &mut [u8]) -> Result<Option<usize>> {
        match rustix::io::read(&self.device, buffer) {
            Ok(length) => Ok(Some(length)),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Ok(None),
            Err(error) => Err(self.lost("read", error.into())),
        }
    }

    /// Gives the host one packet. False if it has no room now: keep the packet.
    ///
    /// # Errors
    /// [`Fault::Other`] if the host refuses this packet (it is no IP packet, for example): drop it.
    pub fn write(&self, packet: &[u8]) -> Result<bool> {
        match rustix::io::write(&self.device, packet) {
            Ok(_) => Ok(true),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR | rustix::io::Errno::NOBUFS) => Ok(false),
            Err(error) => Err(self.lost("write", error.into())),
        }
    }

    /// Says whether the host may hand over TCP packets as they are before a network card's work: checksums partial, and
    /// up to 64 KiB of a stream in one. Only with [`TunnelOptions::header`], which tells what is left to do.
    pub fn set_offload(&self, on: bool) -> Result<()> {
        ifreq::set_tunnel_offload(self.device.as_fd(), on)
            .map_err(|error| DeviceError::system(&self.name, "set its offloads", &error))
    }

    /// As [`read`](Self::read), into several buffers, one after the other.
    #[inline]
    pub fn read_vectored(&self, buffers: &mut [IoSliceMut<'_>]) -> Result<Option<usize>> {
        match rustix::io::readv(&self.device, buffers) {
            Ok(length) => Ok(Some(length)),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Ok(None),
            Err(error) => Err(self.lost("read", error.into())),
        }
    }

    /// As [`write`](Self::write), a packet that lies in several pieces.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    #[inline]
    pub fn write_vectored(&self, pieces: &[IoSlice<'_>]) -> Result<bool> {
        match rustix::io::writev(&self.device, pieces) {
            Ok(_) => Ok(true),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR | rustix::io::Errno::NOBUFS) => Ok(false),
            Err(error) => Err(self.lost("write", error.into())),
        }
    }

    /// The error of a read or write: the driver says EIO for "down" and EBADFD for "removed".
    fn lost(&self, action: &'static str, error: io::Error) -> DeviceError {
        match error.raw_os_error() {
            Some(libc::EIO) => DeviceError::new(&self.name, action, Fault::Down, "the interface is down"),
            Some(libc::EBADFD) => {
                DeviceError::new(&self.name, action, Fault::Vanished, "the interface is gone")
            }
            _ => DeviceError::system(&self.name, action, &error),
        }
    }
}

impl AsFd for Tunnel {
    /// Readable when the host has sent packets, for `poll`.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

fn open_driver() -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::open("/dev/net/tun", flags, Mode::empty())?)
}

fn driver_error(name: &str, error: &io::Error) -> DeviceError {
    const ACTION: &str = "open /dev/net/tun";
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::ENODEV) => {
            let reason = "the kernel has no tun driver: `modprobe tun` loads it";
            DeviceError::new(name, ACTION, Fault::Unsupported, reason)
        }
        _ => DeviceError::system(name, ACTION, error),
    }
}

fn attach_error(name: &str, error: &io::Error) -> DeviceError {
    const ACTION: &str = "make the interface";
    match error.raw_os_error() {
        Some(libc::EBUSY) => DeviceError::new(name, ACTION, Fault::Other, "another program has it open"),
        Some(libc::EINVAL) => {
            let reason = "an interface of this name exists and is of another kind";
            DeviceError::new(name, ACTION, Fault::Other, reason)
        }
        _ => DeviceError::system(name, ACTION, error),
    }
}

/// The IPv4 mask of a prefix length.
fn mask(prefix: u8) -> Ipv4Addr {
    Ipv4Addr::from(u32::MAX.checked_shl(32 - u32::from(prefix.min(32))).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_of_all_lengths() {
        assert_eq!(mask(0), Ipv4Addr::UNSPECIFIED);
        assert_eq!(mask(8), Ipv4Addr::new(255, 0, 0, 0));
        assert_eq!(mask(30), Ipv4Addr::new(255, 255, 255, 252));
        assert_eq!(mask(32), Ipv4Addr::BROADCAST);
    }

    #[test]
    fn a_kernel_without_the_driver_is_told_how_to_get_it() {
        let error = driver_error("tap0", &io::Error::from_raw_os_error(libc::ENOENT));
        assert_eq!(error.fault(), Fault::Unsupported);
        assert!(error.to_string().contains("modprobe tun"), "{error}");
    }
}

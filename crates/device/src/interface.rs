//! Facts about network interfaces, asked of the kernel when needed.

use crate::error::{DeviceError, Fault, Result};
use crate::sys::{ifreq, socket};
use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// An interface as it was when asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its name, such as `eth0`.
    pub name: String,
    /// Its number, unique in its network namespace.
    pub index: u32,
    /// Its Ethernet address, if it speaks Ethernet (the loopback interface pretends to).
    pub ethernet: Option<[u8; 6]>,
    /// The largest network-layer packet, in bytes.
    pub mtu: usize,
    /// Administratively up.
    pub up: bool,
    /// Up, and the cable is in.
    pub running: bool,
}

impl Interface {
    /// Asks about the interface of this name.
    pub fn find(name: &str) -> Result<Interface> {
        let fail = |error: io::Error| DeviceError::system(name, "find the interface", &error);
        let control = socket::control_socket().map_err(fail)?;
        Interface::ask(control.as_fd(), name).map_err(fail)
    }

    fn ask(control: BorrowedFd<'_>, name: &str) -> io::Result<Interface> {
        let index = ifreq::index(control, name)?;
        let flags = ifreq::flags(control, name)?;
        let (hardware, address) = ifreq::hardware_address(control, name)?;
        let ethernet = matches!(hardware, libc::ARPHRD_ETHER | libc::ARPHRD_LOOPBACK).then_some(address);
        Ok(Interface {
            name: name.to_string(),
            index,
            ethernet,
            mtu: ifreq::mtu(control, name)?,
            up: flags & libc::IFF_UP != 0,
            running: flags & libc::IFF_RUNNING != 0,
        })
    }

    /// The offloads that change what a packet socket sees. An interface without `ethtool` support has none.
    pub fn offloads(&self) -> Offloads {
        let Ok(control) = socket::control_socket() else { return Offloads::default() };
        let on = |command| ifreq::ethtool_flag(control.as_fd(), &self.name, command).unwrap_or(false);
        Offloads {
            transmit_checksum: on(GET_TX_CHECKSUM),
            tcp_segmentation: on(GET_TSO),
            generic_segmentation: on(GET_GSO),
            generic_receive: on(GET_GRO),
        }
    }
}

const GET_TX_CHECKSUM: u32 = 0x16;
const GET_TSO: u32 = 0x1e;
const GET_GSO: u32 = 0x23;
const GET_GRO: u32 = 0x2b;

/// Work that an interface postpones or merges. All of it is harmless here (see [`crate::offload`]), but
/// merged packets cost time to cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offloads {
    /// `tx`: transport checksums are left to the interface.
    pub transmit_checksum: bool,
    /// `tso`: TCP hands over merged segments.
    pub tcp_segmentation: bool,
    /// `gso`: merged segments are cut as late as possible.
    pub generic_segmentation: bool,
    /// `gro`: received segments are merged.
    pub generic_receive: bool,
}

impl Offloads {
    /// The `ethtool` arguments that turn off whatever merges packets; empty if nothing does.
    pub fn merging_off(&self) -> String {
        let merging = [
            (self.generic_receive, "gro off"),
            (self.generic_segmentation, "gso off"),
            (self.tcp_segmentation, "tso off"),
        ];
        merging.iter().filter(|(on, _)| *on).map(|(_, off)| *off).collect::<Vec<_>>().join(" ")
    }
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.up { "up" } else { "down" };
        write!(f, "{} ({state}, MTU {})", self.name, self.mtu)
    }
}

/// The error for an interface that a socket lost: removed, or only down?
pub(crate) fn lost(fd: BorrowedFd<'_>, name: &str, index: u32, action: &'static str) -> DeviceError {
    match ifreq::name(fd, index) {
        Ok(_) => DeviceError::new(name, action, Fault::Down, "the interface is down"),
        Err(_) => DeviceError::new(name, action, Fault::Vanished, "the interface is gone"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_interface_is_known() {
        let lo = Interface::find("lo").unwrap();
        assert_eq!((lo.index, lo.name.as_str()), (1, "lo"));
        assert!(lo.mtu >= 1500);
    }

    #[test]
    fn names_that_cannot_be_are_no_such_device() {
        for name in ["", "no-such-device-with-a-long-name", "a/b", "nul\0", "absent0"] {
            let error = Interface::find(name).unwrap_err();
            assert_eq!(error.fault(), Fault::NoSuchDevice, "{name:?}");
            assert!(error.to_string().contains("`ip link` lists the interfaces"), "{error}");
        }
    }

    #[test]
    fn only_what_is_on_has_to_be_turned_off() {
        let mut offloads = Offloads { transmit_checksum: true, ..Offloads::default() };
        assert_eq!(offloads.merging_off(), "");
        offloads.generic_receive = true;
        offloads.tcp_segmentation = true;
        assert_eq!(offloads.merging_off(), "gro off tso off");
    }
}

//! What the elements that talk to the host share: reading packets from a tunnel, and writing them to it.

use crate::capture::linktype::LinkType;
use crate::capture::mark_ip;
use clickwork_device::{DeviceError, Fault, Tunnel, TunnelKind};
use clickwork_packet::Packet;
use clickwork_packet::addr::{EtherAddress, Ipv4Address, Ipv4Prefix, Ipv6Prefix};
use clickwork_router::Cx;
use clickwork_router::args::Args;

/// Largest IP packet unless told otherwise.
pub const MTU: usize = 1500;
/// Ethernet header and VLAN tag.
pub const LINK_HEADER: usize = 18;
/// The largest HEADROOM.
const MOST_HEADROOM: usize = 8192;
/// The shortest MTU: an IP header.
const LEAST_MTU: usize = 20;

/// The arguments that those elements share.
#[derive(Clone)]
pub struct Settings {
    /// The host's address, with its network.
    pub address: Option<Ipv4Prefix>,
    /// The host's IPv6 address, with its network.
    pub address6: Option<Ipv6Prefix>,
    /// The host's default route.
    pub gateway: Option<Ipv4Address>,
    /// The host's Ethernet address.
    pub ethernet: Option<EtherAddress>,
    /// Free bytes before a packet.
    pub headroom: usize,
    /// Largest IP packet.
    pub mtu: usize,
}

impl Settings {
    /// Reads GATEWAY, ETHER, HEADROOM and MTU; the address is in the argument `address`.
    pub fn read(args: &mut Args, address: &str, kind: TunnelKind) -> Settings {
        let settings = Settings {
            address: args.get(address),
            address6: None,
            gateway: args.get("GATEWAY"),
            ethernet: args.get("ETHER"),
            headroom: aligned_headroom(kind, args.get::<u32>("HEADROOM")),
            mtu: args.get::<u32>("MTU").map_or(MTU, |n| n as usize),
        };
        if let (Some(address), Some(gateway)) = (settings.address, settings.gateway)
            && !address.contains(gateway)
        {
            args.error_in("GATEWAY", "bad GATEWAY: it is not in the network of the address");
        }
        if settings.headroom > MOST_HEADROOM {
            args.error_in("HEADROOM", "HEADROOM too big");
        }
        if settings.mtu < LEAST_MTU {
            args.error_in("MTU", format!("MTU must be at least {LEAST_MTU}"));
        }
        if settings.address.is_some_and(|a| a.prefix_len().is_none()) {
            args.error_in(address, "the host takes no mask with gaps");
        }
        settings
    }

    /// Makes the interface.
    ///
    /// # Errors
    /// What the system says, with a remedy.
    pub fn open(&self, kind: TunnelKind, name: &str) -> Result<Tunnel, String> {
        let address = |a: Ipv4Address| std::net::Ipv4Addr::from(a.octets());
        let options = clickwork_device::TunnelOptions {
            kind,
            name: name.to_string(),
            address: self.address.and_then(|p| Some((address(p.address), p.prefix_len()?))),
            address6: self.address6.map(|p| (p.address().into(), p.prefix_len())),
            gateway: self.gateway.map(address),
            ethernet: self.ethernet.map(|e| e.0),
            mtu: Some(self.mtu),
            header: false,
        };
        Tunnel::open(&options).map_err(|e| e.to_string())
    }

    /// Reads one packet from the host.
    ///
    /// # Errors
    /// If the interface is down or gone.
    pub fn read_packet(&self, tunnel: &Tunnel, cx: &Cx<'_>) -> Result<Option<Packet>, DeviceError> {
        let room = self.mtu + LINK_HEADER;
        let mut p = Packet::recycled(self.headroom, room, 0);
        let Some(length) = tunnel.read(p.data_mut())? else { return Ok(None) };
        p.take(room - length.min(room));
        p.set_timestamp(cx.now());
        Ok(Some(p))
    }
}

/// The headroom asked for, or else the usual one, which aligns the IP header to 4 bytes.
fn aligned_headroom(kind: TunnelKind, wanted: Option<u32>) -> usize {
    let usual = match kind {
        TunnelKind::Tun => 28,
        TunnelKind::Tap => 30,
    };
    aligned_as(usual, wanted.map_or(usual, |n| n as usize))
}

/// The headroom, or a little more, that gives packets the alignment to 4 bytes that the usual headroom gives them.
/// `click-align` counts on it.
pub fn aligned_as(usual: usize, headroom: usize) -> usize {
    headroom + (usual + 4 - headroom % 4) % 4
}

/// Marks the IP header; false if the packet is not IP.
pub fn mark(p: &mut Packet, kind: TunnelKind) -> bool {
    let link = match kind {
        TunnelKind::Tun => LinkType::IP,
        TunnelKind::Tap => {
            p.set_mac_offset(0);
            LinkType::ETHER
        }
    };
    let offset = link.ip_offset(p.data());
    if let Some(offset) = offset {
        mark_ip(p, offset);
    }
    offset.is_some()
}

/// What became of a packet for the host.
pub enum Written {
    /// The host has it.
    Yes,
    /// The host has no room for it.
    NoRoom,
    /// It was not taken, for the reason given.
    Refused(&'static str),
    /// The interface is gone.
    Gone,
}

/// Gives the host a packet. Messages begin as Click's do, `KernelTun(tun0)`.
pub fn write(tunnel: &Tunnel, bytes: &[u8], cx: &Cx<'_>) -> Written {
    match tunnel.write(bytes) {
        Ok(true) => Written::Yes,
        Ok(false) => Written::NoRoom,
        Err(error) => {
            let class = &cx.info().class_name;
            cx.report("write failed", || format!("{class}({}): write failed: {error}", tunnel.name()));
            match error.fault() {
                Fault::Vanished => Written::Gone,
                Fault::Down => Written::Refused("interface is down"),
                _ => Written::Refused("refused by host"),
            }
        }
    }
}

//! The router's names, as the classifier's filter language asks for them.

use clickwork_classifier::{Names, NumberKind};
use clickwork_router::args;

/// What AddressInfo and its relatives defined, seen from one element.
pub struct RouterNames<'a>(pub &'a args::Names);

impl Names for RouterNames<'_> {
    fn ip_address(&self, name: &str) -> Option<u32> {
        Some(self.0.ip(name)?.to_bits())
    }

    fn ip_prefix(&self, name: &str) -> Option<(u32, u32)> {
        let prefix = self.0.ip_prefix(name)?;
        Some((prefix.address.to_bits(), prefix.mask.to_bits()))
    }

    fn ether_address(&self, name: &str) -> Option<[u8; 6]> {
        Some(self.0.ether(name)?.0)
    }

    fn number(&self, kind: NumberKind, name: &str) -> Option<u32> {
        match kind {
            NumberKind::IpProtocol => self.0.ip_proto(name).map(u32::from),
            NumberKind::TcpPort => self.0.tcp_port(name).map(u32::from),
            NumberKind::UdpPort => self.0.udp_port(name).map(u32::from),
            NumberKind::TcpFlags | NumberKind::IcmpType => None,
        }
    }
}

//! Names for numbers: protocols, ports, TCP flags, ICMP types, header fields; and the names that the caller
//! knows.
//!
//! A name of the caller (from `AddressInfo`, `PortInfo` and the like) hides a built-in one.

/// What a looked-up number means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberKind {
    /// IP protocol, 0 to 255; 256 is TCP or UDP, 257 any transport protocol.
    IpProtocol,
    /// TCP port.
    TcpPort,
    /// UDP port.
    UdpPort,
    /// Bits of the TCP flags byte.
    TcpFlags,
    /// ICMP type.
    IcmpType,
}

/// Names known to the caller. All methods answer `None` unless overridden.
pub trait Names {
    /// The IPv4 address called `name`, in host byte order.
    fn ip_address(&self, _name: &str) -> Option<u32> {
        None
    }
    /// The network called `name`, as address and mask in host byte order.
    fn ip_prefix(&self, _name: &str) -> Option<(u32, u32)> {
        None
    }
    /// The Ethernet address called `name`.
    fn ether_address(&self, _name: &str) -> Option<[u8; 6]> {
        None
    }
    /// The number that `name` stands for in this sense.
    fn number(&self, _kind: NumberKind, _name: &str) -> Option<u32> {
        None
    }
}

/// Knows no names.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoNames;

impl Names for NoNames {}

/// The pseudo-protocols of [`NumberKind::IpProtocol`].
pub(crate) const TCP_OR_UDP: u32 = 256;
pub(crate) const TRANSPORT: u32 = 257;

pub(crate) const ICMP: u32 = 1;
pub(crate) const TCP: u32 = 6;
pub(crate) const UDP: u32 = 17;
pub(crate) const DCCP: u32 = 33;

/// The number of `name` in this sense: the caller's, else the built-in one.
pub(crate) fn number(names: &dyn Names, kind: NumberKind, name: &str) -> Option<u32> {
    names.number(kind, name).or_else(|| {
        let table = match kind {
            NumberKind::IpProtocol => PROTOCOLS,
            NumberKind::TcpPort | NumberKind::UdpPort => PORTS,
            NumberKind::TcpFlags => TCP_FLAGS,
            NumberKind::IcmpType => ICMP_TYPES,
        };
        table.iter().find(|(known, _)| *known == name).map(|(_, number)| *number)
    })
}

/// How a protocol is written in messages.
pub(crate) fn protocol_name(protocol: u32) -> String {
    let known = PROTOCOLS.iter().find(|(_, number)| *number == protocol);
    known.map_or_else(|| format!("ip proto {protocol}"), |(name, _)| (*name).to_owned())
}

const PROTOCOLS: &[(&str, u32)] = &[
    ("icmp", ICMP),
    ("igmp", 2),
    ("ipip", 4),
    ("tcp", TCP),
    ("udp", UDP),
    ("dccp", DCCP),
    ("gre", 47),
    ("esp", 50),
    ("ah", 51),
    ("ospf", 89),
    ("pim", 103),
    ("sctp", 132),
    ("udplite", 136),
    ("tcpudp", TCP_OR_UDP),
    ("transp", TRANSPORT),
];

/// The flags byte of the TCP header (RFC 9293 §3.1).
const TCP_FLAGS: &[(&str, u32)] =
    &[("fin", 0x01), ("syn", 0x02), ("rst", 0x04), ("psh", 0x08), ("ack", 0x10), ("urg", 0x20)];

/// ICMP types (RFC 792, RFC 950, RFC 1256).
const ICMP_TYPES: &[(&str, u32)] = &[
    ("echo-reply", 0),
    ("unreachable", 3),
    ("sourcequench", 4),
    ("redirect", 5),
    ("echo", 8),
    ("routeradvert", 9),
    ("routersolicit", 10),
    ("timeexceeded", 11),
    ("parameterproblem", 12),
    ("timestamp", 13),
    ("timestamp-reply", 14),
    ("inforeq", 15),
    ("inforeq-reply", 16),
    ("maskreq", 17),
    ("maskreq-reply", 18),
];

/// Well-known ports under Click's names, and under those of the IANA registry.
const PORTS: &[(&str, u32)] = &[
    ("echo", 7),
    ("discard", 9),
    ("systat", 11),
    ("daytime", 13),
    ("chargen", 19),
    ("ftp-data", 20),
    ("ftp", 21),
    ("ssh", 22),
    ("telnet", 23),
    ("smtp", 25),
    ("time", 37),
    ("whois", 43),
    ("domain", 53),
    ("dns", 53),
    ("bootps", 67),
    ("bootpc", 68),
    ("tftp", 69),
    ("gopher", 70),
    ("finger", 79),
    ("www", 80),
    ("http", 80),
    ("kerberos", 88),
    ("pop3", 110),
    ("sunrpc", 111),
    ("auth", 113),
    ("nntp", 119),
    ("ntp", 123),
    ("netbios-ns", 137),
    ("netbios-dgm", 138),
    ("netbios-ssn", 139),
    ("imap", 143),
    ("imap2", 143),
    ("snmp", 161),
    ("snmp-trap", 162),
    ("bgp", 179),
    ("irc", 194),
    ("imap3", 220),
    ("ldap", 389),
    ("https", 443),
    ("microsoft-ds", 445),
    ("syslog", 514),
    ("printer", 515),
    ("rip", 520),
    ("route", 520),
    ("ldaps", 636),
    ("imaps", 993),
    ("pop3s", 995),
    ("pptp", 1723),
    ("nfs", 2049),
    ("mysql", 3306),
    ("postgresql", 5432),
    ("x11", 6000),
];

#[cfg(test)]
mod tests {
    use super::*;

    struct Own;

    impl Names for Own {
        fn number(&self, kind: NumberKind, name: &str) -> Option<u32> {
            (kind == NumberKind::TcpPort && name == "www").then_some(8080)
        }
    }

    #[test]
    fn the_callers_names_hide_the_built_in_ones() {
        assert_eq!(number(&Own, NumberKind::TcpPort, "www"), Some(8080));
        assert_eq!(number(&Own, NumberKind::UdpPort, "www"), Some(80));
        assert_eq!(number(&NoNames, NumberKind::IcmpType, "www"), None);
        assert_eq!(protocol_name(TCP_OR_UDP), "tcpudp");
        assert_eq!(protocol_name(99), "ip proto 99");
    }
}

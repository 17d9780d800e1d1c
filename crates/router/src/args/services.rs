//! TCP and UDP ports and IP protocols, by number or by name (IANA's service and protocol registries).

use super::{BadValue, FromArg, Names};

/// A TCP port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TcpPort(pub u16);

/// A UDP port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UdpPort(pub u16);

/// An IP protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IpProto(pub u8);

impl FromArg for TcpPort {
    fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue> {
        names.tcp_port(text).map_or_else(|| u16::from_arg(text, names), Ok).map(TcpPort)
    }
}

impl FromArg for UdpPort {
    fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue> {
        names.udp_port(text).map_or_else(|| u16::from_arg(text, names), Ok).map(UdpPort)
    }
}

impl FromArg for IpProto {
    fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue> {
        names.ip_proto(text).map_or_else(|| u8::from_arg(text, names), Ok).map(IpProto)
    }
}

/// The value that a sorted table gives `name`.
fn find<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    table.binary_search_by_key(&name, |entry| entry.0).ok().map(|index| table[index].1)
}

/// The TCP port of a well-known service.
pub(super) fn tcp_service(name: &str) -> Option<u16> {
    find(TCP, name).or_else(|| find(BOTH, name))
}

/// The UDP port of a well-known service.
pub(super) fn udp_service(name: &str) -> Option<u16> {
    find(UDP, name).or_else(|| find(BOTH, name))
}

/// The number of a well-known protocol.
pub(super) fn protocol(name: &str) -> Option<u8> {
    find(PROTOCOLS, name)
}

/// Services whose names stand for the port of either protocol, as Click has it, even where only one protocol is in use.
const BOTH: &[(&str, u16)] = &[
    ("auth", 113),
    ("bootpc", 68),
    ("bootps", 67),
    ("chargen", 19),
    ("daytime", 13),
    ("discard", 9),
    ("dns", 53),
    ("domain", 53),
    ("echo", 7),
    ("finger", 79),
    ("ftp", 21),
    ("ftp-data", 20),
    ("https", 443),
    ("imap3", 220),
    ("imaps", 993),
    ("irc", 194),
    ("kerberos", 88),
    ("ldap", 389),
    ("netbios-dgm", 138),
    ("netbios-ns", 137),
    ("netbios-ssn", 139),
    ("nfs", 2049),
    ("nntp", 119),
    ("ntp", 123),
    ("pop3", 110),
    ("pop3s", 995),
    ("pptp", 1723),
    ("rip", 520),
    ("route", 520),
    ("rtsp", 554),
    ("sip", 5060),
    ("smtp", 25),
    ("snmp", 161),
    ("snmp-trap", 162),
    ("ssh", 22),
    ("sunrpc", 111),
    ("telnet", 23),
    ("tftp", 69),
    ("time", 37),
    ("www", 80),
];

const TCP: &[(&str, u16)] = &[
    ("bgp", 179),
    ("gopher", 70),
    ("http", 80),
    ("imap", 143),
    ("ldaps", 636),
    ("login", 513),
    ("microsoft-ds", 445),
    ("mysql", 3306),
    ("printer", 515),
    ("rsync", 873),
    ("shell", 514),
    ("submission", 587),
    ("whois", 43),
    ("x11", 6000),
];

const UDP: &[(&str, u16)] = &[
    ("isakmp", 500),
    ("mdns", 5353),
    ("radius", 1812),
    ("router", 520),
    ("snmptrap", 162),
    ("syslog", 514),
    ("who", 513),
];

const PROTOCOLS: &[(&str, u8)] = &[
    ("ah", 51),
    ("dccp", 33),
    ("egp", 8),
    ("eigrp", 88),
    ("esp", 50),
    ("gre", 47),
    ("icmp", 1),
    ("icmp6", 58),
    ("idp", 22),
    ("igmp", 2),
    ("igp", 9),
    ("ip6", 41),
    ("ip6-icmp", 58),
    ("ipip", 4),
    ("ipv6", 41),
    ("ipv6-icmp", 58),
    ("l2tp", 115),
    ("ospf", 89),
    ("pim", 103),
    ("rsvp", 46),
    ("sctp", 132),
    ("tcp", 6),
    ("udp", 17),
    ("udplite", 136),
    ("vrrp", 112),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_so_that_each_name_is_found() {
        let finds_all =
            |table: &[(&str, u16)]| table.iter().all(|(name, port)| find(table, name) == Some(*port));
        assert!(finds_all(BOTH) && finds_all(TCP) && finds_all(UDP));
        assert!(PROTOCOLS.iter().all(|(name, number)| protocol(name) == Some(*number)));
    }

    #[test]
    fn names_and_numbers_are_read() {
        let names = Names::default();
        assert_eq!(TcpPort::from_arg("http", &names), Ok(TcpPort(80)));
        assert_eq!(UdpPort::from_arg("domain", &names), Ok(UdpPort(53)));
        assert_eq!(UdpPort::from_arg("ssh", &names), Ok(UdpPort(22)), "a service that TCP alone offers");
        assert_eq!(TcpPort::from_arg("tftp", &names), Ok(TcpPort(69)));
        assert_eq!(TcpPort::from_arg("pptp", &names), Ok(TcpPort(1723)));
        assert_eq!(UdpPort::from_arg("4000", &names), Ok(UdpPort(4000)));
        assert_eq!(IpProto::from_arg("udp", &names), Ok(IpProto(17)));
        assert_eq!(IpProto::from_arg("0x59", &names), Ok(IpProto(89)));
        assert_eq!(UdpPort::from_arg("http", &names), Err(BadValue::Mismatch));
        assert_eq!(TcpPort::from_arg("65536", &names), Err(BadValue::out_of_range(65535)));
        assert_eq!(IpProto::from_arg("256", &names), Err(BadValue::out_of_range(255)));
    }
}

//! Link types: what the first header of a captured packet is.
//!
//! A capture file names its link type by a number of the registry kept by tcpdump.org ("LINKTYPE_ values"). Click
//! names the common ones by words (`ETHER`, `IP`, `802.11`, ...), which appear in the `ENCAP` argument of ToDump and
//! in the `encap` handlers. This module holds both, and finds the IP header behind a link header, for `FORCE_IP`.
//!
//! It does not parse IP further than needed to believe that a header is there.

use std::fmt;

/// A link type number, in its canonical form (the numbers of files, not those of a host's kernel).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinkType(pub u32);

impl LinkType {
    /// BSD loopback: a protocol family in host order, then the packet.
    pub const NULL: LinkType = LinkType(0);
    /// Ethernet.
    pub const ETHER: LinkType = LinkType(1);
    /// PPP, with or without address and control bytes.
    pub const PPP: LinkType = LinkType(9);
    /// FDDI.
    pub const FDDI: LinkType = LinkType(10);
    /// PPP in HDLC-like framing (RFC 1662), or Cisco HDLC.
    pub const PPP_HDLC: LinkType = LinkType(50);
    /// LLC/SNAP-encapsulated ATM (RFC 1483).
    pub const ATM_RFC1483: LinkType = LinkType(100);
    /// No link header: an IPv4 or IPv6 packet.
    pub const IP: LinkType = LinkType(101);
    /// Cisco HDLC.
    pub const C_HDLC: LinkType = LinkType(104);
    /// 802.11 frames.
    pub const IEEE802_11: LinkType = LinkType(105);
    /// Linux "cooked" capture (of the device `any`), version 1.
    pub const LINUX_SLL: LinkType = LinkType(113);
    /// 802.11 behind the Prism II monitor header.
    pub const PRISM: LinkType = LinkType(119);
    /// 802.11 behind the Aironet header.
    pub const AIRONET: LinkType = LinkType(120);
    /// ATM as on Solaris: four bytes, then RFC 1483.
    pub const SUNATM: LinkType = LinkType(123);
    /// 802.11 behind a radiotap header.
    pub const IEEE802_11_RADIO: LinkType = LinkType(127);
    /// An IPv4 packet.
    pub const IPV4: LinkType = LinkType(228);
    /// An IPv6 packet.
    pub const IPV6: LinkType = LinkType(229);
    /// Linux "cooked" capture, version 2.
    pub const LINUX_SLL2: LinkType = LinkType(276);
}

/// Click's names. Of several names for one number, the first is the one printed.
const NAMES: &[(&str, LinkType)] = &[
    ("NULL", LinkType::NULL),
    ("IP", LinkType::IP),
    ("ETHER", LinkType::ETHER),
    ("FDDI", LinkType::FDDI),
    ("ATM", LinkType::ATM_RFC1483),
    ("RFC1483", LinkType::ATM_RFC1483),
    ("ATM_RFC1483", LinkType::ATM_RFC1483),
    ("802_11", LinkType::IEEE802_11),
    ("802.11", LinkType::IEEE802_11),
    ("802_11_RADIO", LinkType::IEEE802_11_RADIO),
    ("802.11_RADIO", LinkType::IEEE802_11_RADIO),
    ("SLL", LinkType::LINUX_SLL),
    ("AIRONET", LinkType::AIRONET),
    ("HDLC", LinkType::C_HDLC),
    ("PPP_HDLC", LinkType::PPP_HDLC),
    ("PPP", LinkType::PPP),
    ("SUNATM", LinkType::SUNATM),
    ("PRISM", LinkType::PRISM),
];

/// Numbers by which the kernels of BSD hosts call raw IP; old files contain them.
const HOST_RAW: [u32; 2] = [12, 14];

impl LinkType {
    /// The link type of the number in a file: numbers of hosts are mapped to those of files.
    pub fn from_file(number: u32) -> LinkType {
        if HOST_RAW.contains(&number) { LinkType::IP } else { LinkType(number) }
    }

    /// Parses a Click name, or `#N` for the link type number `N`.
    pub fn parse(text: &str) -> Option<LinkType> {
        if let Some((_, link)) = NAMES.iter().find(|(name, _)| *name == text) {
            return Some(*link);
        }
        let number: u32 = text.strip_prefix('#')?.parse().ok()?;
        (number < 0x7fff_ffff).then_some(LinkType(number))
    }

    /// Whether [`LinkType::ip_offset`] knows this link type at all.
    pub fn can_find_ip(self) -> bool {
        use LinkType as L;
        [
            L::NULL,
            L::ETHER,
            L::PPP,
            L::FDDI,
            L::PPP_HDLC,
            L::ATM_RFC1483,
            L::IP,
            L::C_HDLC,
            L::IEEE802_11,
            L::LINUX_SLL,
            L::PRISM,
            L::SUNATM,
            L::IEEE802_11_RADIO,
            L::IPV4,
            L::IPV6,
            L::LINUX_SLL2,
        ]
        .contains(&self)
    }

    /// Where in `frame` an IPv4 or IPv6 header starts, if the link header says that IP follows and the IP header is
    /// there in full.
    pub fn ip_offset(self, frame: &[u8]) -> Option<usize> {
        let offset = self.network_offset(frame)?;
        let header = frame.get(offset..)?;
        let first = *header.first()?;
        let length = match first >> 4 {
            4 => usize::from(first & 0xf) * 4,
            6 => 40,
            _ => return None,
        };
        (length >= 20 && header.len() >= length).then_some(offset)
    }

    /// The end of the link header, if it announces IP.
    fn network_offset(self, frame: &[u8]) -> Option<usize> {
        match self {
            LinkType::IP | LinkType::IPV4 | LinkType::IPV6 => Some(0),
            LinkType::ETHER => ethernet(frame, 0),
            LinkType::FDDI => fddi(frame, 0),
            LinkType::ATM_RFC1483 => llc(frame, 0),
            LinkType::SUNATM => llc(frame, 4),
            LinkType::LINUX_SLL => after_ethertype(frame, 14),
            LinkType::LINUX_SLL2 => is_ip_at(frame, 0).then_some(20),
            LinkType::C_HDLC => after_ethertype(frame, 2),
            LinkType::PPP_HDLC => ppp_hdlc(frame),
            LinkType::PPP => ppp(frame),
            LinkType::IEEE802_11 => wifi(frame, 0),
            LinkType::PRISM => wifi(frame, 144),
            LinkType::IEEE802_11_RADIO => wifi(frame, radiotap_length(frame)?),
            LinkType::NULL => null(frame),
            _ => None,
        }
    }
}

impl fmt::Display for LinkType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(_, link)| link == self) {
            Some((name, _)) => f.write_str(name),
            None => write!(f, "#{}", self.0),
        }
    }
}

fn u16_at(frame: &[u8], at: usize) -> Option<u16> {
    let bytes = frame.get(at..at + 2)?;
    Some(u16::from_be_bytes([bytes[0], bytes[1]]))
}

fn is_ip_at(frame: &[u8], at: usize) -> bool {
    matches!(u16_at(frame, at), Some(0x0800 | 0x86dd))
}

/// The end of the Ethernet type at `at`, if it is that of IP.
fn after_ethertype(frame: &[u8], at: usize) -> Option<usize> {
    is_ip_at(frame, at).then_some(at + 2)
}

/// Ethernet, with at most one 802.1Q tag.
fn ethernet(frame: &[u8], at: usize) -> Option<usize> {
    match u16_at(frame, at + 12)? {
        0x8100 => after_ethertype(frame, at + 16),
        _ => after_ethertype(frame, at + 12),
    }
}

fn fddi(frame: &[u8], at: usize) -> Option<usize> {
    let is_llc = frame.get(at)? & 0xf0 == 0x50;
    if is_llc { llc(frame, at + 13) } else { None }
}

/// LLC, perhaps with SNAP, perhaps with a bridged frame in it (RFC 2684 §5).
fn llc(frame: &[u8], at: usize) -> Option<usize> {
    match frame.get(at..at + 3)? {
        [0x06, 0x06, _] => Some(at + 3),
        [0xaa, 0xaa, _] => match (frame.get(at + 3..at + 6)?, u16_at(frame, at + 6)?) {
            // The SNAP type of an encapsulated Ethernet packet stands where Ethernet has its type.
            ([0, 0, 0] | [0, 0, 0xf8], 0x8100) => after_ethertype(frame, at + 10),
            ([0, 0, 0] | [0, 0, 0xf8], _) => after_ethertype(frame, at + 6),
            ([0, 0x80, 0xc2], 0x0001 | 0x0007) => ethernet(frame, at + 8),
            ([0, 0x80, 0xc2], 0x0004 | 0x000a) => fddi(frame, at + 9),
            _ => None,
        },
        _ => None,
    }
}

fn ppp_hdlc(frame: &[u8]) -> Option<usize> {
    match frame.get(..4)? {
        [0xff, _, 0, 0x21 | 0x57] => Some(4),
        [0x0f | 0x8f, ..] => after_ethertype(frame, 2),
        _ => None,
    }
}

fn ppp(frame: &[u8]) -> Option<usize> {
    let start = if frame.starts_with(&[0xff, 0x03]) { 2 } else { 0 };
    match frame.get(start..)? {
        [0x21 | 0x57, ..] => Some(start + 1),
        [0, 0x21 | 0x57, ..] => Some(start + 2),
        _ => None,
    }
}

/// An 802.11 data frame: 24 bytes, six more between two access points, two more with quality of service.
fn wifi(frame: &[u8], at: usize) -> Option<usize> {
    let control = frame.get(at..at + 2)?;
    let is_data = control[0] & 0x0c == 0x08;
    let four_addresses = control[1] & 0x03 == 0x03;
    let quality_of_service = control[0] & 0x80 != 0;
    let length = 24 + if four_addresses { 6 } else { 0 } + if quality_of_service { 2 } else { 0 };
    if is_data { llc(frame, at + length) } else { None }
}

fn radiotap_length(frame: &[u8]) -> Option<usize> {
    let length = u16::from_le_bytes([*frame.get(2)?, *frame.get(3)?]);
    (length >= 8).then_some(length.into())
}

/// BSD loopback. The family is in the byte order of the capturing host, and each BSD numbers IPv6 differently.
fn null(frame: &[u8]) -> Option<usize> {
    let bytes = frame.get(..4)?;
    let little = u16::from_le_bytes([bytes[0], bytes[1]]);
    let family = if little != 0 { little } else { u16::from_be_bytes([bytes[2], bytes[3]]) };
    matches!(family, 2 | 24 | 28 | 30).then_some(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A minimal IPv4 header behind `link`.
    fn frame(link: &[u8]) -> Vec<u8> {
        let mut bytes = link.to_vec();
        bytes.push(0x45);
        bytes.resize(link.len() + 20, 0);
        bytes
    }

    #[test]
    fn names_and_numbers() {
        assert_eq!(LinkType::parse("802.11"), Some(LinkType::IEEE802_11));
        assert_eq!(LinkType::IEEE802_11.to_string(), "802_11");
        assert_eq!(LinkType::parse("#147"), Some(LinkType(147)));
        assert_eq!(LinkType(147).to_string(), "#147");
        assert_eq!(LinkType::parse("ether"), None);
        assert_eq!(LinkType::parse("#"), None);
        assert_eq!(LinkType::from_file(12).to_string(), "IP");
    }

    #[test]
    fn finds_ip_behind_link_headers() {
        let snap = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
        let mac = [0u8; 12];
        let cases: Vec<(LinkType, Vec<u8>)> = vec![
            (LinkType::IP, vec![]),
            (LinkType::ETHER, [&mac[..], &[8, 0]].concat()),
            (LinkType::ETHER, [&mac[..], &[0x81, 0, 0, 5, 8, 0]].concat()),
            (LinkType::FDDI, [&[0x50], &mac[..], &snap].concat()),
            (LinkType::ATM_RFC1483, snap.to_vec()),
            (LinkType::ATM_RFC1483, [&[0xaa, 0xaa, 3, 0, 0x80, 0xc2, 0, 7], &mac[..], &[8, 0]].concat()),
            (LinkType::LINUX_SLL, [&[0; 14][..], &[8, 0]].concat()),
            (LinkType::LINUX_SLL2, [&[8, 0][..], &[0; 18]].concat()),
            (LinkType::C_HDLC, vec![0x0f, 0, 8, 0]),
            (LinkType::PPP_HDLC, vec![0xff, 3, 0, 0x21]),
            (LinkType::PPP, vec![0xff, 3, 0, 0x21]),
            (LinkType::PPP, vec![0x21]),
            (LinkType::IEEE802_11, [&[8, 0][..], &[0; 22], &snap].concat()),
            (LinkType::IEEE802_11, [&[0x88, 0][..], &[0; 24], &snap].concat()),
            (LinkType::IEEE802_11_RADIO, [&[0, 0, 8, 0, 0, 0, 0, 0, 8, 0][..], &[0; 22], &snap].concat()),
            (LinkType::NULL, vec![2, 0, 0, 0]),
            (LinkType::NULL, vec![0, 0, 0, 2]),
        ];
        for (link, header) in cases {
            assert!(link.can_find_ip());
            assert_eq!(link.ip_offset(&frame(&header)), Some(header.len()), "{link} {header:?}");
        }
    }

    #[test]
    fn rejects_what_is_not_ip() {
        let arp = [&[0u8; 12][..], &[8, 6]].concat();
        assert_eq!(LinkType::ETHER.ip_offset(&frame(&arp)), None);
        let truncated = &frame(&[])[..19];
        assert_eq!(LinkType::IP.ip_offset(truncated), None);
        assert_eq!(LinkType::IP.ip_offset(&[0x43; 60]), None);
        assert_eq!(LinkType(147).ip_offset(&frame(&[])), None);
    }
}

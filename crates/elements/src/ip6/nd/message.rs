//! Neighbour solicitations and advertisements in Ethernet frames: RFC 4861 §4.3, §4.4, and §7.1 for what is valid.

use clickwork_packet::addr::{EtherAddress, Ipv6Address};
use clickwork_packet::headers::ethernet::{EthernetHeader, ethertype};
use clickwork_packet::headers::icmp6::{Icmp6, Icmp6Mut, icmp6_type};
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::{Ethernet, Icmp6Header, Ipv6, Ipv6Header};
use clickwork_packet::{DEFAULT_HEADROOM, Packet};
use zerocopy::IntoBytes;

/// Flags of an advertisement.
pub mod flag {
    /// The sender is a router.
    pub const ROUTER: u32 = 1 << 31;
    /// A solicitation was answered.
    pub const SOLICITED: u32 = 1 << 30;
    /// The address replaces one that is known.
    pub const OVERRIDE: u32 = 1 << 29;
}

/// Kinds of options (RFC 4861 §4.6).
pub mod option {
    /// The sender's link-layer address.
    pub const SOURCE_ADDRESS: u8 = 1;
    /// The target's link-layer address.
    pub const TARGET_ADDRESS: u8 = 2;
}

/// Bytes of an Ethernet header.
pub const ETHER: usize = 14;
/// The hop limit of a packet that no router has forwarded.
const HOP_LIMIT: u8 = 255;
/// Bytes of a message without options.
const SHORTEST: usize = 24;

/// A valid message.
pub struct Message<'p> {
    /// The frame.
    pub ether: Ethernet<'p>,
    /// The packet in it.
    pub ip: Ipv6<'p>,
    /// Flags of an advertisement.
    pub flags: u32,
    /// The address that it is about.
    pub target: Ipv6Address,
    options: &'p [u8],
}

impl<'p> Message<'p> {
    /// The message in a frame, or why it is not a valid one of this type.
    pub fn parse(frame: &'p [u8], icmp_type: u8) -> Result<Message<'p>, &'static str> {
        let ether = Ethernet::new(frame).filter(|e| e.ethertype() == ethertype::IPV6).ok_or("not IPv6")?;
        let ip = Ipv6::new(&frame[ETHER..]).filter(|ip| ip.version() == 6).ok_or("not IPv6")?;
        let body = ip.payload();
        if body.len() != usize::from(ip.payload_len_field()) {
            return Err("bad IP length");
        }
        let icmp = Icmp6::new(body).filter(|icmp| icmp.icmp_type == icmp_type);
        let icmp = icmp.filter(|_| ip.next_header == protocol::ICMP6).ok_or("not the message expected")?;
        if ip.hop_limit != HOP_LIMIT {
            return Err("neighbour discovery from beyond the link");
        }
        if !icmp.checksum_is_right(ip.pseudo_sum(protocol::ICMP6, body.len() as u32)) {
            return Err("bad ICMPv6 checksum");
        }
        if icmp.code != 0 || body.len() < SHORTEST {
            return Err("malformed neighbour discovery");
        }
        let target: [u8; 16] = body[8..SHORTEST].try_into().map_err(|_| "malformed neighbour discovery")?;
        let (target, options) = (Ipv6Address::from_octets(target), &body[SHORTEST..]);
        if target.is_multicast() || !are_whole(options) {
            return Err("malformed neighbour discovery");
        }
        Ok(Message { ether, ip, flags: icmp.rest(), target, options })
    }

    /// The link-layer address in the first option of a kind.
    pub fn link_address(&self, kind: u8) -> Option<EtherAddress> {
        let option = options(self.options).find(|o| o[0] == kind && o.len() == 8)?;
        option[2..].try_into().ok().map(EtherAddress)
    }

    /// Whether there is an option of a kind.
    pub fn has_option(&self, kind: u8) -> bool {
        options(self.options).any(|o| o[0] == kind)
    }
}

/// The options up to the first that is malformed. Each says its length in units of eight bytes.
fn options(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let len = 8 * usize::from(*rest.get(1)?);
        let (option, following) = rest.split_at_checked(len).filter(|_| len > 0)?;
        rest = following;
        Some(option)
    })
}

fn are_whole(bytes: &[u8]) -> bool {
    options(bytes).map(<[u8]>::len).sum::<usize>() == bytes.len()
}

/// What a message to be sent says.
pub struct Draft {
    /// One of the ICMPv6 types of neighbour discovery.
    pub icmp_type: u8,
    /// Flags of an advertisement.
    pub flags: u32,
    /// The address that it is about.
    pub target: Ipv6Address,
    /// An option with a link-layer address: kind and address.
    pub option: (u8, EtherAddress),
}

/// From where to where a message goes: Ethernet and IPv6 addresses.
pub struct Way {
    /// The sender.
    pub from: (EtherAddress, Ipv6Address),
    /// The receiver.
    pub to: (EtherAddress, Ipv6Address),
}

impl Draft {
    /// The message in a frame.
    pub fn frame(&self, way: &Way) -> Packet {
        let mut ip = Ipv6Header::default();
        (ip.next_header, ip.hop_limit) = (protocol::ICMP6, HOP_LIMIT);
        ip.set_source(way.from.1);
        ip.set_destination(way.to.1);
        let body = self.body(&mut ip);
        let ether = EthernetHeader::new(way.to.0, way.from.0, ethertype::IPV6);
        let bytes = [ether.as_bytes(), ip.as_bytes(), &body].concat();
        let mut p = Packet::with_room(DEFAULT_HEADROOM, &bytes, 0);
        p.set_mac_offset(0);
        p.set_network_header(ETHER as i32, size_of::<Ipv6Header>() as u32);
        p
    }

    /// The ICMPv6 message; the header in front of it gets its length.
    fn body(&self, ip: &mut Ipv6Header) -> Vec<u8> {
        let mut icmp = Icmp6Header::new(self.icmp_type, 0);
        icmp.set_rest(self.flags);
        let (kind, address) = self.option;
        let mut body = [icmp.as_bytes(), &self.target.octets(), &[kind, 1], &address.0].concat();
        ip.set_payload_len(body.len() as u16);
        let pseudo = ip.pseudo_sum(protocol::ICMP6, body.len() as u32);
        if let Some(mut icmp) = Icmp6Mut::new(&mut body) {
            icmp.fill_checksum(pseudo);
        }
        body
    }
}

/// The question who has `target`, to all who may (RFC 4861 §7.2.2).
pub fn solicitation(own: (EtherAddress, Ipv6Address), target: Ipv6Address) -> Packet {
    let group = target.solicited_node();
    let way = Way { from: own, to: (EtherAddress::ipv6_multicast(group), group) };
    let option = (option::SOURCE_ADDRESS, own.0);
    Draft { icmp_type: icmp6_type::NEIGHBOR_SOLICITATION, flags: 0, target, option }.frame(&way)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A host on a link.
    pub fn host(n: u8) -> (EtherAddress, Ipv6Address) {
        (EtherAddress([2, 0, 0, 0, 0, n]), Ipv6Address::from_bits(0x2001_0db8 << 96 | u128::from(n)))
    }

    /// The advertisement by which `from` says its address to `to`.
    pub fn advertisement(
        from: (EtherAddress, Ipv6Address),
        to: (EtherAddress, Ipv6Address),
        flags: u32,
    ) -> Packet {
        let option = (option::TARGET_ADDRESS, from.0);
        let icmp_type = icmp6_type::NEIGHBOR_ADVERTISEMENT;
        Draft { icmp_type, flags, target: from.1, option }.frame(&Way { from, to })
    }

    /// The frame with its checksum made right again after a change.
    pub fn repaired(mut frame: Vec<u8>) -> Packet {
        frame[ETHER + 42..ETHER + 44].fill(0);
        let ip = Ipv6::new(&frame[ETHER..]).unwrap();
        let pseudo = ip.pseudo_sum(ip.next_header, ip.payload().len() as u32);
        let checksum = pseudo.bytes(ip.payload()).finish();
        frame[ETHER + 42..ETHER + 44].copy_from_slice(&checksum.to_be_bytes());
        Packet::new(&frame)
    }

    /// Messages that must not be believed, made of a good one, and why not.
    pub fn forgeries(good: &Packet) -> Vec<(Packet, &'static str)> {
        let changed = |at: usize, to: u8| {
            let mut bytes = good.data().to_vec();
            bytes[at] = to;
            bytes
        };
        let damaged = |at: usize| Packet::new(&changed(at, good.data()[at] ^ 1));
        let padded = |option: &[u8]| {
            let mut bytes = [good.data(), option].concat();
            bytes[ETHER + 5] += option.len() as u8;
            repaired(bytes)
        };
        vec![
            (repaired(changed(ETHER + 7, 254)), "neighbour discovery from beyond the link"),
            (damaged(ETHER + 42), "bad ICMPv6 checksum"),
            (damaged(ETHER + 60), "bad ICMPv6 checksum"),
            (damaged(ETHER + 10), "bad ICMPv6 checksum"),
            (repaired(changed(ETHER + 41, 1)), "malformed neighbour discovery"),
            (repaired(changed(ETHER + 48, 0xff)), "malformed neighbour discovery"),
            (repaired(changed(ETHER + 65, 0)), "malformed neighbour discovery"),
            (repaired(changed(ETHER + 65, 2)), "malformed neighbour discovery"),
            (padded(&[1, 0, 0, 0, 0, 0, 0, 0]), "malformed neighbour discovery"),
            (padded(&[1]), "malformed neighbour discovery"),
            (Packet::new(&changed(ETHER + 5, 33)), "bad IP length"),
            (Packet::new(&changed(ETHER + 4, 0xff)), "bad IP length"),
            (repaired(changed(ETHER + 5, 16)), "malformed neighbour discovery"),
            (Packet::new(&changed(ETHER + 6, 60)), "not the message expected"),
            (Packet::new(&changed(ETHER, 0x45)), "not IPv6"),
            (Packet::new(&changed(13, 0)), "not IPv6"),
            (Packet::new(b""), "not IPv6"),
        ]
    }

    #[test]
    fn what_is_written_can_be_read() {
        let p = solicitation(host(1), host(2).1);
        assert_eq!(p.data()[..6], [0x33, 0x33, 0xff, 0, 0, 2]);
        let m = Message::parse(p.data(), icmp6_type::NEIGHBOR_SOLICITATION).ok().unwrap();
        assert_eq!((m.target, m.ip.source(), m.flags), (host(2).1, host(1).1, 0));
        assert_eq!(m.ip.destination().to_string(), "ff02::1:ff00:2");
        assert_eq!(m.link_address(option::SOURCE_ADDRESS), Some(host(1).0));
        assert_eq!(m.link_address(option::TARGET_ADDRESS), None);
        assert!(Message::parse(p.data(), icmp6_type::NEIGHBOR_ADVERTISEMENT).is_err());
    }

    #[test]
    fn forgeries_are_told_apart() {
        let good = advertisement(host(2), host(1), flag::SOLICITED);
        for (p, why) in forgeries(&good) {
            let result = Message::parse(p.data(), icmp6_type::NEIGHBOR_ADVERTISEMENT);
            assert_eq!(result.err(), Some(why), "{:02x?}", p.data());
        }
        for len in 0..good.len() {
            assert!(Message::parse(&good.data()[..len], icmp6_type::NEIGHBOR_ADVERTISEMENT).is_err());
        }
    }

    #[test]
    fn options_come_in_any_order_and_padding_is_ignored() {
        let mut bytes = advertisement(host(2), host(1), 0).data().to_vec();
        let option = bytes.split_off(ETHER + 64);
        bytes.extend([14, 1, 0, 0, 0, 0, 0, 0]);
        bytes.extend(option);
        bytes[ETHER + 5] += 8;
        let mut p = repaired(bytes);
        p.put(7);
        let m = Message::parse(p.data(), icmp6_type::NEIGHBOR_ADVERTISEMENT).ok().unwrap();
        assert_eq!(m.link_address(option::TARGET_ADDRESS), Some(host(2).0));
        assert!(m.has_option(14) && !m.has_option(1));
    }
}

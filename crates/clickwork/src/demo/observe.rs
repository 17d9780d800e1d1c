//! What came out of the router, told from its bytes alone: which packet of the capture it stems from, what was done
//! with that, and whether it was done right.
//!
//! Nothing here asks the router. Each check names the fault that it finds.

use super::fate::Fate;
use super::frame::{ETHER_HEADER, Station};
use super::options::are_updated;
use super::traffic::{Frame, HOST, NEIGHBOUR, ROUTER, class_of, class_of_ip};
use clickwork_packet::addr::{EtherAddress, Ipv4Address};
use clickwork_packet::headers::arp::operation;
use clickwork_packet::headers::ethernet::ethertype;
use clickwork_packet::headers::icmp::icmp_type;
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::{Arp, Ethernet, Icmp, Ipv4};

/// The greatest IP packet that either network takes.
const MTU: u16 = 1500;

/// One thing that the router sent.
#[derive(Debug, PartialEq, Eq)]
pub struct Seen {
    /// The class of the packet that caused it.
    pub class: usize,
    /// What it is.
    pub fate: Fate,
    /// What is wrong with it.
    pub fault: Option<&'static str>,
}

/// A packet of the capture, its IP header found.
#[derive(Clone, Copy)]
struct Origin<'s> {
    frame: &'s Frame,
    ip: Ipv4<'s>,
}

type Check = Result<(), &'static str>;

fn check(holds: bool, fault: &'static str) -> Check {
    if holds { Ok(()) } else { Err(fault) }
}

/// What a frame is that the router sent to a network. `None` if it stems from no packet of the capture.
pub fn on_network(interface: usize, bytes: &[u8], sent: &[Frame]) -> Option<Seen> {
    let class = class_of(bytes)?;
    let ether = Ethernet::new(bytes)?;
    let (fate, result) = match ether.ethertype() {
        ethertype::ARP => arp(interface, &ether, &Arp::new(ether.payload())?),
        _ => ip(interface, &ether, &Ipv4::new(ether.payload())?, sent)?,
    };
    Some(Seen { class, fate, fault: result.err() })
}

/// What an IP packet is that the router's host got.
pub fn at_host(bytes: &[u8], sent: &[Frame]) -> Option<Seen> {
    let class = class_of_ip(bytes)?;
    let origin = origin(&Ipv4::new(bytes)?, sent)?;
    let original = &origin.frame.bytes[ETHER_HEADER..][..usize::from(origin.ip.total_len())];
    let fault = check(bytes == original, "changed on its way to the host").err();
    Some(Seen { class, fate: Fate::ToHost, fault })
}

/// The packet that `ip` is, or is a part of: its identification is the same, and if possible its place in a datagram.
fn origin<'s>(ip: &Ipv4<'_>, sent: &'s [Frame]) -> Option<Origin<'s>> {
    let all = sent.iter().filter_map(|frame| {
        let found = Ipv4::new(&frame.bytes[ETHER_HEADER..])?;
        (found.identification() == ip.identification()).then_some(Origin { frame, ip: found })
    });
    // Fragments that arrive as such share their identification: the one whose offset is the same, or else the first.
    all.min_by_key(|origin| origin.ip.fragment_offset() != ip.fragment_offset())
}

fn arp(interface: usize, ether: &Ethernet<'_>, arp: &Arp<'_>) -> (Fate, Check) {
    let ours = arp.sender_ether == ROUTER[interface].ether && arp.sender_ip() == ROUTER[interface].ip;
    let sender = check(ours && ether.source == arp.sender_ether, "ARP in another's name");
    if arp.operation() == operation::REQUEST {
        return (Fate::ArpQuery, sender.and(check(ether.destination.is_broadcast(), "query not broadcast")));
    }
    let asker = HOST[interface];
    let is_for_asker = (arp.target_ether, arp.target_ip()) == (asker.ether, asker.ip);
    let reached = check(is_for_asker && ether.destination == asker.ether, "reply to another than who asked");
    (Fate::ArpReply, sender.and(reached))
}

fn ip(interface: usize, ether: &Ethernet<'_>, ip: &Ipv4<'_>, sent: &[Frame]) -> Option<(Fate, Check)> {
    let link = link(interface, ether, ip);
    if let Some(icmp) = message_of_router(ip) {
        return match icmp.is_error() {
            true => {
                let quoted = Ipv4::new(icmp.payload())?;
                let right = error(interface, ip, &icmp, &quoted, origin(&quoted, sent)?);
                Some((Fate::Error(icmp.icmp_type, icmp.code), link.and(right)))
            }
            false => Some((Fate::EchoReply, link.and(echo_reply(ip, &icmp, origin(ip, sent)?)))),
        };
    }
    let origin = origin(ip, sent)?;
    let whole = ip.total_len() == origin.ip.total_len();
    let fate = if whole { Fate::Forwarded } else { Fate::Fragment };
    Some((fate, link.and(forwarded(interface, ip, origin))))
}

/// The ICMP message in a packet, if the router itself is its source.
fn message_of_router<'p>(ip: &Ipv4<'p>) -> Option<Icmp<'p>> {
    let ours = ROUTER.iter().any(|r| r.ip == ip.source()) && ip.protocol == protocol::ICMP;
    Icmp::new(ip.payload()).filter(|_| ours)
}

/// The frame goes from the router to the host that has the destination address, on that host's network.
fn link(interface: usize, ether: &Ethernet<'_>, ip: &Ipv4<'_>) -> Check {
    check(ether.source == ROUTER[interface].ether, "frame not from the router's address")?;
    let host = ether_of(ip.destination());
    check(host == Some((interface, ether.destination)), "frame not to the destination's address")?;
    check(ip.checksum_is_right(), "wrong IP header checksum")
}

/// The network and Ethernet address of a host.
fn ether_of(ip: Ipv4Address) -> Option<(usize, EtherAddress)> {
    let hosts: [(usize, Station); 3] = [(0, HOST[0]), (1, HOST[1]), (0, NEIGHBOUR)];
    hosts.iter().find(|(_, host)| host.ip == ip).map(|(network, host)| (*network, host.ether))
}

fn forwarded(interface: usize, ip: &Ipv4<'_>, origin: Origin<'_>) -> Check {
    let before = origin.ip;
    check(Some(ip.ttl) == before.ttl.checked_sub(1), "time to live not decremented")?;
    check((ip.source(), ip.destination()) == (before.source(), before.destination()), "addresses changed")?;
    check(ip.total_len() <= MTU || ip.total_len() == before.total_len(), "fragment too long")?;
    let place = ip.fragment_offset().checked_sub(before.fragment_offset()).ok_or("contents changed")?;
    let part = before.payload().get(place..place + ip.payload().len());
    check(part == Some(ip.payload()), "contents changed")?;
    let is_last = place + ip.payload().len() == before.payload().len();
    check(ip.more_fragments() == (before.more_fragments() || !is_last), "wrong more-fragments flag")?;
    are_updated(before.option_bytes(), ip.option_bytes(), ROUTER[interface].ip)
}

fn echo_reply(ip: &Ipv4<'_>, icmp: &Icmp<'_>, origin: Origin<'_>) -> Check {
    let request = Icmp::new(origin.ip.payload()).ok_or("reply to no request")?;
    check(icmp.icmp_type == icmp_type::ECHO_REPLY, "no echo reply")?;
    check(
        (ip.source(), ip.destination()) == (origin.ip.destination(), origin.ip.source()),
        "wrong addresses",
    )?;
    check(
        icmp.rest() == request.rest() && icmp.payload() == request.payload(),
        "reply differs from request",
    )?;
    check(icmp.checksum_is_right(), "wrong ICMP checksum")
}

fn error(interface: usize, ip: &Ipv4<'_>, icmp: &Icmp<'_>, quoted: &Ipv4<'_>, origin: Origin<'_>) -> Check {
    let before = origin.ip;
    check(ip.source() == ROUTER[interface].ip, "not from the interface that it leaves by")?;
    check(ip.destination() == before.source(), "error not to the source of the packet")?;
    check(icmp.checksum_is_right(), "wrong ICMP checksum")?;
    let beginning = |p: &[u8]| p.get(..8).map(<[u8]>::to_vec);
    let is_quoted = (quoted.source(), quoted.destination()) == (before.source(), before.destination())
        && beginning(quoted.payload()) == beginning(before.payload());
    check(is_quoted, "packet not quoted")?;
    match Fate::Error(icmp.icmp_type, icmp.code) {
        Fate::NEED_FRAGMENT => check(icmp.next_hop_mtu() == MTU, "wrong next-hop MTU"),
        Fate::REDIRECT => check(icmp.gateway() == before.destination(), "redirect to another host"),
        Fate::PARAMETER_PROBLEM => {
            let options = 20..before.ihl();
            check(options.contains(&usize::from(icmp.pointer())), "pointer not at the option")
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::frame::{IpFrame, arp as arp_frame, ping};
    use super::super::traffic::{CLASSES, frames};
    use super::*;

    fn first(name: &str, sent: &[Frame]) -> Frame {
        sent.iter().find(|f| CLASSES[f.class].name == name).unwrap().clone()
    }

    /// The frame as a router would send it on, from interface 0 to 1.
    fn sent_on(frame: &Frame, ttl: u8) -> Vec<u8> {
        let mut bytes = frame.bytes.clone();
        bytes[..6].copy_from_slice(&HOST[1].ether.0);
        bytes[6..12].copy_from_slice(&ROUTER[1].ether.0);
        bytes[ETHER_HEADER + 8] = ttl;
        let mut ip = clickwork_packet::headers::Ipv4Mut::new(&mut bytes[ETHER_HEADER..]).unwrap();
        ip.fill_checksum();
        bytes
    }

    #[test]
    fn a_forwarded_packet_is_recognised_and_checked() {
        let sent = frames();
        let udp = first("udp", &sent);
        let right = Seen { class: udp.class, fate: Fate::Forwarded, fault: None };
        assert_eq!(on_network(1, &sent_on(&udp, 63), &sent), Some(right));
        let fault = |interface, bytes: &[u8]| on_network(interface, bytes, &sent).unwrap().fault;
        assert_eq!(fault(1, &sent_on(&udp, 64)), Some("time to live not decremented"));
        assert_eq!(fault(0, &sent_on(&udp, 63)), Some("frame not from the router's address"));
        let mut changed = sent_on(&udp, 63);
        changed[ETHER_HEADER + 28] ^= 1;
        assert_eq!(fault(1, &changed), Some("contents changed"));
        changed = sent_on(&udp, 63);
        changed[ETHER_HEADER + 10] ^= 1;
        assert_eq!(fault(1, &changed), Some("wrong IP header checksum"));
    }

    #[test]
    fn what_stems_from_no_packet_is_not_recognised() {
        let sent = frames();
        let mut stranger = IpFrame::through(ROUTER[1], HOST[1].ether, HOST[1].ip, 0xfff0, ping(8));
        assert_eq!(on_network(1, &stranger.build(), &sent), None);
        stranger.identification = 0x03ff;
        assert_eq!(on_network(1, &stranger.build(), &sent), None);
        assert_eq!(on_network(0, &[0; 10], &sent), None);
    }

    #[test]
    fn arp_in_another_name_is_a_fault() {
        let sent = frames();
        let fault = |sender| on_network(0, &arp_frame(false, sender, HOST[0]), &sent).unwrap().fault;
        assert_eq!((fault(ROUTER[0]), fault(ROUTER[1])), (None, Some("ARP in another's name")));
    }

    #[test]
    fn the_host_gets_packets_unchanged() {
        let sent = frames();
        let bytes = &first("for-router", &sent).bytes[ETHER_HEADER..];
        let bytes = &bytes[..usize::from(Ipv4::new(bytes).unwrap().total_len())];
        assert_eq!(at_host(bytes, &sent).unwrap().fault, None);
        assert!(at_host(&[bytes, b"x"].concat(), &sent).unwrap().fault.is_some());
    }
}

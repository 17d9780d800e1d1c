//! ICMP6Error: answers IPv6 packets with ICMPv6 errors and redirects. Read first: RFC 4443 §2.4 and §3, RFC 4861 §4.5.

use super::extension::upper_layer;
use crate::standard::fast::drop_broadcasts::is_for_many;
use clickwork_packet::addr::Ipv6Address;
use clickwork_packet::headers::icmp6::{Icmp6Header, Icmp6Mut, icmp6_type};
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::{Header, Ipv6, Ipv6Header};
use clickwork_packet::{DEFAULT_HEADROOM, Packet, anno};
use clickwork_router::args::{ArgSpec, ArgType, Args, Bounded};
use clickwork_router::{Class, Cx, SimpleElement, Verdict};

/// The class facts.
pub static CLASS: Class = Class {
    help: "answers IPv6 packets with ICMPv6 errors",
    manual: "Turns each IPv6 packet into an ICMPv6 message of TYPE and CODE to its source, quoting the packet's first 568 \
             bytes, or as much as fits into MTU bytes. TYPE is an error, 1 to 4, or 137, a redirect, which names the \
             destination annotation as the better next hop. The message comes from SRC with a hop limit of 255; its header \
             is marked and its destination annotation set, so that it can be routed. No message answers another ICMPv6 \
             error or redirect, nor a packet from or to many (a multicast address, or link-level broadcast or \
             multicast): such packets are dropped. PMTU is the MTU that a packet too big (2) was too long for: 1500, \
             unless it is given. Let CheckIP6Header refuse packets from '::'; they would be answered.",
    example: "InfiniteSource(DATA \\<6000000000003b01 20010db8000000000000000000000001 20010db8000000000000000000000002>, \
              LIMIT 1, STOP true) -> CheckIP6Header -> ICMP6Error(2001:db8::254, 3, 0) -> Discard",
    packets: "ip6/new icmp6",
    args: &[
        ArgSpec::required("SRC", ArgType::Ip6Addr, "source of the messages"),
        ArgSpec::required("TYPE", ArgType::I32, "ICMPv6 type: 1 to 4, or 137"),
        ArgSpec::required("CODE", ArgType::I32, "ICMPv6 code"),
        ArgSpec::keyword("MTU", ArgType::U32, "", "greatest length of a message; RFC 4443 has 1280"),
        ArgSpec::keyword("PMTU", ArgType::U32, "1500", "the next link's MTU, for packet too big"),
    ],
    ..Class::new("ICMP6Error", "ip6", || Box::<ICMP6Error>::default())
};

/// Bytes that are quoted unless MTU says otherwise.
const QUOTED: usize = 568;
/// Bytes of an IPv6 header and an ICMPv6 header.
const HEADERS: usize = 48;
/// Bytes of the two addresses in a redirect.
const REDIRECT_ADDRESSES: usize = 32;
/// Hop limit of messages.
const HOP_LIMIT: u8 = 255;
/// The longest message: the longest payload behind its header.
const LONGEST: u32 = 65535 + 40;
/// The MTU that a packet too big names unless PMTU says otherwise. In network order, as all of the message (RFC 4443 §3.2).
const USUAL_PMTU: u32 = 1500;

#[derive(Default)]
struct ICMP6Error {
    source: Ipv6Address,
    icmp_type: i32,
    code: i32,
    mtu: Option<u32>,
    path_mtu: Option<u32>,
}

fn is_error(icmp_type: i32) -> bool {
    (i32::from(icmp6_type::UNREACHABLE)..=i32::from(icmp6_type::PARAMETER_PROBLEM)).contains(&icmp_type)
}

impl ICMP6Error {
    fn is_redirect(&self) -> bool {
        self.icmp_type == i32::from(icmp6_type::REDIRECT)
    }

    /// Why the packet must not be answered (RFC 4443 §2.4 e).
    fn objection(p: &Packet, ip: &Ipv6<'_>, bytes: &[u8]) -> Option<&'static str> {
        let message = upper_layer(ip).filter(|(kind, _)| *kind == protocol::ICMP6);
        let icmp_type = message.map(|(_, offset)| bytes.get(offset).copied());
        // A message whose type is cut off may be an error too.
        let is_error = icmp_type.is_some_and(|t| t.is_none_or(|t| t < 128 || t == icmp6_type::REDIRECT));
        if is_error {
            Some("error about an error")
        } else if ip.destination().is_multicast() || is_for_many(p) {
            Some("error about a packet to many")
        } else if ip.source().is_multicast() {
            Some("error to an impossible source")
        } else {
            None
        }
    }

    /// The message that answers `p`, or why there is none.
    fn answer(&self, p: &Packet) -> Result<Packet, &'static str> {
        let bytes = p.network_header().ok_or("no IPv6 header")?;
        let ip = Ipv6::new(bytes).ok_or("no IPv6 header")?;
        match Self::objection(p, &ip, bytes) {
            Some(reason) => Err(reason),
            None => Ok(self.message(p, bytes, &ip)),
        }
    }

    fn message(&self, p: &Packet, bytes: &[u8], about: &Ipv6Header) -> Packet {
        let overhead = HEADERS + if self.is_redirect() { REDIRECT_ADDRESSES } else { 0 };
        let room = self.mtu.map_or(QUOTED, |mtu| (mtu as usize).saturating_sub(overhead));
        let quoted = &bytes[..bytes.len().min(room)];
        let mut q = Packet::zeroed(DEFAULT_HEADROOM, overhead + quoted.len(), 0);
        q.set_network_header(0, size_of::<Ipv6Header>() as u32);
        q.set_dst_ip6(about.source());
        q.set_anno_u8(anno::FIX_IP_SRC.offset, 1);
        let (head, body) = q.data_mut().split_at_mut(size_of::<Ipv6Header>());
        let header = self.header(about.source(), body.len());
        Ipv6Header::peek_mut(head).into_iter().for_each(|h| *h = header);
        let (addresses, quote) = body[size_of::<Icmp6Header>()..].split_at_mut(overhead - HEADERS);
        quote.copy_from_slice(quoted);
        if self.is_redirect() {
            addresses[..16].copy_from_slice(&p.dst_ip6().octets());
            addresses[16..].copy_from_slice(&about.destination().octets());
        }
        self.finish(&header, body, p);
        q
    }

    fn header(&self, destination: Ipv6Address, payload_len: usize) -> Ipv6Header {
        let mut header = Ipv6Header::default();
        (header.next_header, header.hop_limit) = (protocol::ICMP6, HOP_LIMIT);
        header.set_payload_len(payload_len as u16);
        header.set_source(self.source);
        header.set_destination(destination);
        header
    }

    /// Fills in the first eight bytes of the message.
    fn finish(&self, header: &Ipv6Header, body: &mut [u8], p: &Packet) {
        let pseudo = header.pseudo_sum(protocol::ICMP6, body.len() as u32);
        let Some(mut icmp) = Icmp6Mut::new(body) else { return };
        *icmp = Icmp6Header::new(self.icmp_type as u8, self.code as u8);
        match (icmp.icmp_type, icmp.code) {
            (icmp6_type::PACKET_TOO_BIG, 0) => icmp.set_rest(self.path_mtu.unwrap_or(USUAL_PMTU)),
            (icmp6_type::PARAMETER_PROBLEM, 0) => {
                icmp.set_rest(p.anno_u8(anno::ICMP_PARAMPROB.offset).into());
            }
            _ => {}
        }
        icmp.fill_checksum(pseudo);
    }
}

impl SimpleElement for ICMP6Error {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("SRC", &mut self.source).read("TYPE", &mut self.icmp_type).read("CODE", &mut self.code);
        self.path_mtu = args.get("PMTU");
        self.mtu = args.get_with("MTU", Bounded(HEADERS as u32..=LONGEST));
    }

    fn initialize(&mut self, _: &mut Cx<'_>) -> Result<(), String> {
        let icmp_type = self.icmp_type;
        if icmp_type < 0 || self.code < 0 || self.source.is_unspecified() {
            Err("not configured -a".to_string())
        } else if !is_error(icmp_type) && !self.is_redirect() {
            Err(format!("ICMP6 type {icmp_type} is not an error or redirect type"))
        } else {
            Ok(())
        }
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        match self.answer(p) {
            Ok(answer) => {
                *p = answer;
                Verdict::PASS
            }
            Err(reason) => Verdict::Drop(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{Sample, ip6};
    use crate::testing::Harness;
    use clickwork_packet::headers::{Icmp6, Ipv6};
    use clickwork_packet::{Packet, PacketType, anno};

    /// What ICMP6Error makes of one packet.
    fn answer(config: &str, p: Packet) -> Option<Packet> {
        let mut t = Harness::new(&format!("s :: Source -> e :: ICMP6Error({config}) -> k :: Sink"));
        t.push("s", 0, [p]);
        let answers = t.take("k");
        assert_eq!(answers.len() as u64 + t.router.total_drops(), 1);
        answers.into_iter().next()
    }

    fn sample() -> Sample {
        ip6("2001:db8::1", "2001:db8:1::2").payload(17, &[7; 1400])
    }

    /// The last four bytes of the ICMPv6 header, of a message whose checksum is right.
    fn word(p: &Packet) -> u32 {
        let ip = Ipv6::new(p.data()).unwrap();
        let icmp = Icmp6::new(ip.payload()).unwrap();
        assert!(icmp.checksum_is_right(ip.pseudo_sum(58, ip.payload().len() as u32)));
        icmp.rest()
    }

    #[test]
    fn a_message_goes_back_to_the_source_and_quotes_the_packet() {
        for (config, len) in [("2001:db8::9, 3, 0", 616), ("2001:db8::9, 3, 0, MTU 1280", 1280)] {
            let p = answer(config, sample().marked()).unwrap();
            let ip = Ipv6::new(p.data()).unwrap();
            assert_eq!((p.len(), ip.payload().len(), ip.hop_limit), (len, len - 40, 255));
            assert_eq!(ip.source().to_string(), "2001:db8::9");
            assert_eq!((ip.destination().to_string(), p.dst_ip6()), ("2001:db8::1".into(), ip.destination()));
            let icmp = Icmp6::new(p.transport_header().unwrap()).unwrap();
            assert_eq!((icmp.icmp_type, icmp.code, word(&p)), (3, 0, 0));
            assert_eq!(icmp.payload(), &sample().bytes()[..len - 48]);
            assert_eq!(p.anno_u8(anno::FIX_IP_SRC.offset), 1);
        }
    }

    #[test]
    fn particulars_go_with_the_type() {
        let of = |config: &str, p: Packet| word(&answer(config, p).unwrap());
        assert_eq!(of("::9, 2, 0, PMTU 1400", sample().marked()), 1400);
        assert_eq!(of("::9, 2, 0", sample().marked()), 1500);
        let mut p = sample().marked();
        p.set_anno_u8(anno::ICMP_PARAMPROB.offset, 6);
        assert_eq!(of("::9, 4, 0", p.clone()), 6);
        assert_eq!(of("::9, 4, 1", p), 0);
        let mut p = sample().marked();
        p.set_dst_ip6("fe80::7".parse().unwrap());
        let redirect = answer("::9, 137, 0", p).unwrap();
        assert_eq!(word(&redirect), 0);
        assert_eq!(redirect.data()[48..50], [0xfe, 0x80]);
        assert_eq!(redirect.data()[64..], [&sample().bytes()[24..40], &sample().bytes()[..568]].concat());
    }

    #[test]
    fn some_packets_are_never_answered() {
        let refused = |p| answer("2001:db8::9, 1, 3", p).is_none();
        for error in [1, 2, 3, 4, 127, 137] {
            assert!(refused(sample().icmp6(error, 0, &[0; 20]).marked()), "{error}");
            let behind = [&[58, 0, 1, 4, 0, 0, 0, 0][..], &[error, 0, 0, 0, 0, 0, 0, 0]].concat();
            assert!(refused(sample().payload(60, &behind).marked()), "{error} behind options");
        }
        assert!(refused(sample().payload(58, &[]).marked()));
        assert!(refused(ip6("2001:db8::1", "ff02::1").marked()));
        assert!(refused(ip6("ff02::1", "2001:db8::1").marked()));
        let mut p = sample().marked();
        p.set_packet_type(PacketType::Multicast);
        assert!(refused(p));
        assert!(refused(sample().packet()));
        assert!(!refused(sample().icmp6(128, 0, &[0; 4]).marked()));
    }

    #[test]
    fn only_errors_and_redirects_can_be_sent() {
        for (config, why) in [
            ("2001:db8::1, 128, 0", "ICMP6 type 128 is not an error or redirect type"),
            ("::, 3, 0", "not configured -a"),
            ("::1, -1, 0", "not configured -a"),
        ] {
            let e = Harness::errors(&format!("Idle -> ICMP6Error({config}) -> Discard"));
            assert!(e.contains(why), "{config}: {e}");
        }
    }
}

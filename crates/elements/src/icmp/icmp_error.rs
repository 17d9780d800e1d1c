//! ICMPError: answers packets with ICMP error messages. Read first: RFC 792, RFC 1812 §4.3.2, RFC 1122 §3.2.2.

use super::names::{CODE_RANGE, TYPE_RANGE, code_arg, type_arg};
use crate::ip::addresses::{AddressSet, Several};
use crate::standard::fast::drop_broadcasts::is_for_many;
use crate::values::{store, store_named};
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::headers::icmp::{icmp_type, parameter_problem, unreachable};
use clickwork_packet::headers::ipv4::{option, protocol};
use clickwork_packet::headers::{Header, IcmpHeader, IcmpMut, Ipv4, Ipv4Header, Ipv4Mut};
use clickwork_packet::{DEFAULT_HEADROOM, Packet, anno};
use clickwork_router::args::{ArgSpec, ArgType, Args, Bounded};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, SimpleElement, Verdict, read_handler, write_handler};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

/// The class facts.
pub static CLASS: Class = Class {
    help: "answers IP packets with ICMP errors",
    manual: "Turns each IP packet into an ICMP error message of TYPE and CODE to its source, quoting as much of the packet \
             as fits into MTU bytes. The message's source is SRC; since the interface it will leave by may have another \
             address, it is marked for FixIPSrc unless SET_FIX_ANNO is false. The destination annotation is set, so the \
             message can be routed. No message answers another ICMP error, a fragment other than the first, a packet sent \
             to many (by link-level broadcast, to a multicast or broadcast address, or to one in BADADDRS), or one whose \
             source is no host's address: such packets are dropped (RFC 1812 §4.3.2.7). A source route is reversed into \
             the message. A redirect names the packet's destination annotation as the better gateway, \"needfrag\" gives \
             PMTU, and a parameter problem points where IPGWOptions found the fault.",
    example: "InfiniteSource(DATA \\<4500001400000000 401166d70a0000010a000002>, LIMIT 1, STOP true) -> CheckIPHeader \
              -> ICMPError(10.0.0.254, timeexceeded, transit) -> Discard",
    packets: "ip/new icmp",
    args: &[
        ArgSpec::required("SRC", ArgType::IpAddr, "source of the messages"),
        ArgSpec::required("TYPE", ArgType::Other("ICMP error type"), "type, by name or number"),
        ArgSpec::positional("CODE", ArgType::Other("ICMP code"), "0", "code, by name or number"),
        ArgSpec::positional(
            "BADADDRS",
            ArgType::Other("IP addresses"),
            "",
            "addresses that stand for many hosts",
        ),
        ArgSpec::keyword("MTU", ArgType::U32, "576", "greatest length of a message, in bytes"),
        ArgSpec::keyword("PMTU", ArgType::U16, "0", "the next hop's MTU, for needfrag (RFC 1191)"),
        ArgSpec::keyword("SET_FIX_ANNO", ArgType::Bool, "true", "mark messages for FixIPSrc")
            .aliases(&["USE_FIX_ANNO"]),
    ],
    handlers: &[
        read_handler!("src", "source of the messages", |e: &mut ICMPError, _| e.source.to_string())
            .and_write(write_handler!("", "", |e: &mut ICMPError, text, cx| store_named(
                &mut e.source,
                text,
                cx,
                "IP address"
            ))),
        read_handler!("mtu", "greatest length of a message", |e: &mut ICMPError, _| e.mtu).and_write(
            write_handler!("", "", |e: &mut ICMPError, text, _| store(&mut e.mtu, text, "integer")),
        ),
        read_handler!("pmtu", "the next hop's MTU", |e: &mut ICMPError, _| e.path_mtu).and_write(
            write_handler!("", "", |e: &mut ICMPError, text, _| store(&mut e.path_mtu, text, "integer")),
        ),
    ],
    ..Class::new("ICMPError", "icmp", || Box::<ICMPError>::default())
};

/// Time to live of messages.
const TTL: u8 = 200;
/// Length of the longest IP packet.
const LONGEST: u32 = 65535;
/// Bytes of an IP and an ICMP header.
const HEADERS: u32 = 28;

/// The identification of the next message. All ICMPErrors of a router number their messages together.
struct NextId(AtomicU16);

struct ICMPError {
    source: Ipv4Address,
    icmp_type: u8,
    code: u8,
    bad_addresses: AddressSet,
    mtu: u32,
    path_mtu: u16,
    marks: bool,
    ids: Arc<NextId>,
}

impl Default for ICMPError {
    fn default() -> ICMPError {
        ICMPError {
            source: Ipv4Address::UNSPECIFIED,
            icmp_type: 0,
            code: 0,
            bad_addresses: AddressSet::default(),
            mtu: 576,
            path_mtu: 0,
            marks: true,
            ids: Arc::new(NextId(AtomicU16::new(1))),
        }
    }
}

/// A source route option and where it is in the IP header.
struct SourceRoute<'p> {
    kind: u8,
    offset: usize,
    len: usize,
    /// The addresses visited so far, four bytes each.
    visited: &'p [u8],
}

impl<'p> SourceRoute<'p> {
    fn find(ip: &Ipv4<'p>) -> Option<SourceRoute<'p>> {
        let routes = [option::LOOSE_SOURCE_ROUTE, option::STRICT_SOURCE_ROUTE];
        ip.options().map_while(Result::ok).filter(|o| routes.contains(&o.kind)).find_map(|o| {
            // The pointer counts from the option's first byte, which is 1.
            let pointer = usize::from(*o.data.first()?);
            let is_valid = pointer >= 4 && pointer.is_multiple_of(4) && pointer <= o.len() + 1;
            let visited = o.data.get(1..pointer.checked_sub(3)?).filter(|_| is_valid)?;
            Some(SourceRoute { kind: o.kind, offset: 20 + o.offset, len: o.len(), visited })
        })
    }

    /// The option that leads back the same way, padded to a multiple of four bytes.
    fn reversed(&self) -> Vec<u8> {
        let mut option = vec![self.kind, self.visited.len() as u8 + 3, 4];
        self.visited.rchunks_exact(4).for_each(|address| option.extend(address));
        option.push(0);
        option
    }
}

impl ICMPError {
    /// Why the packet must not be answered (RFC 1812 §4.3.2.7).
    fn objection(&self, p: &Packet, ip: &Ipv4<'_>) -> Option<&'static str> {
        if ip.protocol == protocol::ICMP && ip.payload().first_chunk::<4>().is_none_or(|&[t, ..]| is_error(t))
        {
            Some("error about an error")
        } else if !self.is_one_host(ip.destination()) || is_for_many(p) {
            Some("error about a packet to many")
        } else if !self.is_valid_source(ip.source()) {
            Some("error to an impossible source")
        } else if !ip.is_first_fragment() {
            Some("error about a later fragment")
        } else {
            None
        }
    }

    fn is_one_host(&self, a: Ipv4Address) -> bool {
        !a.is_broadcast() && !a.is_multicast() && !self.bad_addresses.contains(a)
    }

    /// RFC 1812 §5.3.7: not of network 0, not loopback, not class E.
    fn is_valid_source(&self, a: Ipv4Address) -> bool {
        let network = a.octets()[0];
        self.is_one_host(a) && network != 0 && network != 127 && network < 240
    }

    fn is_parameter_problem(&self) -> bool {
        self.icmp_type == icmp_type::PARAMETER_PROBLEM && self.code == parameter_problem::ERROR_AT_POINTER
    }

    /// The message that answers `p`, or why there is none.
    fn answer(&self, p: &Packet) -> Result<Packet, &'static str> {
        let packet = p.network_header().ok_or("no IP header")?;
        let ip = Ipv4::new(packet).ok_or("no IP header")?;
        if let Some(reason) = self.objection(p, &ip) {
            return Err(reason);
        }
        let route = SourceRoute::find(&ip);
        if route.is_some() && self.icmp_type == icmp_type::REDIRECT {
            // RFC 1812 §5.2.7.2.
            return Err("redirect of a source route");
        }
        // RFC 1812 §4.3.2.6: a route that is itself the problem is not used.
        let fault = usize::from(p.anno_u8(anno::ICMP_PARAMPROB.offset));
        let is_at_fault = |r: &SourceRoute<'_>| (r.offset..r.offset + r.len).contains(&fault);
        let route = route.filter(|r| !(self.is_parameter_problem() && is_at_fault(r)));
        let options = route.map_or_else(Vec::new, |r| r.reversed());
        Ok(self.message(p, packet, ip.source(), &options))
    }

    fn message(&self, p: &Packet, quoted: &[u8], destination: Ipv4Address, options: &[u8]) -> Packet {
        let header_len = size_of::<Ipv4Header>() + options.len();
        let overhead = header_len + size_of::<IcmpHeader>();
        let quoted = &quoted[..quoted.len().min((self.mtu.min(LONGEST) as usize).saturating_sub(overhead))];
        let mut q = Packet::zeroed(DEFAULT_HEADROOM, overhead + quoted.len(), 0);
        q.set_network_header(0, header_len as u32);
        let (head, body) = q.data_mut().split_at_mut(header_len);
        self.write_ip(head, body.len(), destination, options);
        if let Some(mut icmp) = IcmpMut::new(body) {
            icmp.payload_mut().copy_from_slice(quoted);
            self.write_icmp(&mut icmp, p);
        }
        q.set_dst_ip(destination);
        q.set_anno_u8(anno::FIX_IP_SRC.offset, self.marks.into());
        q
    }

    fn write_ip(&self, head: &mut [u8], body_len: usize, destination: Ipv4Address, options: &[u8]) {
        let len = head.len();
        if let Some(header) = Ipv4Header::peek_mut(head) {
            header.set_ihl(len);
        }
        let Some(mut ip) = Ipv4Mut::new(head) else { return };
        ip.set_total_len((len + body_len) as u16);
        ip.set_identification(self.ids.0.fetch_add(1, Ordering::Relaxed));
        (ip.ttl, ip.protocol) = (TTL, protocol::ICMP);
        ip.set_source(self.source);
        ip.set_destination(destination);
        ip.option_bytes_mut().copy_from_slice(options);
        ip.fill_checksum();
    }

    fn write_icmp(&self, icmp: &mut IcmpMut<'_>, p: &Packet) {
        (icmp.icmp_type, icmp.code) = (self.icmp_type, self.code);
        match (self.icmp_type, self.code) {
            (icmp_type::REDIRECT, _) => icmp.set_gateway(p.dst_ip()),
            (icmp_type::UNREACHABLE, unreachable::NEED_FRAGMENT) => icmp.set_next_hop_mtu(self.path_mtu),
            _ if self.is_parameter_problem() => icmp.set_pointer(p.anno_u8(anno::ICMP_PARAMPROB.offset)),
            _ => {}
        }
        icmp.fill_checksum();
    }
}

fn is_error(icmp_type: u8) -> bool {
    IcmpHeader::new(icmp_type, 0).is_error()
}

impl SimpleElement for ICMPError {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        args.read("SRC", &mut self.source)
            .read("SET_FIX_ANNO", &mut self.marks)
            .read("PMTU", &mut self.path_mtu);
        args.read_with("MTU", Bounded(HEADERS..=LONGEST), &mut self.mtu);
        if let Some(Several(addresses)) = args.get("BADADDRS") {
            self.bad_addresses.extend(addresses);
        }
        match type_arg(args, TYPE_RANGE) {
            Some(t) if is_error(t) => (self.icmp_type, self.code) = (t, code_arg(args, t, CODE_RANGE)),
            Some(t) => args.error(format!("ICMP type {t} is not an error type")),
            None => {}
        }
        cx.export(Arc::clone(&self.ids));
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        if let Some(ids) = cx.router().ids().find_map(|id| cx.exported::<NextId>(id)) {
            self.ids = ids;
        }
        Ok(())
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        match self.answer(p) {
            Ok(mut answer) => {
                answer.set_timestamp(cx.now());
                *p = answer;
                Verdict::PASS
            }
            Err(reason) => Verdict::Drop(reason),
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<ICMPError>(old) {
            self.ids.0.store(old.ids.0.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ip::samples::{Sample, ip};
    use crate::testing::Harness;
    use clickwork_packet::headers::{Icmp, Ipv4};
    use clickwork_packet::{Packet, PacketType, anno};

    /// What ICMPError makes of one packet.
    fn answer(config: &str, p: Packet) -> Option<Packet> {
        let mut t = Harness::new(&format!("s :: Source -> e :: ICMPError({config}) -> k :: Sink"));
        t.push("s", 0, [p]);
        let answers = t.take("k");
        assert_eq!(answers.len() as u64 + t.router.total_drops(), 1);
        answers.into_iter().next()
    }

    fn sample() -> Sample {
        ip("1.0.0.1", "2.0.0.2").payload(17, &[7; 1000])
    }

    #[test]
    fn a_message_goes_back_to_the_source_and_quotes_the_packet() {
        let p = answer("5.5.5.5, timeexceeded, transit", sample().marked()).unwrap();
        let ip = Ipv4::new(p.data()).unwrap();
        assert_eq!((p.len(), ip.total_len(), ip.ttl, ip.identification()), (576, 576, 200, 1));
        assert_eq!(
            (ip.source().to_string(), ip.destination().to_string()),
            ("5.5.5.5".into(), "1.0.0.1".into())
        );
        let icmp = Icmp::new(p.transport_header().unwrap()).unwrap();
        assert_eq!((icmp.icmp_type, icmp.code, icmp.rest()), (11, 0, 0));
        assert_eq!(icmp.payload(), &sample().bytes()[..548]);
        assert!(ip.checksum_is_right() && icmp.checksum_is_right());
        assert_eq!((p.dst_ip(), p.anno_u8(anno::FIX_IP_SRC.offset)), (ip.destination(), 1));
        assert!(p.timestamp().nanos() > 0);
    }

    #[test]
    fn length_mark_and_particulars_are_as_configured() {
        let word =
            |config: &str, p: Packet| Icmp::new(&answer(config, p).unwrap().data()[20..]).unwrap().rest();
        let p = answer("5.5.5.5, 3, 1, MTU 100, SET_FIX_ANNO false", sample().marked()).unwrap();
        assert_eq!((p.len(), p.anno_u8(anno::FIX_IP_SRC.offset)), (100, 0));
        assert_eq!(word("5.5.5.5, unreachable, needfrag, PMTU 1400", sample().marked()), 1400);
        let mut p = sample().marked();
        p.set_dst_ip("9.8.7.6".parse().unwrap());
        assert_eq!(word("5.5.5.5, redirect, host", p), 0x0908_0706);
        let mut p = sample().marked();
        p.set_anno_u8(anno::ICMP_PARAMPROB.offset, 21);
        assert_eq!(word("5.5.5.5, parameterproblem", p.clone()), 21 << 24);
        assert_eq!(word("5.5.5.5, parameterproblem, missingopt", p), 0);
    }

    #[test]
    fn some_packets_are_never_answered() {
        let refused = |p| answer("5.5.5.5, unreachable, host, 10.0.0.255", p).is_none();
        for (source, destination) in [
            ("1.0.0.1", "255.255.255.255"),
            ("1.0.0.1", "224.0.0.5"),
            ("1.0.0.1", "10.0.0.255"),
            ("10.0.0.255", "2.0.0.2"),
            ("0.1.2.3", "2.0.0.2"),
            ("127.0.0.1", "2.0.0.2"),
            ("224.0.0.1", "2.0.0.2"),
            ("240.0.0.1", "2.0.0.2"),
        ] {
            assert!(refused(ip(source, destination).marked()), "{source} > {destination}");
        }
        assert!(refused(sample().fragment(1).marked()));
        assert!(!refused(sample().fragment(0x2000).marked()));
        for error in [3, 4, 5, 11, 12] {
            assert!(refused(sample().payload(1, &[error, 0, 0, 0]).marked()));
        }
        assert!(refused(sample().payload(1, &[]).marked()));
        assert!(refused(sample().payload(1, &[8, 0, 0]).marked()));
        assert!(!refused(sample().payload(1, &[8, 0, 0, 0]).marked()));
        for many in [PacketType::Broadcast, PacketType::Multicast] {
            let mut p = sample().marked();
            p.set_packet_type(many);
            assert!(refused(p));
        }
        assert!(refused(sample().packet()));
    }

    #[test]
    fn a_source_route_is_reversed() {
        let route = [131, 15, 12, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3];
        let routed = || sample().options(&route).marked();
        let p = answer("5.5.5.5, unreachable, host", routed()).unwrap();
        let ip = Ipv4::new(p.data()).unwrap();
        assert_eq!(ip.option_bytes(), [131, 11, 4, 2, 2, 2, 2, 1, 1, 1, 1, 0]);
        assert!(ip.checksum_is_right() && usize::from(ip.total_len()) == p.len());
        assert!(answer("5.5.5.5, redirect, host", routed()).is_none());
        let at_fault = |pointer| {
            let mut p = routed();
            p.set_anno_u8(anno::ICMP_PARAMPROB.offset, pointer);
            Ipv4::new(answer("5.5.5.5, parameterproblem", p).unwrap().data()).unwrap().option_bytes().len()
        };
        assert_eq!([at_fault(19), at_fault(20), at_fault(34), at_fault(35)], [12, 0, 0, 12]);
    }

    #[test]
    fn all_messages_of_a_router_are_numbered_together() {
        let mut t = Harness::new(
            "s :: Source -> t :: Tee; t[0] -> ICMPError(5.5.5.5, 3) -> k :: Sink; t[1] -> ICMPError(6.6.6.6, 3) -> k",
        );
        t.push("s", 0, [sample().marked(), sample().marked()]);
        let ids: Vec<_> = t.bytes("k").iter().map(|b| b[5]).collect();
        assert_eq!(ids, [1, 2, 3, 4]);
    }

    #[test]
    fn types_and_codes_are_checked() {
        for (config, error) in [
            ("5.5.5.5, echo", "ICMP type 8 is not an error type"),
            ("5.5.5.5, 256", "ICMP type must be between 0 and 255"),
            ("5.5.5.5, unreachable, transit", "ICMP code (integer between 0 and 255)"),
            ("5.5.5.5, nonsense", "TYPE: parse error"),
        ] {
            let e = Harness::errors(&format!("Idle -> ICMPError({config}) -> Discard"));
            assert!(e.contains(error), "{config}: {e}");
        }
    }
}

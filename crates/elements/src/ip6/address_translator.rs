//! AddressTranslator: replaces addresses and ports of IPv6 packets by mapped ones, and back.

use super::address_mappings::{End, Flows, Mappings, Missing, Supply, Way};
use super::extension::FIXED;
use super::translation::follow;
use clickwork_packet::addr::Ipv6Address;
use clickwork_packet::checksum::update;
use clickwork_packet::headers::icmp6::icmp6_type;
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::{Header, Icmp6Header, Icmp6Mut, Ipv6, Ipv6Header};
use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args, FromArg, Names, split_words};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, read_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "translates addresses and ports of IPv6 packets",
    manual: "Packets from inside enter input 0 and leave output 0 with mapped sources, packets from outside enter input 1 and \
             leave output 1 with the inner destinations. The arguments are, in this order: the number of fixed mappings; if \
             it is not 0, whether they map ports too, and the mappings, 'INNER MAPPED' or 'INNER PORT MAPPED PORT'; whether \
             mappings are made when packets need them; if so, whether they map ports too, which way packets go that make \
             them (false: outward), and what they are made of: addresses, one an argument, or 'ADDRESS PORT PORT', the \
             first and the last port. Ports cannot be mapped on demand beside fixed mappings. TCP, UDP and ICMPv6 \
             are translated, with their checksums; echo messages have their identifier for a port, and ICMPv6 errors belong to \
             the packet that they quote, which is translated back. Packets without a mapping and with other headers are dropped. A port goes to another \
             flow, if none is left, when it was idle for five minutes.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> UDPIP6Encap(2001:db8::2, 7, 2001:db8:2::2, 7) \
              -> t :: AddressTranslator(0, true, true, false, 2001:db8:1::1 1024 65535) -> Discard; \
              Idle -> [1] t [1] -> Discard",
    ports: "2/2",
    packets: "ip6/ip6",
    args: &[ArgSpec::rest("ARGUMENT", ArgType::Other("number, truth value or mapping"), "see the manual")],
    handlers: &[read_handler!("count", "mappings", |e: &mut AddressTranslator, _| e.mappings.count())],
    ..Class::new("AddressTranslator", "ip6", || Box::<AddressTranslator>::default())
};

#[derive(Default)]
struct AddressTranslator {
    mappings: Mappings,
    configured: Vec<String>,
}

/// The arguments, read one after the other; a message names the place of one that is wrong or missing.
struct Reader<'a> {
    list: &'a [String],
    at: usize,
    names: &'a Names,
}

impl Reader<'_> {
    fn next<T>(&mut self, expected: &str, read: impl Fn(&str, &Names) -> Option<T>) -> Result<T, String> {
        let value = self.list.get(self.at).and_then(|text| read(text, self.names));
        self.at += 1;
        value.ok_or_else(|| format!("argument {} should be : {expected}", self.at - 1))
    }

    fn flag(&mut self) -> Result<bool, String> {
        self.next("bool", |text, names| bool::from_arg(text, names).ok())
    }

    fn fixed(&mut self, with_ports: bool, mappings: &mut Mappings) -> Result<(), String> {
        let read = |text: &str, names: &Names| {
            let words = split_words(text);
            let address = |word: &str| Ipv6Address::from_arg(word, names).ok();
            let port = |word: &str| u16::from_arg(word, names).ok();
            match (&words[..], with_ports) {
                ([inner, mapped], false) => Some(((address(inner)?, None), (address(mapped)?, None))),
                ([inner, inner_port, mapped, mapped_port], true) => {
                    let inner = (address(inner)?, Some(port(inner_port)?));
                    Some((inner, (address(mapped)?, Some(port(mapped_port)?))))
                }
                _ => None,
            }
        };
        let expected =
            if with_ports { "<IP6Address> <port> <IP6Address> <port>" } else { "<IP6Address> <IP6Address>" };
        let (inner, mapped) = self.next(expected, read)?;
        mappings.add(inner, mapped);
        Ok(())
    }

    fn addresses(&mut self) -> Result<Supply, String> {
        let mut free = std::collections::VecDeque::new();
        while self.at < self.list.len() {
            free.push_back(self.next("<IP6Address>", |text, names| Ipv6Address::from_arg(text, names).ok())?);
        }
        Ok(Supply::Addresses(free))
    }

    fn ports(&mut self) -> Result<Supply, String> {
        let flows = self.next("<IP6Address> <port> <port>", |text, names| {
            let words = split_words(text);
            let [address, first, last] = &words[..] else { return None };
            let port = |word: &str| u16::from_arg(word, names).ok();
            let (first, last) = (port(first)?, port(last)?);
            let address = Ipv6Address::from_arg(address, names).ok()?;
            (first > 0 && first <= last).then(|| Flows::new(address, first..=last))
        })?;
        Ok(Supply::Ports(flows))
    }

    fn mappings(mut self) -> Result<Mappings, String> {
        let mut mappings = Mappings::default();
        let fixed = self.next("integer", |text, names| u32::from_arg(text, names).ok())?;
        if fixed > 0 {
            let with_ports = self.flag()?;
            (0..fixed).try_for_each(|_| self.fixed(with_ports, &mut mappings))?;
        }
        if self.flag()? {
            let with_ports = self.flag()?;
            mappings.made_by = if self.flag()? { Way::Inward } else { Way::Outward };
            mappings.supply = match (with_ports, fixed) {
                (false, _) => self.addresses()?,
                (true, 0) => self.ports()?,
                // As in Click such mappings are never made.
                (true, _) => self.ports().map(|_| Supply::None)?,
            };
        }
        Ok(mappings)
    }
}

/// Where the ports of a packet are behind its IPv6 header: source and destination. An echo message has one for both.
fn port_places(ip: &Ipv6<'_>) -> Option<Option<(usize, usize)>> {
    let payload = ip.payload();
    match ip.next_header {
        protocol::TCP => (payload.len() >= 20).then_some(Some((0, 2))),
        protocol::UDP => (payload.len() >= 8).then_some(Some((0, 2))),
        protocol::ICMP6 => {
            let is_echo = matches!(payload.first(), Some(&icmp6_type::ECHO | &icmp6_type::ECHO_REPLY));
            (payload.len() >= 8).then_some(is_echo.then_some((4, 4)))
        }
        _ => None,
    }
}

fn port(payload: &[u8], at: usize) -> u16 {
    payload[at..].first_chunk().map_or(0, |b| u16::from_be_bytes(*b))
}

impl AddressTranslator {
    /// Translates a packet that goes one way, or says why it cannot be.
    fn translate(&mut self, p: &mut Packet, way: Way, cx: &Cx<'_>) -> Result<(), &'static str> {
        let bytes = p.network_header().unwrap_or(p.data());
        let ip = Ipv6::new(bytes).filter(|ip| ip.version() == 6).ok_or("no IPv6 header")?;
        if ip.payload().len() != usize::from(ip.payload_len_field()) {
            return Err("bad IP length");
        }
        if !matches!(ip.next_header, protocol::TCP | protocol::UDP | protocol::ICMP6) {
            cx.report("protocol unrecognized", || " discard the packet, protocol unrecognized".to_string());
            return Err("protocol unrecognized");
        }
        if is_error(&ip) {
            return self.translate_error(p, way, cx);
        }
        let places = port_places(&ip).ok_or("bad transport header")?;
        let (source, destination) = (ip.source(), ip.destination());
        let (mine, other) = if way == Way::Outward { (source, destination) } else { (destination, source) };
        let is_echo = ip.next_header == protocol::ICMP6;
        let mine_at = places.map(|(s, d)| if way == Way::Outward { s } else { d });
        let other_port = places
            .filter(|_| !is_echo)
            .map_or(0, |(s, d)| port(ip.payload(), if way == Way::Outward { d } else { s }));
        let mine_port = mine_at.map(|at| port(ip.payload(), at));
        let found = self.find(way, (mine, mine_port), (other, other_port), true, cx)?;
        write(bytes_mut(p), way, mine_at, found).ok_or("bad transport header")?;
        mark(p, way, found);
        Ok(())
    }

    /// Translates an error by the packet that it quotes, which went the other way.
    fn translate_error(&mut self, p: &mut Packet, way: Way, cx: &Cx<'_>) -> Result<(), &'static str> {
        let ip = Ipv6::new(p.network_header().unwrap_or(p.data())).ok_or("no IPv6 header")?;
        if ip.pseudo_sum(protocol::ICMP6, ip.payload().len() as u32).bytes(ip.payload()).finish() != 0 {
            return Err("bad ICMPv6 checksum");
        }
        let quoted = ip.payload().get(QUOTED..).and_then(Ipv6::new).ok_or("bad ICMPv6 error")?;
        let (at_source, at_destination) = quoted_places(&quoted).ok_or("bad ICMPv6 error")?;
        let end = |is_source: bool| match is_source {
            true => (quoted.source(), port(quoted.payload(), at_source)),
            false => (quoted.destination(), port(quoted.payload(), at_destination)),
        };
        // What comes in from outside quotes what went out: its source is mapped.
        let is_source = way == Way::Inward;
        let (mine, other) = (end(is_source), end(!is_source));
        let other_port = if at_source == at_destination { 0 } else { other.1 };
        let found = self.find(way, (mine.0, Some(mine.1)), (other.0, other_port), false, cx)?;
        let at = if is_source { at_source } else { at_destination };
        write_error(bytes_mut(p), way, at, found).ok_or("bad ICMPv6 error")?;
        mark(p, way, found);
        Ok(())
    }

    fn find(
        &mut self,
        way: Way,
        mine: (Ipv6Address, Option<u16>),
        other: End,
        may_make: bool,
        cx: &Cx<'_>,
    ) -> Result<End, &'static str> {
        self.mappings.find(way, mine, other, may_make, cx.recent()).map_err(|missing| match missing {
            Missing::Unknown => "no mapping",
            Missing::Exhausted => {
                if matches!(self.mappings.supply, Supply::Ports(_)) {
                    cx.report("no port left", || "AddressTranslator ran out of ports".to_string());
                }
                "no address or port left"
            }
        })
    }

    fn translate_all(&mut self, batch: &mut Batch, way: Way, cx: &mut Cx<'_>) -> Batch {
        let mut done = Batch::new();
        for mut p in batch.drain() {
            match self.translate(&mut p, way, cx) {
                Ok(()) => done.push(p),
                Err(reason) => cx.drop(p, reason),
            }
        }
        done
    }
}

/// Where an error quotes a packet, behind the IPv6 header.
const QUOTED: usize = size_of::<Icmp6Header>();

fn is_error(ip: &Ipv6<'_>) -> bool {
    ip.next_header == protocol::ICMP6 && ip.payload().first().is_some_and(|icmp_type| *icmp_type < 128)
}

/// Where the ports of a quoted packet are, of which eight bytes behind the header must be there.
fn quoted_places(quoted: &Ipv6<'_>) -> Option<(usize, usize)> {
    let first = quoted.payload().first_chunk::<8>()?;
    match quoted.next_header {
        protocol::TCP | protocol::UDP => Some((0, 2)),
        protocol::ICMP6 if matches!(first[0], icmp6_type::ECHO | icmp6_type::ECHO_REPLY) => Some((4, 4)),
        _ => None,
    }
}

fn bytes_mut(p: &mut Packet) -> &mut [u8] {
    match p.has_network_header() {
        true => p.network_header_mut().unwrap_or_default(),
        false => p.data_mut(),
    }
}

/// Marks the header of a translated packet, and notes where it goes now.
fn mark(p: &mut Packet, way: Way, found: End) {
    p.set_network_header(p.network_offset().unwrap_or(0), FIXED as u32);
    if way == Way::Inward {
        p.set_dst_ip6(found.0);
    }
}

/// Writes an address into an error, and the address and a port into the packet that it quotes, at `at` behind its header.
fn write_error(bytes: &mut [u8], way: Way, at: usize, found: End) -> Option<()> {
    let (head, rest) = bytes.split_at_mut_checked(FIXED)?;
    let header = Ipv6Header::peek_mut(head)?;
    let message = rest.get_mut(..usize::from(header.payload_len_field()))?;
    let (quoted_head, quoted_rest) = message.get_mut(QUOTED..)?.split_at_mut_checked(FIXED)?;
    let quoted = Ipv6Header::peek_mut(quoted_head)?;
    match way {
        Way::Outward => {
            header.set_source(found.0);
            quoted.set_destination(found.0);
        }
        Way::Inward => {
            header.set_destination(found.0);
            quoted.set_source(found.0);
        }
    }
    quoted_rest.get_mut(at..at + 2)?.copy_from_slice(&found.1.to_be_bytes());
    let pseudo = header.pseudo_sum(protocol::ICMP6, message.len() as u32);
    Icmp6Mut::new(message)?.fill_checksum(pseudo);
    Some(())
}

/// Writes an address and a port into a packet; its transport checksum follows.
fn write(bytes: &mut [u8], way: Way, port_at: Option<usize>, found: End) -> Option<()> {
    let (head, rest) = bytes.split_at_mut_checked(FIXED)?;
    let header = Ipv6Header::peek_mut(head)?;
    let (protocol, len) = (header.next_header, header.payload_len_field());
    let before = header.pseudo_sum(protocol, len.into());
    match way {
        Way::Outward => header.set_source(found.0),
        Way::Inward => header.set_destination(found.0),
    }
    let after = header.pseudo_sum(protocol, len.into());
    let payload = rest.get_mut(..usize::from(len))?;
    if let Some(at) = port_at {
        let (old, place) = (port(payload, at), if protocol == protocol::UDP { 6 } else { 16 });
        payload[at..at + 2].copy_from_slice(&found.1.to_be_bytes());
        let place = if protocol == protocol::ICMP6 { 2 } else { place };
        let checksum = port(payload, place);
        // A datagram without a checksum gets one below.
        if protocol != protocol::UDP || checksum != 0 {
            let new = update(checksum, old, found.1);
            payload[place..place + 2].copy_from_slice(&new.to_be_bytes());
        }
    }
    follow(payload, protocol, before, after, true)
}

impl Element for AddressTranslator {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        self.configured = args.rest().to_vec();
        let names = args.names().clone();
        match (Reader { list: &self.configured, at: 0, names: &names }).mappings() {
            Ok(mappings) => self.mappings = mappings,
            Err(error) => args.error(error),
        }
    }

    fn push(&mut self, port: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        let way = if port == 0 { Way::Outward } else { Way::Inward };
        let done = self.translate_all(batch, way, cx);
        cx.emit_batch(port, done);
    }

    fn pull(&mut self, port: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let mut batch = cx.pull(port, limit);
        let way = if port == 0 { Way::Outward } else { Way::Inward };
        self.translate_all(&mut batch, way, cx)
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<AddressTranslator>(old)
            && old.configured == self.configured
        {
            std::mem::swap(&mut self.mappings, &mut old.mappings);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{Sample, ip6};
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_packet::headers::{Ipv6, TcpMut, UdpMut};

    const INNER: &str = "2001:db8::2";
    const OUTSIDE: &str = "2001:db8:5::5";

    fn translator(config: &str) -> Harness {
        Harness::new(&format!(
            "o :: Source -> t :: AddressTranslator({config}); i :: Source -> [1] t; t -> ok :: Sink; t[1] -> ik :: Sink"
        ))
    }

    fn udp(from: &str, to: &str, ports: [u16; 2]) -> Sample {
        let sample = ip6(from, to);
        let mut bytes = [ports[0].to_be_bytes(), ports[1].to_be_bytes(), [0, 11], [0, 0]].concat();
        bytes.extend(b"abc");
        let whole = sample.bytes();
        UdpMut::new(&mut bytes).unwrap().fill_checksum(Ipv6::new(&whole).unwrap().pseudo_sum(17, 11));
        sample.payload(17, &bytes)
    }

    fn tcp(from: &str, to: &str, ports: [u16; 2]) -> Sample {
        let sample = ip6(from, to);
        let mut bytes = [ports[0].to_be_bytes(), ports[1].to_be_bytes()].concat();
        bytes.extend([0, 0, 0, 1, 0, 0, 0, 2, 0x50, 2, 1, 0, 0, 0, 0, 0]);
        let whole = sample.bytes();
        TcpMut::new(&mut bytes).unwrap().fill_checksum(Ipv6::new(&whole).unwrap().pseudo_sum(6, 20));
        sample.payload(6, &bytes)
    }

    fn echo(from: &str, to: &str, icmp_type: u8, identifier: u16) -> Sample {
        ip6(from, to).icmp6(icmp_type, 0, &[&identifier.to_be_bytes()[..], &[0, 1, 7, 7]].concat())
    }

    #[test]
    fn fixed_mappings_work_both_ways() {
        let mapped = "2001:db8:9::2";
        let mut t = translator(&format!("1, false, {INNER} {mapped}, false"));
        let there = |from: &str| {
            [udp(from, OUTSIDE, [7, 8]), tcp(from, OUTSIDE, [7, 8]), echo(from, OUTSIDE, 128, 3)]
        };
        let back = |to: &str| [udp(OUTSIDE, to, [8, 7]), tcp(OUTSIDE, to, [8, 7]), echo(OUTSIDE, to, 129, 3)];
        t.push("o", 0, there(INNER).map(|s| s.marked()));
        t.push("i", 0, back(mapped).map(|s| s.marked()));
        assert_eq!(t.bytes("ok"), there(mapped).map(|s| s.bytes()));
        assert_eq!(t.bytes("ik"), back(INNER).map(|s| s.bytes()));
        t.push("o", 0, [udp(OUTSIDE, INNER, [7, 8]).packet()]);
        assert_eq!(t.read("t.drop_reasons"), "1\tno mapping\n");
    }

    #[test]
    fn fixed_mappings_may_have_ports() {
        let mut t = translator(&format!("1, true, {INNER} 80 2001:db8:9::9 8080, false"));
        t.push("o", 0, [udp(INNER, OUTSIDE, [80, 5]).packet(), udp(INNER, OUTSIDE, [81, 5]).packet()]);
        t.push("i", 0, [udp(OUTSIDE, "2001:db8:9::9", [5, 8080]).packet()]);
        assert_eq!(t.bytes("ok"), [udp("2001:db8:9::9", OUTSIDE, [8080, 5]).bytes()]);
        assert_eq!(t.bytes("ik"), [udp(OUTSIDE, INNER, [5, 80]).bytes()]);
    }

    #[test]
    fn addresses_are_given_to_those_who_come_first() {
        for (direction, source, sink) in [("false", "o", "ok"), ("true", "i", "ik")] {
            let mut t = translator(&format!("0, true, false, {direction}, 2001:db8:9::1, 2001:db8:9::2"));
            let packet = |n: u8, as_sent: bool| {
                let (own, given) = (format!("2001:db8::{n}"), format!("2001:db8:9::{n}"));
                let end = if as_sent { own } else { given };
                if direction == "false" { udp(&end, OUTSIDE, [1, 2]) } else { udp(OUTSIDE, &end, [1, 2]) }
            };
            t.push(source, 0, [1, 2, 1, 3].map(|n| packet(n, true).packet()));
            assert_eq!(t.bytes(sink), [1, 2, 1].map(|n| packet(n, false).bytes()));
            assert_eq!(t.read("t.drop_reasons"), "1\tno address or port left\n");
        }
    }

    #[test]
    fn flows_share_one_address() {
        let mapped = "2001:db8:9::1";
        let mut t = translator(&format!("0, true, true, false, {mapped} 100 102"));
        let others = ["2001:db8::3", "2001:db8::4"];
        t.push(
            "o",
            0,
            [
                udp(INNER, OUTSIDE, [7, 8]).packet(),
                tcp(others[0], OUTSIDE, [7, 8]).packet(),
                udp(INNER, OUTSIDE, [7, 8]).packet(),
                echo(INNER, OUTSIDE, 128, 7).packet(),
                udp(others[1], OUTSIDE, [7, 8]).packet(),
            ],
        );
        let expected = [
            udp(mapped, OUTSIDE, [100, 8]),
            tcp(mapped, OUTSIDE, [101, 8]),
            udp(mapped, OUTSIDE, [100, 8]),
            echo(mapped, OUTSIDE, 128, 102),
        ];
        assert_eq!(t.bytes("ok"), expected.map(|s| s.bytes()));
        assert_eq!(
            (t.printed(), t.read("t.count")),
            ("AddressTranslator ran out of ports\n".into(), "3".into())
        );
        t.push(
            "i",
            0,
            [
                tcp(OUTSIDE, mapped, [8, 101]).packet(),
                echo(OUTSIDE, mapped, 129, 102).packet(),
                // Nobody inside has asked for these.
                udp(OUTSIDE, mapped, [9, 100]).packet(),
                udp("2001:db8:5::6", mapped, [8, 100]).packet(),
            ],
        );
        let expected = [tcp(OUTSIDE, others[0], [8, 7]), echo(OUTSIDE, INNER, 129, 7)];
        assert_eq!(t.bytes("ik"), expected.map(|s| s.bytes()));
        assert_eq!(t.read("t.drop_reasons"), "1\tno address or port left\n2\tno mapping\n");
    }

    #[test]
    fn errors_go_to_whom_the_quoted_packet_concerns() {
        let (mapped, router) = ("2001:db8:9::1", "2001:db8:7::7");
        let mut t = translator(&format!("0, true, true, false, {mapped} 100 102"));
        t.push("o", 0, [udp(INNER, OUTSIDE, [7, 8]).packet(), echo(INNER, OUTSIDE, 128, 7).packet()]);
        t.take("ok");
        let error =
            |from: &str, to: &str, about: &[u8]| ip6(from, to).icmp6(3, 0, &[&[0; 4], about].concat());
        // Quoted packets keep the checksums that they have, which nobody looks at; of one only the first bytes are there.
        let changed = |sample: Sample, at: usize, to: [u8; 2]| {
            let mut bytes = sample.bytes();
            bytes[40 + at..42 + at].copy_from_slice(&to);
            bytes
        };
        let out =
            [udp(mapped, OUTSIDE, [100, 8]).bytes()[..48].to_vec(), echo(mapped, OUTSIDE, 128, 101).bytes()];
        let inner = [
            changed(udp(INNER, OUTSIDE, [7, 8]), 6, out[0][46..48].try_into().unwrap())[..48].to_vec(),
            changed(echo(INNER, OUTSIDE, 128, 7), 2, out[1][42..44].try_into().unwrap()),
        ];
        t.push("i", 0, out.iter().map(|quoted| error(router, mapped, quoted).packet()));
        let expected: Vec<_> = inner.iter().map(|quoted| error(router, INNER, quoted).bytes()).collect();
        assert_eq!(t.bytes("ik"), expected);
        // The other way: the inner host refuses an answer.
        let answer = changed(udp(OUTSIDE, INNER, [8, 7]), 6, [1, 2]);
        t.push("o", 0, [error(INNER, OUTSIDE, &answer).packet()]);
        let mapped_answer = changed(udp(OUTSIDE, mapped, [8, 100]), 6, [1, 2]);
        assert_eq!(t.bytes("ok"), [error(mapped, OUTSIDE, &mapped_answer).bytes()]);
        // Errors about strange packets, and damaged ones, make nothing and go nowhere.
        let mut damaged = error(router, mapped, &out[0]).packet();
        damaged.data_mut()[60] ^= 1;
        t.push("i", 0, [damaged, error(router, mapped, &udp(mapped, OUTSIDE, [102, 8]).bytes()).packet()]);
        t.push("o", 0, [error(INNER, OUTSIDE, &udp(OUTSIDE, INNER, [8, 99]).bytes()).packet()]);
        t.push("i", 0, [error(router, mapped, &out[0][..47]).packet()]);
        let reasons = "1\tbad ICMPv6 checksum\n2\tno mapping\n1\tbad ICMPv6 error\n";
        assert_eq!((t.read("t.drop_reasons"), t.read("t.count")), (reasons.into(), "2".into()));
    }

    #[test]
    fn what_cannot_be_translated_is_dropped() {
        let mut t = translator(&format!("1, false, {INNER} 2001:db8:9::2, false"));
        let mut cut = udp(INNER, OUTSIDE, [1, 2]).packet();
        cut.take(1);
        t.push(
            "o",
            0,
            [
                cut,
                ip6(INNER, OUTSIDE).payload(6, &[0; 19]).packet(),
                ip6(INNER, OUTSIDE).payload(60, &[17, 0, 1, 4, 0, 0, 0, 0]).packet(),
                Packet::new(&[0x60; 39]),
            ],
        );
        assert_eq!((t.bytes("ok").len(), t.router.total_drops()), (0, 4));
        assert_eq!(t.printed(), " discard the packet, protocol unrecognized\n");
    }

    #[test]
    fn wrong_arguments_are_named_by_their_place() {
        for (config, why) in [
            ("", "argument 0 should be : integer"),
            ("1", "argument 1 should be : bool"),
            ("1, false, ::1, false", "argument 2 should be : <IP6Address> <IP6Address>"),
            ("0, maybe", "argument 1 should be : bool"),
            ("0, true, true", "argument 3 should be : bool"),
            ("0, true, false, false, x", "argument 4 should be : <IP6Address>"),
            ("0, true, true, false, ::1 9 8", "argument 4 should be : <IP6Address> <port> <port>"),
        ] {
            let e = Harness::errors(&format!(
                "Idle -> t :: AddressTranslator({config}) -> Discard; Idle -> [1] t [1] -> Discard"
            ));
            assert!(e.contains(why), "{config}: {e}");
        }
    }
}

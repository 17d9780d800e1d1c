//! ICMPRewriter: rewrites ICMP errors about packets that a rewriter has changed.

use super::apply::{Annotations, headers, headers_mut};
use super::flow_id::FlowId;
use super::membership::{Shared, Translation};
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::headers::icmp::icmp_type;
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::{Header, IcmpHeader, Ipv4Header};
use clickwork_packet::{Batch, Packet, checksum};
use clickwork_router::args::{AnnoOfSize, ArgSpec, ArgType, Args, FromArg, Names, split_words};
use clickwork_router::element::sort_batch;
use clickwork_router::{Class, Cx, Element, ElementId, Verdict};

/// The class facts.
pub static CLASS: Class = Class {
    help: "rewrites ICMP errors by the mappings of rewriters",
    manual: "ICMP errors (unreachable, source quench, redirect, time exceeded, parameter problem) come with the beginning of \
             the packet they are about. If that packet was changed by one of the rewriters in MAPS, a list separated by \
             spaces, the error is changed so that it is about the packet as it was before (RFC 5508): addresses, ports or \
             identifier of the packet in it, the destination of the error, and all checksums. It leaves by output 0, or, if \
             the rewriter is given as NAME:N, by N plus the output of the mapping. Other ICMP packets leave by output 1, if there \
             is one and no rewriter is given with a number; otherwise they are dropped, as are packets that are not ICMP. \
             (Click's manual promises that output, its code drops them.)",
    example: "rw :: UDPRewriter(pattern 1.0.0.1 1024-65535 - - 0 1, drop); InfiniteSource(LIMIT 1, STOP true) \
              -> UDPIPEncap(10.0.0.1, 1000, 2.0.0.2, 80) -> [0] rw; Idle -> [1] rw [1] -> Discard; rw -> \
              ICMPError(2.0.0.2, unreachable, port) -> ICMPRewriter(rw) -> Discard",
    ports: "1/1-",
    processing: "h/h",
    packets: "ip/ip",
    args: &[
        ArgSpec::required("MAPS", ArgType::Other("elements"), "rewriters, each NAME or NAME:OUTPUT"),
        ArgSpec::keyword("DST_ANNO", ArgType::Bool, "true", "whether the destination annotation is set"),
        ArgSpec::keyword(
            "REPLY_ANNO",
            ArgType::Anno(1),
            "",
            "annotation that errors about answers get from the mapping",
        ),
    ],
    ..Class::new("ICMPRewriter", "rewriter", || Box::<ICMPRewriter>::default())
};

/// Bytes of an ICMP header.
const ICMP: usize = 8;

#[derive(Default)]
struct ICMPRewriter {
    maps: Vec<Map>,
    annotations: Annotations,
}

/// A rewriter, and the output for its output 0 if outputs are told apart.
struct Map {
    rewriter: ElementId,
    first_output: Option<u16>,
}

/// The packet that an error is about.
struct Inner {
    /// Its flow, turned round, with the identifier of a ping in place of the source port.
    asked: FlowId,
    protocol: u8,
    /// Where its transport header is in the ICMP message, if there is one with ports or identifier.
    transport: Option<usize>,
}

/// What an ICMP message is about, if it is an error of a kind that is rewritten.
fn inner(icmp: &[u8]) -> Option<Inner> {
    let is_error = IcmpHeader::peek(icmp)?.is_error();
    let ip = Ipv4Header::peek(icmp.get(ICMP..)?)?;
    if !is_error || ip.version() != 4 || ip.ihl() < 20 {
        return None;
    }
    let mut inner = Inner {
        asked: FlowId::of_addresses(ip.destination(), ip.source()),
        protocol: ip.protocol,
        transport: None,
    };
    let at = ICMP + ip.ihl();
    let transport = icmp.get(at..).filter(|_| ip.is_first_fragment()).unwrap_or_default();
    let word = |i: usize| u16::from_be_bytes([transport[i], transport[i + 1]]);
    match ip.protocol {
        protocol::TCP | protocol::UDP | protocol::DCCP if transport.len() >= 8 => {
            (inner.asked.source_port, inner.asked.destination_port) = (word(2), word(0));
            inner.transport = Some(at);
        }
        protocol::ICMP if transport.len() >= 6 && transport[0] == icmp_type::ECHO => {
            inner.asked.source_port = word(4);
            inner.transport = Some(at);
        }
        _ => {}
    }
    Some(inner)
}

/// Words of an ICMP message that change, and the checksums that know them.
struct Patch<'a> {
    icmp: &'a mut [u8],
}

impl Patch<'_> {
    fn word(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.icmp[at], self.icmp[at + 1]])
    }

    fn put(&mut self, at: usize, word: u16) {
        self.icmp[at..at + 2].copy_from_slice(&word.to_be_bytes());
    }

    /// Changes a word, and the checksums at these places with it; the message's own last, as it covers them all.
    fn set(&mut self, at: usize, new: u16, checksums: &[usize]) {
        let old = self.word(at);
        self.put(at, new);
        self.account(old, new);
        for &place in checksums {
            let before = self.word(place);
            let after = checksum::update(before, old, new);
            self.put(place, after);
            self.account(before, after);
        }
    }

    /// Updates the message's own checksum.
    fn account(&mut self, old: u16, new: u16) {
        self.put(2, checksum::update(self.word(2), old, new));
    }

    fn set_address(&mut self, at: usize, address: u32, checksums: &[usize]) {
        self.set(at, (address >> 16) as u16, checksums);
        self.set(at + 2, address as u16, checksums);
    }
}

/// Changes the packet that an error is about, to what it was: `new` is its flow then, turned round.
fn restore(icmp: &mut [u8], inner: &Inner, new: &FlowId) {
    let ip_checksum = ICMP + 10;
    let transport_checksum = inner.transport.and_then(|at| match inner.protocol {
        protocol::TCP => (at + 18 <= icmp.len()).then_some(at + 16),
        protocol::UDP => (icmp[at + 6..at + 8] != [0, 0]).then_some(at + 6),
        protocol::DCCP => Some(at + 6),
        _ => None,
    });
    let with_addresses: Vec<usize> = [ip_checksum].into_iter().chain(transport_checksum).collect();
    let mut patch = Patch { icmp };
    patch.set_address(ICMP + 12, new.destination, &with_addresses);
    patch.set_address(ICMP + 16, new.source, &with_addresses);
    match inner.transport {
        Some(at) if inner.protocol == protocol::ICMP => patch.set(at + 4, new.destination_port, &[at + 2]),
        Some(at) => {
            let checksums = &with_addresses[1..];
            patch.set(at, new.destination_port, checksums);
            patch.set(at + 2, new.source_port, checksums);
        }
        None => {}
    }
}

impl ICMPRewriter {
    fn find(&self, inner: &Inner, cx: &Cx<'_>) -> Option<(&Map, Translation)> {
        self.maps.iter().find_map(|map| {
            let shared = cx.exported::<Shared>(map.rewriter)?;
            let place = shared.membership()?;
            let found = place.translate(&place.lock(), inner.protocol, inner.asked)?;
            Some((map, found))
        })
    }

    fn rewrite(&self, p: &mut Packet, cx: &Cx<'_>) -> Verdict {
        let Some((ip, icmp)) = headers(p) else { return Verdict::Drop("no IP header") };
        if ip.protocol != protocol::ICMP || !ip.is_first_fragment() {
            return Verdict::Drop("not ICMP");
        }
        let Some(inner) = inner(icmp) else { return self.unmapped("not an ICMP error", cx) };
        let Some((map, found)) = self.find(&inner, cx) else { return self.unmapped("no mapping", cx) };
        let is_to_sender = ip.destination().to_bits() == inner.asked.destination;
        if let (1, Some(offset)) = (found.direction, self.annotations.reply) {
            p.set_anno_u8(offset, found.reply_anno);
        }
        if is_to_sender && self.annotations.destination {
            p.set_dst_ip(found.id.destination());
        }
        let Some((ip, icmp)) = headers_mut(p) else { return Verdict::Drop("no IP header") };
        if is_to_sender {
            redirect(ip, found.id.destination());
        }
        restore(icmp, &inner, &found.id);
        match map.first_output {
            Some(first) => cx.out_or_drop(first + found.output, "no such output"),
            None => Verdict::PASS,
        }
    }

    /// What becomes of an ICMP packet that is not rewritten.
    fn unmapped(&self, why: &'static str, cx: &Cx<'_>) -> Verdict {
        let has_own_output = self.maps.iter().all(|map| map.first_output.is_none());
        if has_own_output { cx.out_or_drop(1, why) } else { Verdict::Drop(why) }
    }

    /// `NAME` or `NAME:OUTPUT`.
    fn map(word: &str, cx: &Cx<'_>) -> Result<Map, String> {
        let no_rewriter = || format!("{word} not an IP rewriter");
        let (name, first_output) = match word.split_once(':') {
            Some((name, number)) => {
                let number = i32::from_arg(number, &Names::default()).map_err(|_| no_rewriter())?;
                (name, u16::try_from(number).ok())
            }
            None => (word, None),
        };
        let rewriter = cx.find(name).ok_or_else(no_rewriter)?;
        let outputs = cx.router().info(rewriter).outputs.len();
        if first_output.is_some_and(|first| usize::from(first) + outputs > cx.outputs()) {
            let plural = if cx.outputs() == 1 { "output" } else { "outputs" };
            return Err(format!("{word} port offset requires more than {} {plural}", cx.outputs()));
        }
        let map = Map { rewriter, first_output };
        super::is_rewriter(cx, rewriter).then_some(map).ok_or_else(|| format!("{name} not an IP rewriter"))
    }
}

/// Sends a packet to another destination.
fn redirect(ip: &mut Ipv4Header, destination: Ipv4Address) {
    let (old, new) = (ip.destination().to_bits(), destination.to_bits());
    ip.set_checksum(checksum::update_u32(ip.checksum(), old, new));
    ip.set_destination(destination);
}

impl Element for ICMPRewriter {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        self.annotations.destination = true;
        args.read("DST_ANNO", &mut self.annotations.destination);
        self.annotations.reply = args.get_with("REPLY_ANNO", AnnoOfSize(1)).map(|anno| anno.offset);
        let Some(maps) = args.raw("MAPS").map(split_words) else { return };
        for word in maps {
            match ICMPRewriter::map(&word, cx) {
                Ok(map) => self.maps.push(map),
                Err(wrong) => args.error(wrong),
            }
        }
        if self.maps.is_empty() {
            args.error("no IP rewriters supplied");
        }
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        sort_batch(batch, cx, |p, cx| self.rewrite(p, cx));
    }
}

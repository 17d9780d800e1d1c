//! DecompressIP: restores the headers that CompressIP compressed (RFC 2507).

use super::compress_ip::{REQUEST_TCP, replace_front};
use super::framing::{self, Framing, Kind, NUMBERS};
use super::headers::{Chain, Transport, chain_of_full, length_fields, restore_checksum, restore_lengths};
use super::{non_tcp, tcp};
use clickwork_packet::{Packet, Timestamp};
use clickwork_router::args::{ArgSpec, ArgType, Args, Bounded};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, SimpleElement, Verdict, read_handler};
use std::collections::BTreeMap;
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "restores the headers that CompressIP compressed",
    manual: "Takes what CompressIP sent over a link and gives the IP packets as they were. FRAMING must be the same at both \
             ends. Contexts with numbers above TCP_SPACE and NON_TCP_SPACE are refused.\n\n\
             A packet is only delivered if it is certain what it was: a TCP packet if its checksum is right and, with FRAMING \
             BYTE, the numbers of packets show that nothing was lost before it, or only packets that had the same changes: \
             then they are applied once more for each (the 'twice' algorithm of RFC 2507 §10.1). Other packets are dropped \
             until a whole header arrives. With FRAMING PPP changes are applied up to three times if the checksum is then \
             right. A packet without TCP is delivered if the context is of its generation.\n\n\
             If output 1 is connected, requests to send whole headers again leave there (CONTEXT_STATE, RFC 2507 §10.2), for \
             the link back; at most one every 0.1 s for each context. Requests that came over the link leave by output 2 if \
             that is connected: for input 1 of the CompressIP of the link back.",
    example: "InfiniteSource(LIMIT 9, STOP true) -> UDPIPEncap(10.0.0.1, 5004, 10.0.0.2, 5004) -> CompressIP \
              -> d :: DecompressIP -> CheckIPHeader -> Discard; DriverManager(wait_stop, print d.count)",
    ports: "1/1-3",
    processing: "a/ah",
    packets: "any/ip,any",
    args: &[
        ArgSpec::keyword(
            "FRAMING",
            ArgType::Choice(&["BYTE", "PPP"]),
            "BYTE",
            "how packets are marked on the link",
        ),
        ArgSpec::keyword(
            "TCP_SPACE",
            ArgType::IntRange { min: 3, max: 255 },
            "255",
            "highest number of a context with TCP",
        ),
        ArgSpec::keyword(
            "NON_TCP_SPACE",
            ArgType::IntRange { min: 3, max: 65535 },
            "255",
            "highest number of a context without TCP",
        ),
    ],
    handlers: &[
        read_handler!("count", "packets restored, or passed on", |e: &mut DecompressIP, _| e.count),
        read_handler!("drops", "packets dropped", |e: &mut DecompressIP, _| e.drops),
        read_handler!(
            "repairs",
            "packets restored though some before them were lost",
            |e: &mut DecompressIP, _| e.repairs
        ),
        read_handler!("requests", "whole headers asked for", |e: &mut DecompressIP, _| e.requests),
    ],
    ..Class::new("DecompressIP", "compression", || Box::<DecompressIP>::default())
};

/// Time between requests for one context.
const REQUEST_INTERVAL: Duration = Duration::from_millis(100);
/// How often changes are tried without numbers of packets.
const MOST_TRIES: u8 = 3;
/// How far behind a packet may be for it to count as out of order, not as far ahead.
const LATE: u8 = 3;
const MALFORMED: &str = "malformed";
const NO_CONTEXT: &str = "no context";

struct DecompressIP {
    framing: Framing,
    spaces: (u8, u16),
    tcp: BTreeMap<u8, TcpContext>,
    non_tcp: BTreeMap<u16, non_tcp::Receiver>,
    /// When a whole header was asked for, by context.
    asked: BTreeMap<u8, Timestamp>,
    count: u64,
    drops: u64,
    repairs: u64,
    requests: u64,
}

/// A context with TCP.
struct TcpContext {
    receiver: tcp::Receiver,
    /// The number of the last packet.
    number: u8,
    /// Whether differences may be applied to it.
    is_valid: bool,
}

impl Default for DecompressIP {
    fn default() -> DecompressIP {
        DecompressIP {
            framing: Framing::Byte,
            spaces: (255, 255),
            tcp: BTreeMap::new(),
            non_tcp: BTreeMap::new(),
            asked: BTreeMap::new(),
            count: 0,
            drops: 0,
            repairs: 0,
            requests: 0,
        }
    }
}

/// Why a packet is not delivered.
enum Refused {
    /// For good.
    Drop(&'static str),
    /// Until this context with TCP is set up again.
    Invalid(&'static str, u8),
    /// It is a request of the other end.
    Request,
}

impl From<&'static str> for Refused {
    fn from(reason: &'static str) -> Refused {
        Refused::Drop(reason)
    }
}

impl DecompressIP {
    fn decompress(&mut self, p: &mut Packet) -> Result<(), Refused> {
        let (kind, len) = self.framing.kind(p.data()).ok_or(MALFORMED)?;
        if kind == Kind::ContextState {
            return Err(Refused::Request);
        }
        p.pull(len);
        match kind {
            Kind::Full => self.full(p)?,
            Kind::Tcp { number, same } => self.tcp_delta(p, number, same)?,
            Kind::TcpNoDelta { number, since_full } => self.tcp_no_delta(p, number, since_full)?,
            Kind::NonTcp => self.non_tcp(p)?,
            Kind::Regular | Kind::ContextState => {}
        }
        mark(p);
        Ok(())
    }

    /// A packet with its whole header, which sets a context up.
    fn full(&mut self, p: &mut Packet) -> Result<(), Refused> {
        let chain = chain_of_full(p.data()).ok_or(MALFORMED)?;
        let (first, second) = length_fields(p.data(), chain);
        restore_lengths(p.data_mut(), chain);
        // Also the checksum of the IP header must be right again.
        if Chain::of(p.data()) != Some(chain) {
            return Err(MALFORMED.into());
        }
        let [high, low] = first.to_be_bytes();
        if chain.transport != Transport::Tcp {
            // RFC 2507 §5.3.2: a flag for numbers of two bytes, one for data, which we have no use for, the generation.
            let (generation, is_long) = (high & 0x3F, high & 0x80 != 0);
            let cid = if is_long { second.ok_or(MALFORMED)? } else { low.into() };
            if cid > self.spaces.1 {
                return Err("context number too high".into());
            }
            self.non_tcp.insert(cid, non_tcp::Receiver::new(p.data(), chain, generation));
            return Ok(());
        }
        if low > self.spaces.0 {
            return Err("context number too high".into());
        }
        if !chain.tcp_checksum_is_right(p.data()) {
            return Err("wrong checksum".into());
        }
        let receiver = tcp::Receiver::new(p.data(), chain);
        self.tcp.insert(low, TcpContext { receiver, number: high, is_valid: true });
        self.asked.remove(&low);
        Ok(())
    }

    fn tcp_delta(&mut self, p: &mut Packet, number: Option<u8>, same: u8) -> Result<(), Refused> {
        let cid = *p.data().first().ok_or(MALFORMED)?;
        let context =
            self.tcp.get_mut(&cid).filter(|c| c.is_valid).ok_or(Refused::Invalid(NO_CONTEXT, cid))?;
        let step = number.map(|n| n.wrapping_sub(context.number) % NUMBERS);
        let tries = match step {
            None => 1..=MOST_TRIES,
            Some(0) => return Err("received before".into()),
            Some(step) if step >= NUMBERS - LATE => return Err("out of order".into()),
            Some(step) if step - 1 > same => {
                context.is_valid = false;
                return Err(Refused::Invalid("packets lost before", cid));
            }
            Some(step) => step..=step,
        };
        for times in tries {
            let Some((header, len)) = context.receiver.next(&p.data()[1..], times) else {
                return Err(MALFORMED.into());
            };
            if put_header(p, 1 + len, &header.bytes, header.chain) {
                self.repairs += u64::from(times > 1);
                context.receiver.note(header, p.len() - context.receiver.chain().len);
                context.number = context.number.wrapping_add(step.unwrap_or_default());
                return Ok(());
            }
        }
        context.is_valid = false;
        Err(Refused::Invalid("wrong checksum", cid))
    }

    fn tcp_no_delta(&mut self, p: &mut Packet, number: Option<u8>, since_full: u8) -> Result<(), Refused> {
        let cid = *p.data().first().ok_or(MALFORMED)?;
        let context = self.tcp.get_mut(&cid).ok_or(Refused::Invalid(NO_CONTEXT, cid))?;
        match number.map(|n| n.wrapping_sub(context.number)) {
            None => {}
            Some(0) => return Err("received before".into()),
            Some(step) if step > u8::MAX - LATE => return Err("out of order".into()),
            // What was lost may have been a whole header.
            Some(step) if step > since_full => {
                context.is_valid = false;
                return Err(Refused::Invalid("packets lost before", cid));
            }
            Some(_) => {}
        }
        let (header, len) = context.receiver.absolute(&p.data()[1..]).ok_or(MALFORMED)?;
        let chain = header.chain;
        if !put_header(p, 1 + len, &header.bytes, chain) {
            context.is_valid = false;
            return Err(Refused::Invalid("wrong checksum", cid));
        }
        context.receiver.note(header, p.len() - chain.len);
        context.number = number.unwrap_or(context.number);
        context.is_valid = true;
        self.asked.remove(&cid);
        Ok(())
    }

    fn non_tcp(&mut self, p: &mut Packet) -> Result<(), Refused> {
        let &[first, second, ref rest @ ..] = p.data() else { return Err(MALFORMED.into()) };
        let is_long = second & 0x80 != 0;
        let has_data = second & 0x40 != 0;
        let (cid, mut len) = match rest.first() {
            _ if !is_long => (u16::from(first), 2),
            Some(&low) => (u16::from_be_bytes([first, low]), 3),
            None => return Err(MALFORMED.into()),
        };
        len += usize::from(has_data);
        let context = self.non_tcp.get(&cid).ok_or(NO_CONTEXT)?;
        if context.generation != second & 0x3F {
            return Err("another generation of the context".into());
        }
        let chain = context.chain();
        let restored = p.data().get(len..).and_then(|data| context.restore(data));
        let (header, changing) = restored.ok_or(MALFORMED)?;
        if p.len() - len - changing + header.len() > 65535 {
            return Err(MALFORMED.into());
        }
        p.pull(len + changing);
        replace_front(p, &header, &[]);
        restore_lengths(p.data_mut(), chain);
        restore_checksum(p.data_mut(), chain);
        Ok(())
    }

    /// Asks for a whole header, unless that was done just now.
    fn ask(&mut self, cid: u8, cx: &mut Cx<'_>) {
        let now = cx.steady();
        let is_early = self.asked.get(&cid).is_some_and(|at| now.since(*at) < REQUEST_INTERVAL);
        if cx.outputs() < 2 || is_early || cid > self.spaces.0 {
            return;
        }
        self.asked.insert(cid, now);
        self.requests += 1;
        let mut request = Packet::new(&[REQUEST_TCP, 1, cid]);
        replace_front(&mut request, self.framing.prefix(Kind::ContextState, false).bytes(), &[]);
        cx.emit(1, request);
    }
}

/// Puts a header with TCP in place of the first `cut` bytes if the packet then proves right. Otherwise it stays as it was.
fn put_header(p: &mut Packet, cut: usize, header: &[u8], chain: Chain) -> bool {
    if p.len() - cut + header.len() > 65535 {
        return false;
    }
    let front = p.data()[..cut].to_vec();
    p.pull(cut);
    replace_front(p, header, &[]);
    restore_lengths(p.data_mut(), chain);
    restore_checksum(p.data_mut(), chain);
    if chain.tcp_checksum_is_right(p.data()) {
        return true;
    }
    p.pull(header.len());
    replace_front(p, &front, &[]);
    false
}

/// Marks the IP header.
fn mark(p: &mut Packet) {
    let len = match p.data().first() {
        Some(first) if first >> 4 == 4 => u32::from(first & 0xF) * 4,
        Some(first) if first >> 4 == 6 => 40,
        _ => return,
    };
    if len >= 20 && p.len() >= len as usize {
        p.set_network_header(0, len);
    }
}

impl SimpleElement for DecompressIP {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read_with("FRAMING", framing::NAMES, &mut self.framing);
        args.read_with("TCP_SPACE", Bounded(3u8..=255), &mut self.spaces.0);
        args.read_with("NON_TCP_SPACE", Bounded(3u16..=65535), &mut self.spaces.1);
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let reason = match self.decompress(p) {
            Ok(()) => {
                self.count += 1;
                return Verdict::PASS;
            }
            Err(Refused::Request) => return cx.out_or_drop(2, "request of the other end"),
            Err(Refused::Drop(reason)) => reason,
            Err(Refused::Invalid(reason, cid)) => {
                self.ask(cid, cx);
                reason
            }
        };
        self.drops += 1;
        Verdict::Drop(reason)
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        let Some(old) = try_downcast::<DecompressIP>(old) else { return };
        (self.count, self.drops) = (old.count, old.drops);
        (self.repairs, self.requests) = (old.repairs, old.requests);
        if self.framing == old.framing {
            std::mem::swap(&mut self.tcp, &mut old.tcp);
            std::mem::swap(&mut self.non_tcp, &mut old.non_tcp);
            self.tcp.retain(|&cid, _| cid <= self.spaces.0);
            self.non_tcp.retain(|&cid, _| cid <= self.spaces.1);
        }
    }
}

//! CompressIP: compresses the headers of IP packets (RFC 2507).

use super::contexts::Contexts;
use super::framing::{self, Framing, Kind};
use super::headers::{Chain, Stream, Transport, set_length_fields};
use super::non_tcp::{self, Refresh};
use super::tcp;
use clickwork_packet::headers::tcp::flag;
use clickwork_packet::{Batch, Packet, Timestamp};
use clickwork_router::args::{ArgSpec, ArgType, Args, Bounded};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, read_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "compresses IP, TCP and UDP headers",
    manual: "Compresses the headers of IP packets for a slow point-to-point link (RFC 2507); DecompressIP at the other end \
             restores them bit by bit. Of IPv4 or IPv6 with TCP, 40 or 60 bytes, mostly 5 to 8 remain; with UDP, 28 or 48, \
             mostly 7 or 5; other packets keep what follows their IP header. The first packet of a stream sets a context up \
             with its whole header. TCP headers are then sent as differences from the one before; of others, what changes. \
             The contexts of TCP are numbered 0 to TCP_SPACE, the others 0 to NON_TCP_SPACE; a new stream takes the one \
             unused longest. Fragments, IPv4 options, wrong checksums or lengths, and TCP packets with SYN pass \
             uncompressed.\n\n\
             What the link loses is repaired by whole headers. Without TCP they are sent after 1, 2, 4, ... packets, up \
             to F_MAX_PERIOD, and after F_MAX_TIME; with TCP after F_MAX_PERIOD packets or F_MAX_TIME, when TCP sends \
             something again, and when the other end asks: what DecompressIP sends out of its output 1, and what comes back \
             so on the reverse link, may be handed to input 1.\n\n\
             FRAMING says how packets are marked: BYTE, one byte (three for a whole TCP header), which also numbers TCP \
             packets, so that the other end knows what was lost; PPP, the protocol numbers of RFC 3544, without numbers, \
             as other systems understand it. Then the other end has but the TCP checksum to notice losses, which does \
             not protect the IPv4 identification.",
    example: "InfiniteSource(LIMIT 9, STOP true) -> UDPIPEncap(10.0.0.1, 5004, 10.0.0.2, 5004) -> c :: CompressIP \
              -> DecompressIP -> CheckIPHeader -> Discard; DriverManager(wait_stop, print c.bytes_out)",
    ports: "1-2/1",
    processing: "ah/a",
    flow: "xy/x",
    packets: "any/any",
    args: ARGS,
    handlers: &[
        read_handler!("count", "packets sent", |e: &mut CompressIP, _| e.counts.iter().sum::<u64>()),
        read_handler!("kinds", "packets sent of each kind", |e: &mut CompressIP, _| e.kinds()),
        read_handler!("bytes_in", "bytes of packets before compression", |e: &mut CompressIP, _| e.bytes_in),
        read_handler!("bytes_out", "bytes of packets after compression", |e: &mut CompressIP, _| e.bytes_out),
        read_handler!("contexts", "contexts in use: with TCP, without", |e: &mut CompressIP, _| format!(
            "{} {}",
            e.tcp.len(),
            e.non_tcp.len()
        )),
    ],
    ..Class::new("CompressIP", "compression", || Box::<CompressIP>::default())
};

const ARGS: &[ArgSpec] = &[
    ArgSpec::keyword(
        "FRAMING",
        ArgType::Choice(&["BYTE", "PPP"]),
        "BYTE",
        "how packets are marked on the link",
    ),
    ArgSpec::keyword(
        "TCP_SPACE",
        ArgType::IntRange { min: 3, max: 255 },
        "15",
        "highest number of a context with TCP",
    ),
    ArgSpec::keyword(
        "NON_TCP_SPACE",
        ArgType::IntRange { min: 3, max: 255 },
        "15",
        "highest number of a context without TCP",
    ),
    ArgSpec::keyword(
        "F_MAX_PERIOD",
        ArgType::IntRange { min: 1, max: 65535 },
        "256",
        "compressed headers between whole ones, at most",
    ),
    ArgSpec::keyword("F_MAX_TIME", ArgType::Seconds, "5", "time between whole headers, at most"),
];

/// The kinds of packets that are counted, by name.
const KINDS: [&str; 5] =
    ["regular", "full header", "compressed TCP", "TCP without deltas", "compressed non-TCP"];

/// The type of a request for contexts with TCP and numbers of one byte (RFC 2507 §10.2).
pub const REQUEST_TCP: u8 = 3;

struct CompressIP {
    framing: Framing,
    refresh: Refresh,
    tcp: Contexts<TcpContext>,
    non_tcp: Contexts<non_tcp::Sender>,
    spaces: (u8, u8),
    counts: [u64; KINDS.len()],
    bytes_in: u64,
    bytes_out: u64,
}

/// A context with TCP.
#[derive(Default)]
struct TcpContext {
    sender: tcp::Sender,
    /// The number of the last packet.
    number: u8,
    since_full: u32,
    full_at: Timestamp,
    /// Whether the other end has asked for it.
    wanted: bool,
}

impl Default for CompressIP {
    fn default() -> CompressIP {
        CompressIP {
            framing: Framing::Byte,
            refresh: Refresh::default(),
            tcp: Contexts::new(15),
            non_tcp: Contexts::new(15),
            spaces: (15, 15),
            counts: [0; KINDS.len()],
            bytes_in: 0,
            bytes_out: 0,
        }
    }
}

impl CompressIP {
    fn kinds(&self) -> String {
        KINDS.iter().zip(self.counts).map(|(kind, count)| format!("{count}\t{kind}\n")).collect()
    }

    fn compress(&mut self, p: &mut Packet, now: Timestamp) {
        self.bytes_in += p.len() as u64;
        let chain = Chain::of(p.data());
        match chain {
            Some(chain) if chain.transport == Transport::Tcp && is_compressible_tcp(p.data(), chain) => {
                self.compress_tcp(p, chain, now);
            }
            Some(chain) if chain.transport != Transport::Tcp => self.compress_other(p, chain, now),
            _ => self.send(p, Kind::Regular, 0, &[]),
        }
        self.bytes_out += p.len() as u64;
    }

    /// Puts `head` in place of the first `cut` bytes, and the kind before it.
    fn send(&mut self, p: &mut Packet, kind: Kind, cut: usize, head: &[u8]) {
        let is_ipv6 = p.data().first().is_some_and(|first| first >> 4 == 6);
        self.counts[match kind {
            Kind::Regular | Kind::ContextState => 0,
            Kind::Full => 1,
            Kind::Tcp { .. } => 2,
            Kind::TcpNoDelta { .. } => 3,
            Kind::NonTcp => 4,
        }] += 1;
        p.pull(cut);
        replace_front(p, self.framing.prefix(kind, is_ipv6).bytes(), head);
    }

    /// Sends a packet with its whole header, the context's name in its length fields.
    fn send_full(&mut self, p: &mut Packet, chain: Chain, first: u16, second: u16) {
        set_length_fields(p.data_mut(), chain, first, second);
        self.send(p, Kind::Full, 0, &[]);
    }

    fn compress_tcp(&mut self, p: &mut Packet, chain: Chain, now: Timestamp) {
        let (cid, is_new, context) = self.tcp.of(Stream::of(p.data(), chain));
        let mut form = context.sender.form(p.data(), chain);
        let due = context.since_full >= self.refresh.max_period
            || now.since(context.full_at) >= self.refresh.max_time
            || context.wanted;
        if is_new || due {
            form = tcp::Form::Full;
        }
        context.number = context.number.wrapping_add(1);
        context.since_full += 1;
        context.sender.note(&form, p.data(), chain);
        let number = context.number;
        let since_full = context.since_full.min(255) as u8;
        match form {
            tcp::Form::Full => {
                (context.since_full, context.full_at, context.wanted) = (0, now, false);
                self.send_full(p, chain, u16::from_be_bytes([number, cid]), 0);
            }
            tcp::Form::NoDelta => {
                let head = [&[cid][..], &tcp::Sender::absolute(p.data(), chain)].concat();
                self.send(p, Kind::TcpNoDelta { number: Some(number), since_full }, chain.len, &head);
            }
            tcp::Form::Delta { encoded, same } => {
                let head = [&[cid][..], &encoded].concat();
                let kind = Kind::Tcp { number: Some(number % framing::NUMBERS), same };
                self.send(p, kind, chain.len, &head);
            }
        }
    }

    fn compress_other(&mut self, p: &mut Packet, chain: Chain, now: Timestamp) {
        let (cid, _, context) = self.non_tcp.of(Stream::of(p.data(), chain));
        match context.form(p.data(), chain, now, self.refresh) {
            non_tcp::Form::Regular => self.send(p, Kind::Regular, 0, &[]),
            non_tcp::Form::Full(generation) => {
                self.send_full(p, chain, u16::from_be_bytes([generation, cid]), 0);
            }
            non_tcp::Form::Compressed(generation) => {
                let head = [&[cid, generation][..], &non_tcp::changing_part(p.data(), chain)].concat();
                self.send(p, Kind::NonTcp, chain.len, &head);
            }
        }
    }

    /// A request of the other end.
    fn requested(&mut self, data: &[u8]) -> Result<(), &'static str> {
        const MALFORMED: &str = "malformed request";
        let (kind, len) = self.framing.kind(data).ok_or(MALFORMED)?;
        let &[REQUEST_TCP, count, ref contexts @ ..] = &data[len..] else { return Err(MALFORMED) };
        if kind != Kind::ContextState || contexts.len() < usize::from(count) {
            return Err(MALFORMED);
        }
        for &cid in &contexts[..usize::from(count)] {
            if let Some(context) = self.tcp.get_mut(cid) {
                context.wanted = true;
            }
        }
        Ok(())
    }
}

/// Puts two pieces in front of a packet.
pub fn replace_front(p: &mut Packet, prefix: &[u8], head: &[u8]) {
    let data = p.push(prefix.len() + head.len());
    data[..prefix.len()].copy_from_slice(prefix);
    data[prefix.len()..prefix.len() + head.len()].copy_from_slice(head);
    p.clear_network_header();
}

/// A connection's first packet is not worth a context, and what arrives wrong could not be told from what was lost.
fn is_compressible_tcp(data: &[u8], chain: Chain) -> bool {
    let flags = data[chain.ip_len() + 13];
    flags & flag::SYN == 0 && chain.tcp_checksum_is_right(data)
}

impl Element for CompressIP {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read_with("FRAMING", framing::NAMES, &mut self.framing);
        args.read_with("TCP_SPACE", Bounded(3u8..=255), &mut self.spaces.0);
        args.read_with("NON_TCP_SPACE", Bounded(3u8..=255), &mut self.spaces.1);
        args.read_with("F_MAX_PERIOD", Bounded(1u32..=65535), &mut self.refresh.max_period);
        args.read("F_MAX_TIME", &mut self.refresh.max_time);
        (self.tcp, self.non_tcp) = (Contexts::new(self.spaces.0), Contexts::new(self.spaces.1));
    }

    fn push(&mut self, port: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        if port == 0 {
            let now = cx.steady();
            return batch.iter_mut().for_each(|p| self.compress(p, now));
        }
        for p in batch.take() {
            if let Err(reason) = self.requested(p.data()) {
                cx.drop(p, reason);
            }
        }
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let mut batch = cx.pull(0, limit);
        let now = cx.steady();
        batch.iter_mut().for_each(|p| self.compress(p, now));
        batch
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        let Some(old) = try_downcast::<CompressIP>(old) else { return };
        (self.counts, self.bytes_in, self.bytes_out) = (old.counts, old.bytes_in, old.bytes_out);
        if (self.framing, self.spaces) == (old.framing, old.spaces) {
            std::mem::swap(&mut self.tcp, &mut old.tcp);
            std::mem::swap(&mut self.non_tcp, &mut old.non_tcp);
        }
    }
}

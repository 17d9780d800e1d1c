//! IPsecESPEncrypt: protects IP packets with ESP (RFC 4303), in tunnel or transport mode.

use super::association::{self, Association, Mode};
use super::cipher::{HEADER_LEN, ICV_LEN, Nonce};
use crate::ip::prepend::prepend;
use clickwork_packet::Packet;
use clickwork_packet::addr::{Ipv4Address, Ipv6Address};
use clickwork_packet::anno::DST_IP6;
use clickwork_packet::headers::ipv4::{DONT_FRAGMENT, protocol};
use clickwork_packet::headers::{Header, Ipv4, Ipv4Header, Ipv4Mut, Ipv6Header};
use clickwork_router::args::{ArgSpec, ArgType, Args, BadValue, FromArg, Names};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, SimpleElement, Verdict, read_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "encrypts and authenticates IP packets with ESP",
    manual: "The sending end of a security association of IPsec: puts each IP packet into an ESP packet (RFC 4303), \
             encrypted and authenticated with KEY. With MODE tunnel the whole packet, IPv4 or IPv6, is protected and gets a \
             new IP header from SRC to DST, which are both IPv4 or both IPv6 addresses; type of service and don't-fragment \
             flag are copied to it. With MODE transport the IP header stays and what follows it is protected; fragments are \
             dropped, since only whole packets can be protected so, and IPv6 packets with extension headers.\n\n\
             CIPHER aes-gcm is AES-GCM with an integrity check value of 16 bytes (RFC 4106): KEY has 16, 24 or 32 bytes and \
             4 bytes of salt, as other systems have it. CIPHER aes-cbc is AES-CBC (RFC 3602) with HMAC-SHA-256-128 (RFC \
             4868): KEY has 16, 24 or 32 bytes and AUTH_KEY has 32. The receiving end is IPsecESPDecrypt with the same SPI \
             and keys, or another system, for example Linux ('ip xfrm state'). Each direction needs its own SPI and keys; an \
             AES-GCM key that another association of the router has is refused.\n\n\
             Sequence numbers begin with SEQ and go on after a hot swap, unless SPI or keys changed. When they are used \
             up, packets are dropped: new keys are needed. ESN true makes them 64 bits long. The IV of AES-GCM is a counter \
             that begins with the nanoseconds of the clock, so that a router which starts again with the same keys does \
             not repeat one (in simulated time the clock begins alike in every run: use keys for tests); its peer nevertheless \
             takes its first packets for replays, unless SEQ says where to go on or the keys are new. Keys are in the \
             configuration: mind who can read it, its file and its 'config' handler.",
    example: "InfiniteSource(LIMIT 3, STOP true) -> UDPIPEncap(10.1.0.2, 9, 10.2.0.2, 9) \
              -> IPsecESPEncrypt(0x1001, 000102030405060708090a0b0c0d0e0f10111213, SRC 192.0.2.1, DST 198.51.100.1) \
              -> IPsecESPDecrypt(0x1001, 000102030405060708090a0b0c0d0e0f10111213) -> CheckIPHeader -> Discard",
    packets: "any/any",
    args: &[
        association::SPI,
        association::KEY,
        association::CIPHER,
        association::AUTH_KEY,
        association::MODE,
        ArgSpec::keyword(
            "SRC",
            ArgType::Other("IP or IPv6 address"),
            "",
            "source address of the tunnel's packets",
        ),
        ArgSpec::keyword(
            "DST",
            ArgType::Other("IP or IPv6 address"),
            "",
            "destination address of the tunnel's packets",
        ),
        ArgSpec::keyword("TTL", ArgType::U8, "64", "time to live, or hop limit, of the tunnel's packets"),
        association::ESN,
        ArgSpec::keyword("SEQ", ArgType::U64, "1", "first sequence number"),
    ],
    handlers: &[
        read_handler!("count", "packets protected", |e: &mut IPsecESPEncrypt, _| e.count),
        read_handler!("drops", "packets dropped", |e: &mut IPsecESPEncrypt, _| e.drops),
        read_handler!("seq", "sequence number of the next packet", |e: &mut IPsecESPEncrypt, _| e.next),
        read_handler!("spi", "security parameters index", |e: &mut IPsecESPEncrypt, _| format!(
            "{:#x}",
            e.association.spi
        )),
    ],
    flags: "A",
    ..Class::new("IPsecESPEncrypt", "ipsec", || Box::<IPsecESPEncrypt>::default())
};

/// Length of the longest IP packet.
const LONGEST: usize = 65535;
/// What follows the text inside the encrypted part: length of padding and next header.
const TRAILER: usize = 2;
const NO_PACKET: &str = "no IP packet";
/// Why nothing more is sent (RFC 4303 §3.3.3).
const USED_UP: &str = "sequence numbers used up";

#[derive(Default)]
struct IPsecESPEncrypt {
    association: Association,
    outer: Outer,
    /// The next sequence number; none when they are used up.
    next: u64,
    nonce: Option<Nonce>,
    identification: u16,
    count: u64,
    drops: u64,
}

/// The IP header of a tunnel's packets.
enum Outer {
    V4(Ipv4Header),
    V6(Ipv6Header),
}

impl Default for Outer {
    fn default() -> Outer {
        Outer::V4(Ipv4Header::default())
    }
}

impl Outer {
    /// From one end to the other; none if they are of different families.
    fn between(source: End, destination: End, ttl: u8) -> Option<Outer> {
        match (source, destination) {
            (End::V4(source), End::V4(destination)) => {
                let mut header = Ipv4Header::default();
                (header.protocol, header.ttl) = (protocol::ESP, ttl);
                header.set_source(source);
                header.set_destination(destination);
                Some(Outer::V4(header))
            }
            (End::V6(source), End::V6(destination)) => {
                let mut header = Ipv6Header::default();
                (header.next_header, header.hop_limit) = (protocol::ESP, ttl);
                header.set_source(source);
                header.set_destination(destination);
                Some(Outer::V6(header))
            }
            _ => None,
        }
    }

    fn len(&self) -> usize {
        match self {
            Outer::V4(_) => size_of::<Ipv4Header>(),
            Outer::V6(_) => size_of::<Ipv6Header>(),
        }
    }
}

/// An end of a tunnel.
#[derive(Clone, Copy)]
enum End {
    V4(Ipv4Address),
    V6(Ipv6Address),
}

impl FromArg for End {
    fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue> {
        let v6 = |_| Ipv6Address::from_arg(text, names).map(End::V6);
        Ipv4Address::from_arg(text, names).map(End::V4).or_else(v6)
    }
}

/// A packet before encryption: how much of it stays in the clear, and what the rest is.
struct Clear {
    /// Bytes of the IP header that stays in front (none in tunnel mode).
    header: usize,
    next_header: u8,
    tos: u8,
    fragment_field: u16,
}

impl IPsecESPEncrypt {
    fn protect(&mut self, p: &mut Packet) -> Result<(), &'static str> {
        let clear = match self.association.mode {
            Mode::Tunnel => whole_packet(p)?,
            Mode::Transport => transport_packet(p)?,
        };
        let suite = self.association.suite.as_ref().ok_or("no keys")?;
        let nonce = self.nonce.as_mut().ok_or("no keys")?;
        let front = HEADER_LEN + suite.iv_len();
        let text = p.len() - clear.header;
        let padding = (text + TRAILER).next_multiple_of(suite.block_len()) - text - TRAILER;
        let outer = if clear.header == 0 { self.outer.len() } else { 0 };
        if outer + front + p.len() + padding + TRAILER + ICV_LEN > LONGEST {
            return Err("too long for IP");
        }
        let sequence = self.next;
        if sequence == 0
            || (!self.association.esn && sequence > u64::from(u32::MAX))
            || nonce.counter == u64::MAX
        {
            return Err(USED_UP);
        }
        // Zero stands for "used up".
        self.next = sequence.wrapping_add(1);
        nonce.counter += 1;

        make_room(p, outer + front, padding + TRAILER + ICV_LEN);
        p.put(padding + TRAILER + ICV_LEN);
        let data = p.push(front);
        data.copy_within(front..front + clear.header, 0);
        let esp = &mut data[clear.header..];
        esp[..4].copy_from_slice(&self.association.spi.to_be_bytes());
        esp[4..HEADER_LEN].copy_from_slice(&(sequence as u32).to_be_bytes());
        fill_trailer(&mut esp[front + text..], padding, clear.next_header);
        let high = self.association.esn.then_some((sequence >> 32) as u32);
        suite.seal(esp, *nonce, high);
        self.finish(p, &clear);
        self.count += 1;
        Ok(())
    }

    /// Sees to the IP header in front.
    fn finish(&mut self, p: &mut Packet, clear: &Clear) {
        if clear.header > 0 {
            return name_protocol(p, clear.header, protocol::ESP);
        }
        match &self.outer {
            Outer::V4(header) => {
                let mut header = *header;
                header.tos = clear.tos;
                header.set_fragment_field(clear.fragment_field & DONT_FRAGMENT);
                header.set_identification(self.identification);
                self.identification = self.identification.wrapping_add(1);
                prepend(p, header, 0);
            }
            Outer::V6(header) => {
                let mut header = *header;
                header.set_class_and_flow(clear.tos, 0);
                header.set_payload_len(p.len() as u16);
                let destination = header.destination().octets();
                p.push(size_of::<Ipv6Header>());
                if let Some(place) = Ipv6Header::peek_mut(p.data_mut()) {
                    *place = header;
                }
                p.set_network_header(0, size_of::<Ipv6Header>() as u32);
                p.set_anno_bytes(DST_IP6, &destination);
            }
        }
    }
}

/// Marks the IP header of a packet whose payload is another now: sets protocol and length, and the checksum.
pub fn name_protocol(p: &mut Packet, header: usize, protocol: u8) {
    let len = p.len();
    p.set_network_header(0, header as u32);
    let is_ipv6 = p.data().first().is_some_and(|first| first >> 4 == 6);
    if is_ipv6 && let Some(ip) = Ipv6Header::peek_mut(p.data_mut()) {
        ip.next_header = protocol;
        ip.set_payload_len((len - header) as u16);
    } else if !is_ipv6 && let Some(mut ip) = Ipv4Mut::new(p.data_mut()) {
        ip.protocol = protocol;
        ip.set_total_len(len as u16);
        ip.fill_checksum();
    }
}

/// The packet for a tunnel; padding behind its end is cut off.
fn whole_packet(p: &mut Packet) -> Result<Clear, &'static str> {
    let clear = |next_header, tos, fragment_field| Clear { header: 0, next_header, tos, fragment_field };
    let (clear, len) = match p.data().first().ok_or(NO_PACKET)? >> 4 {
        4 => {
            let ip = Ipv4::new(p.data()).ok_or(NO_PACKET)?;
            (clear(protocol::IPIP, ip.tos, ip.fragment_field()), usize::from(ip.total_len()))
        }
        6 => {
            let ip = Ipv6Header::peek(p.data()).ok_or(NO_PACKET)?;
            let len = size_of::<Ipv6Header>() + usize::from(ip.payload_len_field());
            (clear(IPV6, ip.traffic_class(), DONT_FRAGMENT), len)
        }
        _ => return Err(NO_PACKET),
    };
    if len > p.len() || len < size_of::<Ipv4Header>() {
        return Err("wrong length of IP packet");
    }
    p.truncate(len);
    Ok(clear)
}

/// The packet for transport mode.
fn transport_packet(p: &mut Packet) -> Result<Clear, &'static str> {
    let (clear, len) = if p.data().first().is_some_and(|first| first >> 4 == 6) {
        let ip = Ipv6Header::peek(p.data()).ok_or(NO_PACKET)?;
        if EXTENSIONS.contains(&ip.next_header) {
            return Err("extension headers");
        }
        let header = size_of::<Ipv6Header>();
        let clear = Clear { header, next_header: ip.next_header, tos: 0, fragment_field: 0 };
        (clear, header + usize::from(ip.payload_len_field()))
    } else {
        let ip = Ipv4::new(p.data()).filter(|ip| ip.version() == 4).ok_or(NO_PACKET)?;
        if ip.is_fragment() {
            return Err("fragment"); // RFC 4303 §3.3.4
        }
        let clear = Clear { header: ip.ihl(), next_header: ip.protocol, tos: 0, fragment_field: 0 };
        (clear, usize::from(ip.total_len()))
    };
    if len > p.len() || len < clear.header {
        return Err("wrong length of IP packet");
    }
    p.truncate(len);
    Ok(clear)
}

/// Headers between that of IPv6 and what it carries: hop-by-hop options, routing, fragment, destination options.
const EXTENSIONS: [u8; 4] = [0, 43, 44, 60];
/// The protocol number of IPv6 inside a tunnel.
pub const IPV6: u8 = 41;

/// Copies the packet if it has too little room, so that it is copied once at most.
fn make_room(p: &mut Packet, front: usize, back: usize) {
    if p.is_shared() || p.headroom() < front || p.tailroom() < back {
        let more = front.saturating_sub(p.headroom()).next_multiple_of(8);
        p.reallocate(p.headroom() + more, back.max(p.tailroom()));
    }
}

/// Padding counts from 1 (RFC 4303 §2.4); then come its length and the next header.
fn fill_trailer(trailer: &mut [u8], padding: usize, next_header: u8) {
    trailer.iter_mut().take(padding).zip(1..).for_each(|(byte, n)| *byte = n);
    trailer[padding] = padding as u8;
    trailer[padding + 1] = next_header;
}

impl SimpleElement for IPsecESPEncrypt {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        self.association = Association::read(args);
        let (mut ttl, mut first) = (64, 1u64);
        args.read("TTL", &mut ttl).read("SEQ", &mut first);
        let ends: (Option<End>, Option<End>) = (args.get("SRC"), args.get("DST"));
        if first == 0 || (!self.association.esn && first > u64::from(u32::MAX)) {
            args.error_in("SEQ", "sequence numbers begin with 1, and have 32 bits without ESN");
        }
        for name in ["SRC", "DST"] {
            match (self.association.mode, args.has(name)) {
                (Mode::Tunnel, false) => args.error(format!("{name}: missing, but needed in tunnel mode")),
                (Mode::Transport, true) => {
                    args.error_in(name, "packets keep their addresses in transport mode")
                }
                _ => {}
            }
        }
        self.next = first;
        if let (Some(source), Some(destination)) = ends {
            match Outer::between(source, destination, ttl) {
                Some(outer) => self.outer = outer,
                None => args.error_in("DST", "SRC and DST are of different IP versions"),
            }
        }
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        let salt = u64::from(cx.random()) << 32 | u64::from(cx.random());
        // Starts of the router are further apart than it sends packets in nanoseconds.
        let counter = cx.now().nanos() as u64;
        self.nonce = Some(Nonce { salt, counter });
        self.association.claim_key(true, cx)
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let Err(reason) = self.protect(p) else { return Verdict::PASS };
        if reason == USED_UP && self.drops == 0 {
            cx.chatter(&format!("{}: {USED_UP}: no packet is sent until the keys change", cx.name()));
        }
        self.drops += 1;
        Verdict::Drop(reason)
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        let Some(old) = try_downcast::<IPsecESPEncrypt>(old) else { return };
        (self.count, self.drops, self.identification) = (old.count, old.drops, old.identification);
        if let (Some(nonce), Some(old)) = (self.nonce.as_mut(), old.nonce) {
            nonce.counter = nonce.counter.max(old.counter);
        }
        if self.association.is_same(&old.association) {
            self.next = if old.next == 0 { 0 } else { self.next.max(old.next) };
        }
    }
}

//! IPsecESPDecrypt: checks and decrypts ESP packets (RFC 4303), in tunnel or transport mode.

use super::association::{self, Association, Mode};
use super::cipher::{HEADER_LEN, ICV_LEN};
use super::esp_encrypt::{IPV6, name_protocol};
use super::replay::{Seen, Window};
use clickwork_packet::Packet;
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::{Header, Ipv4, Ipv4Mut, Ipv6Header};
use clickwork_router::args::{ArgSpec, ArgType, Args, Bounded};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, SimpleElement, Verdict, read_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "checks and decrypts ESP packets",
    manual: "The receiving end of a security association of IPsec: takes IPv4 and IPv6 packets with ESP (RFC 4303), \
             checks that they are authentic and new, and decrypts them. With MODE tunnel the packet inside, IPv4 or IPv6, leaves; if routers \
             on the way marked congestion on the tunnel's packet, it is marked on the one inside (RFC 6040). With MODE \
             transport the packet leaves with its own IP header and what ESP protected. KEY, CIPHER and AUTH_KEY are as in \
             IPsecESPEncrypt.\n\n\
             A packet that came before is dropped, as is one whose sequence number is WINDOW or more below the greatest \
             so far (RFC 4303 §3.4.3); WINDOW 0 turns this protection off. Forged, cut and malformed packets are dropped, \
             and so are fragments: reassemble first. All are counted by reason in 'drop_reasons'. Packets that are not ESP, \
             or have another SPI, leave by output 1 if it is connected: so several associations stand in a row. Headers \
             should have been checked (CheckIPHeader).\n\n\
             That a packet is authentic does not mean that its sender may send it: a filter behind this element should let \
             pass only the addresses that belong to the other end (RFC 4301 §5.2).",
    example: "InfiniteSource(LIMIT 3, STOP true) -> UDPIPEncap(10.1.0.2, 9, 10.2.0.2, 9) \
              -> IPsecESPEncrypt(0x2001, 000102030405060708090a0b0c0d0e0f, CIPHER aes-cbc, MODE transport, \
                 AUTH_KEY 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f) \
              -> IPsecESPDecrypt(0x2001, 000102030405060708090a0b0c0d0e0f, CIPHER aes-cbc, MODE transport, \
                 AUTH_KEY 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f) \
              -> CheckIPHeader -> Discard",
    ports: "1/1-2",
    processing: "a/ah",
    packets: "any/any",
    args: &[
        association::SPI,
        association::KEY,
        association::CIPHER,
        association::AUTH_KEY,
        association::MODE,
        ArgSpec::keyword(
            "WINDOW",
            ArgType::IntRange { min: 0, max: LARGEST_WINDOW as i64 },
            "64",
            "sequence numbers below the greatest that may still come",
        ),
        association::ESN,
    ],
    handlers: &[
        read_handler!("count", "packets decrypted", |e: &mut IPsecESPDecrypt, _| e.count),
        read_handler!("drops", "packets dropped", |e: &mut IPsecESPDecrypt, _| e.drops),
        read_handler!(
            "replays",
            "packets dropped as received before or too old",
            |e: &mut IPsecESPDecrypt, _| e.replays
        ),
        read_handler!("forged", "packets dropped as not authentic", |e: &mut IPsecESPDecrypt, _| e.forged),
        read_handler!("seq", "greatest sequence number received", |e: &mut IPsecESPDecrypt, _| e
            .window
            .greatest()),
        read_handler!("spi", "security parameters index", |e: &mut IPsecESPDecrypt, _| format!(
            "{:#x}",
            e.association.spi
        )),
    ],
    ..Class::new("IPsecESPDecrypt", "ipsec", || Box::<IPsecESPDecrypt>::default())
};

/// The largest window: 128 KiB of memory.
const LARGEST_WINDOW: u32 = 1 << 20;
/// What ends the encrypted part: length of padding and next header.
const TRAILER: usize = 2;
/// The next header of packets that are sent only to hide how many there are (RFC 4303 §2.6).
const DUMMY: u8 = 59;

struct IPsecESPDecrypt {
    association: Association,
    window: Window,
    /// The window's size; 0 if nothing is done against replay.
    window_size: u32,
    count: u64,
    drops: u64,
    replays: u64,
    forged: u64,
}

impl Default for IPsecESPDecrypt {
    fn default() -> IPsecESPDecrypt {
        let (association, window, window_size) = (Association::default(), Window::new(64), 64);
        IPsecESPDecrypt { association, window, window_size, count: 0, drops: 0, replays: 0, forged: 0 }
    }
}

/// Where the parts of a packet lie.
struct Layout {
    ip_header: usize,
    tos: u8,
    is_fragment: bool,
    /// The packet's end, behind the ICV.
    end: usize,
}

/// Where the parts of an IP packet lie, and what it carries.
fn headers(data: &[u8]) -> Option<(Layout, u8)> {
    if data.first()? >> 4 == 6 {
        let ip = Ipv6Header::peek(data)?;
        let ip_header = size_of::<Ipv6Header>();
        let end = ip_header + usize::from(ip.payload_len_field());
        return Some((
            Layout { ip_header, tos: ip.traffic_class(), is_fragment: false, end },
            ip.next_header,
        ));
    }
    let ip = Ipv4::new(data).filter(|ip| ip.version() == 4)?;
    let (ip_header, end) = (ip.ihl(), usize::from(ip.total_len()));
    Some((Layout { ip_header, tos: ip.tos, is_fragment: ip.is_fragment(), end }, ip.protocol))
}

impl IPsecESPDecrypt {
    /// Checks the packet's form. The verdict is for one that is not ours.
    fn layout(&self, p: &Packet, cx: &Cx<'_>) -> Result<Layout, Verdict> {
        let not_ours = |reason| Err(cx.out_or_drop(1, reason));
        let Some((layout, next)) = headers(p.data()) else { return not_ours("no IP packet") };
        if next != protocol::ESP {
            return not_ours("not ESP");
        }
        if layout.is_fragment {
            return Err(Verdict::Drop("fragment")); // RFC 4303 §3.4.1
        }
        if layout.end > p.len() || layout.end < layout.ip_header + HEADER_LEN {
            return Err(Verdict::Drop("cut short"));
        }
        if p.data()[layout.ip_header..layout.ip_header + 4] != self.association.spi.to_be_bytes() {
            return not_ours("another SPI");
        }
        Ok(layout)
    }

    fn open(&mut self, p: &mut Packet, layout: &Layout) -> Result<(), &'static str> {
        let suite = self.association.suite.as_ref().ok_or("no keys")?;
        p.truncate(layout.end);
        let front = layout.ip_header + HEADER_LEN + suite.iv_len();
        let text = layout.end.checked_sub(front + ICV_LEN).ok_or("cut short")?;
        if text < TRAILER || text % suite.block_len() != 0 {
            return Err("wrong length of encrypted part");
        }
        let sequence = self.sequence_number(&p.data()[layout.ip_header + 4..])?;
        let suite = self.association.suite.as_ref().ok_or("no keys")?;
        let high = self.association.esn.then_some((sequence >> 32) as u32);
        if !suite.open(&mut p.data_mut()[layout.ip_header..], high) {
            self.forged += 1;
            return Err("not authentic");
        }
        // Only now: a forged packet must not move the window (RFC 4303 §3.4.3).
        self.window.note(sequence);
        p.truncate(layout.end - ICV_LEN);
        let next_header = cut_trailer(p, text)?;
        match self.association.mode {
            Mode::Tunnel => unwrap_tunnel(p, front, next_header, layout.tos),
            Mode::Transport => unwrap_transport(p, front, next_header, layout.ip_header),
        }
    }

    /// The sequence number of a packet, if it may be new.
    fn sequence_number(&mut self, bytes: &[u8]) -> Result<u64, &'static str> {
        let low = bytes.first_chunk().map(|&b| u32::from_be_bytes(b)).ok_or("cut short")?;
        let number = if self.association.esn { self.window.extended(low) } else { u64::from(low) };
        let seen = if number == 0 { Seen::TooOld } else { self.window.check(number) };
        let reason = match seen {
            Seen::New => return Ok(number),
            _ if self.window_size == 0 => return Ok(number),
            Seen::Before => "replayed",
            Seen::TooOld => "sequence number too old",
        };
        self.replays += 1;
        Err(reason)
    }
}

/// Cuts padding and trailer off the text of `len` bytes at the packet's end, and gives the next header.
fn cut_trailer(p: &mut Packet, len: usize) -> Result<u8, &'static str> {
    let text = &p.data()[p.len() - len..];
    let &[.., padding, next_header] = text else { return Err("wrong padding") };
    let rest = text.len() - TRAILER;
    let start = rest.checked_sub(usize::from(padding)).ok_or("wrong padding")?;
    if !text[start..rest].iter().copied().eq(1..=padding) {
        return Err("wrong padding"); // RFC 4303 §2.4: the receiver should look
    }
    p.take(usize::from(padding) + TRAILER);
    Ok(next_header)
}

fn unwrap_tunnel(p: &mut Packet, front: usize, next_header: u8, outer_tos: u8) -> Result<(), &'static str> {
    let tunnel = match next_header {
        DUMMY => return Err("dummy packet"),
        protocol::IPIP => 4,
        IPV6 => 6,
        _ => return Err("no IP packet inside"),
    };
    p.pull(front);
    if p.data().first().is_none_or(|first| first >> 4 != tunnel) {
        return Err("no IP packet inside");
    }
    if tunnel == 4 { unwrap_ipv4(p, outer_tos) } else { unwrap_ipv6(p, outer_tos) }
}

fn unwrap_ipv4(p: &mut Packet, outer_tos: u8) -> Result<(), &'static str> {
    const WRONG: &str = "wrong length of IP packet inside";
    let mut ip = Ipv4Mut::new(p.data_mut()).ok_or(WRONG)?;
    let tos = ip.tos & !3 | congestion(outer_tos & 3, ip.tos & 3)?;
    if tos != ip.tos {
        // RFC 1624, equation 3, for the word that the type of service is in.
        let sum = u32::from(!ip.checksum()) + u32::from(!u16::from(ip.tos)) + u32::from(tos);
        let sum = (sum & 0xFFFF) + (sum >> 16);
        ip.set_checksum(!((sum & 0xFFFF) + (sum >> 16)) as u16);
        ip.tos = tos;
    }
    let (header, len, destination) = (ip.ihl(), usize::from(ip.total_len()), ip.destination());
    if len < header || len > p.len() {
        return Err(WRONG);
    }
    p.truncate(len); // what is more hides the length (RFC 4303 §2.7)
    p.set_network_header(0, header as u32);
    p.set_dst_ip(destination);
    Ok(())
}

fn unwrap_ipv6(p: &mut Packet, outer_tos: u8) -> Result<(), &'static str> {
    const WRONG: &str = "wrong length of IP packet inside";
    let ip = Ipv6Header::peek_mut(p.data_mut()).ok_or(WRONG)?;
    let class = ip.traffic_class();
    let class = class & !3 | congestion(outer_tos & 3, class & 3)?;
    ip.set_class_and_flow(class, ip.flow_label());
    let len = size_of::<Ipv6Header>() + usize::from(ip.payload_len_field());
    if len > p.len() {
        return Err(WRONG);
    }
    p.truncate(len);
    p.set_network_header(0, size_of::<Ipv6Header>() as u32);
    Ok(())
}

/// The congestion mark of a packet that leaves a tunnel, from those outside and inside (RFC 6040 §4.2).
fn congestion(outer: u8, inner: u8) -> Result<u8, &'static str> {
    const ECT1: u8 = 1;
    const CE: u8 = 3;
    match (outer, inner) {
        (CE, 0) => Err("congestion experienced by a packet that cannot say so"),
        (CE, _) => Ok(CE),
        (ECT1, 2) => Ok(ECT1),
        _ => Ok(inner),
    }
}

fn unwrap_transport(
    p: &mut Packet,
    front: usize,
    next_header: u8,
    header: usize,
) -> Result<(), &'static str> {
    if next_header == DUMMY {
        return Err("dummy packet");
    }
    p.data_mut().copy_within(..header, front - header);
    p.pull(front - header);
    name_protocol(p, header, next_header);
    Ok(())
}

impl SimpleElement for IPsecESPDecrypt {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        self.association = Association::read(args);
        args.read_with("WINDOW", Bounded(0..=LARGEST_WINDOW), &mut self.window_size);
        if self.association.esn && self.window_size == 0 {
            args.error("WINDOW: ESN needs a window, by which the upper half of sequence numbers is found");
        }
        self.window = Window::new(self.window_size);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.association.claim_key(false, cx)
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let outcome = self.layout(p, cx).and_then(|layout| self.open(p, &layout).map_err(Verdict::Drop));
        match outcome {
            Ok(()) => {
                self.count += 1;
                Verdict::PASS
            }
            Err(verdict) => {
                self.drops += u64::from(matches!(verdict, Verdict::Drop(_)));
                verdict
            }
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        let Some(old) = try_downcast::<IPsecESPDecrypt>(old) else { return };
        (self.count, self.drops) = (old.count, old.drops);
        (self.replays, self.forged) = (old.replays, old.forged);
        if self.association.is_same(&old.association) {
            self.window = old.window.resized(self.window_size);
        }
    }
}

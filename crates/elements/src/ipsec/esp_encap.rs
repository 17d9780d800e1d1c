//! IPsecESPEncap and IPsecESPUnencap: the ESP header as Click's old elements have it.

use super::replay::Seen;
use super::sa::{self, Association};
use clickwork_packet::Packet;
use clickwork_packet::headers::{Header, Ipv4Header};
use clickwork_router::{Class, Cx, SimpleElement, Verdict};

/// The class facts.
pub static CLASS: Class = Class {
    help: "adds an ESP header and padding, as Click did",
    manual: "INSECURE; for old configurations. Use IPsecESPEncrypt.\n\n\
             Puts a 16-byte ESP header in front of the packet: the SPI that RadixIPsecLookup noted in an annotation, the \
             next sequence number of the association that it noted, and 8 random bytes of IV. Behind the packet come \
             padding that counts from 1, to a multiple of 8 bytes, its length, and the protocol of the marked IP header (0 \
             if none is marked). When sequence numbers are used up they begin again with REPLAY. IPsecAuthHMACSHA1(0) and \
             IPsecAES(1) or IPsecDES(1) follow.",
    example: super::OLD_EXAMPLE,
    packets: "any/any",
    flags: "A",
    ..Class::new("IPsecESPEncap", "ipsec", || Box::new(IPsecESPEncap))
};

/// The class facts.
pub static UNENCAP: Class = Class {
    help: "removes an ESP header and padding, as Click did",
    manual: "INSECURE; for old configurations. Use IPsecESPDecrypt.\n\n\
             Removes the 16-byte ESP header of IPsecESPEncap, the padding and the two bytes behind it. Packets whose \
             sequence number came before, or is OOSIZE or more below the greatest, are dropped, as are packets with wrong \
             padding. A packet with the sequence number REPLAY empties the window of those received, so that the first \
             packet of the association, sent again by anybody, opens it to replays. The association is the one that \
             RadixIPsecLookup noted; without one the packet is dropped.",
    example: super::OLD_EXAMPLE,
    packets: "any/strip(16)",
    ..Class::new("IPsecESPUnencap", "ipsec", || Box::new(IPsecESPUnencap))
};

/// Bytes of SPI, sequence number and IV.
pub const ESP_LEN: usize = 16;
/// What the length of packet and padding is a multiple of.
const BLOCK: usize = 8;
/// Length of padding and next header.
const TRAILER: usize = 2;

struct IPsecESPEncap;

impl SimpleElement for IPsecESPEncap {
    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let Some(association) = sa::of_packet(p, cx) else { return Verdict::Drop(super::NO_ASSOCIATION) };
        let protocol = p.network_header().and_then(Ipv4Header::peek).map_or(0, |ip| ip.protocol);
        let sequence = next_sequence_number(&association);
        let (spi, len) = (p.anno_u32(sa::SPI), p.len());
        let padding = (len + TRAILER).next_multiple_of(BLOCK) - len - TRAILER;
        p.put(padding + TRAILER);
        let data = p.push(ESP_LEN);
        data[..4].copy_from_slice(&spi.to_be_bytes());
        data[4..8].copy_from_slice(&sequence.to_be_bytes());
        data[8..12].copy_from_slice(&(cx.random() >> 2).to_ne_bytes());
        data[12..ESP_LEN].copy_from_slice(&(cx.random() >> 2).to_ne_bytes());
        let trailer = &mut data[ESP_LEN + len..];
        trailer.iter_mut().take(padding).zip(1..).for_each(|(byte, n)| *byte = n);
        trailer[padding] = padding as u8;
        trailer[padding + 1] = protocol;
        Verdict::PASS
    }
}

fn next_sequence_number(association: &Association) -> u32 {
    let mut state = association.state();
    let sequence = state.next;
    state.next = if sequence == 0 { association.start } else { sequence.wrapping_add(1) };
    sequence
}

struct IPsecESPUnencap;

impl SimpleElement for IPsecESPUnencap {
    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let Some(association) = sa::of_packet(p, cx) else {
            cx.report(super::NO_ASSOCIATION, || "Null reference to Security Association Table".to_string());
            return Verdict::Drop(super::NO_ASSOCIATION);
        };
        let Some(sequence) = p.data().get(4..8).and_then(|b| b.first_chunk()).filter(|_| p.len() >= ESP_LEN)
        else {
            return Verdict::Drop("no ESP header");
        };
        match receive(&association, u32::from_be_bytes(*sequence)) {
            Ok(()) => {}
            Err(reason) => {
                if let Some(words) = reason.words() {
                    cx.report(words, || words.to_string());
                }
                return Verdict::Drop("sequence number");
            }
        }
        p.pull(ESP_LEN);
        match padding(p.data()) {
            Ok(len) => {
                p.take(len + TRAILER);
                Verdict::PASS
            }
            Err(words) => {
                cx.report(words, || words.to_string());
                Verdict::Drop("padding")
            }
        }
    }
}

/// Why a sequence number is refused.
enum Refused {
    Zero,
    TooOld,
    Seen,
}

impl Refused {
    /// Click's words.
    fn words(&self) -> Option<&'static str> {
        match self {
            Refused::Zero => None,
            Refused::TooOld => Some("Replay protection: This packet is too old to be accepted"),
            Refused::Seen => Some("Replay protection: This packet is already seen..."),
        }
    }
}

/// Notes a sequence number as received.
fn receive(association: &Association, sequence: u32) -> Result<(), Refused> {
    if sequence == 0 {
        return Err(Refused::Zero);
    }
    let mut state = association.state();
    let number = u64::from(sequence);
    if sequence == association.start && state.window.greatest() != number {
        // The sender began again.
        state.window.restart(number);
        return Ok(());
    }
    match state.window.check(number) {
        Seen::New => state.window.note(number),
        Seen::TooOld => return Err(Refused::TooOld),
        Seen::Before => return Err(Refused::Seen),
    }
    Ok(())
}

/// The length of the padding at the end of `data`, if it is as it should be; else Click's words.
fn padding(data: &[u8]) -> Result<usize, &'static str> {
    const WRONG_LENGTH: &str = "Invalid padding length";
    let &[.., last, len, _] = data else { return Err(WRONG_LENGTH) };
    if len != last && len != 0 {
        return Err(WRONG_LENGTH);
    }
    let end = data.len() - TRAILER;
    let start = end.checked_sub(usize::from(len)).ok_or(WRONG_LENGTH)?;
    if data[start..end].iter().copied().eq(1..=len) { Ok(usize::from(len)) } else { Err("Corrupt padding") }
}

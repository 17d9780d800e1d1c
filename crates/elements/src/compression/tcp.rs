//! TCP headers as differences from the header before (RFC 2507 §6, RFC 1144 §3.2).
//!
//! A [`Sender`] knows the last header of its context, a [`Receiver`] that of the other end. Numbers of packets, and which
//! context belongs to which stream, are not known here.

use super::fields::{
    ACKNOWLEDGMENT, CHECKSUM, FLAGS, IDENTIFICATION, OFFSET, SEQUENCE, URGENT, WINDOW, add_to_long,
    add_to_word, ip_is_same, long, put_number, r_octet, set_r_octet, set_word, take, take_number, word,
};
use super::headers::{Chain, TCP};
use clickwork_packet::headers::tcp::flag;

/// Bits of the second octet: what differs.
mod bit {
    /// Reserved bits and the lower bits of the type of service are given.
    pub const R: u8 = 0x80;
    /// Options are given.
    pub const O: u8 = 0x40;
    /// The identification did not grow by one.
    pub const I: u8 = 0x20;
    /// The push flag, as it is.
    pub const P: u8 = 0x10;
    /// Sequence number.
    pub const S: u8 = 0x08;
    /// Acknowledgment number.
    pub const A: u8 = 0x04;
    /// Window.
    pub const W: u8 = 0x02;
    /// The urgent flag, and then the urgent pointer.
    pub const U: u8 = 0x01;
    /// All that RFC 1144 gives two special meanings.
    pub const SAWU: u8 = S | A | W | U;
    /// Echoed terminal traffic: both numbers grew by the length of the last packet's data.
    pub const SPECIAL_I: u8 = S | W | U;
    /// Data one way: the sequence number grew by the length of the last packet's data.
    pub const SPECIAL_D: u8 = S | A | W | U;
}

/// By how much the numbers of a header grew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Growth {
    sequence: u16,
    acknowledgment: u16,
    window: u16,
    identification: u16,
}

impl Growth {
    /// From one header to another; nothing if a number grew by more than can be said.
    fn between(old: &[u8], new: &[u8], chain: Chain) -> Option<Growth> {
        let t = chain.ip_len();
        let long_growth = |at| u16::try_from(long(new, t + at).wrapping_sub(long(old, t + at))).ok();
        let word_growth = |at| word(new, at).wrapping_sub(word(old, at));
        Some(Growth {
            sequence: long_growth(SEQUENCE)?,
            acknowledgment: long_growth(ACKNOWLEDGMENT)?,
            window: word_growth(t + WINDOW),
            identification: if chain.is_ipv6 { 1 } else { word_growth(IDENTIFICATION) },
        })
    }

    fn apply(self, header: &mut [u8], chain: Chain) {
        let t = chain.ip_len();
        add_to_long(header, t + SEQUENCE, self.sequence);
        add_to_long(header, t + ACKNOWLEDGMENT, self.acknowledgment);
        add_to_word(header, t + WINDOW, self.window);
        if !chain.is_ipv6 {
            add_to_word(header, IDENTIFICATION, self.identification);
        }
    }
}

/// How a packet is to be sent.
#[derive(Debug, PartialEq, Eq)]
pub enum Form {
    /// With its whole header.
    Full,
    /// With the TCP header but for the ports.
    NoDelta,
    /// With differences, and how many packets before it had the same ones (at most three).
    Delta {
        /// What stands between the context's number and the payload.
        encoded: Vec<u8>,
        /// Packets in a row with the same differences, before this one.
        same: u8,
    },
}

/// What the compressor knows of a context.
#[derive(Default)]
pub struct Sender {
    header: Vec<u8>,
    /// Length of the last packet's data.
    payload: u16,
    /// How the last packet differed from the one before, if that is all that it changed.
    growth: Option<Growth>,
    same: u8,
}

impl Sender {
    /// How to send a packet of the context's stream: with differences if that is possible.
    pub fn form(&mut self, data: &[u8], chain: Chain) -> Form {
        let new = &data[..chain.len];
        let growth = self.growth.take();
        let same = std::mem::take(&mut self.same);
        if self.header.len() < chain.ip_len() + TCP || !ip_is_same(&self.header, new, chain) {
            return Form::Full;
        }
        let absolute = if r_octet(&self.header, chain) & 3 == r_octet(new, chain) & 3 {
            Form::NoDelta
        } else {
            Form::Full
        };
        let Some(change) = self.change(data, chain) else { return absolute };
        if change.is_plain {
            self.same = if growth == Some(change.growth) { (same + 1).min(3) } else { 0 };
            self.growth = Some(change.growth);
        }
        Form::Delta { encoded: change.encoded, same: self.same }
    }

    /// The differences of a packet; nothing if they cannot be said.
    fn change(&self, data: &[u8], chain: Chain) -> Option<Change> {
        const CHANGING: u8 = flag::PSH | flag::URG | flag::ECE | flag::CWR;
        let (old, new, t) = (&self.header[..], &data[..chain.len], chain.ip_len());
        let flags = new[t + FLAGS];
        let plain_flags = flags & !CHANGING == flag::ACK && old[t + FLAGS] & !CHANGING == flag::ACK;
        if !plain_flags || old.len() != new.len() {
            return None;
        }
        let growth = Growth::between(old, new, chain)?;
        let is_urgent = flags & flag::URG != 0;
        if !is_urgent && word(old, t + URGENT) != word(new, t + URGENT) {
            return None;
        }
        let new_options = old[t + TCP..] != new[t + TCP..];
        let set = |condition: bool, bit: u8| if condition { bit } else { 0 };
        let mut numbers = set(growth.sequence != 0, bit::S)
            | set(growth.acknowledgment != 0, bit::A)
            | set(growth.window != 0, bit::W)
            | set(is_urgent, bit::U);
        match numbers {
            // These stand for something else (RFC 1144 §3.2.3).
            bit::SPECIAL_I | bit::SPECIAL_D => return None,
            bit::S if growth.sequence == self.payload => numbers = bit::SPECIAL_D,
            n if n == bit::S | bit::A
                && growth.sequence == self.payload
                && growth.acknowledgment == self.payload =>
            {
                numbers = bit::SPECIAL_I;
            }
            // The same again: the other end may have lost something, unless this is data after an acknowledgment.
            0 if !new_options && (data.len() == chain.len || self.payload != 0) => return None,
            _ => {}
        }
        let reserved = r_octet(new, chain);
        let what = numbers
            | set(r_octet(old, chain) != reserved, bit::R)
            | set(new_options, bit::O)
            | set(growth.identification != 1, bit::I)
            | set(flags & flag::PSH != 0, bit::P);
        let encoded = encode(what, &growth, new, chain);
        Some(Change { growth, encoded, is_plain: !is_urgent && !new_options })
    }

    /// Notes that a packet was sent in this form.
    pub fn note(&mut self, form: &Form, data: &[u8], chain: Chain) {
        let reserved = match form {
            Form::Delta { .. } => Some(r_octet(&self.header, chain)),
            _ => None,
        };
        self.header.clear();
        self.header.extend(&data[..chain.len]);
        // Reserved bits that were sent with differences do not enter the context.
        if let Some(reserved) = reserved {
            set_r_octet(&mut self.header, chain, reserved);
        } else {
            (self.growth, self.same) = (None, 0);
        }
        self.payload = (data.len() - chain.len) as u16;
    }

    /// What stands between the context's number and the payload of a packet without differences.
    pub fn absolute(data: &[u8], chain: Chain) -> Vec<u8> {
        let t = chain.ip_len();
        let identification: &[u8] =
            if chain.is_ipv6 { &[] } else { &data[IDENTIFICATION..IDENTIFICATION + 2] };
        [identification, &data[t + SEQUENCE..chain.len]].concat()
    }
}

/// The differences of a packet.
struct Change {
    growth: Growth,
    encoded: Vec<u8>,
    /// Whether numbers are all that changes in the context.
    is_plain: bool,
}

fn encode(what: u8, growth: &Growth, new: &[u8], chain: Chain) -> Vec<u8> {
    let t = chain.ip_len();
    let mut out = Vec::with_capacity(64);
    out.push(what);
    out.extend(&new[t + CHECKSUM..t + CHECKSUM + 2]);
    if what & bit::R != 0 {
        out.push(r_octet(new, chain));
    }
    let special = matches!(what & bit::SAWU, bit::SPECIAL_I | bit::SPECIAL_D);
    let numbers = [
        (bit::U, word(new, t + URGENT)),
        (bit::W, growth.window),
        (bit::A, growth.acknowledgment),
        (bit::S, growth.sequence),
    ];
    for (_, number) in numbers.iter().filter(|(bit, _)| !special && what & bit != 0) {
        put_number(&mut out, *number);
    }
    if what & bit::I != 0 {
        put_number(&mut out, growth.identification);
    }
    if what & bit::O != 0 {
        out.extend(&new[t + TCP..]);
    }
    out
}

/// Differences, decoded.
struct Decoded<'a> {
    growth: Growth,
    what: u8,
    checksum: u16,
    reserved: Option<u8>,
    urgent: Option<u16>,
    options: Option<&'a [u8]>,
}

/// What the decompressor knows of a context.
pub struct Receiver {
    header: Vec<u8>,
    chain: Chain,
    payload: u16,
}

impl Receiver {
    /// The context that a whole packet sets up.
    pub fn new(data: &[u8], chain: Chain) -> Receiver {
        Receiver { header: data[..chain.len].to_vec(), chain, payload: (data.len() - chain.len) as u16 }
    }

    /// Which headers the context has.
    pub fn chain(&self) -> Chain {
        self.chain
    }

    /// The header of a packet whose `data` begin with differences, if `times - 1` packets with the same differences were lost
    /// before it; and how many bytes said so. The lengths in it are still to be restored.
    pub fn next(&self, data: &[u8], times: u8) -> Option<(Header, usize)> {
        let mut rest = data;
        let decoded = self.decode(&mut rest)?;
        let (chain, t) = (self.chain, self.chain.ip_len());
        let mut context = self.header.clone();
        (0..times).for_each(|_| decoded.growth.apply(&mut context, chain));
        if let Some(urgent) = decoded.urgent {
            set_word(&mut context, t + URGENT, urgent);
        }
        if let Some(options) = decoded.options {
            context[t + TCP..].copy_from_slice(options);
        }
        let mut header = context.clone();
        let set = |condition: bool, flag: u8| if condition { flag } else { 0 };
        header[t + FLAGS] = header[t + FLAGS] & !(flag::PSH | flag::URG)
            | set(decoded.what & bit::P != 0, flag::PSH)
            | set(decoded.urgent.is_some(), flag::URG);
        if let Some(reserved) = decoded.reserved {
            set_r_octet(&mut header, chain, reserved);
        }
        set_word(&mut header, t + CHECKSUM, decoded.checksum);
        Some((Header { bytes: header, context, chain }, data.len() - rest.len()))
    }

    fn decode<'a>(&self, rest: &mut &'a [u8]) -> Option<Decoded<'a>> {
        let what = take(rest, 1)?[0];
        let checksum = word(take(rest, 2)?, 0);
        let reserved = if what & bit::R != 0 { Some(take(rest, 1)?[0]) } else { None };
        let mut growth = Growth { identification: 1, ..Growth::default() };
        let mut urgent = None;
        match what & bit::SAWU {
            bit::SPECIAL_I => (growth.sequence, growth.acknowledgment) = (self.payload, self.payload),
            bit::SPECIAL_D => growth.sequence = self.payload,
            numbers => {
                let mut number =
                    |bit: u8| if numbers & bit != 0 { take_number(rest).map(Some) } else { Some(None) };
                urgent = number(bit::U)?;
                growth.window = number(bit::W)?.unwrap_or_default();
                growth.acknowledgment = number(bit::A)?.unwrap_or_default();
                growth.sequence = number(bit::S)?.unwrap_or_default();
            }
        }
        if what & bit::I != 0 {
            growth.identification = take_number(rest)?;
        }
        let options = self.header.len() - self.chain.ip_len() - TCP;
        let options = if what & bit::O != 0 { Some(take(rest, options)?) } else { None };
        Some(Decoded { growth, what, checksum, reserved, urgent, options })
    }

    /// The header of a packet whose `data` begin with a TCP header without ports; and how many bytes that took.
    pub fn absolute(&self, data: &[u8]) -> Option<(Header, usize)> {
        let mut rest = data;
        let t = self.chain.ip_len();
        let mut header = self.header[..t + SEQUENCE].to_vec();
        if !self.chain.is_ipv6 {
            header[IDENTIFICATION..IDENTIFICATION + 2].copy_from_slice(take(&mut rest, 2)?);
        }
        let tcp_len = usize::from(rest.get(OFFSET - SEQUENCE)? >> 4) * 4;
        header.extend(take(&mut rest, tcp_len.checked_sub(SEQUENCE).filter(|_| tcp_len >= TCP)?)?);
        let chain = Chain { len: header.len(), ..self.chain };
        Some((Header { context: header.clone(), bytes: header, chain }, data.len() - rest.len()))
    }

    /// Notes that a packet proved right.
    pub fn note(&mut self, header: Header, payload: usize) {
        (self.header, self.chain, self.payload) = (header.context, header.chain, payload as u16);
    }
}

/// A restored header, and what the context becomes if it is right.
pub struct Header {
    /// The header.
    pub bytes: Vec<u8>,
    /// Which headers it has.
    pub chain: Chain,
    context: Vec<u8>,
}

//! Headers without TCP: what does not change stays in a context, what changes is sent as it is (RFC 2507 §3.3, §5.3.1).
//!
//! A context has a *generation*, a number of six bits that changes with it, so that a packet is never restored with a context
//! it was not made for.

use super::headers::{Chain, Transport};
use clickwork_packet::Timestamp;
use std::time::Duration;

/// Generations count modulo this.
const GENERATIONS: u8 = 64;
/// A generation must not come again sooner (RFC 2507 §14, MIN_WRAP).
const MIN_WRAP: Duration = Duration::from_secs(3);

/// How often full headers are sent though nothing changes (RFC 2507 §3.3.2, §14).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refresh {
    /// Compressed headers between them, at most.
    pub max_period: u32,
    /// Time between them, at most.
    pub max_time: Duration,
}

impl Default for Refresh {
    fn default() -> Refresh {
        Refresh { max_period: 256, max_time: Duration::from_secs(5) }
    }
}

/// The header with what changes, or can be inferred, set to zero; but a UDP checksum that is there set to 1.
fn constant_part(data: &[u8], chain: Chain) -> Vec<u8> {
    let mut header = data[..chain.len].to_vec();
    if chain.is_ipv6 {
        header[4..6].fill(0);
    } else {
        header[2..6].fill(0);
        header[10..12].fill(0);
    }
    if chain.transport == Transport::Udp {
        let udp = &mut header[chain.ip_len()..];
        let has_checksum = udp[6..8] != [0, 0];
        udp[4..8].copy_from_slice(&[0, 0, 0, u8::from(has_checksum)]);
    }
    header
}

/// Whether a context's UDP header has a checksum.
fn has_udp_checksum(constant: &[u8], chain: Chain) -> bool {
    chain.transport == Transport::Udp && constant[chain.ip_len() + 7] != 0
}

/// What the compressor knows of a context.
#[derive(Default)]
pub struct Sender {
    constant: Vec<u8>,
    generation: u8,
    /// Compressed headers until the next full one, since the last full one.
    period: u32,
    since: u32,
    full_at: Timestamp,
    /// When generations began at 0 again.
    wrapped_at: Option<Timestamp>,
}

/// How a packet is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As it is: the context changes too fast.
    Regular,
    /// With its whole header, of this generation.
    Full(u8),
    /// With the fields that change, of this generation.
    Compressed(u8),
}

impl Sender {
    /// How to send a packet. The context is changed as if it was sent so.
    pub fn form(&mut self, data: &[u8], chain: Chain, now: Timestamp, refresh: Refresh) -> Form {
        let constant = constant_part(data, chain);
        if constant != self.constant {
            if !self.next_generation(now) {
                return Form::Regular;
            }
            (self.constant, self.period, self.since, self.full_at) = (constant, 1, 0, now);
            return Form::Full(self.generation);
        }
        // Compression slow start: the distance between full headers doubles.
        if self.since >= self.period {
            self.period = self.period.saturating_mul(2).min(refresh.max_period);
        } else if now.since(self.full_at) < refresh.max_time {
            self.since += 1;
            return Form::Compressed(self.generation);
        }
        (self.since, self.full_at) = (0, now);
        Form::Full(self.generation)
    }

    fn next_generation(&mut self, now: Timestamp) -> bool {
        if self.constant.is_empty() {
            self.wrapped_at = Some(now);
            return true;
        }
        let next = (self.generation + 1) % GENERATIONS;
        if next == 0 {
            if self.wrapped_at.is_some_and(|at| now.since(at) < MIN_WRAP) {
                return false;
            }
            self.wrapped_at = Some(now);
        }
        self.generation = next;
        true
    }
}

/// The fields that change, in their order.
pub fn changing_part(data: &[u8], chain: Chain) -> Vec<u8> {
    let mut out = Vec::with_capacity(4);
    if !chain.is_ipv6 {
        out.extend(&data[4..6]);
    }
    let udp = chain.ip_len();
    if chain.transport == Transport::Udp && data[udp + 6..udp + 8] != [0, 0] {
        out.extend(&data[udp + 6..udp + 8]);
    }
    out
}

/// What the decompressor knows of a context.
pub struct Receiver {
    constant: Vec<u8>,
    chain: Chain,
    /// The generation.
    pub generation: u8,
}

impl Receiver {
    /// The context that a whole packet sets up.
    pub fn new(data: &[u8], chain: Chain, generation: u8) -> Receiver {
        Receiver { constant: constant_part(data, chain), chain, generation }
    }

    /// Which headers the context has.
    pub fn chain(&self) -> Chain {
        self.chain
    }

    /// The header of a packet whose `data` begin with the fields that change; and how many bytes those are. Lengths and the
    /// checksum of the IP header are still to be restored.
    pub fn restore(&self, data: &[u8]) -> Option<(Vec<u8>, usize)> {
        let mut header = self.constant.clone();
        let mut at = 0;
        let mut copy = |to: usize| {
            header[to..to + 2].copy_from_slice(data.get(at..at + 2)?);
            at += 2;
            Some(())
        };
        if !self.chain.is_ipv6 {
            copy(4)?;
        }
        if has_udp_checksum(&self.constant, self.chain) {
            copy(self.chain.ip_len() + 6)?;
        }
        Some((header, at))
    }
}

//! What can become of a packet in a router, or be sent because of it.

use clickwork_packet::headers::icmp::{icmp_type, parameter_problem, redirect, time_exceeded, unreachable};
use std::collections::BTreeMap;
use std::fmt;

/// One thing that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// It left whole by the interface that its destination is behind.
    Forwarded,
    /// A part of it left that way.
    Fragment,
    /// An ICMP error of this type and code went back to its source.
    Error(u8, u8),
    /// An echo reply went back to its source.
    EchoReply,
    /// An ARP reply went back to its source.
    ArpReply,
    /// An ARP query was sent for its next hop.
    ArpQuery,
    /// The router's host got it.
    ToHost,
    /// The ARP table took the address in it.
    Learned,
    /// It waits for an answer to an ARP query.
    Held,
    /// It ended in an element that said why.
    Dropped,
}

impl Fate {
    /// The ICMP error for an expired time to live.
    pub const TIME_EXCEEDED: Fate = Fate::Error(icmp_type::TIME_EXCEEDED, time_exceeded::TRANSIT);
    /// The ICMP error for a packet that is too large and must not be cut.
    pub const NEED_FRAGMENT: Fate = Fate::Error(icmp_type::UNREACHABLE, unreachable::NEED_FRAGMENT);
    /// The ICMP error for a damaged option.
    pub const PARAMETER_PROBLEM: Fate =
        Fate::Error(icmp_type::PARAMETER_PROBLEM, parameter_problem::ERROR_AT_POINTER);
    /// The ICMP message that tells of a better way.
    pub const REDIRECT: Fate = Fate::Error(icmp_type::REDIRECT, redirect::HOST);
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match *self {
            Fate::Forwarded => "forwarded",
            Fate::Fragment => "fragments",
            Fate::TIME_EXCEEDED => "time exceeded",
            Fate::NEED_FRAGMENT => "too big",
            Fate::PARAMETER_PROBLEM => "bad parameter",
            Fate::REDIRECT => "redirect",
            Fate::Error(icmp_type, code) => return write!(f, "ICMP {icmp_type}/{code}"),
            Fate::EchoReply => "echo replies",
            Fate::ArpReply => "ARP replies",
            Fate::ArpQuery => "ARP query",
            Fate::ToHost => "to its host",
            Fate::Learned => "learned",
            Fate::Held => "held",
            Fate::Dropped => "dropped",
        })
    }
}

/// How often each thing happened.
pub type Fates = BTreeMap<Fate, u64>;

/// The counts in words: `1 forwarded, 1 redirect`.
pub fn in_words(fates: &Fates) -> String {
    match fates.is_empty() {
        true => "nothing".to_string(),
        false => fates.iter().map(|(fate, n)| format!("{n} {fate}")).collect::<Vec<_>>().join(", "),
    }
}

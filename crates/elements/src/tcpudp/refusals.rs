//! What CheckTCPHeader, CheckUDPHeader and CheckICMPHeader share: the count of bad packets, and how they are reported.

use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::checksum::Sum;
use clickwork_packet::headers::Ipv4;
use clickwork_packet::headers::ipv4::option;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Cx, Verdict};
use std::fmt::Write;

/// What can be wrong with a transport header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The packet is of another protocol, or not IP.
    Protocol,
    /// The packet is too short, or its lengths disagree.
    Length,
    /// The checksum is wrong.
    Checksum,
}

/// The arguments of all three.
pub const ARGS: &[ArgSpec] = &[
    ArgSpec::keyword("VERBOSE", ArgType::Bool, "false", "report every bad packet, not only the first"),
    ArgSpec::keyword("DETAILS", ArgType::Bool, "false", "count bad packets by reason, for drop_details"),
];

/// Bad packets so far.
#[derive(Clone, Default)]
pub struct Refusals {
    verbose: bool,
    details: bool,
    drops: u64,
    by_fault: [u64; 3],
}

impl Refusals {
    /// Reads the arguments.
    pub fn configure(&mut self, args: &mut Args) {
        args.read("VERBOSE", &mut self.verbose).read("DETAILS", &mut self.details);
    }

    /// Takes over the counts of an earlier element.
    pub fn take_counts(&mut self, old: &Refusals) {
        (self.drops, self.by_fault) = (old.drops, old.by_fault);
    }

    /// Bad packets.
    pub fn drops(&self) -> u64 {
        self.drops
    }

    /// Bad packets by reason, a line each. `texts` are the protocol's words for the faults, in order.
    pub fn details(&self, texts: [&str; 3]) -> Result<String, String> {
        if !self.details {
            return Err("bad packets are counted by reason only with DETAILS true".to_string());
        }
        let mut lines = String::new();
        for (text, count) in texts.iter().zip(self.by_fault) {
            let _ = writeln!(lines, "{count}\t{text}");
        }
        Ok(lines)
    }

    /// Counts a bad packet, reports it if it is the first or all are wanted, and says where it goes.
    #[cold]
    pub fn refuse(
        &mut self,
        protocol: &str,
        fault: Fault,
        texts: [&'static str; 3],
        cx: &mut Cx<'_>,
    ) -> Verdict {
        let text = texts[fault as usize];
        if self.drops == 0 || self.verbose {
            let (name, class) = (cx.name(), &cx.info().class_name);
            // Click's CheckUDPHeader alone does not say which element it is.
            let who = if protocol == "UDP" { String::new() } else { format!("{name} :: {class}: ") };
            cx.chatter(&format!("{who}{protocol} header check failed: {text}"));
        }
        self.drops += 1;
        self.by_fault[fault as usize] += 1;
        cx.out_or_drop(1, text)
    }
}

/// The start of the checksum of a TCP or UDP segment of `len` bytes. The destination that counts is the last one of a
/// source route that the packet is still on (RFC 9293 §3.1, RFC 1122 §4.1.3.4).
pub fn pseudo_sum(ip: &Ipv4<'_>, len: usize) -> Sum {
    let destination = if ip.ihl() > 20 { final_destination(ip) } else { ip.destination() };
    Sum::ipv4_pseudo(ip.source(), destination, ip.protocol, len as u16)
}

fn final_destination(ip: &Ipv4<'_>) -> Ipv4Address {
    let routes = [option::LOOSE_SOURCE_ROUTE, option::STRICT_SOURCE_ROUTE];
    let route = ip.options().map_while(Result::ok).find(|o| routes.contains(&o.kind));
    let ahead = route.filter(|o| o.data.first().is_some_and(|&pointer| usize::from(pointer) <= o.len()));
    let last = ahead.and_then(|o| o.data.get(1..)?.last_chunk::<4>().copied());
    last.map_or(ip.destination(), Ipv4Address::from_octets)
}

//! CheckARPHeader: lets only well-formed ARP packets pass, and marks their header.

use super::fast::check_arp_header::Constants;
use clickwork_packet::Packet;
use clickwork_packet::headers::ethernet::ethertype;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::handler::Listed;
use clickwork_router::{Class, Cx, Element, Fast, FastPath, SimpleElement, Verdict, fast_path, read_handler};
use std::fmt::Write;

use super::vlan_tag::u16_at;

/// The class facts.
pub static CLASS: Class = Class {
    help: "checks ARP headers",
    manual: "Expects ARP packets (RFC 826), their header OFFSET bytes into the data, and marks it as network header. Packets \
             that are cut short, or whose address lengths do not fit their types, go to output 1, or are dropped. The \
             first, or with VERBOSE every, bad packet is reported.",
    example: "InfiniteSource(DATA \\<0001080006040001 0200000000030a000002 0000000000000a000001>, LIMIT 1, \
              STOP true) -> CheckARPHeader -> Discard",
    ports: "1/1-2",
    processing: "a/ah",
    packets: "only arp@OFFSET/mark arp@OFFSET,same",
    args: &[
        ArgSpec::positional("OFFSET", ArgType::U32, "0", "where the header begins"),
        ArgSpec::keyword("VERBOSE", ArgType::Bool, "false", "whether every bad packet is reported"),
        ArgSpec::keyword("DETAILS", ArgType::Bool, "false", "whether bad packets are counted by reason"),
    ],
    handlers: &[
        read_handler!("drops", "bad packets", |e: &mut CheckArpHeader, _| e.drops),
        read_handler!("drop_details", "bad packets by reason", |e: &mut CheckArpHeader, _| e.drop_details())
            .listed(Listed::IfTrue("DETAILS")),
    ],
    fast: Some(FastPath::of::<CheckArpHeader>()),
    ..Class::new("CheckARPHeader", "ethernet", || Box::<CheckArpHeader>::default())
};

/// What can be wrong, in Click's words and order.
const REASONS: [&str; 4] =
    ["tiny packet", "too small for addresses", "bad hardware type/length", "bad protocol type/length"];

/// The part of the header before the addresses.
const FIXED: usize = 8;
const ETHERNET: u16 = 1;

#[derive(Default)]
struct CheckArpHeader {
    constants: Constants,
    verbose: bool,
    details: bool,
    drops: u64,
    by_reason: [u64; REASONS.len()],
}

fast_path!(CheckArpHeader, check_arp_header);

/// The length of the ARP packet at the front of `data`, or what is wrong with it, as an index of [`REASONS`].
fn check(data: &[u8]) -> Result<usize, usize> {
    let fixed: &[u8; FIXED] = data.first_chunk().ok_or(0usize)?;
    let length = FIXED + 2 * usize::from(fixed[4]) + 2 * usize::from(fixed[5]);
    if data.len() < length {
        return Err(1);
    }
    if u16_at(fixed, 0) == Some(ETHERNET) && fixed[4] != 6 {
        return Err(2);
    }
    match (u16_at(fixed, 2), fixed[5]) {
        (Some(ethertype::IPV4), 4) | (Some(ethertype::IPV6), 16) => Ok(length),
        (Some(ethertype::IPV4 | ethertype::IPV6), _) => Err(3),
        _ => Ok(length),
    }
}

impl CheckArpHeader {
    fn drop_details(&self) -> Result<String, String> {
        if !self.details {
            return Err("bad packets are counted by reason only with DETAILS true".to_string());
        }
        let mut text = String::new();
        for (reason, count) in REASONS.iter().zip(self.by_reason) {
            // A String takes any text.
            let _ = writeln!(text, "{count}\t{reason}");
        }
        Ok(text)
    }

    #[cold]
    fn refuse(&mut self, reason: usize, cx: &mut Cx<'_>) -> Verdict {
        if self.drops == 0 || self.verbose {
            cx.chatter(&format!("ARP header check failed: {}", REASONS[reason]));
        }
        self.drops += 1;
        self.by_reason[reason] += 1;
        cx.out_or_drop(1, REASONS[reason])
    }
}

impl SimpleElement for CheckArpHeader {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let mut offset = 0u32;
        args.read("OFFSET", &mut offset)
            .read("VERBOSE", &mut self.verbose)
            .read("DETAILS", &mut self.details);
        self.constants.offset = offset as usize;
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        if let Some(port) = self.common(p) {
            return Verdict::Out(port);
        }
        match check(p.data().get(self.constants.offset..).unwrap_or_default()) {
            Ok(length) => {
                p.set_network_header(self.constants.offset as i32, length as u32);
                Verdict::PASS
            }
            Err(reason) => self.refuse(reason, cx),
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<CheckArpHeader>(old) {
            (self.drops, self.by_reason) = (old.drops, old.by_reason);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    /// An ARP packet with this fixed part and `rest` bytes behind it, two bytes into the data.
    fn arp(fixed: [u8; 8], rest: usize) -> Packet {
        Packet::new(&[b"xx".as_slice(), &fixed, &vec![0; rest]].concat())
    }

    #[test]
    fn good_headers_are_marked() {
        let mut t = Harness::new("s :: Source -> CheckARPHeader(2) -> k :: Sink");
        t.push("s", 0, [arp([0, 1, 8, 0, 6, 4, 0, 1], 20), arp([0, 9, 9, 9, 1, 1, 0, 1], 4)]);
        let marks: Vec<_> =
            t.take("k").iter().map(|p| (p.network_offset(), p.network_header_len())).collect();
        assert_eq!(marks, [(Some(2), Some(28)), (Some(2), Some(12))]);
    }

    #[test]
    fn faults_are_told_apart() {
        let mut t = Harness::new(
            "s :: Source -> c :: CheckARPHeader(2, DETAILS true) -> k :: Sink; c[1] -> bad :: Sink",
        );
        let bad = [
            Packet::new(b"xx\0\x01\x08\0\x06\x04\0"),
            arp([0, 1, 8, 0, 6, 4, 0, 1], 19),
            arp([0, 1, 8, 0, 5, 4, 0, 1], 20),
            arp([0, 1, 8, 0, 6, 5, 0, 1], 30),
            Packet::new(b"x"),
        ];
        t.push("s", 0, bad);
        let details = "2\ttiny packet\n1\ttoo small for addresses\n1\tbad hardware type/length\n\
                       1\tbad protocol type/length\n";
        assert_eq!((t.read("c.drop_details"), t.read("c.drops")), (details.into(), "5".into()));
        assert_eq!((t.take("bad").len(), t.printed()), (5, "ARP header check failed: tiny packet\n".into()));
    }
}

//! ARPPrint: shows ARP packets as tcpdump does.

use super::destination::Destination;
use super::tcpdump::Line;
use clickwork_packet::Packet;
use clickwork_packet::addr::{EtherAddress, Ipv4Address};
use clickwork_packet::headers::{EthernetHeader, Header};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, SimpleElement, Verdict, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "prints ARP packets in the manner of tcpdump",
    manual: "Passes every packet on and prints a line about it: LABEL, the timestamp, perhaps the Ethernet addresses, and \
             what the ARP packet asks or answers. The ARP header must be marked as network header (MarkIPHeader(14) does \
             it); packets without the mark, and ARP for other protocols than IPv4, pass in silence.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> MarkIPHeader -> ARPPrint(x) -> Discard",
    packets: "should arp/same",
    args: &[
        ArgSpec::positional("LABEL", ArgType::String, "", "printed first, with a colon"),
        ArgSpec::keyword("TIMESTAMP", ArgType::Bool, "true", "whether the timestamp is shown"),
        ArgSpec::keyword("ETHER", ArgType::Bool, "false", "whether the Ethernet addresses are shown"),
        ArgSpec::keyword("ACTIVE", ArgType::Bool, "true", "whether anything is printed"),
        ArgSpec::keyword("OUTFILE", ArgType::Filename, "", "print to this file instead"),
    ],
    handlers: &[read_handler!("active", "whether anything is printed", |e: &mut ArpPrint, _| e.active)
        .and_write(write_handler!("", "", |e: &mut ArpPrint, text, _| crate::values::store(
            &mut e.active,
            text,
            "boolean"
        )))],
    ..Class::new("ARPPrint", "print", || Box::<ArpPrint>::default())
};

struct ArpPrint {
    label: String,
    timestamp: bool,
    ether: bool,
    active: bool,
    destination: Destination,
}

impl Default for ArpPrint {
    fn default() -> ArpPrint {
        let (label, destination) = (String::new(), Destination::default());
        ArpPrint { label, timestamp: true, ether: false, active: true, destination }
    }
}

const IPV4: u16 = 0x0800;
/// IPv4 with trailer encapsulation (RFC 893).
const TRAILER: u16 = 0x1000;
const ETHERNET: u16 = 1;

/// An ARP packet for IPv4 over Ethernet, read field by field: unlike a header view, also if the hardware is another.
struct Arp<'a>(&'a [u8; 28]);

impl Arp<'_> {
    fn number(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.0[at], self.0[at + 1]])
    }

    fn ether(&self, at: usize) -> EtherAddress {
        EtherAddress(std::array::from_fn(|i| self.0[at + i]))
    }

    fn ip(&self, at: usize) -> Ipv4Address {
        Ipv4Address::from_octets(std::array::from_fn(|i| self.0[at + i]))
    }

    /// Whether this is about IPv4 addresses, and hardware addresses are there.
    fn is_ipv4(&self) -> bool {
        matches!(self.number(2), IPV4 | TRAILER) && self.0[4] != 0 && self.0[5] == 4
    }

    fn write(&self, line: &mut Line) {
        let (sender, sender_ip) = (self.ether(8), self.ip(14));
        let (target, target_ip) = (self.ether(18), self.ip(24));
        if self.number(2) == TRAILER {
            line.text("trailer-");
        }
        match self.number(6) {
            1 => {
                line.add(format_args!("arp who-has {target_ip}"));
                let known = &target.0[..usize::from(self.0[4]).min(6)];
                if known.iter().any(|&byte| byte != 0) {
                    line.add(format_args!(" ({target})"));
                }
                line.add(format_args!(" tell {sender_ip}"));
            }
            2 => line.add(format_args!("arp reply {sender_ip} is-at {sender}")),
            3 => line.add(format_args!("rarp who-is {target} tell {sender}")),
            4 => line.add(format_args!("rarp reply {target} at {target_ip}")),
            8 => line.add(format_args!("invarp who-is {target} tell {sender}")),
            9 => line.add(format_args!("invarp reply {target} at {target_ip}")),
            other => line.add(format_args!("arp-#{other}")),
        }
        if self.number(0) != ETHERNET {
            line.add(format_args!("hardware #{}", self.number(0)));
        }
    }
}

impl ArpPrint {
    fn text(&self, p: &Packet, network: &[u8]) -> Option<String> {
        let mut line = Line::default();
        if !self.label.is_empty() {
            line.add(format_args!("{}: ", self.label));
        }
        if self.timestamp {
            line.add(format_args!("{}: ", p.timestamp()));
        }
        if self.ether
            && let Some(header) = frame_before(p, network).and_then(EthernetHeader::peek)
        {
            line.add(format_args!("{} > {}: ", header.source, header.destination));
        }
        match network.first_chunk().map(Arp) {
            Some(arp) if arp.is_ipv4() => arp.write(&mut line),
            Some(_) => return None,
            None => line.add(format_args!("truncated-arp ({})", network.len())),
        }
        Some(line.0)
    }
}

/// The link header if it lies whole before the ARP packet.
fn frame_before<'a>(p: &'a Packet, network: &[u8]) -> Option<&'a [u8]> {
    let frame = p.mac_header().unwrap_or(p.data());
    let before = frame.len().checked_sub(network.len())?;
    frame.get(..before)
}

impl SimpleElement for ArpPrint {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("LABEL", &mut self.label).read("TIMESTAMP", &mut self.timestamp);
        args.read("ETHER", &mut self.ether).read("ACTIVE", &mut self.active);
        self.destination.configure(args);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.destination.open(cx)
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        if self.active
            && p.has_network_header()
            && let Some(text) = self.text(p, p.network_bytes().unwrap_or_default())
        {
            self.destination.line(&text, cx);
        }
        Verdict::PASS
    }

    fn cleanup(&mut self, cx: &mut Cx<'_>) {
        self.destination.close(cx);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    /// An ARP packet in a frame, its network header marked.
    fn arp(fixed: [u8; 8], target: u8) -> Packet {
        let mut bytes = vec![9; 6];
        bytes.extend([[7; 6], [7; 6]].concat());
        bytes.splice(12.., [8, 6]);
        bytes.extend(fixed);
        bytes.extend([7, 7, 7, 7, 7, 7, 10, 0, 0, 1]);
        bytes.extend([[target; 6].as_slice(), &[10, 0, 0, 2]].concat());
        let mut p = Packet::new(&bytes);
        p.set_network_header(14, 28);
        p
    }

    fn printed(args: &str, packets: impl IntoIterator<Item = Packet>) -> String {
        let mut t = Harness::new(&format!("s :: Source -> ARPPrint({args}) -> Discard"));
        t.push("s", 0, packets);
        t.printed()
    }

    #[test]
    fn questions_and_answers() {
        let packets = [1, 2, 3, 77].map(|op| arp([0, 1, 8, 0, 6, 4, 0, op], 0));
        assert_eq!(
            printed("x, TIMESTAMP 0", packets),
            "x: arp who-has 10.0.0.2 tell 10.0.0.1\nx: arp reply 10.0.0.1 is-at 07-07-07-07-07-07\n\
             x: rarp who-is 00-00-00-00-00-00 tell 07-07-07-07-07-07\nx: arp-#77\n"
        );
        let unicast = arp([0, 6, 0x10, 0, 6, 4, 0, 1], 5);
        assert_eq!(
            printed("ETHER true", [unicast]),
            "0.000000: 07-07-07-07-07-07 > 09-09-09-09-09-09: \
             trailer-arp who-has 10.0.0.2 (05-05-05-05-05-05) tell 10.0.0.1hardware #6\n"
        );
    }

    #[test]
    fn cut_packets_are_told_and_other_protocols_passed_over() {
        let mut cut = arp([0, 1, 8, 0, 6, 4, 0, 1], 0);
        cut.take(1);
        let other = arp([0, 1, 8, 1, 6, 4, 0, 1], 0);
        assert_eq!(printed("TIMESTAMP 0", [cut, other, Packet::new(b"x")]), "truncated-arp (27)\n");
    }
}

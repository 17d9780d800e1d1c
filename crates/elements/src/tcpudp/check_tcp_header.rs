//! CheckTCPHeader: lets only well-formed TCP packets through.

use super::fast::check_tcp_header::Constants;
use super::refusals::{ARGS, Fault, Refusals, pseudo_sum};
use clickwork_packet::Packet;
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::{Header, Ipv4, TcpHeader};
use clickwork_router::args::Args;
use clickwork_router::element::try_downcast;
use clickwork_router::handler::Listed;
use clickwork_router::{Class, Cx, Element, Fast, FastPath, SimpleElement, Verdict, fast_path, read_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "checks TCP headers",
    manual: "Lets packets through whose marked IP header carries TCP, with a header that fits and a right checksum. The \
             others go to output 1 if it is connected, and are dropped otherwise; the first of them (all of them with \
             VERBOSE) is reported.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> IPEncap(tcp, 1.0.0.1, 2.0.0.2) -> SetTCPChecksum(true) \
              -> CheckTCPHeader -> Discard",
    ports: "1/1-2",
    processing: "a/ah",
    packets: "only tcp/tcp,same",
    args: ARGS,
    handlers: &[
        read_handler!("drops", "bad packets", |e: &mut CheckTCPHeader, _| e.refusals.drops()),
        read_handler!("drop_details", "bad packets by reason", |e: &mut CheckTCPHeader, _| e
            .refusals
            .details(TEXTS))
        .listed(Listed::IfTrue("DETAILS")),
    ],
    fast: Some(FastPath::of::<CheckTCPHeader>()),
    ..Class::new("CheckTCPHeader", "tcpudp", || {
        Box::new(CheckTCPHeader { constants: Constants, refusals: Refusals::default() })
    })
};

const TEXTS: [&str; 3] = ["not TCP", "bad packet length", "bad TCP checksum"];

struct CheckTCPHeader {
    constants: Constants,
    refusals: Refusals,
}

fast_path!(CheckTCPHeader, check_tcp_header);

fn check(p: &Packet) -> Result<(), Fault> {
    let packet = p.network_header().ok_or(Fault::Protocol)?;
    let ip = Ipv4::new(packet).filter(|ip| ip.protocol == protocol::TCP).ok_or(Fault::Protocol)?;
    let segment = ip.payload();
    let is_whole = usize::from(ip.total_len()) == ip.ihl() + segment.len();
    let header = TcpHeader::peek(segment).filter(|_| is_whole).ok_or(Fault::Length)?;
    if header.data_offset() < 20 || header.data_offset() > segment.len() {
        return Err(Fault::Length);
    }
    match pseudo_sum(&ip, segment.len()).bytes(segment).finish() {
        0 => Ok(()),
        _ => Err(Fault::Checksum),
    }
}

impl SimpleElement for CheckTCPHeader {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        self.refusals.configure(args);
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        if let Some(port) = self.common(p) {
            return Verdict::Out(port);
        }
        match check(p) {
            Ok(()) => Verdict::PASS,
            Err(fault) => self.refusals.refuse("TCP", fault, TEXTS, cx),
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<CheckTCPHeader>(old) {
            self.refusals.take_counts(&old.refusals);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ip::samples::{Sample, ip};
    use crate::testing::Harness;

    fn tcp(offset: u8, len: usize) -> Sample {
        let mut segment = vec![7; len];
        segment[12] = offset << 4;
        ip("1.0.0.1", "2.0.0.2").payload(6, &segment)
    }

    #[test]
    fn faults_are_told_apart() {
        let mut t = Harness::new(
            "s :: Source -> SetTCPChecksum -> c :: CheckTCPHeader(DETAILS true) -> k :: Sink; c[1] -> x :: Sink;
             raw :: Source -> c",
        );
        t.push("s", 0, [tcp(5, 23).marked(), tcp(6, 24).marked(), tcp(7, 24).marked(), tcp(4, 24).marked()]);
        let mut cut = tcp(5, 23).marked();
        cut.take(1);
        t.push("raw", 0, [tcp(5, 23).marked(), tcp(5, 23).packet(), ip("1.0.0.1", "2.0.0.2").marked(), cut]);
        assert_eq!((t.bytes("k").len(), t.bytes("x").len()), (2, 6));
        assert_eq!(t.read("c.drop_details"), "2\tnot TCP\n3\tbad packet length\n1\tbad TCP checksum\n");
        assert_eq!(t.printed(), "c :: CheckTCPHeader: TCP header check failed: bad packet length\n");
    }

    #[test]
    fn a_source_route_counts_by_its_last_address() {
        // The checksum for 3.0.0.3, to which the route leads.
        let segment = |destination: &str| {
            let mut t = Harness::new("s :: Source -> SetTCPChecksum -> Strip(20) -> k :: Sink");
            t.push("s", 0, [ip("1.0.0.1", destination).payload(6, &tcp(5, 20).bytes()[20..]).marked()]);
            t.bytes("k").remove(0)
        };
        for (pointer, destination) in [(4, "3.0.0.3"), (8, "2.0.0.2")] {
            let routed = ip("1.0.0.1", "2.0.0.2").options(&[131, 7, pointer, 3, 0, 0, 3]);
            let mut t = Harness::new("s :: Source -> CheckTCPHeader -> k :: Sink");
            t.push("s", 0, [routed.payload(6, &segment(destination)).marked()]);
            assert_eq!(t.bytes("k").len(), 1, "{pointer}");
        }
    }
}

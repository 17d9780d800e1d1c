//! TCPIPSend: sends TCP segments by handler.

use crate::ip::prepend::prepend;
use clickwork_packet::Packet;
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::headers::ipv4::{DONT_FRAGMENT, protocol};
use clickwork_packet::headers::{Header, Ipv4Header, TcpHeader, TcpMut};
use clickwork_router::args::{ArgSpec, ArgType, Args, TcpPort};
use clickwork_router::{Class, Cx, Element, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sends TCP segments when told to",
    manual: "The handler send takes source address, source port, destination address, destination port, sequence number, \
             acknowledgment number and control bits, all but the addresses as numbers, and sends a TCP segment of these \
             without options and payload. Its window is 32120. COUNT, 1 if it is left out, says how many times it is \
             sent; if STOP behind that is true, the driver is stopped afterwards.",
    example: "t :: TCPIPSend -> CheckIPHeader -> CheckTCPHeader -> Discard; \
              DriverManager(write t.send 1.0.0.1 1 2.0.0.2 80 7 0 2, stop)",
    ports: "0/1",
    processing: "h/h",
    packets: "/new tcp",
    handlers: &[write_handler!("send", "sends the segment described", |_: &mut TcpIpSend, text, cx| {
        send(text, cx)
    })],
    ..Class::new("TCPIPSend", "tcpudp", || Box::new(TcpIpSend))
};

const SEND: &[ArgSpec] = &[
    ArgSpec::required("SRC", ArgType::IpAddr, "source address"),
    ArgSpec::required("SPORT", ArgType::TcpPort, "source port"),
    ArgSpec::required("DST", ArgType::IpAddr, "destination address"),
    ArgSpec::required("DPORT", ArgType::TcpPort, "destination port"),
    ArgSpec::required("SEQNO", ArgType::U32, "sequence number"),
    ArgSpec::required("ACKNO", ArgType::U32, "acknowledgment number"),
    ArgSpec::required("FLAGS", ArgType::U8, "control bits"),
    ArgSpec::positional("COUNT", ArgType::U32, "1", "how many times it is sent"),
    ArgSpec::positional("STOP", ArgType::Bool, "false", "whether the driver is stopped then"),
];

const TTL: u8 = 255;
const WINDOW: u16 = 32_120;

struct TcpIpSend;

impl Element for TcpIpSend {}

fn send(text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
    let mut args = Args::from_words(SEND, text, &cx.names());
    let port = |port: Option<TcpPort>| port.map_or(0, |TcpPort(port)| port);
    let address = |a: Option<Ipv4Address>| a.unwrap_or(Ipv4Address::UNSPECIFIED);
    let mut ip = Ipv4Header::default();
    (ip.protocol, ip.ttl) = (protocol::TCP, TTL);
    ip.set_fragment_field(DONT_FRAGMENT);
    ip.set_source(address(args.get("SRC")));
    ip.set_destination(address(args.get("DST")));
    let mut tcp = TcpHeader::default();
    tcp.set_source_port(port(args.get("SPORT")));
    tcp.set_destination_port(port(args.get("DPORT")));
    tcp.set_sequence(args.get("SEQNO").unwrap_or(0));
    tcp.set_acknowledgment(args.get("ACKNO").unwrap_or(0));
    tcp.flags = args.get("FLAGS").unwrap_or(0);
    tcp.set_window(WINDOW);
    let (count, stop) = (args.get("COUNT").unwrap_or(1u32), args.get("STOP").unwrap_or(false));
    args.finish().map_err(|e| e.to_string())?;
    for _ in 0..count {
        cx.emit(0, encapsulate(ip, tcp).ok_or("no such segment")?);
    }
    if stop {
        cx.stop_driver();
    }
    Ok(())
}

/// The packet of these two headers, with the TCP checksum made right.
fn encapsulate(ip: Ipv4Header, tcp: TcpHeader) -> Option<Packet> {
    let mut p = Packet::new(b"");
    let (ip, segment) = prepend(&mut p, ip, size_of::<TcpHeader>())?;
    let pseudo = ip.pseudo_sum(segment.len() as u16);
    *TcpHeader::peek_mut(segment)? = tcp;
    TcpMut::new(segment)?.fill_checksum(pseudo);
    // The next hop is for others to find.
    p.set_dst_ip(Ipv4Address::UNSPECIFIED);
    Some(p)
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_router::Outcome;

    #[test]
    fn segments_are_sent_as_described() {
        let mut t = Harness::new("t :: TCPIPSend -> CheckIPHeader -> CheckTCPHeader -> k :: Sink");
        t.write("t.send 1.0.0.1 258 2.0.0.2 80 16909060 5 18").unwrap();
        t.run();
        let bytes = t.bytes("k").remove(0);
        assert_eq!(bytes[..10], *b"\x45\0\0\x28\0\0\x40\0\xff\x06");
        assert_eq!(bytes[20..36], *b"\x01\x02\0\x50\x01\x02\x03\x04\0\0\0\x05\x50\x12\x7d\x78");
    }

    #[test]
    fn a_segment_can_be_sent_many_times() {
        let mut t = Harness::new("t :: TCPIPSend -> k :: Sink");
        for (end, count) in [("", 1), (" 3", 3), (" 0", 0), (" 2 false", 2)] {
            t.write(&format!("t.send 1.0.0.1 1 2.0.0.2 80 1 5 2{end}")).unwrap();
            t.run();
            assert_eq!(t.take("k").len(), count, "{end}");
        }
        let mut t = Harness::new("t :: TCPIPSend -> k :: Sink; InfiniteSource -> Discard");
        t.write("t.send 1.0.0.1 1 2.0.0.2 80 1 5 2 1 true").unwrap();
        assert_eq!(t.run(), Outcome::Stopped);
    }

    #[test]
    fn a_wrong_description_is_refused() {
        let mut t = Harness::new("t :: TCPIPSend -> k :: Sink");
        assert!(t.write("t.send 1.0.0.1 1 2.0.0.2 80 1 5").unwrap_err().contains("FLAGS"));
        assert!(t.write("t.send 1.0.0.1 1 2.0.0.2 80 1 x 2").unwrap_err().contains("ACK"));
        assert!(t.write("t.send 1.0.0.1 1 2.0.0.2 80 1 5 2 1 false 9").is_err());
        t.run();
        assert!(t.take("k").is_empty());
    }
}

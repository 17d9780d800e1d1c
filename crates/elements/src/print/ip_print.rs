//! IPPrint: shows IP packets as tcpdump does.

use super::destination::Destination;
use super::dump::{Contents, first, rows};
use super::tcpdump::{IpPacket, Line};
use clickwork_packet::{Packet, anno};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, SimpleElement, Verdict, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "prints IP packets in the manner of tcpdump",
    manual: "Passes every packet on and prints a line about it: LABEL, the timestamp, addresses and ports, and what the \
             TCP, UDP or ICMP header says. For TCP the numbers in parentheses are the length in sequence numbers, the \
             packet's length and the IP length. CONTENTS adds the packet's bytes, PAYLOAD only those behind the transport \
             header, up to MAXLENGTH. The IP header must be marked; packets without the mark pass in silence.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> MarkIPHeader -> IPPrint(x, CONTENTS HEX) -> Discard",
    packets: "should ip/same",
    args: &[
        ArgSpec::positional("LABEL", ArgType::String, "", "printed first, with a colon"),
        ArgSpec::keyword("CONTENTS", ArgType::Choice(FORMS), "NONE", "how the packet's bytes are shown"),
        ArgSpec::keyword("PAYLOAD", ArgType::Choice(FORMS), "NONE", "how the payload's bytes are shown"),
        ArgSpec::keyword("MAXLENGTH", ArgType::I32, "1500", "bytes that are shown; -1: all"),
        ArgSpec::keyword("NBYTES", ArgType::I32, "1500", "older name of MAXLENGTH"),
        ArgSpec::keyword("ID", ArgType::Bool, "false", "whether the IP identification is shown"),
        ArgSpec::keyword("TIMESTAMP", ArgType::Bool, "true", "whether the timestamp is shown"),
        ArgSpec::keyword("PAINT", ArgType::Bool, "false", "whether the paint annotation is shown"),
        ArgSpec::keyword("TOS", ArgType::Bool, "false", "whether the type of service is shown"),
        ArgSpec::keyword("TTL", ArgType::Bool, "false", "whether the time to live is shown"),
        ArgSpec::keyword("SWAP", ArgType::Bool, "true", "whether ICMP numbers are shown in network order"),
        ArgSpec::keyword("LENGTH", ArgType::Bool, "false", "whether the IP length is shown"),
        ArgSpec::keyword("AGGREGATE", ArgType::Bool, "false", "whether the aggregate annotation is shown"),
        ArgSpec::keyword("ACTIVE", ArgType::Bool, "true", "whether anything is printed"),
        ArgSpec::keyword("OUTFILE", ArgType::Filename, "", "print to this file instead"),
        ArgSpec::keyword("CHANNEL", ArgType::Word, "", "print to the ChatterSockets of this channel instead"),
    ],
    handlers: &[read_handler!("active", "whether anything is printed", |e: &mut IpPrint, _| e.active)
        .flags(".c")
        .and_write(write_handler!("", "", |e: &mut IpPrint, text, _| crate::values::store(
            &mut e.active,
            text,
            "boolean"
        )))],
    ..Class::new("IPPrint", "print", || Box::<IpPrint>::default())
};

const FORMS: &[&str] = &["NONE", "HEX", "ASCII"];

/// Which header fields are shown.
#[derive(Default)]
struct Fields {
    timestamp: bool,
    aggregate: bool,
    paint: bool,
    id: bool,
    ttl: bool,
    tos: bool,
    length: bool,
}

struct IpPrint {
    label: String,
    fields: Fields,
    contents: Contents,
    payload: Contents,
    limit: i32,
    swap: bool,
    active: bool,
    destination: Destination,
}

impl Default for IpPrint {
    fn default() -> IpPrint {
        IpPrint {
            label: String::new(),
            fields: Fields { timestamp: true, ..Fields::default() },
            contents: Contents::None,
            payload: Contents::None,
            limit: 1500,
            swap: true,
            active: true,
            destination: Destination::default(),
        }
    }
}

impl IpPrint {
    fn text(&self, p: &Packet, network: &[u8]) -> String {
        let mut line = Line::default();
        self.heading(p, &mut line);
        let header_len = p.network_header_len().map_or(usize::MAX, |length| length as usize);
        let Some(ip) = IpPacket::new(network, header_len, p.len()) else {
            line.text("truncated-ip");
            return line.0;
        };
        self.header(&ip, &mut line);
        ip.write(&mut line, self.swap);
        rows(&mut line.0, first(p.data(), self.limit), self.contents);
        rows(&mut line.0, first(ip.payload(header_len), self.limit), self.payload);
        line.0
    }

    fn heading(&self, p: &Packet, line: &mut Line) {
        let Fields { timestamp, aggregate, paint, .. } = self.fields;
        if !self.label.is_empty() {
            line.add(format_args!("{}: ", self.label));
        }
        if timestamp {
            line.add(format_args!("{}: ", p.timestamp()));
        }
        if aggregate {
            line.add(format_args!("#{}", p.anno_u32(anno::AGGREGATE)));
        }
        if paint {
            line.add(format_args!("{}{}", if aggregate { "." } else { "paint " }, p.paint()));
        }
        if aggregate || paint {
            line.text(": ");
        }
    }

    fn header(&self, ip: &IpPacket<'_>, line: &mut Line) {
        let (fields, header) = (&self.fields, ip.header);
        let shown = [
            (fields.id, "id", header.identification()),
            (fields.ttl, "ttl", header.ttl.into()),
            (fields.tos, "tos", header.tos.into()),
            (fields.length, "length", header.total_len()),
        ];
        for (_, name, value) in shown.iter().filter(|(wanted, ..)| *wanted) {
            line.add(format_args!("{name} {value} "));
        }
    }
}

impl SimpleElement for IpPrint {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        args.read("LABEL", &mut self.label);
        self.contents = Contents::read(args, "CONTENTS", Contents::None);
        self.payload = Contents::read(args, "PAYLOAD", Contents::None);
        if self.contents != Contents::None && self.payload != Contents::None {
            args.error("specify at most one of PAYLOAD and CONTENTS");
        }
        args.read("MAXLENGTH", &mut self.limit).read("NBYTES", &mut self.limit);
        let f = &mut self.fields;
        args.read("ID", &mut f.id).read("TIMESTAMP", &mut f.timestamp).read("PAINT", &mut f.paint);
        args.read("TOS", &mut f.tos).read("TTL", &mut f.ttl).read("LENGTH", &mut f.length);
        args.read("AGGREGATE", &mut f.aggregate).read("SWAP", &mut self.swap);
        args.read("ACTIVE", &mut self.active);
        self.destination.configure(args);
        self.destination.configure_channel(args, cx);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.destination.open(cx)
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        if self.active && p.has_network_header() {
            let text = self.text(p, p.network_bytes().unwrap_or_default());
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
    use crate::ip::samples::ip;
    use crate::testing::Harness;
    use clickwork_packet::{Packet, Timestamp, anno};

    fn printed(args: &str, packets: impl IntoIterator<Item = Packet>) -> String {
        let mut t = Harness::new(&format!("s :: Source -> IPPrint({args}) -> k :: Sink"));
        t.push("s", 0, packets);
        t.printed()
    }

    fn udp() -> Packet {
        let mut p = ip("1.0.0.1", "2.0.0.2").payload(17, b"\0\x01\0\x02\0\x0b\0\0abc").ttl(9).marked();
        p.set_timestamp(Timestamp::new(7, 0));
        p.set_paint(3);
        p.set_anno_u32(anno::AGGREGATE, 5);
        p
    }

    #[test]
    fn fields_are_shown_as_asked() {
        let plain = "1.0.0.1.1 > 2.0.0.2.2: udp 11\n";
        assert_eq!(printed("", [udp()]), format!("7.000000: {plain}"));
        assert_eq!(printed("x, PAINT true", [udp()]), format!("x: 7.000000: paint 3: {plain}"));
        assert_eq!(
            printed("TIMESTAMP false, AGGREGATE true, PAINT true, ID 1, TTL 1, TOS 1, LENGTH 1", [udp()]),
            format!("#5.3: id 0 ttl 9 tos 0 length 31 {plain}")
        );
    }

    #[test]
    fn contents_are_the_packet_and_the_payload_is_what_the_transport_carries() {
        let (mut other, line) = (udp(), "1.0.0.1.1 > 2.0.0.2.2: udp 11\n");
        assert_eq!(printed("TIMESTAMP 0, PAYLOAD HEX, MAXLENGTH 2", [udp()]), format!("{line}  6162\n"));
        other.pull(28);
        assert_eq!(printed("TIMESTAMP 0, CONTENTS ASCII", [other]), format!("{line}  abc\n"));
        let e = Harness::errors("Idle -> IPPrint(CONTENTS HEX, PAYLOAD HEX) -> Discard");
        assert!(e.contains("specify at most one of PAYLOAD and CONTENTS"), "{e}");
        let e = Harness::errors("Idle -> IPPrint(PAYLOAD octal) -> Discard");
        assert!(e.contains("bad payload value 'OCTAL'; should be 'false', 'hex', or 'ascii'"), "{e}");
    }

    #[test]
    fn what_is_no_ip_packet_is_passed_over_or_called_truncated() {
        let mut short = Packet::new(&[0x45; 19]);
        short.set_network_header(0, 20);
        assert_eq!(printed("TIMESTAMP 0", [Packet::new(b"x"), short]), "truncated-ip\n");
    }

    #[test]
    fn a_file_gets_the_lines_when_the_router_stops() {
        let path = clickwork_oracles::unused("clickwork-ip-print");
        let config = format!("s :: Source -> IPPrint(OUTFILE {}, TIMESTAMP 0) -> Discard", path.display());
        let mut t = Harness::new(&config);
        t.push("s", 0, [udp(), udp()]);
        t.router.cleanup();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!((text, t.printed()), ("1.0.0.1.1 > 2.0.0.2.2: udp 11\n".repeat(2), String::new()));
        let e = Harness::errors("Idle -> IPPrint(OUTFILE /proc/nonexistent/dir/x) -> Discard");
        assert!(e.contains("/proc/nonexistent/dir/x: No such file"), "{e}");
    }
}

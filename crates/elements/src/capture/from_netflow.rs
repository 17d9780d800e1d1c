//! FromNetFlowSummaryDump: makes a packet of each line of a text about NetFlow records.

use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::headers::{Ipv4Mut, ipv4::protocol};
use clickwork_packet::{Batch, Packet, Timestamp, anno};
use clickwork_router::args::{ArgSpec, ArgType, Args, Filename, FromArg, Names, Word};
use clickwork_router::element::try_downcast;
use clickwork_router::notify::{NotifierKind, Search};
use clickwork_router::{Class, Cx, Element, Ready, TaskStep, read_handler, write_handler};
use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;

use super::error::system_message;
use super::flow::{Activity, Encapsulation, Pace, set_first_timestamp};
use super::input::{Input, Patience};
use super::linktype::LinkType;
use super::series::Series;

/// The class facts.
pub static CLASS: Class = Class {
    help: "makes packets from a text of NetFlow records",
    manual: "Makes an IP packet of each line of a file with fields separated by '|', as tools for NetFlow export print them: \
             source, destination, next hop, input and output interface, packets, bytes, seconds of the first and the last \
             packet, source and destination port, padding, TCP flags, protocol, type of service. Lines that begin with '!' or \
             '#' are comments; a line that cannot be read ends the file, with a message. The packet has the timestamp of the \
             last packet, the first-timestamp, extra-packets and extra-length annotations tell the rest, and its paint is \
             the interface: the input (LINK input), the output, or 16 times the input plus the output, each up to 15 (LINK \
             both). With MULTIPACKET a line makes as many packets as it tells of, with timestamps in equal steps, all with \
             the line's first timestamp. With TIMING they leave at the intervals of their timestamps.",
    ports: "0/1",
    packets: "/ip",
    args: &[
        ArgSpec::required("FILENAME", ArgType::Filename, "the file"),
        ArgSpec::keyword("STOP", ArgType::Bool, "false", "whether the driver stops at the end"),
        ArgSpec::keyword("ACTIVE", ArgType::Bool, "true", "whether packets are emitted"),
        ArgSpec::keyword("ZERO", ArgType::Bool, "true", "without effect: what no field says is zero"),
        ArgSpec::keyword("MULTIPACKET", ArgType::Bool, "false", "whether a line can make several packets"),
        ArgSpec::keyword(
            "LINK",
            ArgType::Choice(&["input", "output", "both"]),
            "input",
            "which interface the paint is",
        ),
        ArgSpec::keyword("TIMING", ArgType::Bool, "false", "whether packets keep their distance in time"),
    ],
    handlers: &[
        read_handler!("filename", "the file", |e: &mut FromNetFlow, _| e.shown_name()),
        read_handler!("filesize", "its size in bytes, - if it has none", |e: &mut FromNetFlow, _| e
            .input
            .as_ref()
            .and_then(Input::size)
            .map_or_else(|| "-".to_owned(), |size| size.to_string())),
        read_handler!("filepos", "offset of the next line", |e: &mut FromNetFlow, _| e
            .input
            .as_ref()
            .map_or(0, Input::offset)),
        read_handler!("active", "whether packets are emitted", |e: &mut FromNetFlow, _| e.activity.active)
            .flags("c")
            .and_write(write_handler!("", "", |e: &mut FromNetFlow, text, cx| {
                e.activity.set(crate::values::parse(text, "").map_err(|_| "type mismatch")?, cx);
                Ok::<(), String>(())
            })),
        read_handler!("encap", "link type of the packets", |_e: &mut FromNetFlow, _| "IP"),
    ],
    task_handlers: true,
    ..Class::new("FromNetFlowSummaryDump", "capture", || Box::<FromNetFlow>::default())
};

/// A longer line is not believed.
const MAX_LINE: usize = 1 << 16;
/// Fields that a line must have.
const FIELDS: usize = 15;
/// Of them so many must be readable.
const READABLE: usize = 10;
const HEADERS: usize = 40;
const IP_HEADER: usize = 20;
const UDP_HEADER: usize = 8;

/// Which interface becomes the paint.
#[derive(Clone, Copy, Default)]
enum Link {
    #[default]
    Input,
    Output,
    Both,
}

#[derive(Default)]
struct FromNetFlow {
    name: String,
    input: Option<Input>,
    /// Whether a pipe has not brought the next line yet.
    waiting: bool,
    line: u64,
    stop: bool,
    multipacket: bool,
    link: Link,
    pace: Pace,
    activity: Activity,
    /// Packets of a line that were not yet emitted.
    pending: Option<Series>,
}

/// The paint of a packet between two interfaces.
fn paint(link: Link, input: Option<u32>, output: Option<u32>) -> Option<u8> {
    Some(match link {
        Link::Input => input?.min(255) as u8,
        Link::Output => output?.min(255) as u8,
        Link::Both => (input?.min(15) << 4 | output?.min(15)) as u8,
    })
}

/// The packet that a line describes; none if too little of it can be read.
fn packet_of(line: &str, link: Link) -> Option<Packet> {
    let words: Vec<&str> = line.split('|').collect();
    if words.len() < FIELDS {
        return None;
    }
    let number = |at: usize| u32::from_arg(words[at], &Names::default()).ok();
    let byte = |at: usize| number(at).and_then(|n| u8::try_from(n).ok());
    let port = |at: usize| number(at).and_then(|n| u16::try_from(n).ok());
    let address = |at: usize| Ipv4Address::from_arg(words[at], &Names::default()).ok();
    let (source, destination) = (address(0), address(1));
    let paint = paint(link, number(3), number(4));
    let (packets, bytes, first, last) = (number(5), number(6), number(7), number(8));
    let (source_port, destination_port) = (port(9), port(10));
    let (flags, protocol, tos) = (byte(12), byte(13), byte(14));
    let readable = [source, destination].iter().filter(|a| a.is_some()).count()
        + [packets, bytes, first, last].iter().filter(|n| n.is_some()).count()
        + [source_port, destination_port].iter().filter(|n| n.is_some()).count()
        + [paint, flags, protocol, tos].iter().filter(|n| n.is_some()).count();
    if readable < READABLE {
        return None;
    }
    let (protocol, bytes) = (protocol.unwrap_or(0), bytes.unwrap_or(0));
    let length = bytes.min(65_535) as u16;
    let mut data = [0; HEADERS];
    let ports = [source_port, destination_port].map(|port| port.unwrap_or(0).to_be_bytes()).concat();
    data[IP_HEADER..IP_HEADER + 4].copy_from_slice(&ports);
    let size = match protocol {
        protocol::TCP => HEADERS,
        protocol::UDP => IP_HEADER + UDP_HEADER,
        _ => IP_HEADER,
    };
    if protocol == protocol::TCP {
        (data[IP_HEADER + 12], data[IP_HEADER + 13]) = (0x50, flags.unwrap_or(0));
    } else if protocol == protocol::UDP {
        let udp_length = length.wrapping_sub(IP_HEADER as u16).to_be_bytes();
        data[IP_HEADER + 4..IP_HEADER + 6].copy_from_slice(&udp_length);
    }
    data[0] = 0x45;
    let mut ip = Ipv4Mut::new(&mut data)?;
    (ip.tos, ip.protocol) = (tos.unwrap_or(0), protocol);
    ip.set_total_len(length);
    ip.set_source(source.unwrap_or(Ipv4Address::new(0, 0, 0, 0)));
    ip.set_destination(destination.unwrap_or(Ipv4Address::new(0, 0, 0, 0)));
    let mut p = Packet::new(&data[..size]);
    p.set_network_header(0, IP_HEADER as u32);
    let first = first.map_or(0, i64::from);
    let last = last.map_or(0, i64::from);
    set_first_timestamp(&mut p, Timestamp::new(first, 0).nanos());
    p.set_timestamp(Timestamp::new(if last == 0 { first } else { last }, 0));
    p.set_anno_u32(anno::EXTRA_PACKETS, packets.unwrap_or(1).saturating_sub(1));
    p.set_anno_u32(anno::EXTRA_LENGTH, bytes.saturating_sub(size as u32));
    p.set_paint(paint.unwrap_or(0));
    Some(p)
}

impl FromNetFlow {
    fn shown_name(&self) -> String {
        if self.name == "-" { "<stdin>".to_owned() } else { self.name.clone() }
    }

    /// The next line that is no comment.
    fn read_line(&mut self) -> io::Result<Option<String>> {
        let Some(input) = &mut self.input else { return Ok(None) };
        loop {
            let length = input.line_length(MAX_LINE)?;
            if length == 0 {
                return Ok(None);
            }
            let line = clickwork_source::text::decode(&input.available()[..length]).trim_end().to_owned();
            input.consume(length);
            self.line += 1;
            if !line.is_empty() && !line.starts_with(['!', '#']) {
                return Ok(Some(line));
            }
        }
    }

    fn read(&mut self, cx: &mut Cx<'_>) -> Option<Series> {
        self.waiting = false;
        let problem = match self.read_line() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.waiting = true;
                return None;
            }
            Ok(None) => return None,
            Ok(Some(line)) => match packet_of(&line, self.link) {
                Some(p) => return Some(Series::new(p, self.multipacket)),
                None => "bad format".to_owned(),
            },
            Err(error) => system_message(&error),
        };
        cx.chatter(&format!("{}:{}: {problem}", self.shown_name(), self.line));
        self.input = None;
        None
    }

    /// The next packet if its time has come. `Err` says whether there may be more soon.
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Packet, bool> {
        let Some(series) = self.pending.take().or_else(|| self.read(cx)) else {
            if let Some(pipe) = self.input.as_ref().filter(|_| self.waiting).and_then(Input::waits_for) {
                self.activity.wait_for(pipe, cx);
            } else if self.stop {
                cx.stop_driver();
            }
            return Err(false);
        };
        if !self.pace.is_due(series.timestamp(), cx) {
            self.pending = Some(series);
            return Err(false);
        }
        let (packet, rest) = series.take();
        self.pending = rest;
        Ok(packet)
    }

    /// Fills a batch with up to `limit` packets. The second value says whether there may be more soon.
    fn fill(&mut self, limit: usize, cx: &mut Cx<'_>) -> (Batch, bool) {
        let mut batch = cx.fresh_batch();
        while batch.len() < limit && self.activity.active {
            match self.next(cx) {
                Ok(packet) => batch.push(packet),
                Err(more) => return (batch, more),
            }
        }
        (batch, self.activity.active)
    }
}

impl Element for FromNetFlow {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        if let Some(Filename(name)) = args.get("FILENAME") {
            self.name = clickwork_source::text::from_os(name);
        }
        args.read("STOP", &mut self.stop)
            .read("ACTIVE", &mut self.activity.active)
            .read("MULTIPACKET", &mut self.multipacket)
            .read("TIMING", &mut self.pace.enabled);
        if let Some(Word(link)) = args.get("LINK") {
            match link.to_lowercase().as_str() {
                "input" => self.link = Link::Input,
                "output" => self.link = Link::Output,
                "both" => self.link = Link::Both,
                _ => args.error("'LINK' should be 'input', 'output', or 'both'"),
            }
        }
        let empty = cx.export_notifier(NotifierKind::Empty, Search::Stop);
        self.activity.set_notifier(empty);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        cx.export(Arc::new(Encapsulation::new(LinkType::IP)));
        let opened = Input::open(&self.name, Patience::of(cx));
        let input = opened.map_err(|e| format!("{}: {}", self.shown_name(), system_message(&e)))?;
        self.input = Some(input);
        self.activity.find_readers(cx);
        self.activity.set(self.activity.active, cx);
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        if !self.activity.may_push(cx) {
            return TaskStep::Sleep;
        }
        let (batch, more) = self.fill(cx.batch_limit(), cx);
        cx.emit_batch(0, batch);
        if more { TaskStep::Again } else { TaskStep::Sleep }
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let (batch, more) = self.fill(limit, cx);
        if !more {
            self.activity.sleep(cx);
        }
        batch
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        self.activity.wake(cx);
    }

    fn selected(&mut self, fd: RawFd, _: Ready, cx: &mut Cx<'_>) {
        cx.unwatch(fd);
        self.activity.wake(cx);
    }

    /// A file that stays the same is read on where it was.
    fn take_state(&mut self, old: &mut dyn Element, cx: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<FromNetFlow>(old).filter(|old| old.name == self.name) {
            self.input = old.input.take();
            self.pending = old.pending.take();
            self.line = old.line;
            self.pace.inherit(&old.pace);
            self.activity.wake(cx);
        }
    }

    fn cleanup(&mut self, _: &mut Cx<'_>) {
        self.input = None;
        self.pending = None;
    }
}

#[cfg(test)]
mod tests {
    use crate::capture::first_timestamp;
    use crate::testing::Harness;
    use clickwork_packet::headers::{Ipv4, Tcp};
    use clickwork_packet::{Packet, Timestamp, anno};
    use clickwork_router::Outcome;

    fn packets(test: &str, text: &str, args: &str) -> (Vec<Packet>, String) {
        let name = clickwork_oracles::unused(&format!("clickwork-netflow-{test}"));
        std::fs::write(&name, text).unwrap();
        let mut t = Harness::new(&format!(
            "FromNetFlowSummaryDump({}, STOP true{args}) -> k :: Sink",
            name.display()
        ));
        assert_eq!(t.run(), Outcome::Stopped);
        std::fs::remove_file(&name).unwrap();
        (t.take("k"), t.printed().replace(&name.display().to_string(), "FILE"))
    }

    const TCP: &str = "10.0.0.1|10.0.0.2|0.0.0.0|7|300|4|400|100|106|80|4000|0|18|6|16|0|0";

    #[test]
    fn lines_become_packets() {
        let text = format!("# comment\n\n{TCP}\n1.1.1.1|2.2.2.2|0|1|2|1|28|5|0|53|54|0|0|17|0\n");
        let (got, printed) = packets("lines", &text, "");
        assert_eq!((got.len(), printed.as_str()), (2, ""));
        let ip = Ipv4::new(got[0].data()).unwrap();
        assert_eq!((ip.source().to_string(), ip.total_len(), ip.tos), ("10.0.0.1".into(), 400, 16));
        let tcp = Tcp::new(&got[0].data()[20..]).unwrap();
        assert_eq!((tcp.source_port(), tcp.destination_port(), tcp.flags), (80, 4000, 18));
        assert_eq!(got[0].timestamp(), Timestamp::new(106, 0));
        assert_eq!(first_timestamp(&got[0]), 100_000_000_000);
        assert_eq!((got[0].anno_u32(anno::EXTRA_PACKETS), got[0].anno_u32(anno::EXTRA_LENGTH)), (3, 360));
        assert_eq!((got[0].paint(), got[1].paint()), (7, 1));
        assert_eq!((got[1].len(), got[1].timestamp()), (28, Timestamp::new(5, 0)));
    }

    #[test]
    fn interfaces_paint_and_records_divide() {
        for (link, paint) in [("output", 255), ("BOTH", 0x7f), ("Input", 7)] {
            assert_eq!(packets(link, TCP, &format!(", LINK {link}")).0[0].paint(), paint, "{link}");
        }
        let (got, _) = packets("divide", TCP, ", MULTIPACKET true");
        let lengths: Vec<_> = got.iter().map(|p| Ipv4::new(p.data()).unwrap().total_len()).collect();
        let times: Vec<_> = got.iter().map(|p| p.timestamp().seconds()).collect();
        assert_eq!((lengths, times), (vec![100; 4], vec![100, 102, 104, 106]));
        for p in &got {
            assert_eq!(first_timestamp(p), 100_000_000_000);
            assert_eq!((p.anno_u32(anno::EXTRA_PACKETS), p.anno_u32(anno::EXTRA_LENGTH)), (0, 60));
        }
    }

    #[test]
    fn a_record_divides_as_far_as_its_bytes_and_times_go() {
        let lengths_and_times = |test: &str, line: &str| {
            let (got, _) = packets(test, line, ", MULTIPACKET true");
            got.iter()
                .map(|p| (p.len() as u32 + p.anno_u32(anno::EXTRA_LENGTH), p.timestamp().seconds()))
                .collect::<Vec<_>>()
        };
        // 31 bytes and 3 packets: what is left over belongs to the last.
        let udp = "1.0.0.1|2.0.0.2|0|1|2|3|100|0|9|1|2|0|0|17|0";
        assert_eq!(lengths_and_times("rest", udp), [(33, 9), (33, 9), (34, 9)]);
        // Fewer bytes than headers, and no end.
        let tcp = "1.0.0.1|2.0.0.2|0|1|2|2|50|7|0|1|2|0|0|6|0";
        assert_eq!(lengths_and_times("few", tcp), [(40, 7), (40, 7)]);
    }

    /// The first packet of a flow leaves when the flow begins.
    #[test]
    fn with_timing_packets_leave_at_their_own_times() {
        let name = clickwork_oracles::unused("clickwork-netflow-timing");
        std::fs::write(&name, TCP).unwrap();
        let mut t = Harness::new(&format!(
            "FromNetFlowSummaryDump({}, MULTIPACKET true, TIMING true) -> SetTimestamp -> k :: Sink",
            name.display()
        ));
        let start = t.router.clock().peek();
        t.run();
        std::fs::remove_file(&name).unwrap();
        let times: Vec<_> = t.take("k").iter().map(|p| (p.timestamp() - start).seconds()).collect();
        assert_eq!(times, [0, 2, 4, 6]);
    }

    #[test]
    fn a_line_that_cannot_be_read_ends_the_file() {
        let (got, printed) = packets("bad", &format!("{TCP}\na|b|c\n{TCP}\n"), "");
        assert_eq!((got.len(), printed.as_str()), (1, "FILE:2: bad format\n"));
        let (got, _) = packets("unreadable", &"x|".repeat(20), "");
        assert!(got.is_empty());
        let e = Harness::errors("FromNetFlowSummaryDump(/proc/nonexistent) -> Sink");
        assert!(e.contains("/proc/nonexistent: No such file or directory"), "{e}");
        let e = Harness::errors("FromNetFlowSummaryDump(x, LINK none) -> Sink");
        assert!(e.contains("'LINK' should be 'input', 'output', or 'both'"), "{e}");
    }
}

//! FromIPSummaryDump: makes a packet of each line, or binary record, of a summary dump.

use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::{Batch, Packet, Timestamp, anno};
use clickwork_router::args::{ArgSpec, ArgType, Args, Filename, Names};
use clickwork_router::element::try_downcast;
use clickwork_router::notify::{NotifierKind, Search};
use clickwork_router::{Class, Cx, Element, Ready, TaskStep, read_handler, write_handler};
use std::io::{Cursor, ErrorKind};
use std::os::fd::RawFd;
use std::sync::Arc;

use super::error::system_message;
use super::flow::{Activity, Encapsulation, Pace, Sampling, set_first_timestamp};
use super::input::Patience;
use super::linktype::LinkType;
use super::series::Series;
use super::summary::draft::Draft;
use super::summary::input::DumpInput;

/// The class facts.
pub static CLASS: Class = Class {
    help: "makes packets from a summary dump",
    manual: "Makes a packet of each line of a file that ToIPSummaryDump or ipsumdump wrote. Headers are made as far as \
             fields need them; the bytes that are missing for the length become the extra-length annotation, or zeros \
             if CHECKSUM is true, which also makes all checksums right. Packets that do not say their protocol get \
             PROTO, those without addresses and ports get FLOWID. Columns of addresses may have names that the router \
             defines. With MULTIPACKET, a line with a packet count makes \
             as many packets. With TIMING, packets leave at the intervals of their timestamps.",
    example: "FromIPSummaryDump(DATA \"!data ip_src ip_proto\\n10.0.0.1 U\\n\", STOP true) -> c :: Counter -> Discard; \
              DriverManager(wait_stop, print c.count)",
    ports: "0/1",
    packets: "/any",
    args: &[
        ArgSpec::positional("FILENAME", ArgType::Filename, "", "the dump"),
        ArgSpec::keyword("STOP", ArgType::Bool, "false", "whether the driver stops at the end"),
        ArgSpec::keyword("ACTIVE", ArgType::Bool, "true", "whether packets are emitted"),
        ArgSpec::keyword("ZERO", ArgType::Bool, "true", "without effect: fields that are not given are zero"),
        ArgSpec::keyword("TIMING", ArgType::Bool, "false", "whether packets keep their distance in time"),
        ArgSpec::keyword(
            "CHECKSUM",
            ArgType::Bool,
            "false",
            "whether packets are complete, with right checksums",
        ),
        ArgSpec::keyword("SAMPLE", ArgType::Real, "1", "probability with which a packet is emitted"),
        ArgSpec::keyword("PROTO", ArgType::U8, "6", "IP protocol of packets that do not say theirs"),
        ArgSpec::keyword("MULTIPACKET", ArgType::Bool, "false", "whether a line can make several packets"),
        ArgSpec::keyword("DEFAULT_CONTENTS", ArgType::Text, "", "fields, until a '!data' line"),
        ArgSpec::keyword("DEFAULT_FIELDS", ArgType::Text, "", "the same"),
        ArgSpec::keyword("DEFAULT_FLOWID", ArgType::Text, "", "flow, until a '!flowid' line"),
        ArgSpec::keyword("CONTENTS", ArgType::Text, "", "fields, until a '!data' line"),
        ArgSpec::keyword("FIELDS", ArgType::Text, "", "the same"),
        ArgSpec::keyword(
            "FLOWID",
            ArgType::Text,
            "",
            "flow, until a '!flowid' line: SRC SPORT DST DPORT [PROTO]",
        ),
        ArgSpec::keyword(
            "ALLOW_NONEXISTENT",
            ArgType::Bool,
            "false",
            "whether a missing file is an empty one",
        ),
        ArgSpec::keyword("DATA", ArgType::String, "", "the dump itself, instead of a file"),
    ],
    handlers: &[
        read_handler!("filename", "the file", |e: &mut FromIpSummaryDump, _| e.shown_name()),
        read_handler!("filesize", "its size in bytes, - if it has none", |e: &mut FromIpSummaryDump, _| e
            .file_size()),
        read_handler!("filepos", "offset of the next line", |e: &mut FromIpSummaryDump, _| e.position()),
        read_handler!("sampling_prob", "probability of emission", |e: &mut FromIpSummaryDump, _| e
            .sampling
            .text()),
        read_handler!("active", "whether packets are emitted", |e: &mut FromIpSummaryDump, _| e
            .activity
            .active)
        .flags("c")
        .and_write(write_handler!("", "", |e: &mut FromIpSummaryDump, text, cx| {
            e.activity.set(crate::values::parse(text, "boolean")?, cx);
            Ok::<(), String>(())
        })),
        read_handler!("encap", "link type of the packets", |_e: &mut FromIpSummaryDump, _| "IP"),
        write_handler!(
            "stop",
            "becomes inactive and stops the driver",
            |e: &mut FromIpSummaryDump, _, cx| e.stop(cx)
        )
        .flags("b"),
    ],
    task_handlers: true,
    ..Class::new("FromIPSummaryDump", "capture", || Box::<FromIpSummaryDump>::default())
};

/// Room before the packet, for a link header to be added.
const HEADROOM: usize = 28;
/// How many packets that the sample does not take are passed over in one turn.
const MAX_PASSED: usize = 1024;

#[derive(Default)]
struct FromIpSummaryDump {
    name: String,
    data: Option<Vec<u8>>,
    input: Option<DumpInput>,
    fields: Option<String>,
    flow: Option<String>,
    protocol: u8,
    stop: bool,
    allow_nonexistent: bool,
    checksum: bool,
    multipacket: bool,
    sampling: Sampling,
    pace: Pace,
    activity: Activity,
    /// A packet that waits for its time, or stands for further packets.
    pending: Option<Series>,
}

impl FromIpSummaryDump {
    fn shown_name(&self) -> String {
        if matches!(self.name.as_str(), "" | "-") { "<stdin>".to_owned() } else { self.name.clone() }
    }

    fn file_size(&self) -> String {
        self.input.as_ref().and_then(DumpInput::size).map_or_else(|| "-".to_owned(), |size| size.to_string())
    }

    fn position(&self) -> u64 {
        self.input.as_ref().map_or(0, DumpInput::position)
    }

    fn stop(&mut self, cx: &mut Cx<'_>) {
        self.activity.set(false, cx);
        cx.stop_driver();
    }

    fn open(&self, patience: Patience, names: Names) -> std::io::Result<DumpInput> {
        let mut input = match &self.data {
            Some(data) => DumpInput::from_stream("DATA", Cursor::new(data.clone()), self.protocol)?,
            None => DumpInput::open(&self.name, patience, self.protocol)?,
        };
        input.set_names(names);
        if let Some(fields) = &self.fields {
            input.set_fields(fields);
        }
        if let Some(flow) = &self.flow {
            input.set_flow(flow);
        }
        input.begin()?;
        Ok(input)
    }

    /// Prints what is to be told about the dump.
    fn print_notices(&mut self, cx: &mut Cx<'_>) {
        for notice in self.input.as_mut().map(DumpInput::take_notices).unwrap_or_default() {
            let warning = if notice.is_warning { "warning: " } else { "" };
            cx.chatter(&format!("{}: {warning}{}", notice.place, notice.message));
        }
    }

    /// The next packet of the dump, or those that it stands for.
    fn read(&mut self, cx: &mut Cx<'_>) -> Option<Series> {
        let draft = self.input.as_mut()?.next_draft();
        self.print_notices(cx);
        draft.map(|draft| Series::new(packet_of(draft, self.checksum), self.multipacket))
    }

    /// The next packet whose time has come. `Err` says whether there may be more soon.
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Packet, bool> {
        for _ in 0..MAX_PASSED {
            let Some(series) = self.pending.take().or_else(|| self.read(cx)) else {
                if let Some(pipe) = self.input.as_ref().and_then(DumpInput::waits_for) {
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
            if self.sampling.takes(cx) {
                return Ok(packet);
            }
        }
        Err(true)
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

/// The packet that a draft describes.
fn packet_of(mut draft: Draft, with_checksums: bool) -> Packet {
    let extra_length = draft.finish(with_checksums);
    let mut packet = Packet::with_room(HEADROOM, &draft.data, 0);
    packet.set_timestamp(Timestamp::from_nanos(draft.timestamp));
    packet.set_anno_u32(anno::EXTRA_LENGTH, extra_length);
    packet.set_anno_u32(anno::EXTRA_PACKETS, draft.extra_packets);
    packet.set_paint(draft.paint);
    if let Some(aggregate) = draft.aggregate {
        packet.set_anno_u32(anno::AGGREGATE, aggregate);
    }
    if draft.first_timestamp != 0 {
        set_first_timestamp(&mut packet, draft.first_timestamp);
    }
    if draft.network > 0 {
        packet.set_mac_offset(0);
    }
    if draft.has_ip {
        packet.set_network_header(draft.network as i32, (draft.transport - draft.network) as u32);
        let ip = &draft.data[draft.network..];
        packet.set_dst_ip(Ipv4Address::from_octets([ip[16], ip[17], ip[18], ip[19]]));
    }
    packet
}

impl Element for FromIpSummaryDump {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        if let Some(Filename(name)) = args.get("FILENAME") {
            self.name = clickwork_source::text::from_os(name);
        }
        self.protocol = 6;
        args.read("STOP", &mut self.stop)
            .read("ACTIVE", &mut self.activity.active)
            .read("TIMING", &mut self.pace.enabled)
            .read("CHECKSUM", &mut self.checksum)
            .read("PROTO", &mut self.protocol)
            .read("MULTIPACKET", &mut self.multipacket)
            .read("ALLOW_NONEXISTENT", &mut self.allow_nonexistent);
        self.sampling.configure(args);
        let text = |names: &[&str], args: &Args| {
            names.iter().rev().find_map(|name| args.raw(name).map(str::to_owned))
        };
        self.fields = text(&["DEFAULT_CONTENTS", "DEFAULT_FIELDS", "CONTENTS", "FIELDS"], args);
        self.flow = text(&["DEFAULT_FLOWID", "FLOWID"], args);
        self.data = args.get("DATA");
        match (&self.data, self.name.is_empty()) {
            (Some(_), false) => args.error("FILENAME and DATA conflict"),
            (None, true) => args.error("FILENAME: required argument missing"),
            _ => {}
        }
        let empty = cx.export_notifier(NotifierKind::Empty, Search::Stop);
        self.activity.set_notifier(empty);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        cx.export(Arc::new(Encapsulation::new(LinkType::IP)));
        match self.open(Patience::of(cx), cx.names()) {
            Ok(input) => self.input = Some(input),
            Err(error) if error.kind() == ErrorKind::NotFound && self.allow_nonexistent => {}
            Err(error) => return Err(format!("{}: {}", self.shown_name(), system_message(&error))),
        }
        self.print_notices(cx);
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
        if let Some(old) = try_downcast::<FromIpSummaryDump>(old)
            && (&old.name, &old.data) == (&self.name, &self.data)
        {
            self.input = old.input.take();
            self.pending = old.pending.take();
            self.pace.inherit(&old.pace);
            self.activity.wake(cx);
        }
    }

    fn cleanup(&mut self, _: &mut Cx<'_>) {
        self.input = None;
        self.pending = None;
    }
}

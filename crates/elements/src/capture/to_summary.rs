//! ToIPSummaryDump: writes one line, or one binary record, for each packet.

use clickwork_packet::{Batch, Packet, Timestamp, anno};
use clickwork_router::args::{ArgSpec, ArgType, Args, Filename};
use clickwork_router::element::try_downcast;
use clickwork_router::notify::Signal;
use clickwork_router::{Class, Cx, Element, Ready, TaskStep, read_handler, write_handler};
use clickwork_source::text::encode;
use std::io::{self, Write};
use std::os::fd::RawFd;

use super::backpressure::{Backpressure, NO_ROOM};
use super::destination::{Destination, Stream, shown_name};
use super::error::system_message;
use super::flow::first_timestamp;
use super::summary::headers::{Checks, PacketView};
use super::summary::output::{Output, Preamble};
use super::time::calendar;

/// The class facts.
pub static CLASS: Class = Class {
    help: "writes a summary of each packet to a file",
    manual: "Writes a line for each packet, with the FIELDS named: timestamp, ip_src, ip_dst, sport, dport, ip_proto, \
             ip_len, tcp_flags, payload_len and some forty others; a dash stands for what a packet has not. '-' is \
             standard output. With BINARY, records are packed. With MULTIPACKET, a packet that stands for several, by \
             its extra-packets annotation, makes as many lines, unless 'count' is a field. With BAD_PACKETS, a line \
             '!bad REASON' precedes packets with wrong headers; CAREFUL_TRUNC counts packets as wrong that are shorter \
             than their IP length. HEADER, VERBOSE and BANNER are about the lines at the start of the file. Packets \
             leave by the output, if there is one. A pipe that nobody reads stops no packets: up to a megabyte waits for \
             the reader, meanwhile nothing is pulled, and what is pushed beyond that is not written; the handler lost \
             counts it.",
    ports: "1/0-1",
    processing: "a/h",
    flags: "S2",
    args: &[
        ArgSpec::required("FILENAME", ArgType::Filename, "the dump"),
        ArgSpec::keyword("FIELDS", ArgType::Text, "timestamp ip_src", "the fields of a line"),
        ArgSpec::keyword("CONTENTS", ArgType::Text, "", "the same"),
        ArgSpec::keyword("DATA", ArgType::Text, "", "the same"),
        ArgSpec::keyword("VERBOSE", ArgType::Bool, "false", "whether host and time are written at the start"),
        ArgSpec::keyword("HEADER", ArgType::Bool, "true", "whether header lines are written"),
        ArgSpec::keyword("BANNER", ArgType::String, "", "the creator written at the start"),
        ArgSpec::keyword("MULTIPACKET", ArgType::Bool, "false", "whether a packet can make several lines"),
        ArgSpec::keyword("BAD_PACKETS", ArgType::Bool, "false", "whether wrong packets are told"),
        ArgSpec::keyword("CAREFUL_TRUNC", ArgType::Bool, "true", "whether truncated packets are wrong"),
        ArgSpec::keyword("EXTRA_LENGTH", ArgType::Bool, "true", "whether lengths include extra lengths"),
        ArgSpec::keyword("BINARY", ArgType::Bool, "false", "whether records are binary"),
    ],
    handlers: &[
        read_handler!(
            "lost",
            "packets not written because nobody read them",
            |e: &mut ToIpSummaryDump, _| e.reader.lost()
        ),
        write_handler!("flush", "hands what is buffered to the system", |e: &mut ToIpSummaryDump, _, cx| e
            .flush(cx)),
    ],
    task_handlers: true,
    ..Class::new("ToIPSummaryDump", "capture", || Box::<ToIpSummaryDump>::default())
};

/// So many bytes of records are written before more are made.
const MAX_RECORDS: usize = 1 << 20;

#[derive(Default)]
struct ToIpSummaryDump {
    name: String,
    output: Option<Output>,
    has_header: bool,
    is_verbose: bool,
    banner: Option<String>,
    multipacket: bool,
    counts_extra_length: bool,
    sink: Sink,
    /// Records that have not been written.
    records: Vec<u8>,
    /// Whether writing waits for the reader: packets have time in a simulation.
    patient: bool,
    reader: Backpressure,
    signal: Signal,
}

/// The state of the file.
#[derive(Default)]
enum Sink {
    /// Not opened yet, closed, or given up after an error.
    #[default]
    Closed,
    /// Opened, not written to.
    Opened(Destination),
    Open(Stream),
}

/// What is known of a packet, for the summary.
fn view(p: &Packet) -> PacketView<'_> {
    PacketView {
        data: p.data(),
        mac: p.mac_header(),
        network: p.network_header(),
        transport: p.transport_header(),
        timestamp: p.timestamp().nanos(),
        first_timestamp: first_timestamp(p),
        extra_length: p.anno_u32(anno::EXTRA_LENGTH),
        extra_packets: p.anno_u32(anno::EXTRA_PACKETS),
        paint: p.paint(),
        aggregate: p.anno_u32(anno::AGGREGATE),
    }
}

impl ToIpSummaryDump {
    fn configure_output(&mut self, args: &mut Args) {
        let (mut bad_packets, mut binary) = (false, false);
        let mut checks = Checks { careful_truncation: true, extra_length: true };
        args.read("BAD_PACKETS", &mut bad_packets)
            .read("CAREFUL_TRUNC", &mut checks.careful_truncation)
            .read("EXTRA_LENGTH", &mut checks.extra_length)
            .read("BINARY", &mut binary);
        self.counts_extra_length = checks.extra_length;
        let given = ["DATA", "CONTENTS", "FIELDS"].iter().find_map(|name| args.raw(name));
        let fields = given.unwrap_or("timestamp ip_src").to_owned();
        match Output::new(&fields, binary, checks, bad_packets) {
            Ok(output) => {
                self.multipacket &= !output.has_count();
                self.output = Some(output);
            }
            Err(errors) => errors.iter().for_each(|error| args.error(error.to_string())),
        }
    }

    fn preamble(&self, cx: &Cx<'_>) -> Preamble {
        let host =
            || std::fs::read_to_string("/proc/sys/kernel/hostname").ok().map(|host| host.trim().to_owned());
        let runtime = || format!("{} ({})", cx.now(), calendar(cx.now().seconds()));
        Preamble {
            creator: self.banner.clone(),
            host: if self.is_verbose { host() } else { None },
            runtime: self.is_verbose.then(runtime),
        }
    }

    /// Empties the file and writes the header lines, if that has not been done.
    fn start(&mut self, cx: &Cx<'_>) -> io::Result<()> {
        if let Sink::Opened(_) = &self.sink
            && let Sink::Opened(destination) = std::mem::take(&mut self.sink)
        {
            let mut stream = destination.start(self.patient);
            if let Some(output) = self.output.as_ref().filter(|_| self.has_header) {
                stream.write_all(&encode(&output.header(&self.preamble(cx))))?;
            }
            self.sink = Sink::Open(stream);
        }
        Ok(())
    }

    fn write(&mut self, batch: &mut Batch, cx: &mut Cx<'_>) {
        if batch.is_empty() || matches!(self.sink, Sink::Closed) {
            return;
        }
        match self.make_room(cx) {
            Ok(true) => {}
            Ok(false) => {
                self.reader.lose(batch.len() as u64, shown_name(&self.name), cx);
                if cx.outputs() == 0 {
                    cx.count_drop(NO_ROOM, batch.len() as u64);
                }
                return;
            }
            Err(error) => return self.give_up(&error, cx),
        }
        for p in batch.iter_mut() {
            if self.multipacket && p.anno_u32(anno::EXTRA_PACKETS) > 0 {
                self.summarise_each(p, cx);
            } else {
                self.summarise_one(p);
            }
        }
        self.write_records(cx);
    }

    /// Writes the records made so far.
    fn write_records(&mut self, cx: &mut Cx<'_>) {
        let written = self.start(cx).and_then(|()| match &mut self.sink {
            Sink::Open(stream) => stream.write_all(&self.records),
            _ => Ok(()),
        });
        self.records.clear();
        match written {
            Ok(()) => self.settle(cx),
            Err(error) => self.give_up(&error, cx),
        }
    }

    fn make_room(&mut self, cx: &Cx<'_>) -> io::Result<bool> {
        self.start(cx)?;
        match &mut self.sink {
            Sink::Open(stream) => stream.make_room(),
            _ => Ok(true),
        }
    }

    fn settle(&mut self, cx: &mut Cx<'_>) {
        if let Sink::Open(stream) = &mut self.sink
            && let Err(error) = self.reader.settle(stream, cx)
        {
            self.give_up(&error, cx);
        }
    }

    /// Whether a packet that is pulled now can be written.
    fn has_room(&self) -> bool {
        match &self.sink {
            Sink::Open(stream) => self.patient || stream.has_room(),
            _ => true,
        }
    }

    /// Appends one record. What the IP length explains of the extra length is taken away, as Click does.
    fn summarise_one(&mut self, p: &mut Packet) {
        let Some(output) = &mut self.output else { return };
        let extra = output.record(&mut self.records, view(p));
        if extra != p.anno_u32(anno::EXTRA_LENGTH) {
            p.set_anno_u32(anno::EXTRA_LENGTH, extra);
        }
    }

    /// Appends a record for each packet that `p` stands for. The length is divided among them, and the time between
    /// the first timestamp and the last.
    fn summarise_each(&mut self, p: &mut Packet, cx: &mut Cx<'_>) {
        let count = p.anno_u32(anno::EXTRA_PACKETS).saturating_add(1);
        let length = p.len() as u64;
        let extra = if self.counts_extra_length { p.anno_u32(anno::EXTRA_LENGTH) } else { 0 };
        let mut total = (length + u64::from(extra)).max(u64::from(count) * length);
        let last = p.timestamp();
        let first = match first_timestamp(p) {
            0 => last,
            nanoseconds => Timestamp::from_nanos(nanoseconds),
        };
        let step = if first == last { 0 } else { (last - first).nanos() / i64::from(count - 1) };
        p.set_anno_u32(anno::EXTRA_PACKETS, 0);
        for index in 0..count {
            let share = total / u64::from(count - index);
            total -= share;
            let time = if index + 1 == count {
                last
            } else {
                first + Timestamp::from_nanos(step * i64::from(index))
            };
            p.set_timestamp(time);
            p.set_anno_u32(anno::EXTRA_LENGTH, (share - length) as u32);
            self.summarise_one(p);
            if self.records.len() > MAX_RECORDS {
                self.write_records(cx);
            }
        }
    }

    fn give_up(&mut self, error: &io::Error, cx: &mut Cx<'_>) {
        self.sink = Sink::Closed;
        cx.chatter(&format!("ToIPSummaryDump({}): {}", shown_name(&self.name), system_message(error)));
    }

    fn finish(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Open(stream) => stream.finish(),
            _ => Ok(()),
        }
    }

    fn flush(&mut self, cx: &mut Cx<'_>) {
        let flushed = self.start(cx).and_then(|()| match &mut self.sink {
            Sink::Open(stream) => stream.flush(),
            _ => Ok(()),
        });
        if let Err(error) = flushed {
            self.give_up(&error, cx);
        }
    }
}

impl Element for ToIpSummaryDump {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        if let Some(Filename(name)) = args.get("FILENAME") {
            self.name = clickwork_source::text::from_os(name);
        }
        self.has_header = true;
        args.read("VERBOSE", &mut self.is_verbose)
            .read("HEADER", &mut self.has_header)
            .read("MULTIPACKET", &mut self.multipacket);
        self.banner = args.get("BANNER");
        self.configure_output(args);
        self.patient = cx.router().clock().is_simulated();
        self.reader.export(cx);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        let opened = Destination::open(&self.name, self.patient);
        let destination = opened.map_err(|error| format!("{}: {}", self.name, system_message(&error)))?;
        let is_stdout = matches!(destination, Destination::Stdout);
        self.sink = Sink::Opened(destination);
        if is_stdout {
            // Header lines come before whatever else is printed while the router runs.
            self.flush(cx);
        }
        if cx.input_is_pull(0) {
            self.signal = cx.upstream_empty_signal(0);
            cx.schedule_task();
        }
        Ok(())
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        self.write(batch, cx);
        if cx.outputs() == 0 {
            batch.clear();
        }
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        self.settle(cx);
        if !self.has_room() {
            return TaskStep::Sleep;
        }
        let mut batch = cx.pull(0, cx.batch_limit());
        let is_idle = batch.is_empty() && !cx.is_active(&self.signal);
        self.write(&mut batch, cx);
        if cx.outputs() > 0 {
            cx.emit_batch(0, batch);
        } else {
            cx.recycle(batch);
        }
        if is_idle { TaskStep::Sleep } else { TaskStep::Again }
    }

    fn selected(&mut self, fd: RawFd, _: Ready, cx: &mut Cx<'_>) {
        let Sink::Open(stream) = &mut self.sink else { return cx.unwatch(fd) };
        if let Err(error) = self.reader.selected(fd, stream, shown_name(&self.name), cx) {
            self.give_up(&error, cx);
        }
        if cx.input_is_pull(0) {
            cx.schedule_task();
        }
    }

    /// Goes on writing a file that stays the same.
    fn take_state(&mut self, old: &mut dyn Element, cx: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<ToIpSummaryDump>(old)
            && old.name == self.name
            && let Sink::Open(_) = old.sink
        {
            self.sink = std::mem::take(&mut old.sink);
            self.settle(cx);
        }
    }

    /// Completes the file, which at least gets its header lines; but a router that never ran leaves it as it is.
    fn cleanup(&mut self, cx: &mut Cx<'_>) {
        if cx.is_running()
            && let Err(error) = self.start(cx).and_then(|()| self.finish())
        {
            self.give_up(&error, cx);
        }
        self.sink = Sink::Closed;
    }
}

//! FromDump: emits the packets of a capture file.

use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::{Batch, Packet, Timestamp, anno};
use clickwork_router::args::{ArgSpec, ArgType, Args, Filename};
use clickwork_router::element::try_downcast;
use clickwork_router::notify::{NotifierKind, Search};
use clickwork_router::{Class, Cx, Element, Ready, TaskStep, read_handler, write_handler};
use std::os::fd::RawFd;
use std::sync::Arc;

use super::error::CaptureError;
use super::flow::{Activity, AtEnd, Encapsulation, Pace, Sampling};
use super::input::Patience;
use super::linktype::LinkType;
use super::reader::{Reader, Record};
use super::window::Window;

/// The class facts.
pub static CLASS: Class = Class {
    help: "reads packets from a capture file",
    manual: "Emits the packets of a pcap or pcapng file, which may be compressed with gzip; '-' is standard input. Packets \
             get their timestamp, and as extra-length annotation the number of bytes that were not captured. With TIMING \
             they leave at the intervals at which they were captured. With FORCE_IP, and always for files of raw IP \
             packets, only IP packets leave by output 0, with their IP header marked and their destination in the \
             destination annotation; others leave by output 1. START, START_AFTER, END, END_AFTER and INTERVAL choose \
             packets by their time, in seconds since 1970 or after the first packet. At the end the driver stops if \
             STOP is true, or END_CALL is called. A damaged file ends where the damage begins, with a message. \
             A pipe that brings nothing for a while, or has no writer yet, stops no other packets: its header is read when \
             it comes, and what is wrong with it is said then.",
    ports: "0/1-2",
    processing: "a/ah",
    packets: "/any",
    args: &[
        ArgSpec::required("FILENAME", ArgType::Filename, "the capture file"),
        ArgSpec::positional("TIMING", ArgType::Bool, "false", "whether packets keep their distance in time"),
        ArgSpec::keyword("STOP", ArgType::Bool, "false", "whether the driver stops at the end"),
        ArgSpec::keyword("ACTIVE", ArgType::Bool, "true", "whether packets are emitted"),
        ArgSpec::keyword("SAMPLE", ArgType::Real, "1", "probability with which a packet is emitted"),
        ArgSpec::keyword("FORCE_IP", ArgType::Bool, "false", "whether only IP packets leave by output 0"),
        ArgSpec::keyword("START", ArgType::Timestamp, "", "time of the first packet"),
        ArgSpec::keyword(
            "START_AFTER",
            ArgType::Timestamp,
            "",
            "the same, after the first packet in the file",
        ),
        ArgSpec::keyword("END", ArgType::Timestamp, "", "time at which to end"),
        ArgSpec::keyword("END_AFTER", ArgType::Timestamp, "", "the same, after the first packet in the file"),
        ArgSpec::keyword("INTERVAL", ArgType::Timestamp, "", "the same, after START"),
        ArgSpec::keyword("END_CALL", ArgType::HandlerCall, "", "handler called at the end"),
        ArgSpec::keyword("PER_NODE", ArgType::Bool, "false", "without effect"),
        ArgSpec::keyword("FILEPOS", ArgType::U64, "0", "offset in the file of the first record"),
        ArgSpec::keyword("MMAP", ArgType::Bool, "false", "without effect"),
    ],
    handlers: &[
        read_handler!("filename", "the file", |e: &mut FromDump, _| e.shown_name()),
        read_handler!("filesize", "its size in bytes, - if it has none", |e: &mut FromDump, _| e.file_size()),
        read_handler!("filepos", "offset of the next record", |e: &mut FromDump, _| e.position())
            .and_write(write_handler!("", "", |e: &mut FromDump, text, _| e.seek(text))),
        read_handler!("packet_filepos", "offset of the last record", |e: &mut FromDump, _| e
            .record_position()),
        read_handler!("sampling_prob", "probability of emission", |e: &mut FromDump, _| e.sampling.text()),
        read_handler!("active", "whether packets are emitted", |e: &mut FromDump, _| e.activity.active)
            .flags("c")
            .and_write(write_handler!("", "", |e: &mut FromDump, text, cx| {
                e.set_active(crate::values::parse(text, "boolean")?, cx);
                Ok::<(), String>(())
            })),
        read_handler!("encap", "link type of the file", |e: &mut FromDump, _| e.link_type().to_string()),
        read_handler!("count", "packets emitted", |e: &mut FromDump, _| e.count),
        write_handler!("stop", "becomes inactive and stops the driver", |e: &mut FromDump, _, cx| e.stop(cx))
            .flags("b"),
        write_handler!("extend_interval", "moves the end", |e: &mut FromDump, text, cx| e.extend(text, cx)),
        write_handler!("reset_counts", "sets the count to 0", |e: &mut FromDump, _, _| e.count = 0)
            .flags("b"),
        write_handler!(
            "reset_timing",
            "takes the next packet's time as the first",
            |e: &mut FromDump, _, _| {
                e.window.reset();
                e.pace.restart();
            }
        )
        .flags("b"),
    ],
    task_handlers: true,
    ..Class::new("FromDump", "capture", || Box::<FromDump>::default())
};

/// How many packets that are not wanted are passed over in one turn.
const MAX_PASSED: usize = 1024;

#[derive(Default)]
struct FromDump {
    name: String,
    reader: Option<Reader>,
    /// Where to go on reading, as soon as that has come.
    seek_to: Option<u64>,
    /// Whether the header has been read, and the file is where records are to be read.
    has_begun: bool,
    encapsulation: Arc<Encapsulation>,
    force_ip: bool,
    sampling: Sampling,
    window: Window,
    pace: Pace,
    at_end: AtEnd,
    activity: Activity,
    /// A packet that waits for its time, or for the window to be extended, and its link type.
    pending: Option<(Packet, LinkType)>,
    /// Whether that packet is the first behind the window.
    is_behind_window: bool,
    /// Whether a record has been looked for.
    has_read: bool,
    count: u64,
}

/// What there is to do next.
enum Next {
    Emit(Packet),
    NotIp(Packet),
    /// Nothing now, but perhaps in the next turn.
    Later,
    /// Nothing until something happens.
    Nothing,
}

/// What reading a record led to.
enum Read {
    Packet(Packet, LinkType),
    Unwanted,
    /// A pipe has not brought it yet.
    NotYet,
    End,
}

impl FromDump {
    fn shown_name(&self) -> String {
        if self.name == "-" { "<stdin>".to_owned() } else { self.name.clone() }
    }

    fn file_size(&self) -> String {
        self.reader.as_ref().and_then(Reader::size).map_or_else(|| "-".to_owned(), |size| size.to_string())
    }

    fn position(&self) -> u64 {
        self.reader.as_ref().map_or(0, Reader::position)
    }

    fn record_position(&self) -> u64 {
        self.reader.as_ref().filter(|_| self.has_read).map_or(0, Reader::record_position)
    }

    fn link_type(&self) -> LinkType {
        self.reader.as_ref().and_then(Reader::link_type).unwrap_or(LinkType::ETHER)
    }

    fn seek(&mut self, text: &str) -> Result<(), String> {
        let offset = crate::values::parse(text, "file offset")?;
        self.pending = None;
        (self.seek_to, self.has_begun) = (Some(offset), false);
        match self.begin() {
            Err(error) if !error.is_not_yet() => Err(error.to_string()),
            _ => Ok(()),
        }
    }

    /// Reads the header, if that has not been done, and goes to where records are to be read.
    fn begin(&mut self) -> Result<(), CaptureError> {
        let Some(reader) = self.reader.as_mut().filter(|_| !self.has_begun) else { return Ok(()) };
        reader.begin()?;
        if let Some(link_type) = reader.link_type() {
            self.encapsulation.set(link_type);
            if self.force_ip && !link_type.can_find_ip() {
                let why = format!("unknown linktype {}; can't force IP packets", link_type.0);
                return Err(reader.unsuitable(why));
            }
        }
        if let Some(offset) = self.seek_to {
            let sought = reader.seek(offset);
            self.seek_to = self.seek_to.filter(|_| sought.as_ref().is_err_and(CaptureError::is_not_yet));
            sought?;
        }
        self.has_begun = true;
        Ok(())
    }

    /// Starts or ceases to emit packets. When it starts again after the end of the window, it passes over the packet
    /// at which it ceased.
    fn set_active(&mut self, active: bool, cx: &mut Cx<'_>) {
        if active && !self.activity.active && std::mem::take(&mut self.is_behind_window) {
            self.pending = None;
        }
        self.activity.set(active, cx);
    }

    fn stop(&mut self, cx: &mut Cx<'_>) {
        self.set_active(false, cx);
        cx.stop_driver();
    }

    fn extend(&mut self, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        let more: Timestamp = crate::values::parse(text, "")
            .map_err(|_| "'extend_interval' takes a time interval".to_owned())?;
        self.window.extend(more, !matches!(self.at_end, AtEnd::Nothing));
        if !matches!(self.at_end, AtEnd::Nothing) {
            self.set_active(true, cx);
        }
        Ok(())
    }

    fn end(&mut self, cx: &mut Cx<'_>) {
        match &self.at_end {
            AtEnd::Nothing => {}
            AtEnd::Deactivate => self.set_active(false, cx),
            AtEnd::Stop => self.stop(cx),
            AtEnd::Call(call) => cx.call_handler(call),
        }
    }

    fn next(&mut self, cx: &mut Cx<'_>) -> Next {
        let (packet, link_type) = match self.pending.take() {
            Some(pending) => pending,
            None => match self.read_wanted(cx) {
                Read::Packet(packet, link_type) => (packet, link_type),
                Read::Unwanted => return Next::Later,
                Read::NotYet => {
                    if let Some(pipe) = self.reader.as_ref().and_then(Reader::waits_for) {
                        self.activity.wait_for(pipe, cx);
                    }
                    return Next::Nothing;
                }
                Read::End => {
                    self.end(cx);
                    return Next::Nothing;
                }
            },
        };
        self.is_behind_window = self.window.ends_before(packet.timestamp());
        if self.is_behind_window {
            // Whatever is done at the end may extend the window; look again when it has been done.
            self.pending = Some((packet, link_type));
            self.end(cx);
            if !self.activity.active {
                // No packet follows, so this counts as the end of the file, too: the driver is asked to stop twice.
                self.end(cx);
            }
            return Next::Later;
        }
        if !self.pace.is_due(packet.timestamp(), cx) {
            self.pending = Some((packet, link_type));
            return Next::Nothing;
        }
        self.classify(packet, link_type)
    }

    /// Tells IP packets from others, if that is wanted.
    fn classify(&mut self, mut packet: Packet, link_type: LinkType) -> Next {
        let is_raw_ip = matches!(link_type, LinkType::IP | LinkType::IPV4 | LinkType::IPV6);
        if !self.force_ip && !is_raw_ip {
            return Next::Emit(packet);
        }
        match link_type.ip_offset(packet.data()) {
            Some(offset) => {
                mark_ip(&mut packet, offset);
                Next::Emit(packet)
            }
            None => Next::NotIp(packet),
        }
    }

    /// The next packet inside the window that the sample takes.
    fn read_wanted(&mut self, cx: &mut Cx<'_>) -> Read {
        for _ in 0..MAX_PASSED {
            match self.read(cx) {
                Read::Unwanted => {}
                wanted_or_end => return wanted_or_end,
            }
        }
        Read::Unwanted
    }

    fn read(&mut self, cx: &mut Cx<'_>) -> Read {
        match self.begin() {
            Ok(()) => {}
            Err(error) if error.is_not_yet() => return Read::NotYet,
            Err(error) => {
                cx.chatter(&format!("{}: {error}", cx.name()));
                self.reader = None;
            }
        }
        let Some(reader) = &mut self.reader else { return Read::End };
        self.has_read = true;
        match reader.next_record() {
            Ok(Some(record)) => {
                let timestamp = timestamp_of(&record);
                self.pace.begin(timestamp, cx);
                let is_wanted = !self.window.starts_after(timestamp) && self.sampling.takes(cx);
                if is_wanted { Read::Packet(packet_of(&record), record.link_type) } else { Read::Unwanted }
            }
            Ok(None) => Read::End,
            Err(error) if error.is_not_yet() => Read::NotYet,
            Err(error) => {
                cx.chatter(&error.to_string());
                Read::End
            }
        }
    }

    /// Fills a batch with up to `limit` packets. The second value says whether there may be more soon.
    fn fill(&mut self, limit: usize, cx: &mut Cx<'_>) -> (Batch, bool) {
        let mut batch = cx.fresh_batch();
        let mut more = true;
        while batch.len() < limit && self.activity.active && more {
            match self.next(cx) {
                Next::Emit(packet) => batch.push(packet),
                Next::NotIp(packet) => cx.emit_or_drop(1, packet, "not IP"),
                Next::Later => break,
                Next::Nothing => more = false,
            }
        }
        self.count += batch.len() as u64;
        (batch, more && self.activity.active)
    }
}

fn timestamp_of(record: &Record<'_>) -> Timestamp {
    Timestamp::from_nanos(i64::try_from(record.timestamp).unwrap_or(i64::MAX))
}

fn packet_of(record: &Record<'_>) -> Packet {
    let mut packet = Packet::new(record.data);
    packet.set_timestamp(timestamp_of(record));
    let missing = record.original_length.saturating_sub(record.data.len() as u32);
    packet.set_anno_u32(anno::EXTRA_LENGTH, missing);
    packet.set_mac_offset(0);
    packet
}

/// Marks the IP header that stands at `offset`; IPv4 destinations become the destination annotation.
pub(crate) fn mark_ip(packet: &mut Packet, offset: usize) {
    let header = &packet.data()[offset..];
    let is_v4 = header[0] >> 4 == 4;
    let length = if is_v4 { u32::from(header[0] & 0xf) * 4 } else { 40 };
    let destination = [header[16], header[17], header[18], header[19]];
    packet.set_network_header(offset as i32, length);
    if is_v4 {
        packet.set_dst_ip(Ipv4Address::from_octets(destination));
    }
}

impl Element for FromDump {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        if let Some(Filename(name)) = args.get("FILENAME") {
            self.name = clickwork_source::text::from_os(name);
        }
        let mut stop = false;
        args.read("TIMING", &mut self.pace.enabled)
            .read("STOP", &mut stop)
            .read("ACTIVE", &mut self.activity.active)
            .read("FORCE_IP", &mut self.force_ip);
        self.seek_to = args.get("FILEPOS").filter(|offset| *offset > 0);
        self.sampling.configure(args);
        self.window.configure(args);
        self.at_end = match args.get("END_CALL") {
            Some(_) if stop => {
                args.error("END_CALL and STOP are mutually exclusive");
                AtEnd::Nothing
            }
            Some(call) => AtEnd::Call(call),
            None if stop => AtEnd::Stop,
            None if self.window.has_end() => AtEnd::Deactivate,
            None => AtEnd::Nothing,
        };
        let empty = cx.export_notifier(NotifierKind::Empty, Search::Stop);
        self.activity.set_notifier(empty);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        if let AtEnd::Call(call) = &self.at_end {
            cx.check_call(call)?;
        }
        let opened = Reader::open_with(&self.name, Patience::of(cx));
        let reader = self.reader.insert(opened.map_err(|error| error.to_string())?);
        if reader.waits_for().is_none() {
            self.begin().map_err(|error| error.to_string())?;
        }
        cx.export(Arc::clone(&self.encapsulation));
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
        if let Some(old) = try_downcast::<FromDump>(old)
            && old.name == self.name
            && let Some(reader) = old.reader.take()
        {
            if let Some(link_type) = reader.link_type() {
                self.encapsulation.set(link_type);
            }
            (self.reader, self.has_read) = (Some(reader), old.has_read);
            (self.seek_to, self.has_begun) = (old.seek_to, false);
            self.pending = old.pending.take();
            self.pace.inherit(&old.pace);
            self.activity.wake(cx);
        }
    }

    fn cleanup(&mut self, _: &mut Cx<'_>) {
        self.reader = None;
        self.pending = None;
    }
}

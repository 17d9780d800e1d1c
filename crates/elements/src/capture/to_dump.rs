//! ToDump: writes packets to a capture file.

use clickwork_packet::{Batch, Packet, Timestamp, anno};
use clickwork_router::args::{ArgSpec, ArgType, Args, Filename, Word, split_words};
use clickwork_router::element::try_downcast;
use clickwork_router::notify::Signal;
use clickwork_router::{Class, Cx, Element, Ready, TaskStep, facts::phase, read_handler, write_handler};
use std::os::fd::RawFd;
use std::sync::Arc;

use super::backpressure::{Backpressure, NO_ROOM};
use super::destination::{Destination, shown_name};
use super::error::system_message;
use super::flow::Encapsulation;
use super::linktype::LinkType;
use super::writer::{Options, Writer};

/// The class facts.
pub static CLASS: Class = Class {
    help: "writes packets to a capture file",
    manual: "Writes the packets it gets to a file that tcpdump and Wireshark can read; '-' is standard output. Names that \
             end in .pcapng make pcapng files, all others pcap; a further .gz compresses. At most SNAPLEN bytes of each \
             packet are written, all if it is 0. ENCAP says what the packets' first header is: ETHER, IP, FDDI, ATM, \
             802_11, 802_11_RADIO, SLL, AIRONET, HDLC, PPP_HDLC, PPP, SUNATM, PRISM, NULL or #N; USE_ENCAP_FROM takes \
             that from the elements named. A packet without timestamp gets the time of writing. If there is an output, \
             packets leave by it after they have been written. When writing fails, for instance because the disk is \
             full, that is said once and packets only pass. A pipe that nobody reads stops no packets: up to a megabyte \
             waits for the reader, meanwhile nothing is pulled, and what is pushed beyond that is dropped if there is no \
             output; else it passes, and the handler lost counts it. The times of pcap files end in the year 2106; packets \
             of later or earlier times get the last or the first that there is, and the handler misdated counts them.",
    ports: "1/0-1",
    flags: "S2",
    args: &[
        ArgSpec::required("FILENAME", ArgType::Filename, "the capture file"),
        ArgSpec::positional("SNAPLEN", ArgType::U32, "2000", "bytes written of each packet; 0 for all"),
        ArgSpec::positional("ENCAP", ArgType::Word, "ETHER", "what the packets' first header is"),
        ArgSpec::keyword("USE_ENCAP_FROM", ArgType::Text, "", "elements whose link type to use"),
        ArgSpec::keyword("EXTRA_LENGTH", ArgType::Bool, "true", "whether lengths include extra lengths"),
        ArgSpec::keyword("UNBUFFERED", ArgType::Bool, "false", "whether each packet is written at once"),
        ArgSpec::keyword("NANO", ArgType::Bool, "true", "whether timestamps are in nanoseconds"),
        ArgSpec::keyword("PER_NODE", ArgType::Bool, "false", "without effect"),
    ],
    handlers: &[
        read_handler!("filename", "the file", |e: &mut ToDump, _| shown_name(&e.name)),
        read_handler!("count", "packets written", |e: &mut ToDump, _| e.count),
        read_handler!("lost", "packets not written because nobody read them", |e: &mut ToDump, _| e
            .reader
            .lost()),
        read_handler!("misdated", "packets whose time the file cannot tell", |e: &mut ToDump, _| e.misdated),
        write_handler!("reset_counts", "sets the counts to 0", |e: &mut ToDump, _, _| {
            (e.count, e.misdated) = (0, 0);
            e.reader.reset();
        })
        .flags("b"),
        write_handler!("flush", "hands what is buffered to the system", |e: &mut ToDump, _, cx| e.flush(cx)),
    ],
    phase: phase::LAST,
    task_handlers: true,
    ..Class::new("ToDump", "capture", || Box::<ToDump>::default())
};

#[derive(Default)]
struct ToDump {
    name: String,
    options: Options,
    encapsulation_from: Vec<String>,
    /// What is known of them. Those that read a pipe may learn their link type late.
    sources: Vec<Arc<Encapsulation>>,
    extra_length: bool,
    sink: Sink,
    count: u64,
    misdated: u64,
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
    Open(Writer),
}

/// What became of a packet.
#[derive(PartialEq, Eq)]
enum Written {
    Whole,
    /// With another time, since the file cannot tell its own.
    Misdated,
    NoRoom,
}

fn write_to(writer: &mut Writer, timestamp: u64, length: u32, data: &[u8]) -> std::io::Result<Written> {
    if !writer.stream().make_room()? {
        return Ok(Written::NoRoom);
    }
    writer.write_packet(timestamp, length, data)?;
    Ok(if writer.can_tell(timestamp) { Written::Whole } else { Written::Misdated })
}

impl ToDump {
    fn configure_link_type(&mut self, args: &mut Args) {
        let words = args.raw("USE_ENCAP_FROM").map(split_words);
        match (args.get::<Word>("ENCAP"), words) {
            (Some(_), Some(_)) => args.error("specify at most one of 'ENCAP' and 'USE_ENCAP_FROM'"),
            (None, Some(words)) if words.is_empty() => {
                args.error("element names missing after 'USE_ENCAP_FROM'")
            }
            (None, Some(words)) => self.encapsulation_from = words,
            (Some(Word(name)), None) => match LinkType::parse(&name) {
                Some(link_type) => self.options.link_type = link_type,
                None => args.error("bad encapsulation type"),
            },
            (None, None) => {}
        }
    }

    /// Finds the elements of `USE_ENCAP_FROM`.
    fn find_sources(&mut self, cx: &Cx<'_>) -> Result<(), String> {
        for name in &self.encapsulation_from {
            let element = cx.find(name).ok_or_else(|| format!("no element named '{name}'"))?;
            let exported = cx.exported::<Encapsulation>(element);
            self.sources.push(exported.ok_or_else(|| format!("'{name}' has no 'encap' read handler"))?);
        }
        if self.is_link_type_known() { self.find_link_type() } else { Ok(()) }
    }

    fn is_link_type_known(&self) -> bool {
        self.sources.iter().all(|source| source.get().is_some())
    }

    /// Finds the link type that all the elements of `USE_ENCAP_FROM` agree on.
    fn find_link_type(&mut self) -> Result<(), String> {
        let found: Vec<LinkType> =
            self.sources.iter().map(|source| source.get().unwrap_or(LinkType::ETHER)).collect();
        let Some(&first) = found.first() else { return Ok(()) };
        self.options.link_type = first;
        if found.iter().all(|link| *link == first) {
            return Ok(());
        }
        let each = self.encapsulation_from.iter().zip(found);
        let each: Vec<String> = each.map(|(name, link)| format!("{name} has {link}")).collect();
        Err(format!("source encapsulation types disagree: {}", each.join(", ")))
    }

    /// The open file; it is begun if it has not been.
    fn writer(&mut self) -> std::io::Result<Option<&mut Writer>> {
        if let Sink::Opened(_) = &self.sink
            && let Sink::Opened(destination) = std::mem::take(&mut self.sink)
        {
            self.find_link_type().map_err(std::io::Error::other)?;
            let stream = destination.start(self.patient);
            self.sink = Sink::Open(Writer::begin(&self.name, stream, self.options.clone())?);
        }
        match &mut self.sink {
            Sink::Open(writer) => Ok(Some(writer)),
            _ => Ok(None),
        }
    }

    /// Writes a packet. False if there was no room for it.
    fn write(&mut self, p: &Packet, cx: &mut Cx<'_>) -> bool {
        let now = if p.timestamp().is_zero() { cx.now() } else { p.timestamp() };
        let (timestamp, is_early) = (now.nanos().max(0) as u64, now.nanos() < 0);
        let missing = if self.extra_length { p.anno_u32(anno::EXTRA_LENGTH) } else { 0 };
        let length = (p.len() as u32).saturating_add(missing);
        let written = match self.writer() {
            Ok(Some(writer)) => write_to(writer, timestamp, length, p.data()),
            Ok(None) => return true,
            Err(error) => Err(error),
        };
        match written {
            Ok(Written::NoRoom) => {
                self.reader.lose(1, shown_name(&self.name), cx);
                return false;
            }
            Ok(written) => {
                self.count += 1;
                if is_early || written == Written::Misdated {
                    self.misdate(now, cx);
                }
            }
            Err(error) => self.give_up(&error, cx),
        }
        true
    }

    #[cold]
    fn misdate(&mut self, time: Timestamp, cx: &Cx<'_>) {
        if self.misdated == 0 {
            let name = shown_name(&self.name);
            cx.chatter(&format!(
                "ToDump({name}): a packet's time, {time}, cannot be told in this file; pcapng files tell more"
            ));
        }
        self.misdated += 1;
    }

    /// Writes packets, and hands over what the reader takes. Returns how many were lost.
    fn write_all(&mut self, batch: &Batch, cx: &mut Cx<'_>) -> usize {
        let lost = batch.iter().filter(|p| !self.write(p, cx)).count();
        self.settle(cx);
        lost
    }

    fn settle(&mut self, cx: &mut Cx<'_>) {
        if let Sink::Open(writer) = &mut self.sink
            && let Err(error) = self.reader.settle(writer.stream(), cx)
        {
            self.give_up(&error, cx);
        }
    }

    /// Whether a packet that is pulled now can be written.
    fn has_room(&mut self) -> bool {
        match &mut self.sink {
            Sink::Open(writer) => self.patient || writer.stream().has_room(),
            _ => true,
        }
    }

    fn give_up(&mut self, error: &std::io::Error, cx: &mut Cx<'_>) {
        self.sink = Sink::Closed;
        cx.chatter(&format!("ToDump({}): {}", shown_name(&self.name), system_message(error)));
    }

    fn flush(&mut self, cx: &mut Cx<'_>) {
        let flushed = self.writer().and_then(|writer| writer.map_or(Ok(()), Writer::flush));
        if let Err(error) = flushed {
            self.give_up(&error, cx);
        }
    }
}

impl Element for ToDump {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        if let Some(Filename(name)) = args.get("FILENAME") {
            self.name = clickwork_source::text::from_os(name);
        }
        (self.extra_length, self.options.nano) = (true, true);
        args.read("SNAPLEN", &mut self.options.snaplen)
            .read("EXTRA_LENGTH", &mut self.extra_length)
            .read("UNBUFFERED", &mut self.options.unbuffered)
            .read("NANO", &mut self.options.nano);
        if self.options.snaplen == 0 {
            self.options.snaplen = u32::MAX;
        }
        self.configure_link_type(args);
        self.patient = cx.router().clock().is_simulated();
        self.reader.export(cx);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.find_sources(cx)?;
        let opened = Destination::open(&self.name, self.patient);
        let destination = opened.map_err(|error| format!("{}: {}", self.name, system_message(&error)))?;
        self.sink = Sink::Opened(destination);
        if cx.input_is_pull(0) && cx.outputs() == 0 {
            self.signal = cx.upstream_empty_signal(0);
            cx.schedule_task();
        }
        Ok(())
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        let lost = self.write_all(batch, cx);
        if cx.outputs() == 0 {
            if lost > 0 {
                cx.count_drop(NO_ROOM, lost as u64);
            }
            batch.clear();
        }
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let batch = cx.pull(0, limit);
        self.write_all(&batch, cx);
        batch
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        self.settle(cx);
        if !self.has_room() {
            return TaskStep::Sleep;
        }
        let batch = cx.pull(0, cx.batch_limit());
        let lost = self.write_all(&batch, cx);
        if lost > 0 {
            cx.count_drop(NO_ROOM, lost as u64);
        }
        let is_idle = batch.is_empty() && !cx.is_active(&self.signal);
        cx.recycle(batch);
        if is_idle { TaskStep::Sleep } else { TaskStep::Again }
    }

    fn selected(&mut self, fd: RawFd, _: Ready, cx: &mut Cx<'_>) {
        let Sink::Open(writer) = &mut self.sink else { return cx.unwatch(fd) };
        if let Err(error) = self.reader.selected(fd, writer.stream(), shown_name(&self.name), cx) {
            self.give_up(&error, cx);
        }
        if cx.input_is_pull(0) && cx.outputs() == 0 {
            cx.schedule_task();
        }
    }

    /// Goes on writing a file that stays the same.
    fn take_state(&mut self, old: &mut dyn Element, cx: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<ToDump>(old)
            && old.name == self.name
            && (old.options.link_type == self.options.link_type || !self.is_link_type_known())
            && let Sink::Open(_) = old.sink
        {
            self.sink = std::mem::take(&mut old.sink);
            (self.count, self.misdated) = (old.count, old.misdated);
            self.settle(cx);
        }
    }

    /// Completes the file, which at least gets its header; but a router that never ran leaves it as it is.
    fn cleanup(&mut self, cx: &mut Cx<'_>) {
        if !cx.is_running() {
            return;
        }
        if let Err(error) = self.writer() {
            self.give_up(&error, cx);
        }
        if let Sink::Open(writer) = std::mem::take(&mut self.sink)
            && let Err(error) = writer.finish()
        {
            self.give_up(&error, cx);
        }
    }
}

//! ToIPFlowDumps: writes a summary of each flow's packets to a file of its own.

mod flow;
mod pattern;
#[cfg(test)]
mod tests;

use super::notifier::{self, Event};
use crate::capture::destination::Stream;
use crate::capture::error::system_message;
use crate::capture::summary::tcp_options::Shown;
use clickwork_packet::{Batch, Packet, Timestamp, anno};
use clickwork_router::args::{ArgSpec, ArgType, Args, Filename};
use clickwork_router::element::{downcast, try_downcast};
use clickwork_router::notify::Signal;
use clickwork_router::{Class, Cx, Element, ElementId, TaskStep, read_handler, write_handler};
use clickwork_source::text;
use flate2::{Compression, write::GzEncoder};
use flow::{Flow, FlowId, Style};
use std::collections::{HashMap, VecDeque};
use std::fs::{File, OpenOptions};
use std::io;
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "writes a summary of each flow's packets to a file of its own",
    manual: "Writes a summary dump, as ToIPSummaryDump does, of each TCP or UDP flow, which are told apart by the aggregate \
             annotation and the direction by the paint, as AggregateIPFlows sets them. FILEPATTERN makes the files' names: %n, \
             %x or %X is the aggregate (%.0n to %.3n its bytes, %.4n and %.5n its halves), %s and %d are the addresses (%.0s \
             the first byte, and so on), %S and %D the ports, %p is T or U, %% a percent sign; a width may be given, with 0 to \
             pad with zeros: flow%04n. '-' is standard output. Folders are made as need be. Times and TCP sequence numbers count \
             from the first packet, unless ABSOLUTE_TIME and ABSOLUTE_SEQ are true. ICMP errors become notes. Flows with fewer \
             than MINCOUNT packets leave no file; with GZIP complete files are compressed.\n\n\
             Files are complete when the router stops, when 'clear' is written, or soon after NOTIFIER, such as AggregateIPFlows, \
             says that a flow is over. At most CAPACITY flows are known at a time; packets of others are not written, and the \
             handler 'refused' says how many there were.",
    example: "InfiniteSource(LIMIT 3, STOP true) -> SetTimestamp -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) \
              -> f :: AggregateIPFlows -> ToIPFlowDumps(-, NOTIFIER f) -> Discard",
    ports: "1/0-1",
    args: &[
        ArgSpec::positional("FILEPATTERN", ArgType::Filename, "-", "pattern of the files' names"),
        ArgSpec::keyword("OUTPUT_PATTERN", ArgType::Filename, "", "the same"),
        ArgSpec::keyword("NOTIFIER", ArgType::Element, "", "the element that says which flows are over"),
        ArgSpec::keyword("ABSOLUTE_TIME", ArgType::Bool, "false", "whether times count from 1970"),
        ArgSpec::keyword(
            "ABSOLUTE_SEQ",
            ArgType::Bool,
            "false",
            "whether sequence numbers are left as they are",
        ),
        ArgSpec::keyword("BINARY", ArgType::Bool, "false", "whether records are binary"),
        ArgSpec::keyword("ALL_TCP_OPT", ArgType::Bool, "false", "whether TCP options are written"),
        ArgSpec::keyword("TCP_OPT", ArgType::Bool, "false", "whether TCP options but timestamps are written"),
        ArgSpec::keyword("TCP_WINDOW", ArgType::Bool, "false", "whether TCP windows are written"),
        ArgSpec::keyword("GZIP", ArgType::Bool, "false", "whether complete files are compressed"),
        ArgSpec::keyword("IP_ID", ArgType::Bool, "false", "whether IP identifications are written"),
        ArgSpec::keyword("MINCOUNT", ArgType::U32, "0", "flows with fewer packets are not written"),
        ArgSpec::keyword("CAPACITY", ArgType::U32, "16384", "how many flows are known at most"),
    ],
    handlers: &[
        write_handler!("clear", "completes all files", |e: &mut FlowDumps, _, cx| e.end_all(cx)),
        read_handler!("refused", "packets not written for want of room", |e: &mut FlowDumps, _| e.refused),
    ],
    ..Class::new("ToIPFlowDumps", "analysis", || Box::<FlowDumps>::default())
};

/// How long after the end of a flow its last packets may come.
const LINGER: Duration = Duration::from_millis(250);

#[derive(Default)]
struct FlowDumps {
    pattern: String,
    notifier: Option<ElementId>,
    style: Style,
    compresses: bool,
    min_count: u32,
    capacity: usize,
    flows: HashMap<u32, Flow>,
    /// Flows that are over, and when their files are completed.
    ending: VecDeque<(Timestamp, u32)>,
    lookups: u64,
    with_aggregate: u64,
    without_aggregate: u64,
    refused: u64,
    signal: Signal,
}

/// Adds to a flow's file, which is emptied first if `fresh`.
fn append(name: &str, data: &[u8], fresh: bool, cx: &Cx<'_>) -> io::Result<()> {
    if name == "-" {
        cx.router().output().raw(data);
        return Ok(());
    }
    if fresh && let Some(folder) = text::to_path(name).parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut options = OpenOptions::new();
    let options = if fresh { options.write(true).create(true).truncate(true) } else { options.append(true) };
    Stream::open_once(options, &text::to_path(name))?.write_once(data)
}

/// Replaces a file by a compressed one.
fn compress(name: &str) -> io::Result<()> {
    let (compressed, name) = (text::to_path(&format!("{name}.gz")), text::to_path(name));
    let mut encoder = GzEncoder::new(File::create(compressed)?, Compression::default());
    io::copy(&mut File::open(&name)?, &mut encoder)?;
    encoder.finish()?;
    std::fs::remove_file(name)
}

impl FlowDumps {
    fn add(&mut self, p: &Packet, cx: &mut Cx<'_>) {
        let aggregate = p.anno_u32(anno::AGGREGATE);
        if aggregate == 0 || !self.begin(aggregate, p, cx) {
            self.without_aggregate += 1;
            return;
        }
        self.with_aggregate += 1;
        self.lookups += 1;
        let Some(flow) = self.flows.get_mut(&aggregate) else { return };
        flow.used = self.lookups;
        if flow.is_full() {
            write(flow, cx);
        }
        flow.add(p);
    }

    /// Makes the flow if it is not known; whether it is then.
    fn begin(&mut self, aggregate: u32, p: &Packet, cx: &Cx<'_>) -> bool {
        if self.flows.contains_key(&aggregate) {
            return true;
        }
        if self.flows.len() >= self.capacity {
            self.refused += 1;
            return false;
        }
        let Some(id) = FlowId::of(p) else { return false };
        let Some(name) = pattern::expand(&self.pattern, aggregate, &id) else {
            cx.chatter(&format!("{}: bad filename pattern", cx.name()));
            return false;
        };
        self.flows.insert(aggregate, Flow::new(id, p, name, self.style));
        true
    }

    fn end(&mut self, mut flow: Flow, cx: &Cx<'_>) {
        let done = if flow.packets < self.min_count {
            if flow.is_begun { std::fs::remove_file(&flow.file) } else { Ok(()) }
        } else {
            write(&mut flow, cx);
            if self.compresses && flow.file != "-" { compress(&flow.file) } else { Ok(()) }
        };
        if let Err(error) = done {
            cx.chatter(&format!("{}: {}", flow.file, system_message(&error)));
        }
    }

    /// Completes all files, in the order of Click's table.
    fn end_all(&mut self, cx: &Cx<'_>) {
        let mut flows: Vec<(u32, Flow)> = self.flows.drain().collect();
        flows.sort_by_key(|(aggregate, flow)| (aggregate & 0x3ff, std::cmp::Reverse(flow.used)));
        for (_, flow) in flows {
            self.end(flow, cx);
        }
    }

    fn read_patterns(&mut self, args: &mut Args) {
        let pattern =
            ["OUTPUT_PATTERN", "FILEPATTERN"].into_iter().find_map(|name| args.get::<Filename>(name));
        self.pattern = pattern.map_or_else(|| "-".to_owned(), |Filename(name)| text::from_os(name));
        if !self.pattern.contains('%') {
            args.warn("OUTPUT_PATTERN has no % escapes, so output files will get overwritten");
        }
    }
}

/// Writes what has come of a flow.
fn write(flow: &mut Flow, cx: &Cx<'_>) {
    let fresh = !flow.is_begun;
    let records = flow.take_records();
    if let Err(error) = append(&flow.file, &records, fresh, cx) {
        cx.chatter(&format!("{}: {}", flow.file, system_message(&error)));
    }
}

impl Element for FlowDumps {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        self.read_patterns(args);
        self.notifier = notifier::configured(args, cx);
        let (mut all, mut some, mut capacity) = (false, false, 1u32 << 14);
        args.read("ABSOLUTE_TIME", &mut self.style.absolute_time)
            .read("ABSOLUTE_SEQ", &mut self.style.absolute_sequence)
            .read("BINARY", &mut self.style.binary)
            .read("ALL_TCP_OPT", &mut all)
            .read("TCP_OPT", &mut some)
            .read("TCP_WINDOW", &mut self.style.tcp_window)
            .read("GZIP", &mut self.compresses)
            .read("IP_ID", &mut self.style.ip_id)
            .read("MINCOUNT", &mut self.min_count)
            .read("CAPACITY", &mut capacity);
        self.capacity = capacity as usize;
        self.style.tcp_options = match (all, some) {
            (true, _) => Some(Shown::All),
            (false, true) => Some(Shown::AllButTimestamps),
            (false, false) => None,
        };
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        if cx.input_is_pull(0) && cx.outputs() == 0 {
            self.signal = cx.upstream_empty_signal(0);
            cx.schedule_task();
        }
        notifier::listen(
            self.notifier,
            |element, aggregate, event, cx| {
                let dumps = downcast::<FlowDumps>(element);
                if event == Event::Deleted && dumps.flows.contains_key(&aggregate) {
                    dumps.ending.push_back((cx.steady() + LINGER, aggregate));
                    if cx.timer_expiry(0).is_none() {
                        cx.schedule_timer_after(0, LINGER);
                    }
                }
            },
            cx,
        )
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        for p in batch.iter() {
            self.add(p, cx);
        }
        if cx.outputs() == 0 {
            batch.clear();
        }
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let batch = cx.pull(0, limit);
        for p in batch.iter() {
            self.add(p, cx);
        }
        batch
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        let batch = cx.pull(0, cx.batch_limit());
        let is_idle = batch.is_empty() && !cx.is_active(&self.signal);
        for p in batch.iter() {
            self.add(p, cx);
        }
        cx.recycle(batch);
        if is_idle { TaskStep::Sleep } else { TaskStep::Again }
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        let now = cx.steady();
        while self.ending.front().is_some_and(|(due, _)| *due <= now) {
            let over = self.ending.pop_front().map(|(_, aggregate)| aggregate);
            if let Some(flow) = over.and_then(|aggregate| self.flows.remove(&aggregate)) {
                self.end(flow, cx);
            }
        }
        if let Some(&(due, _)) = self.ending.front() {
            cx.schedule_timer_at(0, due);
        }
    }

    /// Goes on writing the files of the same pattern.
    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<FlowDumps>(old).filter(|old| old.pattern == self.pattern) {
            self.flows = std::mem::take(&mut old.flows);
        }
    }

    fn cleanup(&mut self, cx: &mut Cx<'_>) {
        self.end_all(cx);
        if self.without_aggregate > 0 && self.with_aggregate == 0 {
            let (name, class) = (cx.name(), CLASS.name);
            cx.chatter(&format!("{name} :: {class}: warning: saw no packets with aggregate annotations"));
        }
    }
}

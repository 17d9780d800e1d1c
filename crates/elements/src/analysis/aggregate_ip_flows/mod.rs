//! AggregateIPFlows: the flow that a TCP or UDP packet belongs to becomes its aggregate.

mod headers;
mod table;
#[cfg(test)]
mod tests;
mod trace_info;

use super::notifier::{Event, Notifier};
use crate::capture::error::system_message;
use crate::named::element;
use clickwork_packet::{Batch, Packet, anno};
use clickwork_router::args::{ArgSpec, ArgType, Args, Filename, SecondsIn};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, ElementId, read_handler, write_handler};
use headers::Headers;
use std::sync::Arc;
use table::{Flow, FlowKey, Table, Waiting};
use trace_info::TraceInfo;

/// The class facts.
pub static CLASS: Class = Class {
    help: "sets the aggregate annotation to the number of the TCP or UDP flow",
    manual: "Numbers TCP and UDP flows from 1 and sets each packet's aggregate annotation to the number of its flow, and its \
             paint to 0 if it goes in the direction of the flow's first packet, else to 1. Packets that are neither, or too \
             short, leave by output 1 or are dropped. A flow is over when it has been silent for TCP_TIMEOUT or \
             UDP_TIMEOUT, or for TCP_DONE_TIMEOUT when both sides have closed it; packets with the same addresses and \
             ports then are another flow. Time is that of the packets. Every REAP seconds flows that are over are \
             forgotten. With ICMP true, ICMP errors get the number of the flow they are about, and paint 2 or 3.\n\n\
             With FRAGMENTS, which is possible in push and the default there, packets between two hosts are held back while \
             there are fragments whose ports are not known; fragments whose ports do not come for FRAGMENT_TIMEOUT seconds \
             are dropped. Without, fragments but the first leave by output 1. The handler 'clear' lets everything go.\n\n\
             TRACEINFO is a file about all flows, in XML; SOURCE is the element that reads the packets, whose handlers \
             'filename' and 'packet_filepos' tell where they come from. Elements such as ToIPFlowDumps and AggregateLast, \
             with this element as their NOTIFIER, learn when flows begin and end.\n\n\
             At most CAPACITY flows are known at a time, in some 150 bytes each, and at most 4096 packets are held back; \
             packets beyond leave by output 1 or are dropped.",
    example: "InfiniteSource(LIMIT 3, STOP true) -> SetTimestamp -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) \
              -> AggregateIPFlows -> a :: AggregateCounter -> Discard; DriverManager(wait_stop, print a.nagg)",
    ports: "1/1-2",
    processing: "a/ah",
    packets: "ip/ip,ip",
    args: &[
        ArgSpec::keyword(
            "TCP_TIMEOUT",
            ArgType::U32,
            "86400",
            "seconds after which a silent TCP flow is over",
        ),
        ArgSpec::keyword("TCP_DONE_TIMEOUT", ArgType::U32, "30", "the same, if both sides have closed it"),
        ArgSpec::keyword("UDP_TIMEOUT", ArgType::Seconds, "60", "the same, for UDP"),
        ArgSpec::keyword(
            "FRAGMENT_TIMEOUT",
            ArgType::Seconds,
            "30",
            "how long fragments wait for their ports",
        ),
        ArgSpec::keyword("REAP", ArgType::Seconds, "1200", "how often flows that are over are forgotten"),
        ArgSpec::keyword("ICMP", ArgType::Bool, "false", "whether ICMP errors belong to flows"),
        ArgSpec::keyword("TRACEINFO", ArgType::Filename, "", "file about flows"),
        ArgSpec::keyword("SOURCE", ArgType::Element, "", "the element that reads the packets"),
        ArgSpec::keyword("FRAGMENTS", ArgType::Bool, "", "whether later fragments belong to flows"),
        ArgSpec::keyword("CAPACITY", ArgType::U32, "1048576", "how many flows are known at most"),
    ],
    handlers: &[
        write_handler!("clear", "forgets all flows and lets fragments go", |e: &mut Flows, _, cx| e
            .clear(cx)),
        read_handler!("flows", "number of flows known", |e: &mut Flows, _| e.table.flows.len()),
    ],
    ..Class::new("AggregateIPFlows", "analysis", || Box::<Flows>::default())
};

/// How many packets are held back at most.
const MAX_WAITING: usize = 4096;
/// Both directions are closed.
const DONE: u8 = 3;
/// A time, in seconds, after all others; for `clear`.
const END_OF_TIME: i64 = 0x7fff_ffff;

const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;

/// Lengths of time in seconds.
struct Timeouts {
    tcp: u32,
    tcp_done: u32,
    udp: u32,
    fragment: u32,
    reap: u32,
}

struct Flows {
    timeouts: Timeouts,
    handles_icmp: bool,
    handles_fragments: Option<bool>,
    capacity: usize,
    table: Table,
    notifier: Arc<Notifier>,
    /// The next flow's number.
    next: u32,
    /// Seconds of the last packet's time, and of the next reaping.
    now: i64,
    reap_at: i64,
    has_warned: bool,
    trace_name: Option<String>,
    source: Option<ElementId>,
    trace: Option<TraceInfo>,
}

impl Default for Flows {
    fn default() -> Flows {
        Flows {
            timeouts: Timeouts { tcp: 24 * 60 * 60, tcp_done: 30, udp: 60, fragment: 30, reap: 20 * 60 },
            handles_icmp: false,
            handles_fragments: None,
            capacity: 1 << 20,
            table: Table::default(),
            notifier: Arc::default(),
            next: 1,
            now: 0,
            reap_at: 0,
            has_warned: false,
            trace_name: None,
            source: None,
            trace: None,
        }
    }
}

/// What becomes of a packet.
enum Action {
    Emit(Packet),
    Refuse(Packet, &'static str),
    Keep,
}

impl Flows {
    fn timeout(&self, is_tcp: bool, over: u8) -> i64 {
        i64::from(match (is_tcp, over) {
            (false, _) => self.timeouts.udp,
            (true, DONE) => self.timeouts.tcp_done,
            (true, _) => self.timeouts.tcp,
        })
    }

    fn stamp(&mut self, p: &mut Packet, cx: &Cx<'_>) {
        if !p.timestamp().is_zero() {
            return;
        }
        if !self.has_warned {
            self.has_warned = true;
            let (name, class) = (cx.name(), CLASS.name);
            cx.chatter(&format!("{name} :: {class}: warning: packet received without timestamp"));
        }
        p.set_timestamp(cx.now());
    }

    fn handle(&mut self, mut p: Packet, cx: &mut Cx<'_>) -> Action {
        self.stamp(&mut p, cx);
        let headers = match Headers::of(&p, self.handles_icmp) {
            Ok(headers) => headers,
            Err(reason) => return Action::Refuse(p, reason),
        };
        let mut paint = headers.paint;
        let key = match headers.ports {
            Some(ports) => {
                let key = FlowKey { is_tcp: headers.is_tcp, hosts: headers.hosts, ports };
                let Some((aggregate, reverse)) = self.flow_of(key, &headers, &p, cx) else {
                    return Action::Refuse(p, "too many flows");
                };
                paint ^= u8::from(reverse);
                p.set_anno_u32(anno::AGGREGATE, aggregate);
                Some(key)
            }
            None => {
                p.set_anno_u32(anno::AGGREGATE, 0);
                None
            }
        };
        p.set_paint(paint);
        let waits = self
            .table
            .pairs
            .get(&(headers.is_tcp, headers.hosts))
            .is_some_and(|pair| !pair.waiting.is_empty());
        if waits || headers.is_fragment && self.handles_fragments == Some(true) {
            return self.hold_back(p, key, &headers, cx);
        }
        let Some(key) = key else { return Action::Refuse(p, "fragment without ports") };
        self.now = p.timestamp().seconds();
        self.count(&p, &key, headers.flags);
        Action::Emit(p)
    }

    /// The number of a flow, and whether it goes in reverse; none if there is no room for it.
    fn flow_of(
        &mut self,
        key: FlowKey,
        headers: &Headers,
        p: &Packet,
        cx: &mut Cx<'_>,
    ) -> Option<(u32, bool)> {
        let reverse = headers.paint & 1 == 1;
        let Some(flow) = self.table.find(&key).cloned() else {
            if self.table.flows.len() >= self.capacity {
                return None;
            }
            let flow = self.new_flow(reverse, p, cx);
            let aggregate = flow.aggregate;
            self.table.add(key, flow);
            return Some((aggregate, reverse));
        };
        let age = p.timestamp().seconds() - flow.last.seconds();
        let begins_again = flow.over == DONE && headers.flags.is_some_and(|flags| flags & SYN != 0);
        if age <= self.timeout(key.is_tcp, flow.over) && !begins_again {
            return Some((flow.aggregate, flow.reverse));
        }
        self.notifier.tell(flow.aggregate, Event::Deleted, cx);
        self.report(&key, &flow, cx);
        // As in Click the counts of packets go on.
        let new = Flow { packets: flow.packets, used: flow.used, ..self.new_flow(reverse, p, cx) };
        let aggregate = new.aggregate;
        self.table.flows.insert(key, new);
        Some((aggregate, reverse))
    }

    fn new_flow(&mut self, reverse: bool, p: &Packet, cx: &mut Cx<'_>) -> Flow {
        let aggregate = self.next;
        self.next = self.next.wrapping_add(1).max(1);
        self.notifier.tell(aggregate, Event::New, cx);
        let (first, last) = (p.timestamp(), p.timestamp());
        let file_position = if self.trace.is_some() { self.file_position(cx) } else { 0 };
        Flow { aggregate, reverse, over: 0, first, last, file_position, packets: [0; 2], used: 0 }
    }

    fn ask_source(&self, handler: &str, cx: &mut Cx<'_>) -> Option<String> {
        let source = self.source?;
        let text = cx.act(|router| router.read_handler(source, handler, "")).ok()?;
        Some(text.text().trim().to_owned())
    }

    fn file_position(&self, cx: &mut Cx<'_>) -> u32 {
        self.ask_source("packet_filepos", cx).and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    /// Notes that a packet of a flow passes.
    fn count(&mut self, p: &Packet, key: &FlowKey, flags: Option<u8>) {
        let Some(flow) = self.table.find(key) else { return };
        flow.last = p.timestamp();
        let direction = p.paint();
        if direction >= 2 {
            return;
        }
        flow.packets[usize::from(direction)] += 1;
        match flags {
            Some(flags) if flags & RST != 0 => flow.over = DONE,
            Some(flags) if flags & FIN != 0 => flow.over |= 1 << direction,
            Some(flags) if flags & SYN != 0 => flow.over = 0,
            _ => {}
        }
    }

    // ---- fragments

    fn hold_back(&mut self, p: Packet, flow: Option<FlowKey>, headers: &Headers, cx: &mut Cx<'_>) -> Action {
        if self.table.waiting >= MAX_WAITING {
            return Action::Refuse(p, "too many fragments");
        }
        self.now = p.timestamp().seconds();
        self.table.note(headers.is_tcp, headers.hosts);
        let Headers { id, is_fragment, flags, .. } = *headers;
        let pair = self.table.pairs.entry((headers.is_tcp, headers.hosts)).or_default();
        pair.waiting.push_back(Waiting { packet: p, flow, id, is_fragment, flags });
        self.table.waiting += 1;
        self.release((headers.is_tcp, headers.hosts), cx);
        Action::Keep
    }

    /// Lets packets of a pair go that have waited long enough, or need not wait.
    fn release(&mut self, pair: (bool, super::host_pair::HostPair), cx: &mut Cx<'_>) {
        let before = self.now - i64::from(self.timeouts.fragment);
        loop {
            let Some(waiting) = self.table.pairs.get_mut(&pair).map(|pair| &mut pair.waiting) else { return };
            let may_go = |w: &Waiting| w.packet.timestamp().seconds() < before || !w.is_fragment;
            if !waiting.front().is_some_and(may_go) {
                return;
            }
            let Some(mut head) = waiting.pop_front() else { return };
            self.table.waiting -= 1;
            match head.flow {
                Some(_) => waiting.iter_mut().filter(|w| w.id == head.id).for_each(|w| share_flow(w, &head)),
                None => {
                    if let Some(known) = waiting.iter().find(|w| w.id == head.id && w.flow.is_some()) {
                        share_flow(&mut head, known);
                    }
                }
            }
            match head.flow {
                Some(key) => {
                    self.count(&head.packet, &key, head.flags);
                    cx.emit(0, head.packet);
                }
                None => cx.drop(head.packet, "fragment without ports"),
            }
        }
    }

    // ---- the end of flows

    fn reap(&mut self, cx: &mut Cx<'_>) {
        if self.reap_at != 0 {
            for pair in self.table.pairs_in_order() {
                self.reap_pair(pair, cx);
            }
        }
        self.reap_at = self.now + i64::from(self.timeouts.reap);
    }

    fn reap_pair(&mut self, pair: (bool, super::host_pair::HostPair), cx: &mut Cx<'_>) {
        self.release(pair, cx);
        let (is_tcp, hosts) = pair;
        if self.table.pairs.get(&pair).is_some_and(|pair| !pair.waiting.is_empty()) {
            return;
        }
        let mut over = self.table.flows_of(is_tcp, hosts);
        over.retain(|key| {
            let flow = &self.table.flows[key];
            flow.last.seconds() < self.now - self.timeout(is_tcp, flow.over)
        });
        for key in &over {
            let flow = self.table.flows[key].clone();
            self.notifier.tell(flow.aggregate, Event::Deleted, cx);
            self.report(key, &flow, cx);
        }
        self.table.remove(is_tcp, hosts, &over);
    }

    fn clear(&mut self, cx: &mut Cx<'_>) {
        let (now, reap_at) = (self.now, self.reap_at);
        (self.now, self.reap_at) = (END_OF_TIME, END_OF_TIME);
        self.reap(cx);
        (self.now, self.reap_at) = (now, reap_at);
    }

    /// Writes about a flow that is over, if that is wanted.
    fn report(&mut self, key: &FlowKey, flow: &Flow, cx: &Cx<'_>) {
        if let Some(trace) = &mut self.trace
            && let Err(error) = trace.flow(key, flow)
        {
            self.give_up(&error, cx);
        }
    }

    fn give_up(&mut self, error: &std::io::Error, cx: &Cx<'_>) {
        let name = self.trace_name.as_deref().unwrap_or_default();
        cx.chatter(&format!("{}: {name}: {}", cx.name(), system_message(error)));
        self.trace = None;
    }

    fn open_trace(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        let Some(name) = self.trace_name.clone() else { return Ok(()) };
        let source = self.ask_source("filename", cx).unwrap_or_default();
        let opened = TraceInfo::open(&name, &source).and_then(|mut trace| trace.start().map(|()| trace));
        self.trace = Some(opened.map_err(|e| format!("{name}: {}", system_message(&e)))?);
        Ok(())
    }
}

/// Gives a packet that waits the flow of another one with the same IP identification. As in Click this is done to whole
/// packets too, though they have ports of their own.
fn share_flow(to: &mut Waiting, from: &Waiting) {
    to.flow = from.flow;
    to.packet.set_anno_u32(anno::AGGREGATE, from.packet.anno_u32(anno::AGGREGATE));
    to.packet.set_paint(from.packet.paint());
}

impl Element for Flows {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let (mut capacity, mut fragments) = (1u32 << 20, true);
        args.read("TCP_TIMEOUT", &mut self.timeouts.tcp)
            .read("TCP_DONE_TIMEOUT", &mut self.timeouts.tcp_done)
            .read_with("UDP_TIMEOUT", SecondsIn(0), &mut self.timeouts.udp)
            .read_with("FRAGMENT_TIMEOUT", SecondsIn(0), &mut self.timeouts.fragment)
            .read_with("REAP", SecondsIn(0), &mut self.timeouts.reap)
            .read("ICMP", &mut self.handles_icmp)
            .read("FRAGMENTS", &mut fragments)
            .read("CAPACITY", &mut capacity);
        self.capacity = capacity as usize;
        self.handles_fragments = args.has("FRAGMENTS").then_some(fragments);
        self.trace_name =
            args.get::<Filename>("TRACEINFO").map(|name| clickwork_source::text::from_os(name.0));
        self.source = element(args, "SOURCE", cx);
        cx.export(Arc::clone(&self.notifier));
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        let is_pull = cx.input_is_pull(0);
        if self.handles_fragments == Some(true) && is_pull {
            return Err(
                "'FRAGMENTS true' is incompatible with pull; run this element in a push context".to_owned()
            );
        }
        self.handles_fragments.get_or_insert(!is_pull);
        self.open_trace(cx)
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        for p in batch.drain() {
            let action = self.handle(p, cx);
            if self.now >= self.reap_at {
                self.reap(cx);
            }
            match action {
                Action::Emit(p) => cx.emit(0, p),
                Action::Refuse(p, reason) => cx.emit_or_drop(1, p, reason),
                Action::Keep => {}
            }
        }
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let mut passed = cx.fresh_batch();
        for p in cx.pull(0, limit) {
            let action = self.handle(p, cx);
            if self.now >= self.reap_at {
                self.reap(cx);
            }
            match action {
                Action::Emit(p) => passed.push(p),
                Action::Refuse(p, reason) => cx.emit_or_drop(1, p, reason),
                Action::Keep => {}
            }
        }
        passed
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<Flows>(old) {
            self.table = std::mem::take(&mut old.table);
            (self.next, self.now, self.reap_at) = (old.next, old.now, old.reap_at);
        }
    }

    /// Writes about the flows that are still there.
    fn cleanup(&mut self, cx: &mut Cx<'_>) {
        if !cx.is_running() || self.trace.is_none() {
            return;
        }
        for (is_tcp, hosts) in self.table.pairs_in_order() {
            for key in self.table.flows_of(is_tcp, hosts) {
                let flow = self.table.flows[&key].clone();
                self.report(&key, &flow, cx);
            }
        }
        if let Some(Err(error)) = self.trace.as_mut().map(TraceInfo::finish) {
            self.give_up(&error, cx);
        }
    }
}

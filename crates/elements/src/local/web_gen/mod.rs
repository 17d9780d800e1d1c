//! WebGen: web clients in large numbers, to load a server. `connection.rs` has one of them.

mod connection;
#[cfg(test)]
mod tests;

use super::tcp::Flow;
use clickwork_packet::addr::{Ipv4Address, Ipv4Prefix};
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::tcp::flag;
use clickwork_packet::headers::{Header, Ipv4, Ipv4Header, Ipv4Mut, Tcp, TcpHeader, TcpMut};
use clickwork_packet::{Batch, Packet, Timestamp};
use clickwork_router::args::{ArgSpec, ArgType, Args, HostOrPrefix};
use clickwork_router::{Class, Cx, Element, read_handler};
use connection::{Arrived, Connection, Fate, Outgoing};
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "web clients in large numbers, to load a server",
    manual: "Opens RATE connections a second to port 80 of DST, each from a random address within PREFIX and a random port, asks \
             for one of the pages of a benchmark, takes the answer and closes. Packets begin with their IP header; \
             those to none of the connections are answered with RST. A segment that is not answered is resent each \
             second, six times at most. How many connections were begun, completed, given up and reset is \
             printed every five seconds and at the end. At most ten times RATE connections are open at a time; those \
             that find no place are not begun, with a message.",
    example: "Idle -> WebGen(10.1.0.0/16, 10.2.0.1, 100) -> Discard; Script(wait 1s, stop)",
    processing: "h/h",
    args: &[
        ArgSpec::required("PREFIX", ArgType::IpAddrOrPrefix, "where the clients are"),
        ArgSpec::required("DST", ArgType::IpAddr, "the server"),
        ArgSpec::required(
            "RATE",
            ArgType::IntRange { min: 1, max: MAX_RATE as i64 },
            "connections begun each second",
        ),
    ],
    handlers: &[read_handler!("open", "connections that are open", |e: &mut WebGen, _| e.open.len())],
    ..Class::new("WebGen", "local", || Box::<WebGen>::default())
};

const MAX_RATE: u32 = 1_000_000;
const TICK: Duration = Duration::from_millis(1);
/// How long to wait for an answer.
const PATIENCE: Duration = Duration::from_secs(1);
const MAX_RESENDS: u32 = 5;
const REPORT_EVERY: Duration = Duration::from_secs(5);
const HTTP: u16 = 80;
const TTL: u8 = 250;
/// Room for an Ethernet and an IP header.
const HEADROOM: usize = 34;
/// IP and TCP header.
const HEADERS: usize = super::tcp::HEADERS;
/// How often another client is drawn if there is such a one.
const DRAWS: usize = 8;

#[derive(Default)]
struct WebGen {
    clients: Ipv4Prefix,
    server: Ipv4Address,
    interval: Duration,
    capacity: usize,
    open: HashMap<Flow, Entry>,
    /// The open connections in the order in which they last sent.
    order: BTreeMap<u64, Flow>,
    turns: u64,
    counts: Counts,
    next_start: Timestamp,
    last_report: Timestamp,
    identification: u16,
}

/// A connection, and when it last sent.
struct Entry {
    connection: Connection,
    sent: Timestamp,
    turn: u64,
}

#[derive(Default)]
struct Counts {
    begun: u32,
    completed: u32,
    given_up: u32,
    reset: u32,
}

impl WebGen {
    /// A random client that has no connection.
    fn draw(&self, cx: &mut Cx<'_>) -> Option<Flow> {
        let mask = self.clients.mask.to_bits();
        let fixed = self.clients.address.to_bits() & mask;
        let mut flow = || Flow {
            source: Ipv4Address::from_bits(fixed | cx.random() & !mask),
            source_port: (1024 + cx.random() % 60000) as u16,
            destination: self.server,
            destination_port: HTTP,
        };
        (0..DRAWS).map(|_| flow()).find(|flow| !self.open.contains_key(flow))
    }

    fn begin(&mut self, cx: &mut Cx<'_>) {
        let free = self.open.len() < self.capacity;
        let Some(flow) = self.draw(cx).filter(|_| free) else {
            return cx.report("out of available CBs", || "out of available CBs".to_string());
        };
        let request = page(cx);
        let connection = Connection::new(cx.random() & 0x0fff_ffff, request);
        self.turns += 1;
        self.order.insert(self.turns, flow);
        self.open.insert(flow, Entry { connection, sent: Timestamp::ZERO, turn: self.turns });
        self.send(flow, cx);
        self.counts.begun += 1;
    }

    /// Lets a connection send, and closes it if that was its last.
    fn send(&mut self, flow: Flow, cx: &mut Cx<'_>) {
        let Some(entry) = self.open.get_mut(&flow) else { return };
        self.order.remove(&entry.turn);
        self.turns += 1;
        (entry.turn, entry.sent) = (self.turns, cx.steady());
        self.order.insert(self.turns, flow);
        let Some(outgoing) = entry.connection.outgoing() else { return };
        let is_last = outgoing.is_last;
        cx.emit(0, packet(flow, &outgoing, self.identification));
        self.identification = self.identification.wrapping_add(1);
        if is_last {
            self.counts.completed += 1;
            self.close(flow);
        }
    }

    fn close(&mut self, flow: Flow) {
        if let Some(entry) = self.open.remove(&flow) {
            self.order.remove(&entry.turn);
        }
    }

    fn receive(&mut self, p: &Packet, cx: &mut Cx<'_>) -> Result<(), &'static str> {
        let ip = Ipv4::new(p.data()).ok_or("no IP header")?;
        let tcp = Tcp::new(ip.payload()).filter(|_| p.len() >= HEADERS).ok_or("no TCP header")?;
        let flow = Flow {
            source: ip.destination(),
            source_port: tcp.destination_port(),
            destination: ip.source(),
            destination_port: tcp.source_port(),
        };
        // As in Click, it does not matter which address sent it.
        let known = Flow { destination: self.server, ..flow };
        let arrived = Arrived { tcp: *tcp.header(), payload: tcp.payload().len() as u32 };
        match self.open.get_mut(&known).map(|entry| entry.connection.arrived(arrived)) {
            Some(Fate::Open) => self.send(known, cx),
            Some(Fate::Reset) => {
                self.counts.reset += 1;
                self.close(known);
            }
            None => self.refuse(flow, &tcp, cx)?,
        }
        Ok(())
    }

    /// Answers a segment of no connection with RST, unless it is one (RFC 9293 §3.10.7.1).
    fn refuse(&mut self, flow: Flow, to: &TcpHeader, cx: &mut Cx<'_>) -> Result<(), &'static str> {
        if to.flags & flag::RST != 0 {
            return Err("RST of no connection");
        }
        let mut tcp = TcpHeader::default();
        tcp.flags = flag::RST;
        tcp.set_sequence(to.acknowledgment());
        tcp.set_acknowledgment(to.sequence());
        tcp.set_window(60 * 1024);
        cx.emit(0, packet(flow, &Outgoing { tcp, payload: &[], is_last: false }, self.identification));
        self.identification = self.identification.wrapping_add(1);
        Ok(())
    }

    /// Resends what was not answered in time, or gives it up.
    fn resend(&mut self, now: Timestamp, cx: &mut Cx<'_>) {
        let last = self.turns;
        while let Some((&turn, &flow)) = self.order.first_key_value() {
            let Some(entry) = self.open.get_mut(&flow).filter(|_| turn <= last) else { return };
            if now.since(entry.sent) <= PATIENCE {
                return;
            }
            entry.connection.resends += 1;
            if entry.connection.resends > MAX_RESENDS + 1 {
                self.counts.given_up += 1;
                self.close(flow);
            } else {
                self.send(flow, cx);
            }
        }
    }

    fn report(&mut self, cx: &Cx<'_>) {
        let Counts { begun, completed, given_up, reset } = std::mem::take(&mut self.counts);
        cx.chatter(&format!("init: {begun}  comp: {completed:5}  tmo: {given_up:5}  rst: {reset:5}"));
    }
}

/// The request for one of the pages of the SPECweb99 benchmark.
fn page(cx: &mut Cx<'_>) -> Vec<u8> {
    let [directory, file, class] = [10, 9, 3].map(|n| cx.random() % n);
    format!("GET /spec/{directory}/{directory}-{class}-{file} HTTP/1.0\r\n\r\n").into_bytes()
}

/// The packet of a segment.
fn packet(flow: Flow, outgoing: &Outgoing<'_>, identification: u16) -> Packet {
    let length = HEADERS + outgoing.payload.len();
    let mut p = Packet::zeroed(HEADROOM, length, 0);
    let data = p.data_mut();
    data[HEADERS..].copy_from_slice(outgoing.payload);
    let mut header = Ipv4Header::default();
    header.set_total_len(length as u16);
    header.set_identification(identification);
    header.protocol = protocol::TCP;
    header.ttl = TTL;
    header.set_source(flow.source);
    header.set_destination(flow.destination);
    let (ip, segment) = data.split_at_mut(size_of::<Ipv4Header>());
    if let (Some(ip), Some(tcp)) = (Ipv4Header::peek_mut(ip), TcpHeader::peek_mut(segment)) {
        (*ip, *tcp) = (header, outgoing.tcp);
        tcp.set_source_port(flow.source_port);
        tcp.set_destination_port(flow.destination_port);
    }
    if let (Some(mut ip), Some(mut tcp)) = (Ipv4Mut::new(ip), TcpMut::new(segment)) {
        ip.fill_checksum();
        tcp.fill_checksum(header.pseudo_sum((length - size_of::<Ipv4Header>()) as u16));
    }
    p.set_network_header(0, size_of::<Ipv4Header>() as u32);
    p.set_dst_ip(flow.destination);
    p
}

impl Element for WebGen {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        self.clients = args.get("PREFIX").map_or(Ipv4Prefix::default(), |HostOrPrefix(prefix)| prefix);
        args.read("DST", &mut self.server);
        let Some(rate) = args.get::<u32>("RATE") else { return };
        if !(1..=MAX_RATE).contains(&rate) {
            return args.error_in("RATE", format!("must be between 1 and {MAX_RATE}"));
        }
        let micros = 1_000_000 / rate;
        self.interval = Duration::from_micros(micros.into());
        self.capacity = (2 * (PATIENCE.as_micros() as u32 / micros) * MAX_RESENDS) as usize;
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        cx.chatter(&format!("Allocated {} CBs", self.capacity));
        let now = cx.steady();
        (self.next_start, self.last_report) = (now, now);
        cx.schedule_timer_at(0, now);
        Ok(())
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        for p in batch.take() {
            if let Err(reason) = self.receive(&p, cx) {
                cx.drop(p, reason);
            }
        }
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        let now = cx.steady();
        // No more at once than may be open, however long the router was busy with something else.
        for _ in 0..self.capacity {
            if now.since(self.next_start) <= self.interval {
                break;
            }
            self.next_start = self.next_start + self.interval;
            self.begin(cx);
        }
        self.resend(now, cx);
        if now.since(self.last_report) > REPORT_EVERY {
            self.report(cx);
            self.last_report = now;
        }
        cx.schedule_timer_after(0, TICK);
    }

    fn cleanup(&mut self, cx: &mut Cx<'_>) {
        self.report(cx);
    }
}

//! ProlacTCP: a TCP stack as an element.
//!
//! Packets that are pushed in go to the stack at once; what that makes users and the network to be told waits for their
//! tasks and for this element's, in this order, so that an acknowledgment can travel with the answer.

use super::address::endpoint;
use super::listing;
use super::seat::micros;
use super::settings::{ARGS, Settings};
use super::stack::{Shared, Stack};
use clickwork_packet::addr::{Ipv4Address, Ipv6Address};
use clickwork_packet::{Batch, Packet, Timestamp};
use clickwork_prolac_tcp::stack::Drops;
use clickwork_prolac_tcp::{ConnectionId, Received};
use clickwork_router::args::Args;
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, Handler, TaskStep, read_handler, write_handler};
use std::sync::{Arc, MutexGuard};

/// The class facts.
pub static CLASS: Class = Class {
    help: "a TCP stack: IP packets on one side, connections on the other",
    manual: "Receives and sends IP packets with TCP segments for one or more addresses, IPv4 and IPv6, and has the \
             connections of the elements that name it: servers as TCPEchoServer, clients as TCPEchoClient, and TCPProxy, \
             TCPToSocket and SocketToTCP, which join connections with others. A router may have any number of stacks.\n\n\
             The TCP is a modern one, written in the language Prolac. By default it looks like Linux's on the wire, with \
             PERSONALITY bsd like that of 4.4BSD. It answers no ping, and sends each packet to wherever its output leads: \
             routing, ARP and the like are other elements' work. Packets that it cannot use, or that come for other \
             addresses, are dropped, and counted by reason: 'counters' and 'drop_reasons' tell. Fragments must be put \
             together before (IPReassembler).\n\n\
             Packets leave with IP header and destination address annotation set. They are never longer than MTU. In \
             simulated time all runs with the same random numbers (RandomSeed) are alike. With SEED sequence numbers and \
             secrets can be predicted: it is for tests.\n\n\
             When a new configuration takes the place of the running one, connections go on, unless an address is gone.",
    example: "a :: ProlacTCP(10.0.0.1, 2001:db8::1) -> b :: ProlacTCP(10.0.0.2, 2001:db8::2, PERSONALITY bsd) -> a; \
              TCPEchoServer(b); TCPEchoClient(a, 2001:db8::2, START 0.1, STOP true); \
              DriverManager(wait_stop, print a.connections)",
    ports: "1/1",
    processing: "h/h",
    flow: "x/y",
    packets: "ip/new ip",
    args: ARGS,
    handlers: HANDLERS,
    ..Class::new("ProlacTCP", "tcp", || Box::<ProlacTcp>::default())
};

const HANDLERS: &[Handler] = &[
    read_handler!(
        "connections",
        "connections, as 'ss -ti' shows them: state, bytes unread, bytes unacknowledged, addresses, user; then what \
         TCP knows, times in milliseconds",
        |e: &mut ProlacTcp, cx| e.with(|shared| listing::connections(shared, micros(cx)))
    ),
    read_handler!("connection_count", "how many there are", |e: &mut ProlacTcp, _| e
        .with(|shared| shared.tcp.connections().count())),
    read_handler!(
        "listeners",
        "where users wait for connections: address, backlog, user",
        |e: &mut ProlacTcp, _| e.with(listeners)
    ),
    read_handler!("counters", "what the stack has counted", |e: &mut ProlacTcp, _| e.with(|shared| {
        shared.tcp.counters().iter().map(|(name, count)| format!("{name}\t{count}\n")).collect::<String>()
    })),
    read_handler!("drops", "packets that it could not use, by reason", |e: &mut ProlacTcp, _| e
        .with(|shared| drops(&shared.tcp.counters().drops))),
    read_handler!("memory", "bytes that connections take, without their packets", |e: &mut ProlacTcp, _| e
        .with(|shared| shared.tcp.memory())),
    write_handler!(
        "abort",
        "breaks connections off: ADDRESS:PORT of one end, of any number of them",
        |e: &mut ProlacTcp, text, cx| e.abort(text, cx)
    ),
];

fn listeners(shared: &Shared) -> String {
    let all = shared.listeners();
    all.iter().map(|(local, backlog, user)| format!("{local} {backlog} {user}\n")).collect()
}

fn drops(drops: &Drops) -> String {
    let some = drops.iter().filter(|(_, count)| *count > 0);
    some.map(|(reason, count)| format!("{count}\t{reason}\n")).collect()
}

#[derive(Default)]
struct ProlacTcp {
    settings: Option<Settings>,
    stack: Option<Arc<Stack>>,
    /// Drops that the router knows of.
    counted: Drops,
}

impl ProlacTcp {
    fn shared(&self) -> Option<MutexGuard<'_, Shared>> {
        self.stack.as_ref().map(|stack| stack.lock())
    }

    /// What there is to say about the stack.
    fn with<R: Default>(&self, ask: impl FnOnce(&Shared) -> R) -> R {
        self.shared().map_or_else(R::default, |shared| ask(&shared))
    }

    /// Lets all who have something to do know: users of what has happened, me of packets and timers.
    fn settle(&mut self, cx: &mut Cx<'_>) {
        let Some(mut shared) = self.stack.as_ref().map(|stack| stack.lock()) else { return };
        shared.tell_all();
        shared.told().for_each(|user| cx.schedule_task_of(user));
        cx.schedule_task();
        let drops = shared.tcp.counters().drops;
        if drops != self.counted {
            let news = drops.iter().zip(self.counted.iter());
            news.for_each(|((reason, now), (_, before))| cx.count_drop(reason, now - before));
            self.counted = drops;
        }
    }

    /// Sees to it that the timer expires when the stack wants it. One that expires early does no harm.
    fn set_timer(shared: &Shared, cx: &mut Cx<'_>) {
        let Some(deadline) = shared.tcp.deadline() else { return };
        let at = Timestamp::from_nanos(i64::try_from(deadline).unwrap_or(i64::MAX).saturating_mul(1000));
        if cx.timer_expiry(0).is_none_or(|set| set > at) {
            cx.schedule_timer_at(0, at);
        }
    }

    fn abort(&mut self, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        let ends = text.split_whitespace().map(endpoint).collect::<Result<Vec<_>, _>>()?;
        let Some(mut shared) = self.shared() else { return Ok(()) };
        let now = micros(cx);
        for end in ends {
            let is_end = |id: &ConnectionId| {
                shared.tcp.peer_addr(*id) == Ok(end) || shared.tcp.local_addr(*id) == Ok(end)
            };
            let hit: Vec<ConnectionId> = shared.tcp.connections().filter(is_end).collect();
            if hit.is_empty() {
                return Err(format!("no connection has an end at {end}"));
            }
            hit.into_iter().for_each(|id| shared.break_off(now, id));
        }
        drop(shared);
        self.settle(cx);
        Ok(())
    }
}

/// Moves the data to where the IP header begins, if that is marked elsewhere.
fn to_ip(p: &mut Packet) {
    match p.network_offset() {
        Some(offset) if offset > 0 => p.pull(offset as usize),
        Some(offset) if offset < 0 => p.unpull(offset.unsigned_abs() as usize),
        _ => {}
    }
}

/// Marks the header and the destination of a packet that the stack has made.
fn mark(p: &mut Packet, now: Timestamp) {
    p.set_timestamp(now);
    let data = p.data();
    if data[0] >> 4 == 4 {
        let length = u32::from(data[0] & 15) * 4;
        let destination = Ipv4Address::from_octets([data[16], data[17], data[18], data[19]]);
        p.set_network_header(0, length);
        p.set_dst_ip(destination);
    } else if let Some(octets) = data.get(24..40).and_then(|octets| octets.try_into().ok()) {
        p.set_network_header(0, 40);
        p.set_dst_ip6(Ipv6Address::from_octets(octets));
    }
}

impl Element for ProlacTcp {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let settings = Settings::read(args);
        // In real time the stack has better secrets than the router's random numbers.
        let chance =
            cx.router().clock().is_simulated().then(|| u64::from(cx.random()) << 32 | u64::from(cx.random()));
        let stack = Stack::new(cx.id(), settings.stack(chance), settings.options.clone());
        let stack = Arc::new(stack);
        cx.export(Arc::clone(&stack));
        (self.settings, self.stack) = (Some(settings), Some(stack));
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        let now = micros(cx);
        if let Some(mut shared) = self.shared() {
            for mut p in batch.drain() {
                to_ip(&mut p);
                shared.tcp.receive(now, p, Received::default());
            }
        }
        self.settle(cx);
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        let now = micros(cx);
        if let Some(mut shared) = self.shared() {
            shared.tcp.advance(now);
        }
        self.settle(cx);
    }

    /// Sends what there is to send.
    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        let now = cx.now();
        let Some(mut shared) = self.shared() else { return TaskStep::Sleep };
        for _ in 0..cx.batch_limit() {
            let Some(transmit) = shared.tcp.next_transmit() else {
                Self::set_timer(&shared, cx);
                shared.tell_all();
                shared.told().for_each(|user| cx.schedule_task_of(user));
                return TaskStep::Sleep;
            };
            let mut p = transmit.into_packet();
            mark(&mut p, now);
            cx.emit(0, p);
        }
        TaskStep::Continue
    }

    fn take_state(&mut self, old: &mut dyn Element, cx: &mut Cx<'_>) {
        let Some(old) = try_downcast::<ProlacTcp>(old) else { return };
        let (Some(mine), Some(theirs)) = (&self.stack, &old.stack) else { return };
        let (Some(settings), Some(before)) = (&self.settings, &old.settings) else { return };
        if !settings.has_addresses_of(before) {
            return cx.chatter(&format!("{}: has other addresses now; its connections are lost", cx.name()));
        }
        let mut shared = mine.lock();
        shared.take_over(&mut theirs.lock(), micros(cx));
        settings.apply(&mut shared.tcp);
        drop(shared);
        self.counted = old.counted;
        self.settle(cx);
    }
}

//! Clients: elements that make connections by a stack, do something with each, and report. What they do is an [`Errand`].

use super::address::{ADDRESS, Address};
use super::seat::{Seat, micros};
use super::server::{STACK, port_argument, stack_argument};
use super::sessions::{Session, Sessions, Totals};
use clickwork_packet::Timestamp;
use clickwork_prolac_tcp::Error;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::router::ElementId;
use clickwork_router::{Class, Cx, Element, Handler, TaskStep, read_handler, write_handler};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

/// The timer that makes connections.
const CONNECT_TIMER: usize = 0;
/// How long it waits at least after a connection that has failed.
const PAUSE: Duration = Duration::from_millis(100);

/// A protocol as a client speaks it.
pub trait Errand: Default + Send + 'static {
    /// What it does with a connection.
    type Session: Session;

    /// Whether it sends something before anything comes.
    const SPEAKS_FIRST: bool;

    /// Reads the errand's own arguments.
    fn configure(&mut self, args: &mut Args);

    /// A connection begins.
    fn open(&mut self, now: u64) -> Self::Session;

    /// A session has come to its end. What it has found out is kept in `findings`.
    fn ended(&mut self, session: Self::Session, findings: &mut Findings);
}

/// What the sessions of a client have found out.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Times, in microseconds.
    times: Option<Times>,
    /// Bytes that came and were what they should be.
    pub verified: u64,
    /// Sessions in which a byte was not.
    pub mismatches: u64,
    /// CRC-32 of what the last session sent or received.
    pub checksum: u32,
}

#[derive(Clone, Copy, Debug)]
struct Times {
    least: u64,
    most: u64,
    sum: u64,
    count: u64,
}

impl Findings {
    /// Takes a time into account.
    pub fn time(&mut self, time: u64) {
        let t = self.times.get_or_insert(Times { least: time, most: time, sum: 0, count: 0 });
        (t.least, t.most) = (t.least.min(time), t.most.max(time));
        (t.sum, t.count) = (t.sum + time, t.count + 1);
    }

    /// `least/average/greatest ms`, as the program `ping` prints times.
    fn times(&self) -> String {
        let ms = |micros: u64| micros as f64 / 1000.0;
        self.times.map_or(String::new(), |t| {
            format!("{:.3}/{:.3}/{:.3} ms", ms(t.least), ms(t.sum) / t.count as f64, ms(t.most))
        })
    }
}

/// The arguments that all clients have, around those of their own.
pub const fn arguments<const OWN: usize, const ALL: usize>(
    port: &'static str,
    own: [ArgSpec; OWN],
) -> [ArgSpec; ALL] {
    let mut all = [STACK; ALL];
    all[1] = ArgSpec::required("ADDR", ADDRESS, "the server's address");
    all[2] = ArgSpec::positional("PORT", ArgType::TcpPort, port, "the server's port");
    let mut n = 0;
    while n < OWN {
        all[3 + n] = own[n];
        n += 1;
    }
    let mut n = 0;
    while n < COMMON.len() {
        all[3 + OWN + n] = COMMON[n];
        n += 1;
    }
    all
}

/// How many arguments there are with so many of the client's own.
pub const fn count(own: usize) -> usize {
    3 + own + COMMON.len()
}

const COMMON: [ArgSpec; 5] = [
    ArgSpec::keyword("START", ArgType::Seconds, "0", "when it begins, after the router's start"),
    ArgSpec::keyword("PARALLEL", ArgType::U32, "1", "connections at a time"),
    ArgSpec::keyword(
        "REPEAT",
        ArgType::I32,
        "1",
        "connections one after another, each PARALLEL times; -1: no end",
    ),
    ArgSpec::keyword(
        "INTERVAL",
        ArgType::Seconds,
        "0",
        "time from the end of a connection to the next; at least 0.1 after an error",
    ),
    ArgSpec::keyword("STOP", ArgType::Bool, "false", "whether the driver stops when all is done"),
];

/// The facts that classes of clients have in common.
pub const fn class<E: Errand>(name: &'static str) -> Class {
    Class {
        ports: "0/0",
        handlers: Client::<E>::HANDLERS,
        ..Class::new(name, "tcp", || Box::<Client<E>>::default())
    }
}

/// How connections are made, and how many.
#[derive(Debug)]
struct Plan {
    stack: ElementId,
    remote: SocketAddr,
    start: Duration,
    parallel: u32,
    /// Without end if none.
    repeat: Option<u32>,
    interval: Duration,
    stop: bool,
}

impl Plan {
    fn read(args: &mut Args, cx: &Cx<'_>) -> Option<Plan> {
        let stack = stack_argument(args, "STACK", cx);
        let address = args.get::<Address>("ADDR");
        let port = port_argument(args, cx);
        let (mut start, mut parallel, mut repeat) = (Duration::ZERO, 1, 1i32);
        let (mut interval, mut stop) = (Duration::ZERO, false);
        args.read("START", &mut start).read("PARALLEL", &mut parallel).read("REPEAT", &mut repeat);
        args.read("INTERVAL", &mut interval).read("STOP", &mut stop);
        if parallel == 0 {
            args.error_in("PARALLEL", "must be at least 1");
        }
        let remote = SocketAddr::new(address?.0, port?);
        Some(Plan {
            stack: stack?,
            remote,
            start,
            parallel,
            repeat: u32::try_from(repeat).ok(),
            interval,
            stop,
        })
    }
}

/// A client.
pub struct Client<E: Errand> {
    errand: E,
    plan: Option<Plan>,
    seat: Option<Seat>,
    sessions: Sessions<E::Session>,
    findings: Findings,
    /// Connections still to be made; without end if none.
    left: Option<u64>,
    /// When connections are to be made, in order.
    due: VecDeque<Timestamp>,
    /// When the first began and the last ended, in microseconds.
    span: Option<(u64, u64)>,
}

impl<E: Errand> Default for Client<E> {
    fn default() -> Client<E> {
        Client {
            errand: E::default(),
            plan: None,
            seat: None,
            sessions: Sessions::default(),
            findings: Findings::default(),
            left: None,
            due: VecDeque::new(),
            span: None,
        }
    }
}

impl<E: Errand> Client<E> {
    const HANDLERS: &'static [Handler] = &[
        read_handler!("connections", "connections it has now", |e: &mut Client<E>, _| e.sessions.len()),
        read_handler!("begun", "connections it has had", |e: &mut Client<E>, _| e.totals().begun),
        read_handler!("done", "connections that did what they should", |e: &mut Client<E>, _| e
            .totals()
            .done),
        read_handler!("errors", "connections that failed", |e: &mut Client<E>, _| e.totals().failed),
        read_handler!("last_error", "the last error", |e: &mut Client<E>, _| e.sessions.last_error()),
        read_handler!(
            "finished",
            "whether all connections have ended and no others follow",
            |e: &mut Client<E>, _| e.is_finished()
        ),
        read_handler!("bytes_in", "bytes received", |e: &mut Client<E>, _| e.totals().bytes_in),
        read_handler!("bytes_out", "bytes sent", |e: &mut Client<E>, _| e.totals().bytes_out),
        read_handler!("verified", "bytes received that were what they should be", |e: &mut Client<E>, _| e
            .findings
            .verified),
        read_handler!("mismatches", "connections with bytes that were not", |e: &mut Client<E>, _| e
            .findings
            .mismatches),
        read_handler!(
            "checksum",
            "CRC-32 of the text of the last connection that ended",
            |e: &mut Client<E>, _| format!("{:08x}", e.findings.checksum)
        ),
        read_handler!(
            "rtt",
            "least, average and greatest time that an answer took",
            |e: &mut Client<E>, _| e.findings.times()
        ),
        read_handler!(
            "rate",
            "bytes a second, both ways, while it had connections",
            |e: &mut Client<E>, cx| e.rate(micros(cx))
        ),
        write_handler!("start", "makes its connections once more", |e: &mut Client<E>, _, cx| {
            e.restart(cx);
        }),
        write_handler!(
            "abort",
            "breaks all connections off and makes no more",
            |e: &mut Client<E>, _, cx| {
                e.abort(cx);
            }
        ),
    ];

    fn totals(&self) -> &Totals {
        &self.sessions.totals
    }

    fn is_finished(&self) -> bool {
        self.left == Some(0) && self.due.is_empty() && self.sessions.len() == 0
    }

    /// Bytes a second.
    fn rate(&self, now: u64) -> String {
        let totals = &self.sessions.totals;
        let Some((begin, end)) = self.span else { return "0".to_string() };
        let end = if self.sessions.len() > 0 { now } else { end };
        let bytes = totals.bytes_in + totals.bytes_out;
        (u128::from(bytes) * 1_000_000 / u128::from((end - begin).max(1))).to_string()
    }

    fn restart(&mut self, cx: &mut Cx<'_>) {
        let Some(plan) = &self.plan else { return };
        self.left = plan.repeat.map(|repeat| u64::from(repeat) * u64::from(plan.parallel));
        self.order(plan.parallel, Duration::ZERO, cx);
    }

    fn abort(&mut self, cx: &mut Cx<'_>) {
        if let Some(seat) = &self.seat {
            self.sessions.abort_all(seat, cx);
        }
        self.left = Some(0);
        self.due.clear();
        cx.unschedule_timer(CONNECT_TIMER);
    }

    /// Has `n` connections made after a while, if there are as many to make.
    fn order(&mut self, n: u32, delay: Duration, cx: &mut Cx<'_>) {
        let n = self.left.map_or(n, |left| n.min(u32::try_from(left).unwrap_or(n)));
        self.left = self.left.map(|left| left - u64::from(n));
        let time = cx.steady() + delay;
        let place = self.due.partition_point(|other| *other <= time);
        (0..n).for_each(|_| self.due.insert(place, time));
        self.set_timer(cx);
    }

    fn set_timer(&self, cx: &mut Cx<'_>) {
        if let Some(first) = self.due.front() {
            cx.schedule_timer_at(CONNECT_TIMER, *first);
        }
    }

    fn connect(&mut self, cx: &mut Cx<'_>) -> Result<(), Error> {
        let (Some(plan), Some(seat)) = (&self.plan, &self.seat) else { return Ok(()) };
        let now = micros(cx);
        let id = seat.connect(plan.remote, E::SPEAKS_FIRST, cx)?;
        self.span.get_or_insert((now, now));
        self.sessions.expect(id, self.errand.open(now));
        if E::SPEAKS_FIRST && seat.opens_fast() {
            self.sessions.wake(id);
            cx.schedule_task();
        }
        Ok(())
    }

    /// One connection has ended, or could not begin.
    fn follow(&mut self, failed: bool, cx: &mut Cx<'_>) {
        let Some(Plan { interval, stop, .. }) = self.plan else { return };
        let interval = if failed { interval.max(PAUSE) } else { interval };
        if let Some((_, end)) = &mut self.span {
            *end = micros(cx);
        }
        self.order(1, interval, cx);
        if stop && self.is_finished() {
            cx.stop_driver();
        }
    }
}

impl<E: Errand> Element for Client<E> {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        self.errand.configure(args);
        self.plan = Plan::read(args, cx);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        let Some(plan) = &self.plan else { return Ok(()) };
        self.seat = Some(Seat::new(plan.stack, "", cx)?);
        let start = plan.start;
        self.left = plan.repeat.map(|repeat| u64::from(repeat) * u64::from(plan.parallel));
        self.order(plan.parallel, start, cx);
        Ok(())
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        let now = cx.steady();
        while self.due.front().is_some_and(|time| *time <= now) {
            self.due.pop_front();
            if let Err(error) = self.connect(cx) {
                self.sessions.failed(error);
                self.follow(true, cx);
            }
        }
        self.set_timer(cx);
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        let Some(seat) = &self.seat else { return TaskStep::Sleep };
        let mut over = Vec::new();
        let errand = &mut self.errand;
        let now = micros(cx);
        let step = self.sessions.run(
            seat,
            || errand.open(now),
            |session, outcome| over.push((session, outcome)),
            cx,
        );
        for (session, outcome) in over {
            self.errand.ended(session, &mut self.findings);
            self.follow(outcome.is_err(), cx);
        }
        step
    }

    fn take_state(&mut self, old: &mut dyn Element, cx: &mut Cx<'_>) {
        let Some(old) = try_downcast::<Client<E>>(old) else { return };
        self.sessions.inherit(&mut old.sessions);
        self.findings = std::mem::take(&mut old.findings);
        self.due = std::mem::take(&mut old.due);
        (self.left, self.span) = (old.left, old.span);
        cx.unschedule_timer(CONNECT_TIMER);
        self.set_timer(cx);
        cx.schedule_task();
    }
}

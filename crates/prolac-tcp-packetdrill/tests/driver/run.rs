//! Running a script, in packetdrill's manner: events one after the other; packets to the stack and calls at their times;
//! packets of the stack awaited, mapped to the script's sequence numbers and compared; blocking calls on a second thread.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clickwork_prolac_tcp::sockets::linux::{AF_INET, AF_INET6};

use super::calls::{Surroundings, invoke};
use super::library::Stack;
use super::script::*;
use super::thread::Second;
use super::wire::{self, Ends, Parsed};

/// How far an event may be from its time, microseconds. packetdrill allows 4000; our time is exact.
const TOLERANCE: i64 = 1000;
/// The same for the kernel, which counts in jiffies and shares the machine.
const KERNEL_TOLERANCE: i64 = 25_000;
/// packetdrill sleeps until so long before an event, and spins then.
const SPIN: i64 = 20;
const PORT: u16 = 8080;

/// Which addresses a script runs with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    Ipv4,
    Ipv6,
    Mapped,
}

impl Mode {
    pub const ALL: [Mode; 3] = [Mode::Ipv4, Mode::Ipv6, Mode::Mapped];

    pub fn name(self) -> &'static str {
        match self {
            Mode::Ipv4 => "ipv4",
            Mode::Ipv6 => "ipv6",
            Mode::Mapped => "mapped",
        }
    }

    pub fn local(self) -> IpAddr {
        match self {
            Mode::Ipv6 => "fd3d:fa7b:d17d::1".parse().unwrap(),
            _ => "192.168.0.1".parse().unwrap(),
        }
    }

    pub fn remote(self) -> IpAddr {
        match self {
            Mode::Ipv6 => "2001:db8::1".parse().unwrap(),
            _ => "192.0.2.1".parse().unwrap(),
        }
    }

    /// As the user of a socket writes an address.
    pub fn user(self, address: IpAddr) -> SocketAddr {
        match (self, address) {
            (Mode::Mapped, IpAddr::V4(v4)) => SocketAddr::new(mapped(v4), PORT),
            _ => SocketAddr::new(address, PORT),
        }
    }
}

fn mapped(address: Ipv4Addr) -> IpAddr {
    IpAddr::V6(address.to_ipv6_mapped())
}

/// What is known of one connection: where it is, and what the script's numbers are in truth.
#[derive(Clone, Debug)]
struct Connection {
    /// As seen by the stack: it is the source.
    ends: Ends,
    ends_known: bool,
    /// True minus script.
    sequence: u32,
    /// Script's first TS val, and the true one.
    timestamp: Option<(u32, u32)>,
    /// True values of TS vals by what the script calls them.
    timestamps: HashMap<u32, u32>,
}

/// Whose TCP is tested.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tested {
    Ours,
    Kernel,
}

/// A run.
struct Run<'a> {
    tolerance: i64,
    least_tolerance: i64,
    stack: &'a Stack,
    second: Second<'a>,
    around: Surroundings,
    mode: Mode,
    start: i64,
    connections: BTreeMap<usize, Connection>,
    sysctls: PathBuf,
    /// The time of the last event, counted from the start.
    last: i64,
}

/// Runs a script. An error says where and what.
pub fn run(script: &Script, mode: Mode, tested: Tested) -> Result<(), String> {
    // IPv6 headers are longer: the same text fits.
    let mtu = if mode == Mode::Ipv6 { 1520 } else { 1500 };
    match tested {
        Tested::Kernel => {
            let stack = Stack::kernel(mtu)?;
            run_on(&stack, script, mode, PathBuf::from("/proc/sys/net"), KERNEL_TOLERANCE)
        }
        Tested::Ours => run_on_ours(script, mode, mtu),
    }
}

fn run_on_ours(script: &Script, mode: Mode, mtu: u32) -> Result<(), String> {
    let sysctls = clickwork_oracles::unused("prolac-tcp");
    std::fs::create_dir_all(&sysctls).map_err(|error| error.to_string())?;
    let mut flags = vec![
        mode.local().to_string(),
        format!("mtu={mtu}"),
        format!("sysctls={}", sysctls.display()),
        "patient".into(),
    ];
    flags.extend(script.flags.iter().cloned());
    let stack = Stack::load(&flags.join(","));
    let result = run_on(&stack, script, mode, sysctls.clone(), TOLERANCE);
    let _ = std::fs::remove_dir_all(&sysctls);
    result
}

fn run_on(
    stack: &Stack,
    script: &Script,
    mode: Mode,
    sysctls: PathBuf,
    tolerance: i64,
) -> Result<(), String> {
    std::thread::scope(|scope| {
        let second = Second::start(scope, stack);
        let around = Surroundings {
            domain: if mode == Mode::Ipv4 { AF_INET } else { AF_INET6 },
            bind: mode.user(mode.local()),
            connect: mode.user(mode.remote()),
            descriptors: HashMap::new(),
        };
        let start = stack.now() + 250;
        let connections = BTreeMap::new();
        let mut run = Run {
            tolerance,
            least_tolerance: tolerance,
            stack,
            second,
            around,
            mode,
            start,
            connections,
            sysctls,
            last: 0,
        };
        let result = run.events(&script.events);
        run.end(result)
    })
}

impl Run<'_> {
    fn events(&mut self, events: &[Event]) -> Result<(), String> {
        for event in events {
            self.event(event).map_err(|error| format!("line {}: {error}", event.line))?;
        }
        Ok(())
    }

    /// As packetdrill's end: the second thread is awaited, every socket closed.
    fn end(mut self, result: Result<(), String>) -> Result<(), String> {
        let result = result.and(self.collect_blocking());
        if result.is_err()
            && let Some(done) = self.second.abandon()
        {
            self.forget_closed(&done.call);
        }
        // Not by the table: packetdrill thinks that descriptors are the kernel's.
        // SAFETY: they are descriptors that nobody else has.
        let closed = self.around.descriptors.drain().all(|(_, fd)| unsafe { libc::close(fd) } == 0);
        for connection in self.connections.values() {
            let reset = PacketSpec { flags: 4 | 16, options: Some(Vec::new()), ..PacketSpec::default() };
            self.stack.send(&wire::build(&connection.ends.reversed(), &reset));
        }
        result.and(if closed { Ok(()) } else { Err("a descriptor cannot be closed".into()) })
    }

    fn now(&self) -> i64 {
        self.stack.now() - self.start
    }

    /// When the event is due, earliest and latest.
    fn due(&self, time: Time) -> (i64, i64) {
        let offset = if time.relative { self.last } else { 0 };
        (offset + time.from, offset + time.to)
    }

    fn wait_until(&self, due: i64) -> Result<i64, String> {
        loop {
            let now = self.now();
            let rest = due - now;
            if rest <= 0 {
                return Ok(now);
            }
            if rest > SPIN {
                self.stack.usleep(rest - SPIN);
            }
        }
    }

    fn event(&mut self, event: &Event) -> Result<(), String> {
        let (from, to) = self.due(event.time);
        self.tolerance = self.least_tolerance;
        if self.tolerance == KERNEL_TOLERANCE {
            // Its timers are the coarser the longer they are.
            self.tolerance += (from - self.last).max(0) / 8;
        }
        let happened = match &event.action {
            Action::Out(spec) => self.packet_out(spec)?,
            action => {
                // packetdrill has one blocking call at a time, and waits for it first, without looking at our clock.
                if matches!(action, Action::Call(_)) {
                    self.collect_blocking()?;
                }
                let now = self.wait_until(from)?;
                self.act(action, event, from)?;
                now
            }
        };
        self.last = if event.time.any {
            happened
        } else {
            happened.clamp(from - self.tolerance, to + self.tolerance)
        };
        if !event.time.any && !(from - self.tolerance..=to + self.tolerance).contains(&happened) {
            let seconds = |time: i64| time as f64 / 1e6;
            return Err(format!(
                "expected at {:.6}~{:.6} but happened at {:.6}",
                seconds(from),
                seconds(to),
                seconds(happened)
            ));
        }
        Ok(())
    }

    fn act(&mut self, action: &Action, event: &Event, from: i64) -> Result<(), String> {
        match action {
            Action::In(spec) => self.packet_in(spec),
            Action::Call(call) => match event.time.until {
                Some(until) => {
                    let base = from - event.time.from;
                    self.second.begin(call.clone(), self.around.clone(), event.line, base + until);
                    Ok(())
                }
                None => {
                    let outcome = invoke(self.stack, call, &self.around)?;
                    self.finish(call, outcome)
                }
            },
            Action::Sysctl(name, value) => {
                let path = self.sysctls.join(name);
                std::fs::create_dir_all(path.parent().unwrap()).map_err(|error| error.to_string())?;
                std::fs::write(path, value).map_err(|error| error.to_string())
            }
            Action::Out(_) => unreachable!("handled by the caller"),
        }
    }

    fn finish(&mut self, call: &CallSpec, outcome: super::calls::Outcome) -> Result<(), String> {
        for &(name, fd) in &outcome.made {
            self.around.descriptors.insert(name, fd);
        }
        self.forget_closed(call);
        outcome.check(call)
    }

    /// What was closed is not there to be closed at the end.
    fn forget_closed(&mut self, call: &CallSpec) {
        if call.name == "close"
            && let Some(Argument::Number(fd)) = call.arguments.first()
        {
            self.around.descriptors.remove(fd);
        }
    }

    /// Waits for the blocking call that runs, and looks at what it gave and when.
    fn collect_blocking(&mut self) -> Result<(), String> {
        let Some(done) = self.second.finish()? else { return Ok(()) };
        let ended = done.ended - self.start;
        self.finish(&done.call, done.outcome?).map_err(|error| format!("line {}: {error}", done.line))?;
        if (ended - done.until).abs() > self.tolerance {
            let seconds = |time: i64| time as f64 / 1e6;
            return Err(format!(
                "line {}: {} expected to return at {:.6} but did at {:.6}",
                done.line,
                done.call.name,
                seconds(done.until),
                seconds(ended)
            ));
        }
        Ok(())
    }

    fn connection(&mut self, number: usize) -> &mut Connection {
        let (mode, port) = (self.mode, 40_000 + number as u16);
        self.connections.entry(number).or_insert_with(|| Connection {
            ends: Ends {
                source: mode.local(),
                destination: mode.remote(),
                source_port: PORT,
                destination_port: port,
            },
            ends_known: false,
            sequence: 0,
            timestamp: None,
            timestamps: HashMap::new(),
        })
    }

    fn packet_in(&mut self, spec: &PacketSpec) -> Result<(), String> {
        let stack = self.stack;
        let connection = self.connection(spec.connection);
        let shift = connection.sequence;
        if let Some(icmp) = &spec.icmp {
            let seq = spec.seq.wrapping_add(shift);
            stack.send(&wire::build_icmp(&connection.ends, seq, spec.length, icmp));
            return Ok(());
        }
        // The peer has begun: nothing of the connection before is left.
        if spec.flags & 18 == 2 && connection.ends.destination_port != PORT {
            connection.timestamp = None;
            connection.ends_known = true;
        }
        let mut live = spec.clone();
        if live.flags & 16 != 0 {
            live.ack = live.ack.wrapping_add(shift);
        }
        for option in live.options.iter_mut().flatten() {
            match option {
                TcpOption::Sack(blocks) => {
                    for (left, right) in blocks {
                        *left = left.wrapping_add(shift);
                        *right = right.wrapping_add(shift);
                    }
                }
                TcpOption::Timestamp { echo, .. } if *echo != 0 => {
                    *echo = live_echo(connection, *echo)?;
                }
                _ => {}
            }
        }
        let ends = connection.ends.reversed();
        stack.send(&wire::build(&ends, &live));
        Ok(())
    }

    /// The next packet of the connection, compared with the script's. When it was sent.
    fn packet_out(&mut self, spec: &PacketSpec) -> Result<i64, String> {
        let (time, parsed) = self.next_packet(spec)?;
        let connection = self.connection(spec.connection);
        if spec.flags & 18 == 2 && connection.sequence != parsed.spec.seq.wrapping_sub(spec.seq) {
            connection.timestamp = None;
        }
        if spec.flags & 2 != 0 {
            connection.sequence = parsed.spec.seq.wrapping_sub(spec.seq);
        }
        let actual = mapped_to_script(connection, &parsed, spec);
        let seconds = (time - self.start) as f64 / 1e6;
        let ticks = (self.tolerance / 1000) as u32;
        compare(spec, &actual, &parsed, ticks).map_err(|field| {
            format!("{field}\n  expected packet: {spec}\n  actual packet:   {actual}  at {seconds:.6}")
        })?;
        Ok(time - self.start)
    }

    fn next_packet(&mut self, spec: &PacketSpec) -> Result<(i64, Parsed), String> {
        loop {
            let Some((time, packet)) = self.stack.receive() else {
                return Err(format!("expected {spec} but the stack will send nothing more"));
            };
            let parsed = wire::parse(&packet)?;
            let connection = self.connection(spec.connection);
            if parsed.ends == connection.ends {
                return Ok((time, parsed));
            }
            // The SYN of a connection that the stack begins says from where it comes.
            let begins = parsed.spec.flags & 18 == 2 && spec.flags & 18 == 2;
            if begins && parsed.ends.destination_port == PORT {
                connection.ends = parsed.ends;
                return Ok((time, parsed));
            }
        }
    }
}

/// The true value of a timestamp that the peer echoes.
fn live_echo(connection: &Connection, echo: u32) -> Result<u32, String> {
    let known = connection.timestamps.get(&echo).copied();
    let shifted = connection.timestamp.map(|(script, live)| live.wrapping_add(echo.wrapping_sub(script)));
    known.or(shifted).ok_or_else(|| format!("no packet before has had a timestamp that {echo} could echo"))
}

/// A packet of the stack with the script's numbers.
fn mapped_to_script(connection: &mut Connection, parsed: &Parsed, spec: &PacketSpec) -> PacketSpec {
    let mut actual = parsed.spec.clone();
    actual.connection = spec.connection;
    actual.seq = actual.seq.wrapping_sub(connection.sequence);
    if actual.flags & 16 == 0 {
        actual.ack = 0;
    }
    let wished = spec.options.iter().flatten().find_map(|option| match option {
        TcpOption::Timestamp { value, .. } => Some(*value),
        _ => None,
    });
    for option in actual.options.iter_mut().flatten() {
        if let TcpOption::Timestamp { value, .. } = option {
            let live = *value;
            let wished = wished.unwrap_or(0);
            let (script, first) = *connection.timestamp.get_or_insert((wished, live));
            *value = script.wrapping_add(live.wrapping_sub(first));
            connection.timestamps.insert(wished, live);
        }
    }
    actual
}

fn compare(spec: &PacketSpec, actual: &PacketSpec, parsed: &Parsed, ticks: u32) -> Result<(), String> {
    let differs = |name: &str| Err(format!("{name} differs"));
    if spec.flags != actual.flags {
        return differs("flags");
    }
    if (spec.seq, spec.length) != (actual.seq, actual.length) {
        return differs("sequence");
    }
    if spec.flags & 16 != 0 && spec.ack != actual.ack {
        return differs("acknowledgment");
    }
    if spec.window.is_some() && spec.window != actual.window {
        return differs("window");
    }
    if spec.urgent != actual.urgent {
        return differs("urgent pointer");
    }
    if spec.ecn.is_some() && spec.ecn != actual.ecn {
        return differs("ECN field");
    }
    if !parsed.dont_fragment && parsed.spec.flags & 4 == 0 {
        return differs("DF");
    }
    match (&spec.options, &actual.options) {
        (Some(wished), Some(got)) if !same_options(wished, got, ticks) => differs("options"),
        _ => Ok(()),
    }
}

/// Equal, but that a timestamp may be some milliseconds off.
fn same_options(wished: &[TcpOption], got: &[TcpOption], ticks: u32) -> bool {
    wished.len() == got.len()
        && wished.iter().zip(got).all(|pair| match pair {
            (TcpOption::Timestamp { value: a, echo: x }, TcpOption::Timestamp { value: b, echo: y }) => {
                a.abs_diff(*b) <= ticks && x == y
            }
            (a, b) => a == b,
        })
}

//! Every kind of segment in every state: what is answered, what the connection is then, and what its user reads. `states.txt` has a line
//! for each, `SEGMENT: OUTCOME`, which is the kernel's and ours; where ours is another one, it stands behind `||`, and
//! `reasons.rs` knows why. Both families are the same.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};

use super::reasons::reason;
use super::trace::Trace;
use crate::driver::library::Stack;
use crate::driver::run::Mode;
use crate::driver::script::{FLAGS, PacketSpec, TcpOption};

const FILE: &str = "states.txt";
/// The kernel's answers are looked at again if they are others than they were: its timers may have come between.
const ATTEMPTS: usize = 6;
/// They wait most of the time.
const THREADS: usize = 8;
/// Segments for which one stack of ours is there.
const CHUNK: usize = 16;

/// Long enough for the kernel's timers that are due at once, and too short for all others.
const TICK: i64 = 10_000;

/// A state: how a connection comes there, and its numbers then.
pub struct State {
    pub name: &'static str,
    script: &'static [&'static str],
    /// RCV.NXT.
    next: u32,
    /// SND.UNA and SND.NXT.
    sent: [u32; 2],
    /// Who is asked what became of it.
    user: User,
}

#[derive(Clone, Copy, PartialEq)]
enum User {
    /// The connection's.
    Has,
    /// Its listener's.
    Listens,
    /// Nobody: he has left.
    Left,
}

const LISTEN: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0\n\
                      0 bind(3, ..., ...) = 0\n0 listen(3, 5) = 0";
const OPEN: &str = "0 < S 0:0(0) win 32792 <mss 1000>";
const ACCEPT: &str =
    "0 < . 1:1(0) ack 1 win 32792\n0 accept(3, ..., ...) = 4\n0 fcntl(4, F_SETFL, O_RDWR|O_NONBLOCK) = 0";
const CONNECT: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 4\n0 fcntl(4, F_SETFL, O_RDWR|O_NONBLOCK) = 0\n\
                       0 connect(4, ..., ...) = -1";
const SHUT: &str = "0 shutdown(4, SHUT_WR) = 0";
const CLOSE: &str = "0 close(4) = 0";
const WRITE: &str = "0 write(4, ..., 100) = 100";
const END: &str = "0 < F. 1:1(0) ack 1 win 32792";
const END_OF_BOTH: &str = "0 < F. 1:1(0) ack 2 win 32792";
const ACK_OF_END: &str = "0 < . 1:1(0) ack 2 win 32792";

const STATES: &[State] = &[
    State { name: "CLOSED", script: &[], next: 1, sent: [1, 1], user: User::Left },
    State { name: "LISTEN", script: &[LISTEN], next: 1, sent: [1, 1], user: User::Listens },
    State { name: "SYN-SENT", script: &[CONNECT], next: 1, sent: [0, 1], user: User::Has },
    State { name: "SYN-RECEIVED", script: &[LISTEN, OPEN], next: 1, sent: [0, 1], user: User::Listens },
    State {
        name: "SYN-RECEIVED, actively",
        script: &[CONNECT, OPEN],
        next: 1,
        sent: [0, 1],
        user: User::Has,
    },
    State { name: "ESTABLISHED", script: &[LISTEN, OPEN, ACCEPT], next: 1, sent: [1, 1], user: User::Has },
    State {
        name: "ESTABLISHED, text sent",
        script: &[LISTEN, OPEN, ACCEPT, WRITE],
        next: 1,
        sent: [1, 101],
        user: User::Has,
    },
    State {
        name: "FIN-WAIT-1",
        script: &[LISTEN, OPEN, ACCEPT, SHUT],
        next: 1,
        sent: [1, 2],
        user: User::Has,
    },
    State {
        name: "FIN-WAIT-1, left",
        script: &[LISTEN, OPEN, ACCEPT, CLOSE],
        next: 1,
        sent: [1, 2],
        user: User::Left,
    },
    State {
        name: "FIN-WAIT-2",
        script: &[LISTEN, OPEN, ACCEPT, SHUT, ACK_OF_END],
        next: 1,
        sent: [2, 2],
        user: User::Has,
    },
    State {
        name: "FIN-WAIT-2, left",
        script: &[LISTEN, OPEN, ACCEPT, CLOSE, ACK_OF_END],
        next: 1,
        sent: [2, 2],
        user: User::Left,
    },
    State {
        name: "CLOSING",
        script: &[LISTEN, OPEN, ACCEPT, SHUT, END],
        next: 2,
        sent: [1, 2],
        user: User::Has,
    },
    State {
        name: "TIME-WAIT",
        script: &[LISTEN, OPEN, ACCEPT, SHUT, ACK_OF_END, END_OF_BOTH],
        next: 2,
        sent: [2, 2],
        user: User::Has,
    },
    State {
        name: "CLOSE-WAIT",
        script: &[LISTEN, OPEN, ACCEPT, END],
        next: 2,
        sent: [1, 1],
        user: User::Has,
    },
    State {
        name: "LAST-ACK",
        script: &[LISTEN, OPEN, ACCEPT, END, SHUT],
        next: 2,
        sent: [1, 2],
        user: User::Has,
    },
    State {
        name: "LAST-ACK, text sent",
        script: &[LISTEN, OPEN, ACCEPT, END, WRITE, SHUT],
        next: 2,
        sent: [1, 102],
        user: User::Has,
    },
];

/// Where a segment lies.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// All of it was received before.
    Old,
    /// It ends where the window begins.
    Left,
    /// It begins before the window and ends in it.
    Crossing,
    Next,
    Inside,
    /// It ends where the window ends.
    Last,
    /// It begins in the window and ends behind it.
    Over,
    Edge,
    Beyond,
}

use Place::*;

const PLACES: [(Place, &str); 9] = [
    (Old, "old"),
    (Left, "left"),
    (Crossing, "crossing"),
    (Next, "next"),
    (Inside, "inside"),
    (Last, "last"),
    (Over, "over"),
    (Edge, "edge"),
    (Beyond, "beyond"),
];

/// What a segment acknowledges.
#[derive(Clone, Copy, PartialEq)]
enum Acknowledged {
    All,
    Nothing,
    Less,
    More,
}

/// A segment, as said of a state.
pub struct Segment {
    pub flags: u8,
    length: u32,
    place: Place,
    acknowledged: Acknowledged,
}

impl Segment {
    fn space(&self) -> u32 {
        self.length + u32::from(self.flags & 1 != 0) + u32::from(self.flags & 2 != 0)
    }

    pub fn place(&self) -> &'static str {
        PLACES.iter().find(|(place, _)| *place == self.place).map_or("", |(_, name)| name)
    }

    /// What it acknowledges; nothing to say if it has no ACK.
    pub fn acknowledges(&self) -> &'static str {
        match self.acknowledged {
            _ if self.flags & ACK == 0 => "",
            Acknowledged::All => "all",
            Acknowledged::Nothing => "nothing",
            Acknowledged::Less => "old",
            Acknowledged::More => "more",
        }
    }

    fn name(&self) -> String {
        let letters: String =
            FLAGS.iter().filter(|(_, bit)| self.flags & bit != 0).map(|(letter, _)| letter).collect();
        let (letters, ack) = (if letters.is_empty() { "-" } else { &letters }, self.acknowledges());
        let ack = if ack.is_empty() { String::new() } else { format!(" ack {ack}") };
        format!("{letters} {}({}){ack}", self.place(), self.length)
    }

    fn packet(&self, state: &State, edge: u32) -> PacketSpec {
        // Before there is a connection there is no window, and places mean nothing.
        let (next, edge) = (state.next, if edge == 0 { state.next + 1000 } else { edge });
        let seq = match self.place {
            Old => next.wrapping_sub(20),
            Left => next.wrapping_sub(self.space().max(1)),
            Crossing => next.wrapping_sub(5),
            Next => next,
            Inside => next + 100,
            Last => edge - self.space(),
            Over => edge - 5,
            Edge => edge,
            Beyond => edge + 100,
        };
        let [una, all] = state.sent;
        let ack = match self.acknowledged {
            _ if self.flags & ACK == 0 => 0,
            Acknowledged::All => all,
            Acknowledged::Nothing => una,
            Acknowledged::Less => una.wrapping_sub(10),
            Acknowledged::More => all + 10,
        };
        let options = if self.flags & 2 != 0 { vec![TcpOption::Mss(1000)] } else { Vec::new() };
        PacketSpec {
            flags: self.flags,
            seq,
            length: self.length,
            ack,
            window: Some(32792),
            options: Some(options),
            ..PacketSpec::default()
        }
    }
}

pub const FIN: u8 = 1;
pub const SYN: u8 = 2;
pub const RST: u8 = 4;
const ACK: u8 = 16;

fn segments() -> Vec<Segment> {
    let mut all = Vec::new();
    let plain = |flags, length, place| Segment { flags, length, place, acknowledged: Acknowledged::All };
    for flags in [ACK, FIN | ACK, FIN, SYN, SYN | ACK, RST, RST | ACK] {
        for length in [0, 10] {
            all.extend(PLACES.map(|(place, _)| plain(flags, length, place)));
        }
    }
    for flags in [0, SYN | FIN, SYN | FIN | ACK, SYN | RST, FIN | RST | ACK] {
        all.extend([Old, Left, Next, Inside, Beyond].map(|place| plain(flags, 0, place)));
    }
    for flags in [ACK, FIN | ACK, SYN | ACK, RST | ACK] {
        for place in [Next, Inside] {
            for acknowledged in [Acknowledged::Nothing, Acknowledged::Less, Acknowledged::More] {
                all.extend([0, 10].map(|length| Segment { flags, length, place, acknowledged }));
            }
        }
    }
    // Without length some places are the same.
    all.retain(|segment| segment.space() > 0 || !matches!(segment.place, Last | Over | Crossing));
    all
}

/// What becomes of a segment.
fn outcome(stack: &Stack, mode: Mode, state: &State, segment: &Segment, port: u16) -> Result<String, String> {
    let mut trace = Trace::new(stack, mode, port, 20_000 + port);
    for script in state.script {
        trace.play(script)?;
    }
    let tick = if state.name == "SYN-SENT" { 0 } else { TICK };
    trace.pass(tick)?;
    trace.take();
    trace.arrive(&segment.packet(state, trace.edge()))?;
    trace.pass(tick)?;
    let mut text = shown(&mut trace);
    if !matches!(state.name, "CLOSED" | "LISTEN" | "SYN-SENT") {
        // What was received before is answered by whoever is there still.
        let old = Segment { flags: ACK, length: 1, place: Old, acknowledged: Acknowledged::All };
        trace.arrive(&old.packet(state, 0))?;
        write!(text, " | {}", shown(&mut trace)).unwrap();
    }
    match state.user {
        User::Left => {}
        User::Listens => {
            trace.play("0 accept(3, ..., ...) = 4")?;
            write!(text, " | {}", trace.take().join(" ")).unwrap();
        }
        User::Has => write!(text, " | {}", read(&mut trace)?).unwrap(),
    }
    Ok(text)
}

/// What was sent.
fn shown(trace: &mut Trace<'_>) -> String {
    let lines: Vec<String> =
        trace.take().iter().map(|line| line.trim_start_matches("> ").replace('P', "")).collect();
    if lines.is_empty() { "nothing".into() } else { lines.join(", ") }
}

/// What the user reads until there is no more, and the state.
fn read(trace: &mut Trace<'_>) -> Result<String, String> {
    let state = trace.state(4);
    let mut parts = Vec::new();
    for _ in 0..3 {
        trace.play("0 recv(4, ..., 1000, MSG_DONTWAIT) = 0")?;
        let result = trace.take().remove(0).replace("recv = ", "").replace("-1 ", "");
        let is_last = result.parse::<u32>().is_ok_and(|count| count > 0);
        parts.push(if result == "0" { "end".into() } else { result });
        if !is_last {
            break;
        }
    }
    Ok(format!("{state}, reads {}", parts.join(" ")))
}

type Table = BTreeMap<(usize, usize), [String; 2]>;

/// `CLOSED`, then `SEGMENT: OUTCOME [|| OUTCOME]` for each.
fn written(table: &Table) -> String {
    let (segments, mut text) = (segments(), String::new());
    for (&(state, segment), [kernel, ours]) in table {
        if segment == 0 {
            writeln!(text, "\n{}", STATES[state].name).unwrap();
        }
        let other = if kernel == ours { String::new() } else { format!(" || {ours}") };
        writeln!(text, "{}: {kernel}{other}", segments[segment].name()).unwrap();
    }
    text.trim_start().to_owned()
}

fn recorded() -> Table {
    let text = std::fs::read_to_string(super::path(FILE)).unwrap_or_default();
    let names: Vec<String> = segments().iter().map(Segment::name).collect();
    let (mut table, mut state) = (Table::new(), 0);
    for line in text.lines() {
        if let Some(found) = STATES.iter().position(|state| state.name == line) {
            state = found;
        } else if let Some((name, outcomes)) = line.split_once(": ") {
            let segment = names.iter().position(|known| known == name).expect("a segment");
            let (kernel, ours) = outcomes.split_once(" || ").unwrap_or((outcomes, outcomes));
            table.insert((state, segment), [kernel.to_owned(), ours.to_owned()]);
        }
    }
    table
}

pub fn on_ours() {
    std::thread::scope(|scope| {
        for mode in [Mode::Ipv4, Mode::Ipv6] {
            scope.spawn(move || {
                (0..STATES.len()).for_each(|state| check(|| super::ours(mode), mode, state, 1, 1))
            });
        }
    });
}

pub fn on_kernel() {
    if super::is_update() {
        return update();
    }
    each_state(|state| {
        for mode in [Mode::Ipv4, Mode::Ipv6] {
            let stack = super::kernels(mode);
            check(|| &stack, mode, state, 0, ATTEMPTS);
        }
    });
}

/// Hands each state to a thread, which can have a network of its own.
fn each_state(f: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(state) =
            Some(next.fetch_add(1, Ordering::Relaxed)).filter(|state| *state < STATES.len())
        {
            f(state);
        }
    };
    std::thread::scope(|scope| (0..THREADS).for_each(|_| drop(scope.spawn(work))));
}

/// Compares with what was recorded of the kernel (0) or of ours (1). A new stack now and then, since connections stay.
fn check<S: Borrow<Stack>>(stack: impl Fn() -> S, mode: Mode, state: usize, whose: usize, attempts: usize) {
    static PORT: AtomicU16 = AtomicU16::new(2000);
    let (table, segments) = (recorded(), segments());
    let mut wrong = Vec::new();
    for (chunk, segments) in segments.chunks(CHUNK).enumerate() {
        let stack = stack();
        for (number, segment) in segments.iter().enumerate() {
            let expected = &table.get(&(state, chunk * CHUNK + number)).expect("a line for each")[whose];
            let play = || {
                let port = 2000 + PORT.fetch_add(1, Ordering::Relaxed) % 30_000;
                outcome(stack.borrow(), mode, &STATES[state], segment, port).unwrap_or_else(|error| error)
            };
            let got: Vec<String> = (0..attempts).map(|_| play()).take_while(|got| got != expected).collect();
            if got.len() == attempts {
                let name = segment.name();
                wrong.push(format!(
                    "{}, {name}: expected\n    {expected}\n    {}",
                    STATES[state].name, got[0]
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}, {} differ:\n{}", mode.name(), wrong.len(), wrong.join("\n"));
}

/// Every difference has its reason in the document, and every reason there a difference.
pub fn differences_are_explained() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tcp-conformance.md");
    let document = std::fs::read_to_string(document).expect("the document");
    let (segments, mut seen) = (segments(), BTreeSet::new());
    for ((state, segment), [kernel, ours]) in recorded() {
        if kernel != ours {
            let (state, segment) = (&STATES[state], &segments[segment]);
            let Some(reason) = reason(state, segment) else {
                panic!("{}, {}: why?", state.name, segment.name())
            };
            assert!(document.contains(&format!("\n| {reason} |")), "the document does not have: {reason}");
            seen.insert(reason);
        }
    }
    let rows = document
        .split("| where ours is another")
        .nth(1)
        .expect("the table")
        .split("\n\n")
        .next()
        .unwrap_or("");
    for row in rows.lines().skip(2) {
        let cell = row.trim_start_matches("| ").split(" |").next().unwrap_or("");
        assert!(seen.contains(cell), "no difference is: {cell}");
    }
}

/// Plays all on both.
fn update() {
    let table = Mutex::new(Table::new());
    each_state(|state| {
        let (kernel, ours) = (super::kernels(Mode::Ipv4), super::ours(Mode::Ipv4));
        for (number, segment) in segments().iter().enumerate() {
            let play = |stack| outcome(stack, Mode::Ipv4, &STATES[state], segment, 2000 + number as u16);
            let both = [&kernel, &ours].map(|stack| play(stack).unwrap_or_else(|error| error));
            table.lock().unwrap().insert((state, number), both);
        }
    });
    std::fs::write(super::path(FILE), written(&table.lock().unwrap())).expect("it can be written");
}

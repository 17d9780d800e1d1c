//! Random routers, correct by construction, as graphs: outputs that wait for a connection are kept in two lists, push and
//! pull, until something ends them.
//!
//! There are queues that overflow, schedulers, circles on which packets become shorter, classifiers, switches that scripts
//! turn, several sources and sinks. Sources are the test class Frames, and a Witness stands before every sink.

use super::Random;
use std::fmt::Write;

/// A router.
#[derive(Clone, Debug, Default)]
pub struct Model {
    pub nodes: Vec<Node>,
    /// From and to: a node and its port.
    pub wires: Vec<[End; 2]>,
}

/// A node and its port.
pub type End = (usize, usize);

#[derive(Clone, Debug)]
pub struct Node {
    pub name: String,
    pub class: String,
    pub config: String,
}

impl Model {
    /// The configuration; `name` gives the names of elements.
    pub fn text(&self, name: impl Fn(usize) -> String) -> String {
        let mut text = String::new();
        for (n, node) in self.nodes.iter().enumerate() {
            writeln!(text, "{} :: {};", name(n), node.declaration()).unwrap();
        }
        for [(a, p), (b, q)] in &self.wires {
            writeln!(text, "{} [{p}] -> [{q}] {};", name(*a), name(*b)).unwrap();
        }
        text + &self.script(name)
    }

    /// A script that turns the switches and reads counters while the router runs.
    pub fn script(&self, name: impl Fn(usize) -> String) -> String {
        let mut script = String::new();
        for (n, node) in self.nodes.iter().enumerate() {
            match node.class.as_str() {
                "Switch" | "PullSwitch" => write!(
                    script,
                    "wait 0.03s, write {0}.switch 0, wait 0.05s, write {0}.switch 1, ",
                    name(n)
                )
                .unwrap(),
                "Counter" if n % 7 == 0 => write!(script, "wait 0.02s, read {}.count, ", name(n)).unwrap(),
                _ => {}
            }
        }
        if script.is_empty() { script } else { format!("script :: Script({}end);\n", script) }
    }
}

impl Node {
    /// Class and configuration.
    pub fn declaration(&self) -> String {
        if self.config.is_empty() { self.class.clone() } else { format!("{}({})", self.class, self.config) }
    }
}

/// A random router, perhaps with elements that pull by the clock.
pub fn router(random: &mut Random, timed: bool) -> Model {
    let mut generator = Generator::new(random, timed);
    generator.run();
    generator.model
}

/// A random router that sends packets through a ToDevice(e0), or gets some through a FromDevice(e0) as well.
pub fn router_with_device(random: &mut Random, sends: bool) -> Model {
    let mut generator = Generator::new(random, false);
    if !sends {
        let source = generator.add("FromDevice(e0)");
        generator.push.push((source, 0));
    }
    generator.run_with(|generator| {
        if sends {
            generator.device();
        }
    });
    generator.model
}

struct Generator<'a> {
    random: &'a mut Random,
    timed: bool,
    model: Model,
    push: Vec<End>,
    pull: Vec<End>,
}

/// Elements with one input and one output that push or pull as their neighbours do.
const AGNOSTIC: [&str; 25] = [
    "Null",
    "Null",
    "Counter",
    "Counter",
    "Paint(1)",
    "Paint(2)",
    "Strip(14)",
    "Strip(4)",
    "CheckLength(70)",
    "EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:2)",
    "MarkIPHeader(14)",
    "CheckIPHeader(OFFSET 14)",
    "CheckIPHeader",
    "CheckARPHeader(14)",
    "HostEtherFilter(2:0:0:0:0:2)",
    "StoreData(3, abc)",
    "Truncate(60)",
    "VLANEncap(VLAN_ID 5)",
    "VLANDecap",
    "DropBroadcasts",
    "CheckPaint(1)",
    "Align(4, 2)",
    "Align(8, 0)",
    "SetIPAddress(10.0.0.7)",
    "Witness",
];

/// Elements with one push input, and how many push outputs they have here.
const SPLITTERS: [(&str, usize); 14] = [
    ("Classifier(12/0800)", 1),
    ("Tee", 2),
    ("Tee(3)", 3),
    ("Switch(0)", 2),
    ("Switch(1)", 2),
    ("StaticSwitch(0)", 2),
    ("StaticSwitch(1)", 3),
    ("StaticSwitch(-1)", 2),
    ("RoundRobinSwitch", 2),
    ("Classifier(12/0806 20/0001, 12/0800, -)", 3),
    ("Classifier(12/08??, 14/4? 23/11%fe, 0/02)", 3),
    ("PaintSwitch", 3),
    ("HashSwitch(0, 1)", 2),
    ("CheckLength(50)", 2),
];

/// The same where packets begin with an IP header that is marked.
const OF_IP: [(&str, usize); 7] = [
    ("IPClassifier(udp && src port 53, icmp || tcp, -)", 3),
    ("IPFilter(deny src 10.1.0.0/16, allow udp, deny all)", 1),
    ("DecIPTTL", 2),
    ("StaticIPLookup(10.0.0.0/16 0, 10.1.0.0/16 1, 0.0.0.0/0 1)", 2),
    ("IPGWOptions(10.0.0.1)", 2),
    ("IPFragmenter(60)", 2),
    ("PaintTee(1)", 2),
];

const QUEUES: [&str; 7] = [
    "Queue",
    "Queue(200)",
    "Queue(3)",
    "Queue(2)",
    "SimpleQueue(4)",
    "FrontDropQueue(3)",
    "NotifierQueue(5)",
];

/// Elements with one pull input and one push output.
const UNQUEUES: [&str; 7] = [
    "Unqueue",
    "Unqueue",
    "Unqueue(BURST 3)",
    "RatedUnqueue(100)",
    "DelayUnqueue(0.004)",
    "Unqueue(LIMIT 9)",
    TIMED,
];
const TIMED: &str = "TimedUnqueue(0.015, 2)";

/// Elements with several pull inputs and one pull output.
const SCHEDULERS: [&str; 9] = [
    "RoundRobinSched",
    "SimpleRoundRobinSched",
    "PrioSched",
    "SimplePrioSched",
    "StrideSched",
    "DRRSched",
    "PullSwitch(0)",
    "StaticPullSwitch(1)",
    "StaticPullSwitch(-1)",
];

impl<'a> Generator<'a> {
    fn new(random: &'a mut Random, timed: bool) -> Self {
        Generator { random, timed, model: Model::default(), push: Vec::new(), pull: Vec::new() }
    }

    fn run(&mut self) {
        self.run_with(|_| ());
    }

    /// Makes all elements; before the ends, those that `more` makes.
    fn run_with(&mut self, more: impl FnOnce(&mut Self)) {
        for n in 0..1 + self.random.below(4) {
            self.source(n);
        }
        for _ in 0..4 + self.random.below(26) {
            match self.random.below(20) {
                0..=4 => self.agnostic(),
                5..=8 => self.split(),
                9 | 10 => self.of_ip(),
                11..=13 => self.queue(),
                14..=16 => self.unqueue(),
                17 => self.schedule(),
                18 => self.pull_tee(),
                _ => self.circle(),
            }
        }
        more(self);
        while let Some(end) = self.push.pop() {
            self.sink(end, true);
        }
        while let Some(end) = self.pull.pop() {
            self.sink(end, false);
        }
    }

    /// Adds `CLASS(CONFIG)`.
    fn add(&mut self, what: &str) -> usize {
        let (class, config) =
            what.split_once('(').map_or((what, ""), |(c, rest)| (c, &rest[..rest.len() - 1]));
        let node = self.model.nodes.len();
        self.model.nodes.push(Node {
            name: format!("x{node}"),
            class: class.to_string(),
            config: config.to_string(),
        });
        node
    }

    fn wire(&mut self, from: End, to: End) {
        self.model.wires.push([from, to]);
    }

    fn take(&mut self, is_push: bool) -> Option<End> {
        let list = if is_push { &mut self.push } else { &mut self.pull };
        let at = self.random.below(list.len());
        (!list.is_empty()).then(|| list.swap_remove(at))
    }

    /// An output of either kind, and whether it pushes.
    fn take_any(&mut self) -> Option<(End, bool)> {
        let is_push = self.random.below(3) > 0;
        let first = self.take(is_push).map(|end| (end, is_push));
        first.or_else(|| self.take(!is_push).map(|end| (end, !is_push)))
    }

    fn give(&mut self, end: End, is_push: bool) {
        if is_push { self.push.push(end) } else { self.pull.push(end) }
    }

    fn source(&mut self, n: usize) {
        let (seed, count, burst) =
            (self.random.below(1 << 30), 8 + self.random.below(40), 1 + self.random.below(4));
        let interval = ["0.007001", "0.011003", "0.013007", "0.017011"][n % 4];
        let source = match self.random.below(12) {
            0 => self.add("Idle"),
            _ => self.add(&format!("Frames(SEED {seed}, COUNT {count}, INTERVAL {interval}, BURST {burst})")),
        };
        self.push.push((source, 0));
    }

    fn agnostic(&mut self) {
        let Some((from, is_push)) = self.take_any() else { return };
        let what = self.random.pick(&AGNOSTIC);
        let node = self.add(what);
        self.wire(from, (node, 0));
        if is_push
            && self.random.below(5) == 0
            && let Some(other) = self.take(true)
        {
            self.wire(other, (node, 0));
        }
        self.give((node, 0), is_push);
    }

    fn split(&mut self) {
        let Some(from) = self.take(true) else { return };
        let (what, outputs) = SPLITTERS[self.random.below(SPLITTERS.len())];
        let node = self.add(what);
        self.wire(from, (node, 0));
        self.push.extend((0..outputs).map(|p| (node, p)));
    }

    /// What the way into an IP router has, and something behind it.
    fn of_ip(&mut self) {
        let Some(from) = self.take(true) else { return };
        let color = self.random.below(3);
        let way = [&format!("Paint({color})"), "Strip(14)", "CheckIPHeader", "GetIPAddress(16)"]
            .map(|e| self.add(e));
        self.wire(from, (way[0], 0));
        way.windows(2).for_each(|pair| self.wire((pair[0], 0), (pair[1], 0)));
        if self.random.below(4) == 0
            && let Some(other) = self.take(true)
        {
            self.wire(other, (way[1], 0));
        }
        let (what, outputs) = OF_IP[self.random.below(OF_IP.len())];
        let node = self.add(what);
        self.wire((way[3], 0), (node, 0));
        self.push.extend((0..outputs).map(|p| (node, p)));
    }

    fn queue(&mut self) {
        let Some(from) = self.take(true) else { return };
        let what = self.random.pick(&QUEUES);
        let node = self.add(what);
        self.wire(from, (node, 0));
        if self.random.below(3) == 0
            && let Some(other) = self.take(true)
        {
            self.wire(other, (node, 0));
        }
        self.pull.push((node, 0));
        if what.starts_with("Queue") && self.random.below(3) == 0 {
            self.push.push((node, 1));
        }
    }

    fn unqueue(&mut self) {
        let Some(from) = self.take(false) else { return };
        let count = UNQUEUES.len() - usize::from(!self.timed);
        let what = self.random.pick(&UNQUEUES[..count]);
        let node = self.add(what);
        self.wire(from, (node, 0));
        self.push.push((node, 0));
    }

    fn schedule(&mut self) {
        let Some(from) = self.take(false) else { return };
        let inputs = 2 + self.random.below(2);
        let what = match *self.random.pick(&SCHEDULERS.each_ref()) {
            "StrideSched" => format!("StrideSched({})", ["2, 1", "3, 1, 2"][inputs - 2]),
            other => other.to_string(),
        };
        let node = self.add(&what);
        self.wire(from, (node, 0));
        for port in 1..inputs {
            let other = self.take(false).unwrap_or_else(|| (self.add("Idle"), 0));
            self.wire(other, (node, port));
        }
        self.pull.push((node, 0));
    }

    fn pull_tee(&mut self) {
        let Some(from) = self.take(false) else { return };
        let outputs = 1 + self.random.below(3);
        let node = self.add(&format!("PullTee({outputs})"));
        self.wire(from, (node, 0));
        self.pull.push((node, 0));
        self.push.extend((1..outputs).map(|p| (node, p)));
    }

    /// Long packets go round and lose twenty bytes each time, perhaps through a queue.
    fn circle(&mut self) {
        let Some(from) = self.take(true) else { return };
        let [first, check, strip] = ["Counter", "CheckLength(90)", "Strip(20)"].map(|e| self.add(e));
        self.wire(from, (first, 0));
        self.wire((first, 0), (check, 0));
        self.wire((check, 1), (strip, 0));
        let mut back = (strip, 0);
        if self.random.below(2) == 0 {
            let [queue, unqueue] = ["Queue(400)", "Unqueue"].map(|e| self.add(e));
            self.wire(back, (queue, 0));
            self.wire((queue, 0), (unqueue, 0));
            back = (unqueue, 0);
        }
        self.wire(back, (first, 0));
        self.push.push((check, 0));
    }

    /// A ToDevice behind a queue that some packets get into.
    fn device(&mut self) {
        let [source, queue, device] =
            ["Frames(SEED 5, COUNT 9, INTERVAL 0.005003, BURST 2)", "Queue(50)", "ToDevice(e0)"]
                .map(|e| self.add(e));
        self.wire((source, 0), (queue, 0));
        while self.random.below(3) > 0
            && let Some(end) = self.take(true)
        {
            self.wire(end, (queue, 0));
        }
        self.wire((queue, 0), (device, 0));
    }

    fn sink(&mut self, end: End, is_push: bool) {
        let ends: &[&str] = match is_push {
            true => &[
                "Witness Discard",
                "Witness Discard",
                "Idle",
                "Counter Discard",
                "Counter Idle",
                "Witness Idle",
            ],
            false => &[
                "Witness Discard",
                "Witness TimedSink(0.009)",
                "Idle",
                "Unqueue Idle",
                "Null Idle",
                "Unqueue Witness Discard",
            ],
        };
        let mut from = end;
        for what in self.random.pick(ends).split(' ') {
            let what = if what.starts_with("Timed") && !self.timed { "Discard" } else { what };
            let node = self.add(what);
            self.wire(from, (node, 0));
            from = (node, 0);
        }
    }
}

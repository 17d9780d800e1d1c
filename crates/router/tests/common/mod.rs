//! Toy element classes and a builder, for tests of the router itself.
#![allow(dead_code, missing_docs, unreachable_pub)]

use clickwork_lang::{Connection, ElementDecl, Graph, Options as LangOptions, Port, elaborate};
use clickwork_packet::{Batch, Packet, Timestamp};
use clickwork_router::notify::{NotifierId, NotifierKind, Search, Signal};
use clickwork_router::{
    Class, Clock, Cx, Element, Endpoint, Log, Options, Registry, Router, SimpleElement, Storage, TaskStep,
    Verdict, build, read_handler, write_handler,
};
use clickwork_source::{Diagnostics, Sources, Span, render_click};
use std::collections::VecDeque;
use std::sync::Arc;

fn registry() -> Arc<Registry> {
    let mut registry = Registry::new();
    registry.add([&GEN, &END, &SAY, &STORE, &MOVE, &SPLIT, &COPY, &ASK, &LOOP_BACK, &ASKER, &CALLER]);
    Arc::new(registry)
}

/// Builds a router of the toy classes, in ordered or batch mode and simulated time.
pub fn try_build(config: &str, ordered: bool) -> Result<Router, String> {
    let registry = registry();
    let mut sources = Sources::default();
    let file = sources.add("config", config);
    let (graph, diagnostics) = elaborate(&mut sources, file, &LangOptions::new(&*registry));
    if diagnostics.has_errors() {
        return Err(render(&sources, &diagnostics));
    }
    build_graph(&graph, &sources, registry, ordered)
}

fn render(sources: &Sources, diagnostics: &Diagnostics) -> String {
    diagnostics.iter().map(|d| render_click(sources, d)).collect()
}

fn build_graph(
    graph: &Graph,
    sources: &Sources,
    registry: Arc<Registry>,
    ordered: bool,
) -> Result<Router, String> {
    let clock = Clock::simulated(Timestamp::new(1000, 0));
    let options = Options { ordered, clock, log: Log::buffer(), seed: Some(1), ..Options::default() };
    build(graph, sources, &registry, options).map(|(router, _)| router).map_err(|d| render(sources, &d))
}

/// The same from a graph given as names with classes and connections, without the parser.
pub fn from_graph(elements: &[(&str, &str)], connections: &[[usize; 4]], ordered: bool) -> Router {
    let element = |&(name, class): &(&str, &str)| ElementDecl {
        name: name.to_string(),
        class: class.to_string(),
        config: String::new(),
        span: Span::NONE,
        compounds: Vec::new(),
    };
    let connection = |&[from, output, to, input]: &[usize; 4]| Connection {
        from: Port { element: from, port: output },
        to: Port { element: to, port: input },
        span: Span::NONE,
    };
    let graph = Graph {
        elements: elements.iter().map(element).collect(),
        connections: connections.iter().map(connection).collect(),
        ..Graph::default()
    };
    build_graph(&graph, &Sources::default(), registry(), ordered).unwrap_or_else(|e| panic!("{e}"))
}

pub fn router(config: &str) -> Router {
    try_build(config, true).unwrap_or_else(|e| panic!("{e}"))
}

pub fn batched(config: &str) -> Router {
    try_build(config, false).unwrap_or_else(|e| panic!("{e}"))
}

pub fn errors(config: &str) -> String {
    try_build(config, true).err().expect("a mistake")
}

/// Pushes packets that hold one number each.
pub fn push(router: &mut Router, element: &str, numbers: impl IntoIterator<Item = u8>) {
    let element = router.find(element).expect("the element exists");
    let batch: Batch = numbers.into_iter().map(|n| Packet::new(&[n])).collect();
    if router.is_ordered() {
        batch.into_iter().for_each(|p| router.push(Endpoint { element, port: 0 }, Batch::one(p)));
    } else {
        router.push(Endpoint { element, port: 0 }, batch);
    }
}

macro_rules! simple_class {
    ($name:ident, $text:literal, $ports:literal, $processing:literal, $flow:literal, $flags:literal, $make:expr) => {
        pub static $name: Class = Class {
            ports: $ports,
            processing: $processing,
            flow: $flow,
            flags: $flags,
            ..Class::new($text, "toy", || Box::new($make))
        };
    };
}

// A device that pushes, as FromDevice does; packets enter it from the test.
simple_class!(GEN, "Gen", "0/1", "h/h", "x/x", "", Gen);
pub struct Gen;
impl Element for Gen {
    fn push(&mut self, _: usize, _: &mut Batch, _: &mut Cx<'_>) {}
}

// A device that pulls, as ToDevice does.
pub static END: Class = Class {
    ports: "1/0",
    processing: "l/h",
    handlers: &[
        read_handler!("got", "numbers received", |e: &mut End, _| format!("{:?}", e.got)),
        read_handler!("turns", "turns of its task", |e: &mut End, _| e.turns),
        read_handler!("scheduled", "whether its task is scheduled", |_: &mut End, cx| cx.task_scheduled()),
    ],
    ..Class::new("End", "toy", || Box::<End>::default())
};
#[derive(Default)]
pub struct End {
    got: Vec<u8>,
    turns: u32,
    signal: Signal,
}
impl Element for End {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.signal = cx.upstream_empty_signal(0);
        cx.schedule_task();
        Ok(())
    }
    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        self.turns += 1;
        let batch = cx.pull(0, 8);
        let idle = batch.is_empty() && !cx.is_active(&self.signal);
        self.got.extend(batch.into_iter().map(|p| p.data()[0]));
        if idle { TaskStep::Sleep } else { TaskStep::Again }
    }
}

// Agnostic; writes down what passes, in a log that all share.
pub static SAY: Class = Class {
    handlers: &[
        read_handler!("seen", "numbers seen", |e: &mut Say, _| format!("{:?}", e.seen)),
        write_handler!("call_self", "reads its own handler", |_: &mut Say, _, cx| {
            let name = format!("{}.seen", cx.name());
            cx.defer(move |r| {
                let text = r.read(&name, "").map_or_else(|e| e.to_string(), |v| v.text());
                r.log().line(&text);
            });
        }),
    ],
    ..Class::new("Say", "toy", || Box::<Say>::default())
};
#[derive(Default)]
pub struct Say {
    seen: Vec<u8>,
}
impl SimpleElement for Say {
    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        self.seen.push(p.data()[0]);
        cx.chatter(&format!("{} {}", cx.name(), p.data()[0]));
        Verdict::PASS
    }
    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = clickwork_router::element::try_downcast::<Say>(old) {
            self.seen = std::mem::take(&mut old.seen);
        }
    }
}

// A queue.
simple_class!(STORE, "Store", "1/1-2", "h/lh", "x/x", "S0", Store::default());
#[derive(Default)]
pub struct Store {
    packets: VecDeque<Packet>,
    storage: Arc<Storage>,
    empty: Option<NotifierId>,
}
impl Element for Store {
    fn configure(&mut self, _: &mut clickwork_router::args::Args, cx: &mut Cx<'_>) {
        cx.export(Arc::clone(&self.storage));
        let n = cx.export_notifier(NotifierKind::Empty, Search::Stop);
        cx.sleep(n);
        self.empty = Some(n);
    }
    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        self.packets.extend(batch.drain());
        self.storage.set_length(self.packets.len());
        cx.wake(self.empty.expect("configured"));
    }
    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let n = limit.min(self.packets.len());
        let batch = self.packets.drain(..n).collect();
        self.storage.set_length(self.packets.len());
        if self.packets.is_empty() {
            cx.sleep(self.empty.expect("configured"));
        }
        batch
    }
}

// Pulls and pushes, as Unqueue does.
simple_class!(MOVE, "Move", "1/1", "l/h", "x/x", "", Move(Signal::idle()));
pub struct Move(Signal);
impl Element for Move {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.0 = cx.upstream_empty_signal(0);
        cx.schedule_task();
        Ok(())
    }
    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        let batch = cx.pull(0, 64);
        let empty = batch.is_empty();
        cx.emit_batch(0, batch);
        if empty && !cx.is_active(&self.0) { TaskStep::Sleep } else { TaskStep::Again }
    }
}

// Sends number n to output n modulo the outputs; drops numbers from 200.
simple_class!(SPLIT, "Split", "1/1-", "h/h", "x/x", "", Split);
pub struct Split;
impl SimpleElement for Split {
    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        match p.data()[0] {
            n if n >= 200 => Verdict::Drop("too big"),
            n => Verdict::Out(u16::from(n) % cx.outputs() as u16),
        }
    }
}

// Sends a copy to output 1 before the packet itself goes to output 0.
simple_class!(COPY, "Copy", "1/2", "a/ah", "x/x", "", CopyOut);
pub struct CopyOut;
impl SimpleElement for CopyOut {
    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        cx.emit(1, p.clone());
        Verdict::PASS
    }
}

// Has another element called, by a command, whenever packets pass.
simple_class!(CALLER, "Caller", "1/1", "h/h", "x/x", "", Caller);
pub struct Caller;
impl Element for Caller {
    fn push(&mut self, _: usize, _: &mut Batch, cx: &mut Cx<'_>) {
        let other = cx.find("g");
        cx.defer(move |r| _ = other.and_then(|id| r.with_element(id, |_, _| ())));
    }
}

// Finds the nearest storage.
pub static ASK: Class = Class {
    handlers: &[
        read_handler!("down", "lengths of the nearest queues downstream", |_: &mut Ask, cx| {
            let names = cx
                .downstream::<Storage>(None)
                .into_iter()
                .map(|(id, s)| format!("{}={}", cx.router().info(id).name, s.length()));
            names.collect::<Vec<_>>().join(" ")
        }),
        read_handler!("up", "the nearest queues upstream", |_: &mut Ask, cx| {
            let names =
                cx.upstream::<Storage>(None).into_iter().map(|(id, _)| cx.router().info(id).name.clone());
            names.collect::<Vec<_>>().join(" ")
        }),
    ],
    ..Class::new("Ask", "toy", || Box::new(Ask))
};
pub struct Ask;
impl SimpleElement for Ask {
    fn simple_action(&mut self, _: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        Verdict::PASS
    }
}

// Counts a packet's number down; at 0 it goes to output 1.
simple_class!(LOOP_BACK, "Loop", "1/2", "h/h", "x/x", "", LoopBack);
pub struct LoopBack;
impl SimpleElement for LoopBack {
    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        let n = &mut p.data_mut()[0];
        *n = n.saturating_sub(1);
        if *n == 0 { Verdict::Out(1) } else { Verdict::PASS }
    }
}

// A device that is asked in vain, as an idle FromDevice is, and a timer that expires after a second.
pub static ASKER: Class = Class {
    ports: "0/1",
    processing: "h/h",
    handlers: &[read_handler!("expired", "whether the timer has", |e: &mut Asker, _| e.expired)],
    ..Class::new("Asker", "toy", || Box::<Asker>::default())
};
#[derive(Default)]
pub struct Asker {
    expired: bool,
}
impl Element for Asker {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        cx.schedule_timer_after(0, std::time::Duration::from_secs(1));
        cx.schedule_task();
        Ok(())
    }
    fn run_task(&mut self, _: &mut Cx<'_>) -> TaskStep {
        TaskStep::Poll
    }
    fn run_timer(&mut self, _: usize, _: &mut Cx<'_>) {
        self.expired = true;
    }
}

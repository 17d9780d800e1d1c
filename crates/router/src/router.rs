//! The router: its elements, how they are connected, and the dispatch of packets between them.
//!
//! Push is deferred: an element puts what it sends into output slots, and when it returns the router hands each slot to
//! the next element, depth first in the order of emission. An element is taken out of its place while it runs, so it
//! holds the only reference to itself; no `unsafe` is needed, and a call that would re-enter an element is an error
//! value instead of undefined behaviour.
//!
//! Not here: how a router is made (`build`), how it runs over time (`driver`), and what elements may ask (`cx`).

use crate::args::Names;
use crate::callers::Calls;
use crate::circle::{LOOK_EVERY, MOST_VISITS, OnCircle};
use crate::clock::Clock;
use crate::custody::Labels;
use crate::cx::Cx;
use crate::element::{Element, Ready, TaskStep};
use crate::facts::{Class, Processing};
use crate::handler::Handler;
use crate::hotswap::Reload;
use crate::log::Log;
use crate::notify::{NotifierId, NotifierKind, Notifiers, Search};
use crate::outputs::{OutputIndex, Outputs, Slot};
use crate::poll::PollSet;
use crate::random::Random;
use crate::registry::Registry;
use crate::reports::Reports;
use crate::segment::{Segments, Through, Visit};
use crate::shown::Shown;
use crate::tasks::Tasks;
use crate::timers::Timers;
use clickwork_lang::{CompoundOrigin, Connection, ElementDecl, Graph, Port, Requirement};
use clickwork_packet::{Batch, Timestamp};
use clickwork_source::Span;
use std::any::{Any, TypeId};
use std::collections::{HashMap, VecDeque};
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::Duration;

/// An element of a router, by its number in the order of Click's `list` handler.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct ElementId(pub u32);

impl ElementId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// One end of a connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Endpoint {
    /// The element.
    pub element: ElementId,
    /// The port number.
    pub port: u16,
}

/// A connection between two elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    /// The output.
    pub from: Endpoint,
    /// The input.
    pub to: Endpoint,
    /// Where it was written.
    pub span: Span,
}

/// What the router knows about an element, apart from the element itself.
#[derive(Debug)]
pub struct Info {
    /// Full name, such as `a/b/Queue@3`.
    pub name: String,
    /// Its class.
    pub class: &'static Class,
    /// The class name as the configuration wrote it; differs from `class.name` for an alias.
    pub class_name: String,
    /// Its configuration string.
    pub config: String,
    /// Where it was declared.
    pub span: Span,
    /// The same as Click prints it, `file:line`.
    pub landmark: String,
    /// The compounds it stands in, outermost first.
    pub compounds: Vec<CompoundOrigin>,
    /// The processing of each input, as resolved.
    pub inputs: Vec<Processing>,
    /// The processing of each output, as resolved.
    pub outputs: Vec<Processing>,
    /// Packets that entered the element, pushed or pulled; for an element without inputs, packets it made.
    pub packets: u64,
    /// Packets the element dropped, by reason.
    pub drops: Vec<(&'static str, u64)>,
}

/// A command that an element leaves for the router to carry out after the element returns.
pub(crate) type Command = Box<dyn FnOnce(&mut Router) + Send>;

/// A notifier that an element exports.
#[derive(Clone, Copy)]
pub(crate) struct ExportedNotifier {
    pub kind: NotifierKind,
    pub id: NotifierId,
    pub search: Search,
    /// The port that it tells about; `None` for all.
    pub port: Option<u16>,
}

/// What an element exports for others to find.
#[derive(Default)]
pub(crate) struct Exports {
    pub handles: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
    pub notifiers: Vec<ExportedNotifier>,
    /// Handlers that the element has because of its configuration.
    pub handlers: Vec<(String, Handler)>,
    /// Stands for handlers of all other names.
    pub other_handlers: Option<Handler>,
    /// The handlers of others that it may write.
    pub calls: Calls,
}

/// What a driver manager makes of a stop request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopDecision {
    /// The driver stops.
    Stop,
    /// The request is used up and the driver goes on.
    Continue,
}

/// Decides about a stop request in the name of an element.
pub type StopHandler = fn(&mut Router, ElementId) -> StopDecision;

/// Whether the driver should go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct StopState {
    /// Stop requests not yet consumed.
    pub requests: u32,
}

/// What waits to be delivered.
pub(crate) enum Work {
    /// A batch, to the input that its output leads to.
    Slot(Slot),
    /// A batch that is on its way through a segment.
    Visit(Box<Visit>),
}

/// A router.
pub struct Router {
    #[allow(dead_code)] // other builds do not watch packets
    pub(crate) labels: Labels,
    pub(crate) elements: Vec<Option<Box<dyn Element>>>,
    pub(crate) infos: Vec<Info>,
    pub(crate) names: HashMap<String, ElementId>,
    pub(crate) links: Vec<Link>,
    pub(crate) requirements: Vec<Requirement>,
    pub(crate) source_text: Arc<str>,
    pub(crate) shown: Shown,
    /// First output number of each element, and one past the last.
    pub(crate) output_base: Vec<u32>,
    /// By output number: the connected inputs (one if push).
    pub(crate) targets: Vec<Vec<Endpoint>>,
    /// By element: where its output 0 leads if it is push.
    pub(crate) hops: Vec<Option<Endpoint>>,
    /// By element: [`Element::passes_on`].
    pub(crate) passes_on: Vec<bool>,
    /// First input number of each element, and one past the last.
    pub(crate) input_base: Vec<u32>,
    /// By input number: the connected outputs (one if pull).
    pub(crate) sources: Vec<Vec<Endpoint>>,
    pub(crate) slots: Outputs,
    pub(crate) stack: Vec<Work>,
    pub(crate) segments: Segments,
    /// Whether a delivery is in progress.
    pub(crate) delivering: bool,
    /// Element calls since it began.
    pub(crate) visits: u64,
    /// How many batches may wait in it before their packets are counted.
    pub(crate) next_look: usize,
    pub(crate) on_circle: OnCircle,
    pub(crate) commands: VecDeque<Command>,
    pub(crate) tasks: Tasks,
    pub(crate) timers: Timers,
    pub(crate) notifiers: Notifiers,
    pub(crate) exports: Vec<Exports>,
    pub(crate) poll: PollSet,
    pub(crate) clock: Clock,
    pub(crate) reports: Reports,
    /// Whether what is read at present is for somebody who may not see keys.
    pub(crate) hides_keys: bool,
    /// Steady time at the driver's last iteration.
    pub(crate) recent: Timestamp,
    /// Whether a task, timer or descriptor had something to do since the driver last asked.
    pub(crate) worked: bool,
    pub(crate) random: Random,
    pub(crate) arg_names: Names,
    pub(crate) log: Log,
    pub(crate) output: Log,
    pub(crate) registry: Arc<Registry>,
    pub(crate) stop: StopState,
    pub(crate) stop_handler: Option<(ElementId, StopHandler)>,
    pub(crate) reload: Option<Reload>,
    pub(crate) hot_swap: Option<Box<Router>>,
    pub(crate) batch_limit: usize,
    pub(crate) running: bool,
    pub(crate) claimed_signals: Vec<i32>,
}

impl Work {
    /// How many packets it is.
    pub fn packets(&self) -> usize {
        match self {
            Work::Slot(slot) => slot.batch.len(),
            Work::Visit(visit) => visit.packets(),
        }
    }
}

impl Router {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.infos.len()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.infos.is_empty()
    }

    /// All elements in order.
    pub fn ids(&self) -> impl Iterator<Item = ElementId> + use<> {
        (0..self.infos.len() as u32).map(ElementId)
    }

    /// What is known about an element.
    pub fn info(&self, id: ElementId) -> &Info {
        &self.infos[id.index()]
    }

    /// The element of that full name.
    pub fn find(&self, name: &str) -> Option<ElementId> {
        self.names.get(name).copied()
    }

    /// The element that `name` means when written inside the element `context`: in its own compound first, then in each
    /// enclosing one.
    pub fn find_from(&self, name: &str, context: ElementId) -> Option<ElementId> {
        let mut prefix = self.info(context).name.as_str();
        while let Some(slash) = prefix.rfind('/') {
            prefix = &prefix[..slash];
            if let Some(id) = self.find(&format!("{prefix}/{name}")) {
                return Some(id);
            }
        }
        self.find(name)
    }

    /// All connections.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The router as a flat graph, for the printer and other tools.
    pub fn to_graph(&self) -> Graph {
        let port = |e: Endpoint| Port { element: e.element.index(), port: e.port as usize };
        let element = |i: &Info| ElementDecl {
            name: i.name.clone(),
            class: i.class_name.clone(),
            config: i.config.clone(),
            span: i.span,
            compounds: i.compounds.clone(),
        };
        let link = |l: &Link| Connection { from: port(l.from), to: port(l.to), span: l.span };
        Graph {
            elements: self.infos.iter().map(element).collect(),
            connections: self.links.iter().map(link).collect(),
            requirements: self.requirements.clone(),
            defines: Vec::new(),
        }
    }

    /// As [`Router::to_graph`], with the present configuration of elements that can say it (by a `config` handler of
    /// their own), which handlers may have changed.
    pub fn to_present_graph(&mut self) -> Graph {
        let mut graph = self.to_graph();
        for id in self.shown.varied() {
            graph.elements[id.index()].config = self.present_config(id);
        }
        graph
    }

    /// What the configuration requires.
    pub fn requirements(&self) -> &[Requirement] {
        &self.requirements
    }

    /// The configuration as the user wrote it.
    pub fn source_text(&self) -> &str {
        &self.source_text
    }

    /// The clock.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Where messages go.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Where the text goes that elements print on standard output.
    pub fn output(&self) -> &Log {
        &self.output
    }

    /// Makes the random numbers of elements follow from `seed` from now on.
    pub fn seed_random(&mut self, seed: u64) {
        self.random = Random::from_seed(seed);
    }

    /// The element classes this router was made with.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// The inputs that an output leads to.
    pub fn targets(&self, from: Endpoint) -> &[Endpoint] {
        self.output_number(from).map_or(&[], |n| &self.targets[n as usize])
    }

    /// The outputs that lead to an input.
    pub fn sources(&self, to: Endpoint) -> &[Endpoint] {
        let e = to.element.index();
        let n = self.input_base[e] + u32::from(to.port);
        if n < self.input_base[e + 1] { &self.sources[n as usize] } else { &[] }
    }

    /// The router-wide number of an output, if the element has it.
    #[inline]
    pub(crate) fn output_number(&self, from: Endpoint) -> Option<OutputIndex> {
        let e = from.element.index();
        let n = self.output_base[e] + u32::from(from.port);
        (n < self.output_base[e + 1]).then_some(n)
    }

    /// The handle of type `T` that an element exports.
    pub fn exported<T: Any + Send + Sync>(&self, id: ElementId) -> Option<Arc<T>> {
        let handle = self.exports[id.index()].handles.get(&TypeId::of::<T>())?;
        Arc::clone(handle).downcast().ok()
    }

    /// Sets timer `slot` of an element to expire after `delay`, for commands.
    pub fn schedule_timer_after(&mut self, id: ElementId, slot: u16, delay: Duration) {
        let at = self.clock.steady() + delay;
        self.timers.schedule((id.0, slot), at);
    }

    /// Unsets timer `slot` of an element.
    pub fn unschedule_timer(&mut self, id: ElementId, slot: u16) {
        self.timers.unschedule((id.0, slot));
    }

    /// A random number.
    pub fn random(&mut self) -> u32 {
        self.random.next_u32()
    }

    /// Leaves a signal to an element of this router.
    pub fn claim_signal(&mut self, signal: i32) {
        self.claimed_signals.push(signal);
    }

    /// Whether an element handles the signal, so that whoever runs the router should not.
    pub fn claims_signal(&self, signal: i32) -> bool {
        self.claimed_signals.contains(&signal)
    }

    /// Requests that the driver stop, as DriverManager or a reader at end of file does.
    pub fn request_stop(&mut self) {
        self.stop.requests += 1;
    }

    /// Runs `f` on an element, then delivers what it emitted and carries out its commands. `None` if the element is
    /// running already, or is gone.
    pub fn with_element<R>(
        &mut self,
        id: ElementId,
        f: impl FnOnce(&mut dyn Element, &mut Cx<'_>) -> R,
    ) -> Option<R> {
        let before = self.made_before(id);
        let result = self.call(id, f);
        self.count_made(id, before);
        self.deliver();
        result
    }

    /// For an element without inputs, the packets in the slots; then [`Router::count_made`] knows what it adds.
    #[inline]
    pub(crate) fn made_before(&self, id: ElementId) -> Option<usize> {
        self.infos[id.index()].inputs.is_empty().then(|| self.slots.packets())
    }

    #[inline]
    pub(crate) fn count_made(&mut self, id: ElementId, before: Option<usize>) {
        if let Some(before) = before {
            self.infos[id.index()].packets += (self.slots.packets() - before) as u64;
        }
    }

    /// As [`Router::with_element`], leaving what was emitted in the slots.
    #[inline]
    pub(crate) fn call<R>(
        &mut self,
        id: ElementId,
        f: impl FnOnce(&mut dyn Element, &mut Cx<'_>) -> R,
    ) -> Option<R> {
        let mut element = self.elements[id.index()].take()?;
        let _custody = self.custody(id);
        let result = f(&mut *element, &mut Cx { router: self, me: id });
        self.elements[id.index()] = Some(element);
        Some(result)
    }

    /// Hands a batch to an input, as a connected output would, and delivers all that follows from it.
    pub fn push(&mut self, to: Endpoint, mut batch: Batch) {
        // What the element leaves and emits may be on the stack already: deliver down to where it was before.
        let floor = self.stack.len();
        let is_part = std::mem::replace(&mut self.delivering, true);
        self.push_into(to, &mut batch);
        self.slots.recycle(batch);
        self.deliver_down_to(floor);
        self.end_delivery(is_part);
    }

    /// Sends packets out of an element's output from outside the element, for commands.
    pub fn emit(&mut self, from: Endpoint, mut batch: Batch) {
        match self.output_number(from) {
            Some(output) => self.slots.emit_batch(output, batch),
            None => self.give_up(from.element, &mut batch, "no such output"),
        }
        self.deliver();
    }

    /// Does something in the name of an element without the element itself, for commands: what it emits is delivered
    /// after the command, so that a command that sends packets round a cycle does not recurse.
    pub fn in_name_of<R>(&mut self, id: ElementId, f: impl FnOnce(&mut Cx<'_>) -> R) -> R {
        f(&mut Cx { router: self, me: id })
    }

    /// One element's push, then whatever it leaves in place moves on to the next, as long as there is one.
    fn push_into(&mut self, mut to: Endpoint, batch: &mut Batch) {
        loop {
            self.visits += 1;
            if self.visits > MOST_VISITS && self.break_circle(to.element, batch) {
                return;
            }
            match self.push_through(to, batch) {
                Through::NoSegment => {}
                Through::Away => return,
                Through::Next(next) => {
                    to = next;
                    continue;
                }
            }
            let Some(mut element) = self.elements[to.element.index()].take() else {
                return self.give_up(to.element, batch, "element in use");
            };
            self.infos[to.element.index()].packets += batch.len() as u64;
            {
                let _custody = self.custody(to.element);
                element.push(to.port as usize, batch, &mut Cx { router: self, me: to.element });
            }
            self.elements[to.element.index()] = Some(element);
            if !self.commands.is_empty() {
                self.run_commands();
            }
            if batch.is_empty() {
                return;
            }
            if !self.slots.is_empty() {
                // What was emitted goes first; the batch in place follows it.
                let rest = batch.take();
                self.park(self.output_base[to.element.index()], to.element, rest);
                return;
            }
            match self.hops[to.element.index()] {
                Some(next) => to = next,
                None => return self.give_up(to.element, batch, "no such output"),
            }
        }
    }

    /// Ends the way of a batch that cannot go on, and counts it.
    #[cold]
    pub(crate) fn give_up(&mut self, element: ElementId, batch: &mut Batch, reason: &'static str) {
        Cx { router: self, me: element }.drop_batch(batch, reason);
    }

    /// The same for a batch at an output that leads nowhere.
    #[cold]
    fn give_up_at(&mut self, output: OutputIndex, batch: &mut Batch) {
        let element = self.output_base.partition_point(|&first| first <= output) - 1;
        self.give_up(ElementId(element as u32), batch, "no such output");
    }

    /// Puts a batch for output 0 on the stack below what is in the slots.
    pub(crate) fn park(&mut self, output: OutputIndex, element: ElementId, mut batch: Batch) {
        if self.hops[element.index()].is_some() {
            self.stack.push(Work::Slot(Slot { output, batch }));
        } else {
            self.give_up(element, &mut batch, "no such output");
        }
        self.slots.unload(&mut self.stack);
    }

    /// Delivers everything that waits in slots, then everything that follows from it.
    pub(crate) fn deliver(&mut self) {
        self.deliver_down_to(self.stack.len());
    }

    /// The same, with what is on the stack above `floor`.
    fn deliver_down_to(&mut self, floor: usize) {
        let is_part = std::mem::replace(&mut self.delivering, true);
        if !self.commands.is_empty() {
            self.run_commands();
        }
        self.slots.unload(&mut self.stack);
        while self.stack.len() > floor {
            match self.stack.pop() {
                Some(Work::Slot(Slot { output, mut batch })) => {
                    match self.targets[output as usize].first() {
                        Some(&to) => self.push_into(to, &mut batch),
                        None => self.give_up_at(output, &mut batch),
                    }
                    self.slots.recycle(batch);
                }
                Some(Work::Visit(visit)) => self.visit(*visit),
                None => break,
            }
            self.slots.unload(&mut self.stack);
            if self.stack.len() > self.next_look {
                self.look_at_waiting();
            }
        }
        self.end_delivery(is_part);
    }

    /// Ends a delivery, unless it is part of another: a handler may be called in the middle of one.
    #[inline]
    fn end_delivery(&mut self, is_part: bool) {
        if !is_part {
            (self.delivering, self.visits, self.next_look) = (false, 0, LOOK_EVERY);
        }
    }

    /// Carries out what elements asked for, in order, with no element running but those whose packets are on the way.
    pub(crate) fn run_commands(&mut self) {
        while let Some(command) = self.commands.pop_front() {
            command(self);
        }
    }

    /// Asks upstream for packets.
    #[inline]
    pub(crate) fn pull(&mut self, to: Endpoint, limit: usize) -> Batch {
        let Some(&from) = self.sources(to).first() else { return Batch::new() };
        let limit = limit.min(self.batch_limit);
        let batch = match self.chain_before(from) {
            Some(first) => self.pull_through(first, from, limit),
            None => self.ask(from, limit),
        };
        self.infos[to.element.index()].packets += batch.len() as u64;
        batch
    }

    /// Has the element itself answer at an output.
    #[inline]
    fn ask(&mut self, from: Endpoint, limit: usize) -> Batch {
        let before = from.element.index();
        let Some(mut element) = self.elements[before].take() else { return Batch::new() };
        let _custody = self.custody(from.element);
        let cx = &mut Cx { router: self, me: from.element };
        let batch = element.pull(from.port as usize, limit, cx);
        self.elements[before] = Some(element);
        if self.infos[before].inputs.is_empty() {
            self.infos[before].packets += batch.len() as u64;
        }
        batch
    }

    /// Gives the element's task one turn: bursts are repeated until the element says that it is done.
    pub(crate) fn run_task(&mut self, id: ElementId) {
        loop {
            let before = self.made_before(id);
            let step = self.call(id, |e, cx| e.run_task(cx)).unwrap_or(TaskStep::Sleep);
            self.count_made(id, before);
            self.deliver();
            self.worked |= step != TaskStep::Poll;
            if step == TaskStep::Continue && self.stop.requests == 0 {
                continue;
            }
            return self.tasks.end_turn(id.index(), step != TaskStep::Sleep);
        }
    }

    pub(crate) fn run_timer(&mut self, element: u32, slot: u16) {
        self.worked = true;
        self.with_element(ElementId(element), |e, cx| e.run_timer(slot as usize, cx));
    }

    pub(crate) fn run_selected(&mut self, id: ElementId, fd: RawFd, ready: Ready) {
        self.worked = true;
        self.with_element(id, |e, cx| e.selected(fd, ready, cx));
    }

    /// Wakes a notifier, scheduling the tasks that listen.
    #[inline]
    pub(crate) fn wake(&mut self, n: NotifierId) {
        let tasks = &mut self.tasks;
        self.notifiers.wake(n, &mut |e| tasks.schedule(e as usize));
    }

    /// Ends the router: every element flushes and closes.
    pub fn cleanup(&mut self) {
        for id in self.ids() {
            self.call(id, |e, cx| e.cleanup(cx));
        }
        self.finish_reports();
    }

    /// Packets that elements dropped, over the whole router: the sum over elements and reasons.
    pub fn total_drops(&self) -> u64 {
        self.infos.iter().flat_map(|i| &i.drops).map(|&(_, n)| n).sum()
    }
}

//! The context: all that an element can do beyond its own state. It is handed to every call of an element.
//!
//! An element has no clock, no global and no reference to another element; here is time, randomness, its ports, its
//! task and timers, notifiers, what others export, and commands for the router.

use crate::args::{HandlerCall, Names};
use crate::element::{Ready, Verdict};
use crate::facts::Processing;
use crate::flow;
use crate::handler::Handler;
use crate::log::Log;
use crate::notify::{NotifierId, NotifierKind, Search, Signal};
use crate::router::{ElementId, Endpoint, ExportedNotifier, Info, Router, StopHandler};
use clickwork_packet::{Batch, Packet, Timestamp};
use std::any::{Any, TypeId};
use std::os::fd::{BorrowedFd, RawFd};
use std::sync::Arc;
use std::time::Duration;

/// The context of one element's call.
pub struct Cx<'r> {
    pub(crate) router: &'r mut Router,
    pub(crate) me: ElementId,
}

impl Cx<'_> {
    // ---- who I am

    /// My number.
    pub fn id(&self) -> ElementId {
        self.me
    }

    /// What the router knows about me: name, class, configuration, ports.
    pub fn info(&self) -> &Info {
        self.router.info(self.me)
    }

    /// My full name.
    pub fn name(&self) -> &str {
        &self.info().name
    }

    /// Number of my inputs.
    #[inline]
    pub fn inputs(&self) -> usize {
        let e = self.me.index();
        (self.router.input_base[e + 1] - self.router.input_base[e]) as usize
    }

    /// Number of my outputs.
    #[inline]
    pub fn outputs(&self) -> usize {
        let e = self.me.index();
        (self.router.output_base[e + 1] - self.router.output_base[e]) as usize
    }

    /// Whether my input `port` is pull.
    pub fn input_is_pull(&self, port: usize) -> bool {
        self.info().inputs.get(port) == Some(&Processing::Pull)
    }

    /// Whether my output `port` is push.
    pub fn output_is_push(&self, port: usize) -> bool {
        self.info().outputs.get(port) == Some(&Processing::Push)
    }

    /// The router, to look at: other elements' names, classes and connections.
    pub fn router(&self) -> &Router {
        self.router
    }

    /// The element that `name` means in my configuration: in my compound first, then in those around it.
    pub fn find(&self, name: &str) -> Option<ElementId> {
        self.router.find_from(name, self.me)
    }

    /// Names that AddressInfo and its relatives defined, as seen from my place in the configuration.
    pub fn names(&self) -> Names {
        self.router.arg_names.for_element(self.name())
    }

    /// Notes in my configuration that an argument has another value now. What was given for it, at its position or by
    /// its keyword, is replaced; otherwise it is added by its keyword.
    pub fn set_argument(&mut self, position: usize, keyword: &str, value: &str) {
        let config = crate::args::with_argument(&self.info().config, position, keyword, value);
        self.router.infos[self.me.index()].config = config;
        self.router.shown.changed(self.me);
    }

    // ---- packets

    /// Sends a packet out of push output `port`. If I have no such output, the packet is dropped.
    #[inline]
    pub fn emit(&mut self, port: usize, p: Packet) {
        let e = self.me.index();
        let output = self.router.output_base[e] + port as u32;
        if output < self.router.output_base[e + 1] {
            self.router.slots.emit(output, p);
        } else {
            self.count_drop("no such output", 1);
        }
    }

    /// Sends a whole batch out of push output `port`.
    #[inline]
    pub fn emit_batch(&mut self, port: usize, batch: Batch) {
        let e = self.me.index();
        let output = self.router.output_base[e] + port as u32;
        if output < self.router.output_base[e + 1] {
            self.router.slots.emit_batch(output, batch);
        } else {
            self.refuse_batch(batch);
        }
    }

    #[cold]
    fn refuse_batch(&mut self, mut batch: Batch) {
        self.drop_batch(&mut batch, "no such output");
        self.recycle(batch);
    }

    /// Sends a packet out of `port` if I have that output, otherwise drops it for `reason`. For optional outputs.
    #[inline]
    pub fn emit_or_drop(&mut self, port: usize, p: Packet, reason: &'static str) {
        if port < self.outputs() {
            self.emit(port, p);
        } else {
            self.drop(p, reason);
        }
    }

    /// The verdict that sends a packet to optional output `port`, or drops it for `reason` if I have no such output.
    #[inline]
    pub fn out_or_drop(&self, port: u16, reason: &'static str) -> Verdict {
        if (port as usize) < self.outputs() { Verdict::Out(port) } else { Verdict::Drop(reason) }
    }

    /// Frees a packet and counts why.
    pub fn drop(&mut self, p: Packet, reason: &'static str) {
        std::mem::drop(p);
        self.count_drop(reason, 1);
    }

    /// Frees a batch and counts why.
    pub fn drop_batch(&mut self, batch: &mut Batch, reason: &'static str) {
        self.count_drop(reason, batch.len() as u64);
        batch.clear();
    }

    /// Counts `n` packets of mine as dropped for `reason`.
    #[cold]
    pub fn count_drop(&mut self, reason: &'static str, n: u64) {
        let drops = &mut self.router.infos[self.me.index()].drops;
        match drops.iter_mut().find(|(r, _)| *r == reason) {
            Some((_, count)) => *count += n,
            None => drops.push((reason, n)),
        }
    }

    /// Asks upstream of pull input `port` for up to `limit` packets; fewer may come, at most a batch (one in ordered
    /// mode).
    #[inline]
    pub fn pull(&mut self, port: usize, limit: usize) -> Batch {
        self.router.pull(Endpoint { element: self.me, port: port as u16 }, limit)
    }

    /// An empty batch with an array, recycled.
    #[inline]
    pub fn fresh_batch(&mut self) -> Batch {
        self.router.slots.fresh_batch()
    }

    /// Gives back a batch that is no longer needed; packets still in it are freed, as they are where they were to go.
    #[inline]
    pub fn recycle(&mut self, batch: Batch) {
        self.router.slots.recycle(batch);
    }

    /// How many packets a batch may hold: 1 in ordered mode.
    #[inline]
    pub fn batch_limit(&self) -> usize {
        self.router.batch_limit
    }

    // ---- time and chance

    /// Wall time, for the timestamps of packets and for people. It jumps when the clock is set: see [`Cx::steady`].
    pub fn now(&self) -> Timestamp {
        self.router.clock.now()
    }

    /// Steady time: never jumps. For durations, rates, ages and timeouts; what timers use.
    pub fn steady(&self) -> Timestamp {
        self.router.clock.steady()
    }

    /// Steady time as of the driver's last iteration: free of cost, good enough for averages.
    #[inline]
    pub fn recent(&self) -> Timestamp {
        match self.router.clock.is_simulated() {
            true => self.router.clock.peek(),
            false => self.router.recent,
        }
    }

    /// A random number.
    pub fn random(&mut self) -> u32 {
        self.router.random.next_u32()
    }

    // ---- my task and timers

    /// Schedules my task.
    pub fn schedule_task(&mut self) {
        self.router.tasks.schedule(self.me.index());
    }

    /// Schedules the task of another element: there is something for it in a handle that we share.
    pub fn schedule_task_of(&mut self, id: ElementId) {
        self.router.tasks.schedule(id.index());
    }

    /// Takes my task out of the schedule.
    pub fn unschedule_task(&mut self) {
        self.router.tasks.unschedule(self.me.index());
    }

    /// Whether my task is scheduled.
    pub fn task_scheduled(&self) -> bool {
        self.router.tasks.is_scheduled(self.me.index())
    }

    /// Sets the scheduling tickets of an element (1 to 32768).
    pub fn set_tickets(&mut self, id: ElementId, tickets: u32) {
        self.router.tasks.set_tickets(id.index(), tickets);
    }

    /// Sets my timer `slot` to expire after `delay`.
    pub fn schedule_timer_after(&mut self, slot: usize, delay: Duration) {
        let at = self.steady() + delay;
        self.schedule_timer_at(slot, at);
    }

    /// Sets my timer `slot` to expire at a steady time.
    pub fn schedule_timer_at(&mut self, slot: usize, at: Timestamp) {
        self.router.timers.schedule((self.me.0, slot as u16), at);
    }

    /// Unsets my timer `slot`.
    pub fn unschedule_timer(&mut self, slot: usize) {
        self.router.timers.unschedule((self.me.0, slot as u16));
    }

    /// When my timer `slot` expires, if it is set.
    pub fn timer_expiry(&self, slot: usize) -> Option<Timestamp> {
        self.router.timers.expiry((self.me.0, slot as u16))
    }

    /// Calls my `selected` when `fd` is readable or writable, as asked; asking for neither ends the watch. The watch
    /// keeps the file open: end it before closing the descriptor.
    ///
    /// # Errors
    /// If the process has no descriptor to spare.
    pub fn watch(&mut self, fd: BorrowedFd<'_>, ready: Ready) -> std::io::Result<()> {
        self.router.poll.watch(self.me, fd, ready)
    }

    /// Ends the watch of a descriptor.
    pub fn unwatch(&mut self, fd: RawFd) {
        self.router.poll.unwatch(fd);
    }

    // ---- notifiers

    /// A new notifier of mine, active at first, that searches of its kind find.
    pub fn export_notifier(&mut self, kind: NotifierKind, search: Search) -> NotifierId {
        self.export_notifier_of(None, kind, search)
    }

    /// The same for one of my ports: an output if the notifier tells about packets to be had, an input if about room.
    pub fn export_port_notifier(&mut self, port: usize, kind: NotifierKind, search: Search) -> NotifierId {
        self.export_notifier_of(Some(port as u16), kind, search)
    }

    fn export_notifier_of(&mut self, port: Option<u16>, kind: NotifierKind, search: Search) -> NotifierId {
        let id = self.router.notifiers.add();
        let exported = ExportedNotifier { kind, id, search, port };
        self.router.exports[self.me.index()].notifiers.push(exported);
        id
    }

    /// Activates a notifier and schedules who listens.
    #[inline]
    pub fn wake(&mut self, n: NotifierId) {
        self.router.wake(n);
    }

    /// Deactivates a notifier.
    #[inline]
    pub fn sleep(&mut self, n: NotifierId) {
        self.router.notifiers.sleep(n);
    }

    /// Whether a signal is active.
    #[inline]
    pub fn is_active(&self, s: &Signal) -> bool {
        self.router.notifiers.signal_active(s)
    }

    /// The empty notifiers upstream of my input `port`; my task is scheduled when one becomes active.
    pub fn upstream_empty_signal(&mut self, port: usize) -> Signal {
        let found = flow::notifiers(self.router, self.me, false, port, NotifierKind::Empty);
        self.listen(found, None)
    }

    /// The same, without my task: `dependent`, a notifier of mine, becomes active with them instead.
    pub fn upstream_empty_signal_for(&mut self, port: usize, dependent: NotifierId) -> Signal {
        let found = flow::notifiers(self.router, self.me, false, port, NotifierKind::Empty);
        self.listen(found, Some(dependent))
    }

    /// The same, only to look at: nothing of mine is woken. For schedulers, which leave waking to who pulls from them.
    pub fn upstream_empty_state(&self, port: usize) -> Signal {
        flow::notifiers(self.router, self.me, false, port, NotifierKind::Empty).signal
    }

    /// The full notifiers downstream of my output `port`; my task is scheduled when one becomes active.
    pub fn downstream_full_signal(&mut self, port: usize) -> Signal {
        let found = flow::notifiers(self.router, self.me, true, port, NotifierKind::Full);
        self.listen(found, None)
    }

    /// The notifiers of readers outside that get what I push out of `port`; my task is scheduled when one becomes active.
    pub fn downstream_readers(&mut self, port: usize) -> Signal {
        let readers = flow::readers(self.router, self.me, port);
        readers.notifiers().iter().for_each(|&n| self.router.notifiers.listen(n, self.me.0));
        readers
    }

    /// Whether all notifiers of a signal are active.
    pub fn are_all_active(&self, s: &Signal) -> bool {
        s.notifiers().iter().all(|&n| self.router.notifiers.is_active(n))
    }

    fn listen(&mut self, found: flow::Found, dependent: Option<NotifierId>) -> Signal {
        for n in found.wakers {
            match dependent {
                None => self.router.notifiers.listen(n, self.me.0),
                Some(d) => self.router.notifiers.depend(n, d),
            }
        }
        found.signal
    }

    // ---- what others export

    /// Makes a shared handle of mine findable by its type.
    pub fn export<T: Any + Send + Sync>(&mut self, handle: Arc<T>) {
        self.router.exports[self.me.index()].handles.insert(TypeId::of::<T>(), handle);
    }

    /// The handle of type `T` that an element exports.
    pub fn exported<T: Any + Send + Sync>(&self, id: ElementId) -> Option<Arc<T>> {
        self.router.exported(id)
    }

    /// Gives me a handler because of my configuration, beside those of my class. Its name comes first in the text that
    /// its functions see.
    pub fn add_handler(&mut self, name: &str, handler: Handler) {
        self.router.exports[self.me.index()].handlers.push((name.to_string(), handler));
    }

    /// Makes `handler` stand for my handlers of all names that I do not have, in the way of [`Cx::add_handler`].
    pub fn add_other_handlers(&mut self, handler: Handler) {
        self.router.exports[self.me.index()].other_handlers = Some(handler);
    }

    /// Flow-based router context (SOSP '99 §3.3): the nearest elements downstream of my output `port` (of any output if
    /// `None`) that export a `T`; the search goes no further along a path that met one.
    pub fn downstream<T: Any + Send + Sync>(&self, port: Option<usize>) -> Vec<(ElementId, Arc<T>)> {
        self.nearest(true, port)
    }

    /// The nearest elements upstream of my input `port` that export a `T`.
    pub fn upstream<T: Any + Send + Sync>(&self, port: Option<usize>) -> Vec<(ElementId, Arc<T>)> {
        self.nearest(false, port)
    }

    fn nearest<T: Any + Send + Sync>(&self, down: bool, port: Option<usize>) -> Vec<(ElementId, Arc<T>)> {
        let mut found: Vec<(ElementId, Arc<T>)> = Vec::new();
        flow::walk(self.router, self.me, down, port, &mut |visit| {
            let handle = self.exported::<T>(visit.at.element);
            let stop = handle.is_some();
            if let Some(h) = handle
                && !found.iter().any(|(id, _)| *id == visit.at.element)
            {
                found.push((visit.at.element, h));
            }
            !stop
        });
        found
    }

    // ---- the router

    /// Leaves a command that the router carries out as soon as I return, before my packets move on.
    pub fn defer(&mut self, command: impl FnOnce(&mut Router) + Send + 'static) {
        self.router.commands.push_back(Box::new(command));
    }

    /// Carries out a command at once, where I cannot go on without its result (in `pull` and `initialize`). Elements on
    /// the way to me are busy while it runs, and so am I: of our handlers only those that act on the router can be called.
    pub fn act<R>(&mut self, command: impl FnOnce(&mut Router) -> R) -> R {
        command(self.router)
    }

    /// Writes a handler, which [`Cx::check_call`] has seen, as soon as I return. A failure is reported as a message.
    pub fn call_handler(&mut self, call: &HandlerCall) {
        let (me, call) = (self.me, call.clone());
        self.defer(move |router| {
            let value = crate::args::unquote(&call.value);
            let target = router.resolve_ref(&call.target, me);
            debug_assert!(
                target.as_ref().is_ok_and(|target| router.said_it_calls(me, target)),
                "{}: `check_call` comes before `call_handler`",
                router.info(me).name
            );
            let outcome = target.and_then(|t| router.write_target(&t, &value));
            if let Err(e) = outcome {
                router.report(me, "a handler call failed", || e.to_string());
            }
        });
    }

    /// Whether a handler can be written, for elements that are to call it later: they must ask here first.
    ///
    /// # Errors
    /// If there is no such element, or it has no such write handler.
    pub fn check_call(&mut self, call: &HandlerCall) -> Result<(), String> {
        let target = self.router.resolve_ref(&call.target, self.me).map_err(|e| e.to_string())?;
        if self.router.access(&target).is_some_and(|access| access.write) {
            self.router.note_call(self.me, Some(target));
            return Ok(());
        }
        let element = target.element.map_or(String::new(), |id| format!("{}.", self.router.info(id).name));
        Err(format!("no '{element}{}' write handler", target.handler))
    }

    /// Says that I may write any handler while packets pass.
    pub fn calls_handlers(&mut self) {
        self.router.note_call(self.me, None);
    }

    /// Asks the driver to stop.
    pub fn stop_driver(&mut self) {
        self.router.request_stop();
    }

    /// Makes me the element that decides what happens when the driver is asked to stop (DriverManager). False if another
    /// element is that already.
    pub fn manage_driver(&mut self, decide: StopHandler) -> bool {
        let free = self.router.stop_handler.is_none_or(|(id, _)| id == self.me);
        if free {
            self.router.stop_handler = Some((self.me, decide));
        }
        free
    }

    /// Whether the router runs (false while it is being configured and initialised).
    pub fn is_running(&self) -> bool {
        self.router.running
    }

    /// Prints a line as Click's `click_chatter` does.
    pub fn chatter(&self, text: &str) {
        self.router.log.line(text);
    }

    /// Says something about a packet. As whoever sends packets can bring that about as often as he likes, messages of one
    /// kind are printed the first few times ([`REPORTED`](crate::REPORTED)), then counted; `kind` names them in the count.
    #[cold]
    pub fn report(&self, kind: &'static str, line: impl FnOnce() -> String) {
        self.router.report(self.me, kind, line);
    }

    /// Where messages go.
    pub fn log(&self) -> &Log {
        &self.router.log
    }
}

//! The two element interfaces. An element owns its state, does one thing, and reaches the rest of the router only
//! through the [`Cx`] it is handed.
//!
//! Most elements implement [`SimpleElement`]: look at one packet, perhaps change it, say where it goes. Those that
//! queue, schedule, generate or split implement [`Element`] directly.

use crate::args::Args;
use crate::cx::Cx;
use clickwork_packet::{BATCH_SIZE, Batch, Packet};
use std::any::Any;
use std::os::fd::RawFd;

/// Where a packet goes after an element looked at it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Out of this output.
    Out(u16),
    /// Nowhere; the reason is counted and shown to people.
    Drop(&'static str),
}

impl Verdict {
    /// Out of output 0.
    pub const PASS: Verdict = Verdict::Out(0);
}

/// What a task wants next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TaskStep {
    /// More of the same burst: call again before any other task, after what was emitted has been delivered.
    Continue,
    /// Enough for this turn: put me back into the schedule.
    Again,
    /// Nothing found: ask me again as long as the router is awake. It may sleep while all that is scheduled says so, until
    /// a timer expires or a watched descriptor is ready: mine must be watched.
    Poll,
    /// Nothing to do until something (a notifier, a timer, a handler) schedules me.
    Sleep,
}

/// What a file descriptor is ready for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ready {
    /// Can be read (or has an error to read).
    pub read: bool,
    /// Can be written.
    pub write: bool,
}

/// The full element interface.
pub trait Element: Any + Send {
    /// Reads the configuration arguments. Mistakes are recorded in `args`.
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let _ = (args, cx);
    }

    /// Prepares for running: all elements are configured and the graph is known to be right.
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        let _ = cx;
        Ok(())
    }

    /// Takes packets that arrived at push input `port`. What is left in `batch` goes to output 0, in place, after what
    /// was emitted through `cx`.
    fn push(&mut self, port: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        let _ = port;
        cx.drop_batch(batch, "element takes no packets");
    }

    /// Deals with a single packet and says where it goes, if the element is a [`SimpleElement`]; the packet is untouched
    /// otherwise.
    #[doc(hidden)]
    fn act(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Option<Verdict> {
        let _ = (p, cx);
        None
    }

    /// Whether a pull is a pull from input 0 and then [`Element::push`] with what came. Then the router does both, and the
    /// element is not busy while packets are on their way to it: its handlers can be called meanwhile.
    #[doc(hidden)]
    fn passes_on(&self) -> bool {
        false
    }

    /// Gives up to `limit` packets (at most one batch) to whoever asks at pull output `port`.
    fn pull(&mut self, port: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let _ = (port, limit, cx);
        Batch::new()
    }

    /// Moves one batch of work; the driver repeats.
    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        let _ = cx;
        TaskStep::Sleep
    }

    /// Timer `slot` expired.
    fn run_timer(&mut self, slot: usize, cx: &mut Cx<'_>) {
        let _ = (slot, cx);
    }

    /// A watched file descriptor became ready.
    fn selected(&mut self, fd: RawFd, ready: Ready, cx: &mut Cx<'_>) {
        let _ = (fd, ready, cx);
    }

    /// Takes over what the element of the same name and class in the replaced router knows. Called after
    /// `initialize`. `old` is of the same type.
    fn take_state(&mut self, old: &mut dyn Element, cx: &mut Cx<'_>) {
        let _ = (old, cx);
    }

    /// The router stops: flush and close.
    fn cleanup(&mut self, cx: &mut Cx<'_>) {
        let _ = cx;
    }
}

/// An element that looks at one packet at a time; it works in push and in pull.
pub trait SimpleElement: Any + Send {
    /// See [`Element::configure`].
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let _ = (args, cx);
    }

    /// See [`Element::initialize`].
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        let _ = cx;
        Ok(())
    }

    /// Looks at a packet that entered by input 0, perhaps changes or replaces it, and says where it goes.
    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict;

    /// Looks ahead at a batch before the packets are handled one by one: the place to prefetch.
    fn prepare(&mut self, batch: &[Packet], cx: &mut Cx<'_>) {
        let _ = (batch, cx);
    }

    /// See [`Element::run_timer`].
    fn run_timer(&mut self, slot: usize, cx: &mut Cx<'_>) {
        let _ = (slot, cx);
    }

    /// See [`Element::take_state`].
    fn take_state(&mut self, old: &mut dyn Element, cx: &mut Cx<'_>) {
        let _ = (old, cx);
    }

    /// See [`Element::cleanup`].
    fn cleanup(&mut self, cx: &mut Cx<'_>) {
        let _ = cx;
    }
}

impl<T: SimpleElement> Element for T {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        SimpleElement::configure(self, args, cx);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        SimpleElement::initialize(self, cx)
    }

    fn push(&mut self, _port: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        act_on(self, batch, cx);
    }

    fn act(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Option<Verdict> {
        self.prepare(std::slice::from_ref(p), cx);
        Some(self.simple_action(p, cx))
    }

    fn passes_on(&self) -> bool {
        true
    }

    fn run_timer(&mut self, slot: usize, cx: &mut Cx<'_>) {
        SimpleElement::run_timer(self, slot, cx);
    }

    fn take_state(&mut self, old: &mut dyn Element, cx: &mut Cx<'_>) {
        SimpleElement::take_state(self, old, cx);
    }

    fn cleanup(&mut self, cx: &mut Cx<'_>) {
        SimpleElement::cleanup(self, cx);
    }
}

/// The entry in a list of outputs that stands for "drop".
const DROP: u16 = u16::MAX;

/// Runs a simple element over a batch: packets for output 0 stay in place, the others are moved out.
#[inline]
fn act_on<T: SimpleElement + ?Sized>(element: &mut T, batch: &mut Batch, cx: &mut Cx<'_>) {
    element.prepare(batch, cx);
    sort_batch(batch, cx, |p, cx| element.simple_action(p, cx));
}

/// Sends each packet of a batch where `judge` says. For elements with several inputs, which therefore are no
/// [`SimpleElement`]s.
#[inline]
pub fn sort_batch(
    batch: &mut Batch,
    cx: &mut Cx<'_>,
    mut judge: impl FnMut(&mut Packet, &mut Cx<'_>) -> Verdict,
) {
    // One loop with one call of the action, so that it is inlined.
    let mut outs = [0u16; BATCH_SIZE];
    let mut leaving = 0;
    for (p, out) in batch.iter_mut().zip(&mut outs) {
        *out = match judge(p, cx) {
            Verdict::Out(port) => port,
            Verdict::Drop(reason) => {
                cx.count_drop(reason, 1);
                DROP
            }
        };
        leaving |= *out;
    }
    if leaving != 0 {
        send_away(batch, &outs, cx);
    }
}

/// Sends each packet of a batch to the output that `choose` names; packets without one are dropped for `reason`. For
/// elements that split (classifiers, switches, route tables).
#[inline]
pub fn split_batch(
    batch: &mut Batch,
    cx: &mut Cx<'_>,
    reason: &'static str,
    mut choose: impl FnMut(&mut Packet) -> Option<u16>,
) {
    let mut outs = [0u16; BATCH_SIZE];
    let (mut leaving, mut dropped) = (0, 0);
    for (p, out) in batch.iter_mut().zip(&mut outs) {
        *out = choose(p).unwrap_or(DROP);
        leaving |= *out;
        dropped += u64::from(*out == DROP);
    }
    if dropped > 0 {
        cx.count_drop(reason, dropped);
    }
    if leaving != 0 {
        send_away(batch, &outs, cx);
    }
}

/// Moves the packets whose entry in `outs` is not 0 out of the batch; those marked as dropped have been counted.
#[inline(never)]
fn send_away(batch: &mut Batch, outs: &[u16; BATCH_SIZE], cx: &mut Cx<'_>) {
    let first = outs[0];
    if first != 0 && outs[..batch.len()].iter().all(|&o| o == first) {
        return match first {
            DROP => batch.clear(),
            port => cx.emit_batch(port as usize, batch.take()),
        };
    }
    for (port, p) in batch.extract(outs) {
        if port != DROP {
            cx.emit(port as usize, p);
        }
    }
}

/// The element as the type `T` that its class makes.
///
/// # Panics
/// If it is of another type: a handler or state was registered for the wrong class.
pub fn downcast<T: Element>(element: &mut dyn Element) -> &mut T {
    let any: &mut dyn Any = element;
    any.downcast_mut().expect("class facts name the type that the class makes")
}

/// The element as type `T`, if it is one.
pub fn try_downcast<T: Element>(element: &mut dyn Element) -> Option<&mut T> {
    let any: &mut dyn Any = element;
    any.downcast_mut()
}

/// The element as type `T`, to look at, if it is one.
pub fn try_downcast_ref<T: Element>(element: &dyn Element) -> Option<&T> {
    let any: &dyn Any = element;
    any.downcast_ref()
}

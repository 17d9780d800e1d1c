//! A stack on a TUN device, run by one thread: packets in, timers, events to the user, packets out, and sleep.
//!
//! Nothing here knows sockets or other threads; those are in `shared.rs`, which runs the same turns under a mutex. A turn
//! reads a batch of packets before anything is written, so that what answers several packets can be one packet; but a
//! packet that came alone is answered at once. An idle host sleeps in `poll` until a packet or the next timer.
//! Read first: `tun.rs`; [`TcpStack`] for what a stack asks for.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use clickwork_device::Result;
use clickwork_prolac_tcp::{Offload, TcpStack, Transmit};
use rustix::event::{PollFd, PollFlags, Timespec};

use crate::acks;
use crate::clock::Clock;
use crate::engine::Engine;
use crate::tun::{LONGEST, Tun};

/// The most packets that are read before anything is written.
const MOST_PACKETS: usize = 64;
/// The most bytes, so that they are still in the cache when the user looks at them.
const MOST_BYTES: usize = 256 << 10;
/// A packet of so many bytes is part of much.
const MANY: usize = 1000;
/// Text in one packet, which must have room for the headers in the 16 bits of an IP length.
const MOST_TEXT: u32 = LONGEST as u32 - 256;

/// A stack, or something with one in it, on a TUN device.
pub struct Host<E: Engine = TcpStack> {
    engine: E,
    tun: Tun,
    clock: Clock,
    /// What the device had no room for.
    held: VecDeque<Transmit>,
    /// How many packets the next turn reads.
    burst: usize,
    /// Another packet is likely to be there already: do not sleep before looking.
    crowded: bool,
    /// Packets that came alone, in a row.
    lone: u32,
    /// The user may have done something: do not sleep before a turn.
    touched: bool,
    patience: Spin,
}

/// How long to look for the next packet before sleeping: as long as the user allows if packets come so fast, else not at
/// all.
#[derive(Default)]
struct Spin {
    /// In microseconds.
    most: u64,
    /// When the last packet came.
    last: u64,
    /// It came soon after the one before.
    pays: bool,
}

impl Spin {
    /// Packets came.
    fn note(&mut self, now: u64) {
        self.pays = now < self.last + self.most;
        self.last = now;
    }

    /// Whether it is too early to sleep.
    fn lasts(&self, now: u64) -> bool {
        self.pays && now < self.last + self.most
    }
}

impl<E: Engine> Host<E> {
    /// Puts a stack on a device. If that was opened so, it leaves checksums and segmentation to the kernel.
    pub fn new(mut engine: E, tun: Tun) -> Host<E> {
        let on = tun.offload();
        engine
            .stack_mut()
            .set_offload(Offload { checksum: on, segmentation: if on { MOST_TEXT } else { 0 } });
        Host {
            engine,
            tun,
            clock: Clock::new(),
            held: VecDeque::new(),
            burst: 1,
            crowded: false,
            lone: 0,
            touched: true,
            patience: Spin::default(),
        }
    }

    /// What it runs. What was done with it is sent by [`flush`](Self::flush), or the next turn.
    pub fn engine(&mut self) -> &mut E {
        self.touched = true;
        &mut self.engine
    }

    /// The stack.
    pub fn stack(&mut self) -> &mut TcpStack {
        self.touched = true;
        self.engine.stack_mut()
    }

    /// The device.
    pub fn tun(&self) -> &Tun {
        &self.tun
    }

    /// The time now, as the stack wants it.
    pub fn now(&self) -> u64 {
        self.clock.now()
    }

    /// The clock.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// As long as packets follow each other within this time, looks for the next one without sleeping: shorter answers,
    /// for processor time. Zero to begin with.
    pub fn set_spin(&mut self, most: Duration) {
        self.patience.most = most.as_micros() as u64;
    }

    /// Runs until `handle` breaks. It gets every event of the stack, with the time.
    ///
    /// # Errors
    /// If the device is gone.
    pub fn run(&mut self, mut handle: impl FnMut(&mut E, u64, E::Event) -> ControlFlow<()>) -> Result<()> {
        let mut flow = ControlFlow::Continue(());
        while flow.is_continue() {
            self.poll_once(None, |engine, now, event| {
                if flow.is_continue() {
                    flow = handle(engine, now, event);
                }
            })?;
        }
        Ok(())
    }

    /// Sleeps until there is something to do, for at most `limit` (for ever, if none), and takes a turn. It does not sleep if
    /// there may be something to do already.
    ///
    /// # Errors
    /// If the device is gone.
    pub fn poll_once(
        &mut self,
        limit: Option<Duration>,
        mut handle: impl FnMut(&mut E, u64, E::Event),
    ) -> Result<()> {
        let mut now = self.clock.now();
        let at_once = std::mem::take(&mut self.touched) || self.crowded || self.patience.lasts(now);
        if !at_once {
            wait([self.interest()], self.sleep(now, limit));
            now = self.clock.now();
        }
        self.turn_at(now, &mut handle).map(drop)
    }

    /// Whether it is too early to sleep.
    pub(crate) fn spins(&self) -> bool {
        self.patience.lasts(self.now())
    }

    /// Whether the device had no room for a packet.
    pub(crate) fn is_blocked(&self) -> bool {
        !self.held.is_empty()
    }

    /// What to wait for at the device.
    pub(crate) fn interest(&self) -> (BorrowedFd<'_>, PollFlags) {
        let out = if !self.held.is_empty() { PollFlags::OUT } else { PollFlags::empty() };
        (self.tun.as_fd(), PollFlags::IN | out)
    }

    /// How long it may sleep, and no longer than `limit`.
    fn sleep(&self, now: u64, limit: Option<Duration>) -> Option<Duration> {
        let deadline = self.engine.stack().deadline();
        let timer = deadline.map(|deadline| Duration::from_micros(deadline.saturating_sub(now)));
        match (timer, limit) {
            (Some(timer), Some(limit)) => Some(timer.min(limit)),
            (timer, limit) => timer.or(limit),
        }
    }

    /// Takes in what has come, runs the timers that are due, hands out the events, sends what is to be sent. Tells
    /// whether there was anything to do.
    ///
    /// # Errors
    /// If the device is gone.
    pub(crate) fn turn(&mut self, handle: &mut impl FnMut(&mut E, u64, E::Event)) -> Result<bool> {
        self.turn_at(self.clock.now(), handle)
    }

    fn turn_at(&mut self, now: u64, handle: &mut impl FnMut(&mut E, u64, E::Event)) -> Result<bool> {
        if self.is_due(now) {
            // What a timer waits for may have come long ago, if it was we who did not run.
            self.burst = MOST_PACKETS;
        }
        let packets = self.receive(now)?;
        let due = self.is_due(now);
        if due {
            self.engine.stack_mut().advance(now);
        }
        let events = self.dispatch(now, handle)?;
        self.flush()?;
        Ok(packets > 0 || due || events)
    }

    fn is_due(&self, now: u64) -> bool {
        self.engine.stack().deadline().is_some_and(|deadline| deadline <= now)
    }

    /// Hands the events out. What one leads to is sent before the next, while its text is in the cache.
    fn dispatch(&mut self, now: u64, handle: &mut impl FnMut(&mut E, u64, E::Event)) -> Result<bool> {
        let mut any = false;
        while let Some(event) = self.engine.next_event() {
            any = true;
            handle(&mut self.engine, now, event);
            self.flush()?;
        }
        Ok(any)
    }

    /// Reads a batch into the stack, gives the number of packets.
    fn receive(&mut self, now: u64) -> Result<usize> {
        let (mut count, mut bytes) = (0, 0);
        while count < self.burst && bytes < MOST_BYTES {
            let Some((packet, received)) = self.tun.read()? else { break };
            count += 1;
            bytes += packet.len();
            self.engine.stack_mut().receive(now, packet, received);
        }
        if count > 0 {
            self.patience.note(now);
        }
        self.expect(count, bytes);
        Ok(count)
    }

    /// Guesses how many packets there will be next, so that few looks are in vain: a short packet that came alone, such as a
    /// question, is followed by none until it is answered; but every eighth time we see whether that is true. As
    /// long as batches are full they grow.
    fn expect(&mut self, count: usize, bytes: usize) {
        self.crowded = count == self.burst && (count > 1 || bytes >= MANY) || bytes >= MOST_BYTES;
        let is_alone = count == 1 && bytes < MANY;
        self.lone = if is_alone { self.lone.wrapping_add(1) } else { 0 };
        self.burst = match count {
            1 if is_alone && !self.lone.is_multiple_of(8) => 1,
            _ if count < self.burst => 1.max(count),
            _ => MOST_PACKETS.min(self.burst * 2),
        };
    }

    fn next_transmit(&mut self) -> Option<Transmit> {
        self.held.pop_front().or_else(|| self.engine.stack_mut().next_transmit())
    }

    /// Sends what the stack wants sent, as far as the device has room.
    ///
    /// # Errors
    /// If the device is gone.
    pub fn flush(&mut self) -> Result<()> {
        let mut next = self.next_transmit();
        while let Some(mut transmit) = next {
            next = self.next_transmit();
            if acks::is_plain(&transmit) {
                while next
                    .as_ref()
                    .is_some_and(|next| acks::is_plain(next) && acks::merge(&mut transmit, next))
                {
                    next = self.next_transmit();
                }
            }
            if !self.tun.write(&mut transmit)? {
                [next, Some(transmit)].into_iter().flatten().for_each(|kept| self.held.push_front(kept));
                break;
            }
        }
        Ok(())
    }
}

/// Waits until one of the descriptors has what is wanted of it, or the time is over.
pub(crate) fn wait<const N: usize>(interests: [(BorrowedFd<'_>, PollFlags); N], limit: Option<Duration>) {
    let mut fds = interests.map(|(fd, flags)| PollFd::from_borrowed_fd(fd, flags));
    let limit =
        limit.map(|limit| Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: limit.subsec_nanos().into() });
    // Interrupted is as good as woken: the caller looks again.
    let _ = rustix::event::poll(&mut fds, limit.as_ref());
}

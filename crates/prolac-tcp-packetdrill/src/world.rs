//! The stack, its clock, and the threads that wait for both.
//!
//! # Time
//! packetdrill asks *us* what time it is, sleeps through us, and takes the time of each packet from us. So time here is
//! virtual and exact: it stands still while packetdrill works, `usleep` moves it on, `netdev_receive` moves it to the next
//! timer if there is no packet yet, and each question for it costs a microsecond, so that loops that wait for a time end.
//! Timers fire at their own times on the way. Scripts therefore run as fast as they can, and do not fail because the
//! machine is busy.
//!
//! Only when nobody calls us for a while (a shell command of the script sleeps, or packetdrill waits for its second thread)
//! real time counts too, from [`PATIENCE`] on; with the flag `patient` it never does, whatever the machine does meanwhile.
//!
//! # Threads
//! A blocking call arrives on packetdrill's second thread, which then really sleeps here, in [`World::complete`]: packetdrill
//! looks into `/proc` to see it sleeping. Whenever something happened it tries again. Before time moves on, and before any
//! packet is looked at, all sleepers have tried ([`World::settle`]), and those that are done have had the chance to ask
//! for the time, which packetdrill does first of all when a call returns.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use clickwork_packet::Packet;
use clickwork_prolac_tcp::abi::{Config, state};
use clickwork_prolac_tcp::sockets::{Errno, Limits, Refusal, Sockets};
use clickwork_prolac_tcp::stack::{Offload, Received, TcpStack};

use crate::cut;
use crate::flags::Flags;
use crate::placeholder;
use crate::sysctl::Sysctls;

/// Real time without a call after which it counts.
const PATIENCE: Duration = Duration::from_millis(100);
/// How often a sleeper looks whether real time has to be counted.
const TICK: Duration = Duration::from_millis(10);
/// How long others wait for a thread whose call has ended to ask for the time.
const COURTESY: Duration = Duration::from_millis(50);
/// The same with the flag `patient`.
const PATIENT_COURTESY: Duration = Duration::from_secs(60);
/// Real time that `netdev_receive` waits for another thread if no timer is set.
const LAST_HOPE: Duration = Duration::from_secs(1);
/// The clock begins here, so that times look like those of a clock on the wall: 2020-01-01.
const EPOCH: u64 = 1_577_836_800_000_000;

/// Everything that one `packetdrill_interface` stands for.
pub struct World {
    state: Mutex<State>,
    changed: Condvar,
}

/// What the lock protects.
pub struct State {
    /// The sockets, on their stack.
    pub sockets: Sockets,
    /// Descriptors that are no sockets.
    pub extras: crate::extras::Extras,
    now: u64,
    /// When somebody last called.
    heard: Instant,
    /// How much of the real time since then was counted.
    counted: Duration,
    outgoing: VecDeque<(u64, Vec<u8>)>,
    /// Counts everything that sleepers could wait for.
    generation: u64,
    sleepers: HashMap<ThreadId, Sleeper>,
    /// Threads whose blocking call has ended, until they call again.
    returned: HashMap<ThreadId, Instant>,
    /// Threads inside that are not asleep.
    inside: usize,
    sysctls: Sysctls,
    flags: Flags,
    offload: Offload,
}

struct Sleeper {
    /// The generation at which it last tried.
    seen: u64,
    deadline: Option<u64>,
}

impl World {
    /// A stack with the addresses of `flags` and the parameters of the sysctls that they name.
    pub fn new(flags: Flags) -> World {
        let sysctls = Sysctls::at(&flags.sysctls);
        let config = config(&flags, &sysctls);
        let mut stack = TcpStack::new(config);
        stack.seed(flags.seed);
        for address in flags.local_addresses() {
            stack.add_address(address);
        }
        let mut sockets = Sockets::new(stack);
        sockets.number_by(placeholder::open);
        let state = State {
            sockets,
            extras: crate::extras::Extras::default(),
            now: EPOCH,
            heard: Instant::now(),
            counted: Duration::ZERO,
            outgoing: VecDeque::new(),
            generation: 0,
            sleepers: HashMap::new(),
            returned: HashMap::new(),
            inside: 0,
            sysctls,
            flags,
            offload: Offload::default(),
        };
        World { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// A call that does not wait.
    pub fn call<T>(&self, f: impl FnOnce(&mut State, u64) -> T) -> T {
        let mut state = self.enter();
        let now = state.now;
        let result = f(&mut state, now);
        self.leave(state, true);
        result
    }

    /// A call that may wait: repeats it until it gives a result.
    pub fn complete<T>(&self, mut f: impl FnMut(&mut State, u64) -> Result<T, Refusal>) -> Result<T, Errno> {
        let mut state = self.enter();
        let mut slept = false;
        loop {
            let now = state.now;
            let result = f(&mut state, now);
            state.collect();
            let wait = match result {
                Err(Refusal::Wait(wait)) => wait,
                Err(Refusal::Error(errno)) => return self.finish(state, slept, Err(errno)),
                Ok(value) => return self.finish(state, slept, Ok(value)),
            };
            slept = true;
            state = self.sleep(state, wait.deadline);
        }
    }

    fn finish<T>(&self, mut state: MutexGuard<'_, State>, slept: bool, result: T) -> T {
        if slept {
            state.returned.insert(thread::current().id(), Instant::now());
        }
        self.leave(state, true);
        result
    }

    /// `netdev_send`: a packet from the wire.
    pub fn packet_in(&self, data: &[u8]) {
        let mut state = self.enter();
        state.learn(destination(data));
        let now = state.now;
        // A script's packet that is larger than the link carries stands for several that were merged.
        let mtu = state.flags.mtu as usize;
        let segment_size = if data.len() > mtu { (mtu - 40) as u16 } else { 0 };
        let received = Received { checksum_verified: false, segment_size };
        state.sockets.stack_mut().receive(now, Packet::new(data), received);
        self.leave(state, true);
    }

    /// `netdev_receive`: the next packet, with its time. Time moves on to the one at which there is a packet; `None` if
    /// there will be none.
    pub fn packet_out(&self) -> Option<(u64, Vec<u8>)> {
        let mut state = self.enter();
        let mut hopeless = None;
        let packet = loop {
            if let Some(packet) = state.outgoing.pop_front() {
                break Some(packet);
            }
            if let Some(next) = state.next_deadline() {
                state = self.advance(state, next);
                continue;
            }
            let since = *hopeless.get_or_insert_with(Instant::now);
            if since.elapsed() > LAST_HOPE {
                break None;
            }
            state = self.wait(state, TICK);
            state.hear();
        };
        self.leave(state, false);
        packet
    }

    /// `usleep`.
    pub fn sleep_until(&self, microseconds: u64) {
        let state = self.enter();
        let target = state.now.saturating_add(microseconds);
        let state = self.advance(state, target);
        self.leave(state, false);
    }

    /// `gettimeofday`, in microseconds since 1970. It takes one.
    pub fn time(&self) -> u64 {
        let state = self.enter();
        let next = state.now + 1;
        let state = self.advance(state, next);
        let now = state.now;
        self.leave(state, false);
        now
    }

    /// Moves time on, from timer to timer.
    fn advance<'a>(&'a self, mut state: MutexGuard<'a, State>, target: u64) -> MutexGuard<'a, State> {
        while let Some(next) = state.next_deadline().filter(|next| *next <= target) {
            state.now = state.now.max(next);
            let now = state.now;
            state.sockets.stack_mut().advance(now);
            state.generation += 1;
            state.collect();
            self.changed.notify_all();
            state = self.settle(state);
        }
        state.now = state.now.max(target);
        state
    }

    /// Waits until all sleepers have seen what happened, and those that ended have asked for the time.
    fn settle<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let me = thread::current().id();
        loop {
            let courtesy = if state.flags.patient { PATIENT_COURTESY } else { COURTESY };
            let polite = |since: &Instant| since.elapsed() < courtesy;
            state.returned.retain(|_, since| polite(since));
            let generation = state.generation;
            let behind = state.sleepers.iter().any(|(id, s)| *id != me && s.seen < generation);
            let returning = state.returned.keys().any(|id| *id != me);
            if !behind && !returning {
                return state;
            }
            state = self.wait(state, TICK);
        }
    }

    fn enter(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.inside += 1;
        if state.returned.remove(&thread::current().id()).is_some() {
            self.changed.notify_all();
        } else {
            state = self.settle(state);
        }
        self.count_real_time(state)
    }

    /// Ends a call; `happened`: it may be what sleepers wait for.
    fn leave(&self, mut state: MutexGuard<'_, State>, happened: bool) {
        state.collect();
        if happened {
            state.generation += 1;
            self.changed.notify_all();
        }
        state.hear();
        state.inside -= 1;
    }

    /// Real time counts if there was much of it without a call.
    fn count_real_time<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let uncounted = state.uncounted();
        state.hear();
        let target = state.now + uncounted;
        if uncounted > 0 { self.advance(state, target) } else { state }
    }

    /// Sleeps until something has happened, or it is time.
    fn sleep<'a>(&'a self, mut state: MutexGuard<'a, State>, deadline: Option<u64>) -> MutexGuard<'a, State> {
        let me = thread::current().id();
        let tried = state.generation;
        state.sleepers.insert(me, Sleeper { seen: tried, deadline });
        state.inside -= 1;
        state.hear();
        self.changed.notify_all();
        while state.generation == tried && deadline.is_none_or(|d| state.now < d) {
            state = self.wait(state, TICK);
            if state.inside == 0 && state.generation == tried && state.uncounted() > 0 {
                state.inside += 1;
                state = self.pass_real_time(state);
                state.inside -= 1;
            }
        }
        state.sleepers.remove(&me);
        state.inside += 1;
        state
    }

    /// The sleeper's way of counting real time: a step at a time, so that it ends when something happens.
    fn pass_real_time<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let target = state.now + state.uncounted();
        let mine = state.sleepers.get(&thread::current().id()).and_then(|sleeper| sleeper.deadline);
        let target = mine.unwrap_or(target).clamp(state.now, target);
        let step = Duration::from_micros(target - state.now);
        state.counted += step;
        self.advance(state, target)
    }

    fn wait<'a>(&'a self, state: MutexGuard<'a, State>, at_most: Duration) -> MutexGuard<'a, State> {
        self.changed.wait_timeout(state, at_most).unwrap_or_else(PoisonError::into_inner).0
    }
}

impl State {
    /// Whatever packetdrill sends packets to, or binds, is an address of ours: unless it is told otherwise it chooses one
    /// by chance.
    pub fn learn(&mut self, address: Option<IpAddr>) {
        let address = address.filter(|address| !address.is_unspecified() && !address.is_multicast());
        if let Some(address) = address.filter(|address| !self.sockets.stack().is_local(*address)) {
            self.sockets.stack_mut().add_address(address);
        }
    }

    fn hear(&mut self) {
        self.heard = Instant::now();
        self.counted = Duration::ZERO;
    }

    /// Microseconds of real time that have to be counted yet.
    fn uncounted(&self) -> u64 {
        let silence = self.heard.elapsed();
        if self.flags.patient || silence < PATIENCE {
            0
        } else {
            silence.saturating_sub(self.counted).as_micros() as u64
        }
    }

    /// Reads the sysctls again.
    pub fn update_parameters(&mut self) {
        let config = config(&self.flags, &self.sysctls);
        self.sockets.stack_mut().set_config(config);
        let mut limits = Limits::default();
        self.sysctls.update_limits(&mut limits);
        self.sockets.set_limits(limits);
        if let Some(keys) = self.sysctls.fast_open_keys() {
            self.sockets.stack_mut().set_fast_open_keys(keys);
        }
    }

    /// Lets the TCP send as much at once as Linux would. Scripts have one connection, or a few of the same kind.
    fn size_bursts(&mut self) {
        let stack = self.sockets.stack();
        let status = stack.connections().filter_map(|id| stack.status(self.now, id).ok());
        let open = status.filter(|status| matches!(status.state, state::ESTABLISHED | state::CLOSE_WAIT));
        let sizes = open.map(|status| cut::burst(&status) * status.send_mss);
        // The stack keeps 120 bytes for headers.
        let segmentation = sizes.min().map_or(0, |bytes| (bytes + 120).min(65_535));
        let offload = Offload { checksum: true, segmentation };
        if offload != self.offload {
            self.offload = offload;
            self.sockets.stack_mut().set_offload(offload);
        }
    }

    /// When something happens by itself: a timer of the stack, or the end of another thread's patience.
    fn next_deadline(&self) -> Option<u64> {
        let me = thread::current().id();
        let others = self.sleepers.iter().filter(|(id, _)| **id != me);
        let sleepers = others.filter_map(|(_, sleeper)| sleeper.deadline);
        sleepers.chain(self.sockets.stack().deadline()).min().filter(|next| *next != u64::MAX)
    }

    /// Takes what the stack has to send, at this time, and notes which sockets changed.
    fn collect(&mut self) {
        while let Some(transmit) = self.sockets.stack_mut().next_transmit() {
            let now = self.now;
            self.outgoing.extend(cut::cut(transmit).into_iter().map(|packet| (now, packet)));
        }
        self.size_bursts();
        while let Some(fd) = self.sockets.next_change() {
            self.extras.changed(fd);
        }
    }
}

/// Where an IP packet goes.
fn destination(packet: &[u8]) -> Option<IpAddr> {
    match packet.first()? >> 4 {
        4 => Some(IpAddr::from(<[u8; 4]>::try_from(packet.get(16..20)?).ok()?)),
        6 => Some(IpAddr::from(<[u8; 16]>::try_from(packet.get(24..40)?).ok()?)),
        _ => None,
    }
}

fn config(flags: &Flags, sysctls: &Sysctls) -> Config {
    let mut config = Config::default();
    sysctls.update(&mut config);
    config.mtu = flags.mtu;
    config
}

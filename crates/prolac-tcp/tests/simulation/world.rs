//! Two stacks with a link between them, and their users, in simulated time.
//!
//! [`run`] plays a [`Scenario`] to its end and checks what must hold at the end: every user has read all that its peer
//! wrote, or was told of an error that the scenario allows; no connection and no memory is left.

mod verdict;

use std::net::{IpAddr, SocketAddr};

use clickwork_packet::Packet;
use clickwork_prolac_tcp::{ConnectionId, Error, Event, Limits, ListenerId, Program, Received, TcpStack};

use crate::link::{Arrival, Direction};
use crate::offload::{self, Merged};
use crate::random::Random;
use crate::scenario::{SERVER_PORT, Scenario};
use crate::user::{End, User};
use crate::wire::{Rules, Wire};

/// What is under way and no segment.
const ICMP: u64 = u64::MAX;
/// More packets than any scenario needs.
const MOST_PACKETS: usize = 400_000;

/// What is worth telling about a run, or about many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    pub packets: usize,
    pub bytes: u64,
    /// Users that were told of an error.
    pub failed: usize,
    /// Microseconds.
    pub time: u64,
}

impl Outcome {
    /// Adds that of another run.
    pub fn add(&mut self, other: &Outcome) {
        self.packets += other.packets;
        self.bytes += other.bytes;
        self.failed += other.failed;
        self.time += other.time;
    }
}

/// Plays a scenario; what went wrong, if something did.
pub fn run(program: Program, scenario: &Scenario, trace: bool) -> Result<Outcome, String> {
    let buffers = clickwork_packet::buffers_in_use();
    let mut world = World::new(program, scenario, trace);
    let result = world.play().and_then(|()| world.check_end());
    let told = Outcome {
        packets: world.wire.packets(),
        bytes: world.users.iter().map(|u| u.read).sum(),
        failed: world.users.iter().filter(|u| matches!(u.ended, Some(End::Failed(_)))).count(),
        time: world.now,
    };
    let now = world.now;
    drop(world);
    result.map_err(|error| format!("after {}.{:06} s: {error}", now / 1_000_000, now % 1_000_000))?;
    match clickwork_packet::buffers_in_use() - buffers {
        0 => Ok(told),
        n => Err(format!("{n} packet buffers are left")),
    }
}

struct World<'a> {
    scenario: &'a Scenario,
    now: u64,
    stacks: [TcpStack; 2],
    listeners: [Option<ListenerId>; 2],
    links: [Direction; 2],
    wire: Wire,
    users: Vec<User>,
    random: Random,
    trace: bool,
}

impl<'a> World<'a> {
    fn new(program: Program, scenario: &'a Scenario, trace: bool) -> World<'a> {
        let mut random = Random::new(scenario.seed ^ 0x5eed);
        let stacks = [0, 1].map(|end| {
            let mut stack = TcpStack::with_program(program, scenario.configs[end]);
            stack.add_address(scenario.address(end));
            stack.seed(random.next());
            stack.set_offload(scenario.offloads[end]);
            if let Some(segments) = scenario.segments[end] {
                stack.set_limits(Limits { segments, ..Limits::default() });
            }
            stack
        });
        let links = [0, 1].map(|end| Direction::new(scenario.links[end].clone(), random.fork()));
        let default_mss = if scenario.ipv6 { 1220 } else { 536 };
        let rules = Rules {
            mtu: scenario.configs.map(|config| config.mtu as usize),
            default_mss,
            text: Some(crate::user::byte),
            cookies: scenario.configs.iter().any(|config| config.syn_cookies == 2),
            early_text: scenario.is_fast_open(),
        };
        let wire = Wire::new(rules);
        World {
            scenario,
            now: 0,
            stacks,
            listeners: [None; 2],
            links,
            wire,
            users: Vec::new(),
            random,
            trace,
        }
    }

    fn play(&mut self) -> Result<(), String> {
        self.listen()?;
        let mut starts: Vec<usize> = (0..self.scenario.conversations.len()).collect();
        starts.sort_by_key(|index| self.scenario.conversations[*index].start);
        let mut starts = starts.into_iter().peekable();
        loop {
            while let Some(index) =
                starts.next_if(|index| self.scenario.conversations[*index].start <= self.now)
            {
                self.open(index)?;
            }
            self.settle()?;
            if self.wire.packets() > MOST_PACKETS {
                return Err(format!("{} packets and no end: {}", self.wire.packets(), self.state()));
            }
            let start = starts.peek().map(|index| self.scenario.conversations[*index].start);
            match self.next_time().into_iter().chain(start).min() {
                Some(next) => self.now = self.now.max(next),
                None if self.users.iter().all(|user| user.ended.is_some()) => break,
                None => {}
            }
            if start.is_none() && self.is_over() {
                break;
            }
            self.lose_patience(start.is_none() && self.next_time().is_none())?;
        }
        Ok(())
    }

    fn listen(&mut self) -> Result<(), String> {
        for end in [0, 1] {
            if self.scenario.conversations.iter().any(|c| !c.simultaneous && c.opener != end) {
                let options = &self.scenario.listen_options[end];
                let local = SocketAddr::new(self.scenario.address(end), SERVER_PORT);
                let listener = self.stacks[end].listen(local, 64, options);
                self.listeners[end] = Some(listener.map_err(|error| format!("listen: {error}"))?);
            }
        }
        Ok(())
    }

    /// Begins a conversation.
    fn open(&mut self, index: usize) -> Result<(), String> {
        let c = &self.scenario.conversations[index];
        self.connect(index, c.opener)?;
        if c.simultaneous {
            self.connect(index, 1 - c.opener)?;
        }
        Ok(())
    }

    fn connect(&mut self, index: usize, end: usize) -> Result<(), String> {
        let c = &self.scenario.conversations[index];
        let (local, remote) = self.scenario.addresses(index, end);
        let id = self.stacks[end].connect(self.now, Some(local), remote, &c.options[end]);
        let id = id.map_err(|error| format!("connect: {error}"))?;
        self.join(index, end, id);
        // With fast open, the SYN may wait for the first text.
        match self.users.last_mut() {
            Some(user) if c.options[end].fast_open => {
                user.is_early = true;
                user.act(&mut self.stacks[end], self.now)
            }
            _ => Ok(()),
        }
    }

    fn join(&mut self, index: usize, end: usize, id: ConnectionId) {
        let c = &self.scenario.conversations[index];
        let random = self.random.fork();
        let port = self.scenario.flow_port(index);
        self.users.push(User::new(end, id, c.plans[end].clone(), port, index, random, self.now));
    }

    /// Everything that happens at this moment, until nothing does.
    fn settle(&mut self) -> Result<(), String> {
        for end in [0, 1] {
            self.receive(end)?;
            self.stacks[end].advance(self.now);
        }
        loop {
            self.transmit()?;
            let mut busy = self.events()?;
            for index in 0..self.users.len() {
                if self.users[index].wake.is_some_and(|wake| wake <= self.now) {
                    self.act(index)?;
                    busy = true;
                }
            }
            if !busy {
                return Ok(());
            }
        }
    }

    /// What arrives at an end now goes up, in larger pieces if the layer below merges them.
    fn receive(&mut self, end: usize) -> Result<(), String> {
        let mut merged: Option<Merged> = None;
        while let Some(Arrival { bytes, id, corrupt }) = self.links[1 - end].arrival(self.now) {
            if !corrupt && id != ICMP {
                self.wire.arrived(id);
            }
            if self.trace {
                let what = if corrupt { " corrupt" } else { "" };
                let id = if id == ICMP { "ICMP".to_string() } else { id.to_string() };
                self.show(&format!("{end}<-  #{id}{what}"));
            }
            let may_merge = self.scenario.merges[end] && !corrupt;
            if may_merge && merged.as_mut().is_some_and(|merged| merged.append(&bytes)) {
                continue;
            }
            self.give(end, merged.replace(Merged { bytes, size: 0 }))?;
            if !may_merge {
                self.give(end, merged.take())?;
            }
        }
        self.give(end, merged)
    }

    fn give(&mut self, end: usize, merged: Option<Merged>) -> Result<(), String> {
        let Some(Merged { bytes, size }) = merged else { return Ok(()) };
        let received = Received { checksum_verified: size != 0, segment_size: size };
        self.stacks[end].receive(self.now, Packet::with_room(28, &bytes, 0), received);
        self.transmit()
    }

    /// What the stacks have to send goes onto the link.
    fn transmit(&mut self) -> Result<(), String> {
        for end in [0, 1] {
            let mut any = false;
            while let Some(transmit) = self.stacks[end].next_transmit() {
                any = true;
                for bytes in offload::packets(transmit) {
                    let before = self.wire.retransmitted;
                    let id = self.wire.sent(end, &bytes).map_err(|error| format!("end {end}: {error}"))?;
                    if self.trace {
                        let again = if self.wire.retransmitted > before { " again" } else { "" };
                        self.show(&format!("{end} -> #{id} {}{again}", self.wire.segment(id)));
                    }
                    if let Some(answer) = self.links[end].send(self.now, bytes, id) {
                        self.links[1 - end].send(self.now, answer, ICMP);
                    }
                }
            }
            if any && self.trace {
                self.show_status(end);
            }
        }
        Ok(())
    }

    /// Shows what the connections of an end think of the network.
    fn show_status(&self, end: usize) {
        for user in self.users.iter().filter(|user| user.end == end) {
            if let Ok(s) = self.stacks[end].status(self.now, user.id) {
                self.show(&format!(
                    "{end}     {:?}: una {} congestion {} window {}/{} out {} sacked {} lost {} resent {} rto {} rtt {} mss {}",
                    user.id, s.send_unacked, s.congestion_state, s.congestion_window, s.send_threshold, s.unacked,
                    s.sacked, s.lost, s.retransmitted, s.rto, s.rtt, s.send_mss
                ));
            }
        }
    }

    fn show(&self, line: &str) {
        eprintln!("{:5}.{:06} {line}", self.now / 1_000_000, self.now % 1_000_000);
    }

    /// Hands the stacks' events to the users.
    fn events(&mut self) -> Result<bool, String> {
        let mut any = false;
        for end in [0, 1] {
            while let Some(event) = self.stacks[end].next_event() {
                any = true;
                if self.trace {
                    self.show(&format!("{end}     {event:?}"));
                }
                match event {
                    Event::Accepted(listener) => self.accept(end, listener)?,
                    Event::Connected(id) => self.connected(end, id)?,
                    Event::Readable(id) | Event::Writable(id) | Event::Error(id) => self.wake(end, id)?,
                    Event::Closed(id) => self.closed(end, id)?,
                    Event::Urgent(id) => self.urgent(end, id)?,
                }
            }
        }
        Ok(any)
    }

    fn accept(&mut self, end: usize, listener: ListenerId) -> Result<(), String> {
        loop {
            let id = match self.stacks[end].accept(listener) {
                Ok(id) => id,
                Err(Error::WOULD_BLOCK) => return Ok(()),
                Err(error) => return Err(format!("accept: {error}")),
            };
            let peer = self.stacks[end].peer_addr(id).map_err(|error| format!("peer_addr: {error}"))?;
            let index = self.scenario.find(peer.port()).ok_or("a connection that nobody opened")?;
            if self.users.iter().any(|u| u.conversation == index && u.end == end) {
                if self.scenario.configs[end].syn_cookies != 2 && !self.scenario.is_fast_open() {
                    return Err(format!("conversation {index} is accepted twice"));
                }
                // An old copy of the acknowledgment that brought the cookie, or of the SYN with text: RFC 7413 §2.1.
                self.stacks[end].abort(self.now, id);
                continue;
            }
            self.join(index, end, id);
            self.act(self.users.len() - 1)?;
        }
    }

    fn user(&self, end: usize, id: ConnectionId) -> Option<usize> {
        self.users.iter().position(|user| user.end == end && user.id == id)
    }

    fn connected(&mut self, end: usize, id: ConnectionId) -> Result<(), String> {
        if let Some(index) = self.user(end, id) {
            self.users[index].connected = true;
        }
        self.wake(end, id)
    }

    fn wake(&mut self, end: usize, id: ConnectionId) -> Result<(), String> {
        self.user(end, id).map_or(Ok(()), |index| self.act(index))
    }

    fn act(&mut self, index: usize) -> Result<(), String> {
        let user = &mut self.users[index];
        user.act(&mut self.stacks[user.end], self.now)
    }

    fn urgent(&mut self, end: usize, id: ConnectionId) -> Result<(), String> {
        let Some(index) = self.user(end, id) else { return Ok(()) };
        let user = &mut self.users[index];
        user.urgent(&mut self.stacks[end], self.now)?;
        self.act(index)
    }

    /// The connection is no more. A user that is still there reads what is left and learns why.
    fn closed(&mut self, end: usize, id: ConnectionId) -> Result<(), String> {
        let Some(index) = self.user(end, id) else { return Ok(()) };
        let user = &mut self.users[index];
        user.read_after_all(&mut self.stacks[end], self.now)
    }

    fn next_time(&self) -> Option<u64> {
        let stacks = self.stacks.iter().filter_map(TcpStack::deadline);
        let links = self.links.iter().filter_map(Direction::deadline);
        let users = self.users.iter().filter_map(|user| user.wake);
        stacks.chain(links).chain(users).min()
    }

    /// Users have ended and no connection is left in any state.
    fn is_over(&self) -> bool {
        let quiet = self.links.iter().all(|link| link.deadline().is_none());
        quiet
            && self.users.iter().all(|user| user.ended.is_some())
            && self.stacks.iter().all(|stack| stack.connections().next().is_none())
    }
}

/// The address of an end.
pub fn address(ipv6: bool, end: usize) -> IpAddr {
    let last = end as u8 + 1;
    if ipv6 {
        IpAddr::from([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last])
    } else {
        IpAddr::from([10, 0, 0, last])
    }
}

//! The spanning tree protocol of one bridge: the procedures of IEEE 802.1D-1998 §8.6, each a method of that name. What
//! happens (§8.7 and §8.8) is in `events.rs`, and calls these.
//!
//! Pure: no clock, no element, no bytes. The time is an argument, messages to send gather in an outbox, and timers are
//! times at which [`Bridge::run`] wants to be called. A test can so run whole networks.

use super::bpdu::{Bpdu, BridgeId, Config, PortId, Times, Vector};
use super::port::{Port, Role, State};
use clickwork_packet::Timestamp;
use std::time::Duration;

/// No two messages leave a port within this time (§8.10.2, Table 8-3).
pub const HOLD_TIME: Duration = Duration::from_secs(1);
/// What a message ages by in each bridge, beside the time that it really takes (§8.10.2): more than it takes in any, less
/// than the second that Table 8-2 allows, so that messages reach farther.
pub const MESSAGE_AGE_INCREMENT: Duration = Duration::from_nanos(1_000_000_000 / 16);

/// How a port is configured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortSetup {
    /// What it adds to the way to the root.
    pub path_cost: u32,
    /// Which of two ports to the same bridge is preferred: the lower. Only the upper four bits count.
    pub priority: u8,
}

/// The state of a bridge (§8.5.3).
#[derive(Clone, Debug)]
pub struct Bridge {
    pub(super) id: BridgeId,
    /// The way to the root.
    pub(super) root: BridgeId,
    pub(super) root_cost: u32,
    pub(super) root_port: Option<usize>,
    /// The root's times, and those that count when we are the root.
    pub(super) times: Times,
    pub(super) own_times: Times,
    /// We have seen a change, and the root may not know.
    pub(super) change_detected: bool,
    /// The root has said that there is a change.
    pub(super) change: bool,
    pub(super) changes: u64,
    pub(super) hello: Option<Timestamp>,
    pub(super) notification: Option<Timestamp>,
    pub(super) topology_change: Option<Timestamp>,
    pub(super) ports: Vec<Port>,
    outbox: Vec<(usize, Bpdu)>,
}

impl Bridge {
    /// A bridge whose ports are all disabled; [`Bridge::initialise`] comes next.
    pub fn new(id: BridgeId, times: Times, ports: &[PortSetup]) -> Bridge {
        let port = |(index, setup): (usize, &PortSetup)| Port {
            id: PortId::new(setup.priority, index),
            path_cost: setup.path_cost,
            state: State::Disabled,
            ..Port::default()
        };
        Bridge {
            id,
            root: id,
            root_cost: 0,
            root_port: None,
            times,
            own_times: times,
            change_detected: false,
            change: false,
            changes: 0,
            hello: None,
            notification: None,
            topology_change: None,
            ports: ports.iter().enumerate().map(port).collect(),
            outbox: Vec::new(),
        }
    }

    /// Our identifier.
    pub fn id(&self) -> BridgeId {
        self.id
    }

    /// The identifier of the root, as far as we know.
    pub fn root(&self) -> BridgeId {
        self.root
    }

    /// How far the root is.
    pub fn root_cost(&self) -> u32 {
        self.root_cost
    }

    /// The port to the root, unless that is us.
    pub fn root_port(&self) -> Option<usize> {
        self.root_port
    }

    /// The ports.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// The times that hold in the network.
    pub fn times(&self) -> Times {
        self.times
    }

    /// Whether we are the root.
    pub fn is_root(&self) -> bool {
        self.root == self.id
    }

    /// How often the topology has changed, as seen from here.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// How soon stations are to be forgotten while the topology changes (§8.3.5): instead of a longer time.
    pub fn short_ageing(&self) -> Option<Duration> {
        self.change.then_some(self.times.forward_delay)
    }

    /// What a port is in the tree.
    pub fn role(&self, port: usize) -> Role {
        if !self.ports[port].is_enabled() {
            Role::Disabled
        } else if self.root_port == Some(port) {
            Role::Root
        } else if self.is_designated(port) {
            Role::Designated
        } else {
            Role::Blocked
        }
    }

    /// The messages to send since the last call, in order, with their ports.
    pub fn take_messages(&mut self) -> Vec<(usize, Bpdu)> {
        std::mem::take(&mut self.outbox)
    }

    /// Whether we are the designated bridge of the port's LAN, and the port is its designated port.
    pub(super) fn is_designated(&self, port: usize) -> bool {
        let port = &self.ports[port];
        port.designated.bridge == self.id && port.designated.port == port.id
    }

    pub(super) fn enabled(&self) -> impl Iterator<Item = usize> + use<> {
        let enabled: Vec<_> = (0..self.ports.len()).filter(|&p| self.ports[p].is_enabled()).collect();
        enabled.into_iter()
    }

    /// §8.6.1: says what we know on the port's LAN, or as soon as the hold timer permits.
    pub(super) fn transmit_configuration(&mut self, port: usize, now: Timestamp) {
        if self.ports[port].hold.is_some() {
            self.ports[port].config_pending = true;
            return;
        }
        let message_age = self.root_port.map_or(Duration::ZERO, |root| self.age_from(root, now));
        // What is too old for anyone to believe is not said.
        if message_age >= self.times.max_age {
            return;
        }
        let p = &mut self.ports[port];
        let vector = Vector { root: self.root, cost: self.root_cost, bridge: self.id, port: p.id };
        let change_acknowledged = std::mem::take(&mut p.acknowledge);
        p.config_pending = false;
        p.hold = Some(now + HOLD_TIME);
        let config =
            Config { vector, change: self.change, change_acknowledged, message_age, times: self.times };
        self.outbox.push((port, Bpdu::Config(config)));
    }

    /// The age of the root's word, as we pass it on.
    fn age_from(&self, root_port: usize, now: Timestamp) -> Duration {
        let left = self.ports[root_port].message_age.map_or(Duration::ZERO, |expiry| expiry.since(now));
        self.times.max_age.saturating_sub(left) + MESSAGE_AGE_INCREMENT
    }

    /// §8.6.2: notes what a message on the port says.
    pub(super) fn record_information(&mut self, port: usize, config: &Config, now: Timestamp) {
        let port = &mut self.ports[port];
        port.designated = config.vector;
        port.message_age = Some(now + config.times.max_age.saturating_sub(config.message_age));
    }

    /// §8.6.3: the root's times are ours.
    pub(super) fn record_times(&mut self, config: &Config) {
        self.times = config.times;
        self.change = config.change;
    }

    /// §8.6.4: says what we know on every LAN that we are responsible for.
    pub(super) fn generate_configurations(&mut self, now: Timestamp) {
        for port in self.enabled() {
            if self.is_designated(port) {
                self.transmit_configuration(port, now);
            }
        }
    }

    /// §8.6.6: tells the next bridge on the way to the root about a change.
    pub(super) fn transmit_notification(&mut self) {
        if let Some(port) = self.root_port {
            self.outbox.push((port, Bpdu::Change));
        }
    }

    /// §8.6.7: who is the root, how far, and which LANs we are responsible for.
    pub(super) fn update(&mut self) {
        self.select_root();
        self.select_designated();
    }

    /// §8.6.8.
    fn select_root(&mut self) {
        let way = |&port: &usize| {
            let p = &self.ports[port];
            let Vector { root, cost, bridge, port } = p.designated;
            (root, cost.saturating_add(p.path_cost), bridge, port, p.id)
        };
        let leads_there =
            |&port: &usize| !self.is_designated(port) && self.ports[port].designated.root < self.id;
        self.root_port = self.enabled().filter(leads_there).min_by_key(way);
        (self.root, self.root_cost) = match &self.root_port {
            Some(port) => (way(port).0, way(port).1),
            None => (self.id, 0),
        };
    }

    /// §8.6.9: a LAN is ours if nobody has said anything better on it.
    fn select_designated(&mut self) {
        for port in self.enabled() {
            let p = &self.ports[port];
            let best = p.designated;
            let ours = Vector { root: self.root, cost: self.root_cost, bridge: self.id, port: p.id };
            let outdated = best.root != self.root;
            if self.is_designated(port) || outdated || ours <= best {
                self.become_designated(port);
            }
        }
    }

    /// §8.6.10.
    pub(super) fn become_designated(&mut self, port: usize) {
        let p = &mut self.ports[port];
        p.designated = Vector { root: self.root, cost: self.root_cost, bridge: self.id, port: p.id };
    }

    /// §8.6.11: every port does what its role asks.
    pub(super) fn select_states(&mut self, now: Timestamp) {
        for port in self.enabled() {
            if self.root_port == Some(port) {
                self.fall_silent(port);
                self.make_forwarding(port, now);
            } else if self.is_designated(port) {
                self.ports[port].message_age = None;
                self.make_forwarding(port, now);
            } else {
                self.fall_silent(port);
                self.make_blocking(port, now);
            }
        }
    }

    fn fall_silent(&mut self, port: usize) {
        self.ports[port].config_pending = false;
        self.ports[port].acknowledge = false;
    }

    /// §8.6.12: a blocking port sets out for forwarding.
    fn make_forwarding(&mut self, port: usize, now: Timestamp) {
        let p = &mut self.ports[port];
        if p.state == State::Blocking {
            p.state = State::Listening;
            p.since = Some(now);
        }
    }

    /// §8.6.13.
    fn make_blocking(&mut self, port: usize, now: Timestamp) {
        let was = self.ports[port].state;
        if matches!(was, State::Disabled | State::Blocking) {
            return;
        }
        if matches!(was, State::Learning | State::Forwarding) {
            self.detect_change(now);
        }
        self.ports[port].state = State::Blocking;
        self.ports[port].since = None;
    }

    /// §8.6.14: the topology has changed here: the root must know.
    pub(super) fn detect_change(&mut self, now: Timestamp) {
        self.changes += u64::from(!self.change_detected);
        if self.is_root() {
            self.change = true;
            self.topology_change = Some(now + self.own_times.max_age + self.own_times.forward_delay);
        } else if !self.change_detected {
            self.transmit_notification();
            self.notification = Some(now + self.own_times.hello);
        }
        self.change_detected = true;
    }

    /// §8.6.15: somebody nearer to the root knows.
    pub(super) fn change_is_acknowledged(&mut self) {
        self.change_detected = false;
        self.notification = None;
    }

    /// §8.6.16: takes note of a change that a bridge farther from the root has told.
    pub(super) fn acknowledge_change(&mut self, port: usize, now: Timestamp) {
        self.ports[port].acknowledge = true;
        self.transmit_configuration(port, now);
    }
}

//! A network of bridges in simulated time: LANs that reach any number of ports, and can be cut.

use super::super::bpdu::{Bpdu, BridgeId, Times};
use super::super::bridge::{Bridge, PortSetup};
use super::super::port::State;
use super::{START, id};
use clickwork_packet::Timestamp;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long a message is on its way.
const DELAY: Duration = Duration::from_millis(1);

/// What a network is made of.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The priority of each bridge.
    pub priorities: Vec<u16>,
    /// The bridges that each LAN joins, a bridge perhaps more than once, and the cost of its ports.
    pub lans: Vec<(Vec<usize>, u32)>,
    pub times: Times,
}

impl Plan {
    /// Bridges of equal priority.
    pub fn new(bridges: usize, lans: &[&[usize]]) -> Plan {
        let lans = lans.iter().map(|joined| (joined.to_vec(), 10)).collect();
        Plan { priorities: vec![0x8000; bridges], lans, times: Times::RECOMMENDED }
    }
}

/// A bridge's port.
type Place = (usize, usize);

pub struct Network {
    pub bridges: Vec<Bridge>,
    /// The ports on each LAN.
    pub lans: Vec<Vec<Place>>,
    pub is_cut: Vec<bool>,
    pub now: Timestamp,
    /// Messages on their way, by time of arrival and order.
    flying: BTreeMap<(Timestamp, u64), (Place, Bpdu)>,
    sent: u64,
    /// Whether a moment with a loop is an error.
    pub watch_loops: bool,
}

impl Network {
    pub fn new(plan: &Plan) -> Network {
        let mut setups = vec![Vec::new(); plan.priorities.len()];
        let mut lans = Vec::new();
        for (joined, path_cost) in &plan.lans {
            let mut places = Vec::new();
            for &bridge in joined {
                places.push((bridge, setups[bridge].len()));
                setups[bridge].push(PortSetup { path_cost: *path_cost, priority: 0x80 });
            }
            lans.push(places);
        }
        let make = |(number, ports): (usize, &Vec<PortSetup>)| {
            Bridge::new(id(plan.priorities[number], number), plan.times, ports)
        };
        let mut network = Network {
            bridges: setups.iter().enumerate().map(make).collect(),
            is_cut: vec![false; lans.len()],
            lans,
            now: START,
            flying: BTreeMap::new(),
            sent: 0,
            watch_loops: true,
        };
        for bridge in 0..network.bridges.len() {
            network.bridges[bridge].initialise(START);
            network.send(bridge);
        }
        network
    }

    /// Puts a message to a port on its way.
    pub fn inject(&mut self, place: Place, message: Bpdu) {
        self.sent += 1;
        self.flying.insert((self.now + DELAY, self.sent), (place, message));
    }

    fn send(&mut self, bridge: usize) {
        for (port, message) in self.bridges[bridge].take_messages() {
            let lan = self.lans.iter().position(|places| places.contains(&(bridge, port)));
            let lan = lan.expect("every port is on a LAN");
            if self.is_cut[lan] {
                continue;
            }
            let hearers: Vec<_> =
                self.lans[lan].iter().copied().filter(|&place| place != (bridge, port)).collect();
            hearers.into_iter().for_each(|place| self.inject(place, message));
        }
    }

    /// Lets time pass.
    pub fn run_for(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            let timer = self.bridges.iter().filter_map(Bridge::next_timer).min();
            let arrival = self.flying.keys().next().map(|(at, _)| *at);
            let Some(next) = [timer, arrival].into_iter().flatten().min().filter(|at| *at <= end) else {
                break;
            };
            self.now = next.max(self.now);
            self.step();
            assert!(!self.watch_loops || !self.has_loop(), "frames can go in circles at {}", self.now);
        }
        self.now = end;
    }

    fn step(&mut self) {
        while let Some(entry) = self.flying.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let ((bridge, port), message) = entry.remove();
            // What it thinks of the message is tested elsewhere.
            let _ = self.bridges[bridge].receive(port, &message, self.now);
            self.send(bridge);
        }
        for bridge in 0..self.bridges.len() {
            if self.bridges[bridge].next_timer().is_some_and(|at| at <= self.now) {
                self.bridges[bridge].run(self.now);
                self.send(bridge);
            }
        }
    }

    /// What all ports do.
    pub fn states(&self) -> Vec<Vec<State>> {
        self.bridges.iter().map(|b| b.ports().iter().map(|p| p.state).collect()).collect()
    }

    /// The roots that the bridges know of.
    pub fn roots(&self) -> Vec<BridgeId> {
        self.bridges.iter().map(Bridge::root).collect()
    }

    /// Joins bridges and LANs by the ports that `join` chooses: the sets, and whether two ports joined what was joined.
    fn sets(&self, join: impl Fn(Place) -> bool) -> (Vec<usize>, bool) {
        let mut sets: Vec<usize> = (0..self.bridges.len() + self.lans.len()).collect();
        let mut redundant = false;
        for (lan, places) in self.lans.iter().enumerate().filter(|(lan, _)| !self.is_cut[*lan]) {
            for &place in places.iter().filter(|place| join(**place)) {
                let (a, b) = (sets[place.0], sets[self.bridges.len() + lan]);
                redundant |= a == b;
                sets.iter_mut().filter(|set| **set == a).for_each(|set| *set = b);
            }
        }
        (sets, redundant)
    }

    fn forwards(&self, (bridge, port): Place) -> bool {
        self.bridges[bridge].ports()[port].state == State::Forwarding
    }

    /// Whether a frame can come back to where it was.
    pub fn has_loop(&self) -> bool {
        self.sets(|place| self.forwards(place)).1
    }

    /// Fails unless the forwarding ports are a tree that joins all that the cables join, and all ports rest.
    pub fn assert_tree(&self) {
        let same = |sets: &[usize], a: usize, b: usize| sets[a] == sets[b];
        let (tree, has_loop) = self.sets(|place| self.forwards(place));
        let (cables, _) = self.sets(|_| true);
        assert!(!has_loop, "a loop: {:?}", self.states());
        for a in 0..tree.len() {
            for b in 0..a {
                // A LAN that is cut joins nobody.
                assert_eq!(same(&tree, a, b), same(&cables, a, b), "{a} and {b}: {:?}", self.states());
            }
        }
        let resting = |state: &State| matches!(state, State::Forwarding | State::Blocking | State::Disabled);
        assert!(self.states().iter().flatten().all(resting), "{:?}", self.states());
    }
}

//! What happens to a bridge: messages (IEEE 802.1D-1998 §8.7.1, §8.7.2), timers (§8.7.3 to §8.7.8) and management
//! (§8.8). The procedures they call are in `bridge.rs`.

use super::bpdu::{Bpdu, BridgeId, Config, PortId, Times, Vector};
use super::bridge::Bridge;
use super::port::{Port, State};
use clickwork_packet::Timestamp;
use std::time::Duration;

/// The times that are taken over from a root. Those of the standard's Table 8-3, and the shorter forward delay that Linux
/// allows; whatever a forged message says, ports do not forward at once and messages do not last.
fn believable(times: Times) -> Times {
    let seconds = Duration::from_secs;
    Times {
        max_age: times.max_age.clamp(seconds(6), seconds(40)),
        hello: times.hello.clamp(seconds(1), seconds(10)),
        forward_delay: times.forward_delay.clamp(seconds(2), seconds(30)),
    }
}

impl Bridge {
    /// §8.8.1: begins, as the root, with all ports blocking.
    pub fn initialise(&mut self, now: Timestamp) {
        (self.root, self.root_cost, self.root_port) = (self.id, 0, None);
        self.times = self.own_times;
        (self.change_detected, self.change) = (false, false);
        (self.notification, self.topology_change) = (None, None);
        (0..self.ports.len()).for_each(|port| self.reset_port(port));
        self.select_states(now);
        self.send_hello(now);
    }

    fn reset_port(&mut self, port: usize) {
        self.become_designated(port);
        let p = &mut self.ports[port];
        p.state = State::Blocking;
        (p.acknowledge, p.config_pending) = (false, false);
        (p.message_age, p.since, p.hold) = (None, None, None);
    }

    /// A message came in by a port. An error says why it was not heeded.
    pub fn receive(&mut self, port: usize, bpdu: &Bpdu, now: Timestamp) -> Result<(), &'static str> {
        if !self.ports.get(port).is_some_and(|p| p.is_enabled()) {
            return Err("port is disabled");
        }
        match bpdu {
            Bpdu::Config(config) => self.receive_config(port, *config, now),
            Bpdu::Change => self.receive_change(port, now),
        }
    }

    /// §8.7.1.
    fn receive_config(&mut self, port: usize, config: Config, now: Timestamp) -> Result<(), &'static str> {
        let config = Config { times: believable(config.times), ..config };
        if config.message_age >= config.times.max_age {
            return Err("BPDU too old");
        }
        if config.vector.bridge == self.id && config.vector.port == self.ports[port].id {
            return Err("own BPDU came back");
        }
        if self.supersedes(port, &config) {
            self.take_over(port, &config, now);
        } else if self.is_designated(port) {
            // §8.6.5: whoever says something worse is told better.
            self.transmit_configuration(port, now);
        }
        Ok(())
    }

    /// §8.6.2.2: whether a message is better than what is known, or from the same port as that.
    fn supersedes(&self, port: usize, config: &Config) -> bool {
        let (known, said) = (self.ports[port].designated, config.vector);
        let to = |v: Vector| (v.root, v.cost, v.bridge);
        to(said) < to(known) || to(said) == to(known) && (said.bridge != self.id || said.port <= known.port)
    }

    fn take_over(&mut self, port: usize, config: &Config, now: Timestamp) {
        let was_root = self.is_root();
        self.record_information(port, config, now);
        self.update();
        self.select_states(now);
        if was_root && !self.is_root() {
            self.resign(now);
        }
        if self.root_port == Some(port) {
            self.record_times(config);
            self.generate_configurations(now);
            if config.change_acknowledged {
                self.change_is_acknowledged();
            }
        }
    }

    /// We are no longer the root: changes that we have seen are for another to announce.
    fn resign(&mut self, now: Timestamp) {
        self.hello = None;
        if self.change_detected {
            self.topology_change = None;
            self.transmit_notification();
            self.notification = Some(now + self.own_times.hello);
        }
    }

    /// §8.7.2.
    fn receive_change(&mut self, port: usize, now: Timestamp) -> Result<(), &'static str> {
        if !self.is_designated(port) {
            return Err("notification to another bridge");
        }
        self.detect_change(now);
        self.acknowledge_change(port, now);
        Ok(())
    }

    /// When [`Bridge::run`] is to be called next.
    pub fn next_timer(&self) -> Option<Timestamp> {
        let of_port = self.ports.iter().flat_map(|p| [p.message_age, self.goes_on(p), p.hold]);
        of_port.chain([self.hello, self.notification, self.topology_change]).flatten().min()
    }

    /// When a port will have listened or learned long enough, by the root's times as they are now.
    fn goes_on(&self, port: &Port) -> Option<Timestamp> {
        port.since.map(|since| since + self.times.forward_delay)
    }

    /// Does what the timers that have expired ask for.
    pub fn run(&mut self, now: Timestamp) {
        for port in self.enabled() {
            if expired(&mut self.ports[port].message_age, now) {
                self.forget_message(port, now);
            }
        }
        for port in self.enabled() {
            if self.goes_on(&self.ports[port]).is_some_and(|at| at <= now) {
                self.go_on(port, now);
            }
        }
        if expired(&mut self.notification, now) {
            self.transmit_notification();
            self.notification = Some(now + self.own_times.hello);
        }
        if expired(&mut self.topology_change, now) {
            (self.change_detected, self.change) = (false, false);
        }
        if expired(&mut self.hello, now) {
            self.send_hello(now);
        }
        for port in 0..self.ports.len() {
            if expired(&mut self.ports[port].hold, now) && self.ports[port].config_pending {
                self.transmit_configuration(port, now);
            }
        }
    }

    /// §8.7.3.
    fn send_hello(&mut self, now: Timestamp) {
        self.generate_configurations(now);
        self.hello = Some(now + self.times.hello);
    }

    /// §8.7.4: nobody repeats what was said on this LAN.
    fn forget_message(&mut self, port: usize, now: Timestamp) {
        let was_root = self.is_root();
        self.become_designated(port);
        self.reconsider(was_root, now);
    }

    /// Chooses anew after something was lost; whoever becomes the root says so.
    fn reconsider(&mut self, was_root: bool, now: Timestamp) {
        self.update();
        self.select_states(now);
        if !was_root && self.is_root() {
            self.times = self.own_times;
            self.detect_change(now);
            self.notification = None;
            self.send_hello(now);
        }
    }

    /// §8.7.5: the port goes on from listening to learning, or from learning to forwarding.
    fn go_on(&mut self, port: usize, now: Timestamp) {
        match self.ports[port].state {
            State::Listening => {
                self.ports[port].state = State::Learning;
                self.ports[port].since = Some(now);
            }
            State::Learning => {
                self.ports[port].state = State::Forwarding;
                self.ports[port].since = None;
                if self.ports.iter().any(|p| p.is_enabled() && p.designated.bridge == self.id) {
                    self.detect_change(now);
                }
            }
            _ => {}
        }
    }

    /// §8.8.2: a port takes part again.
    pub fn enable_port(&mut self, port: usize, now: Timestamp) {
        if !self.ports[port].is_enabled() {
            self.reset_port(port);
            self.select_states(now);
        }
    }

    /// §8.8.3: a port takes part no longer.
    pub fn disable_port(&mut self, port: usize, now: Timestamp) {
        if self.ports[port].is_enabled() {
            let was_root = self.is_root();
            self.reset_port(port);
            self.ports[port].state = State::Disabled;
            self.reconsider(was_root, now);
        }
    }

    /// §8.8.4: we may become the root, or cease to be it.
    pub fn set_priority(&mut self, priority: u16, now: Timestamp) {
        let was_root = self.is_root();
        self.rename(self.id.with_priority(priority));
        self.reconsider(was_root, now);
    }

    /// What is known to be said by us carries the new identifier.
    fn rename(&mut self, id: BridgeId) {
        let old = std::mem::replace(&mut self.id, id);
        let names = self.ports.iter_mut().flat_map(|p| [&mut p.designated.root, &mut p.designated.bridge]);
        names.filter(|name| **name == old).for_each(|name| *name = id);
    }

    /// §8.8.5.
    pub fn set_port_priority(&mut self, port: usize, priority: u8, now: Timestamp) {
        let id = PortId::new(priority, port);
        if self.is_designated(port) {
            self.ports[port].designated.port = id;
        }
        self.ports[port].id = id;
        self.reconsider(self.is_root(), now);
    }

    /// §8.8.6.
    pub fn set_path_cost(&mut self, port: usize, cost: u32, now: Timestamp) {
        let was_root = self.is_root();
        self.ports[port].path_cost = cost;
        self.reconsider(was_root, now);
    }
}

/// Whether a timer has expired; if so it is off.
fn expired(timer: &mut Option<Timestamp>, now: Timestamp) -> bool {
    timer.take_if(|at| *at <= now).is_some()
}

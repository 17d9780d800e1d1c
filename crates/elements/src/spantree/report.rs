//! What a bridge says of itself to people and programs.

use super::bpdu::{BridgeId, Times, Vector};
use super::bridge::Bridge;
use std::fmt::Write;

impl Bridge {
    /// The port to the root; -1 if we are the root.
    pub fn root_port_number(&self) -> i32 {
        self.root_port().map_or(-1, |port| port as i32)
    }

    /// In Click's format: bridge and port that said it, change, cost, root, and the times in seconds. Where nobody else
    /// says anything, the numbers are the worst possible.
    pub fn messages(&self) -> String {
        let line = |v: Vector, times: Times| {
            let Times { max_age, hello, forward_delay } = times;
            let [m, h, d] = [max_age, hello, forward_delay].map(|time| time.as_secs());
            let change = if self.short_ageing().is_some() { "TC" } else { "tc" };
            let (bridge, root) = (format!("{:x}", v.bridge.0), format!("{:x}", v.root.0));
            let (port, cost) = (v.port.0, v.cost);
            format!(" {bridge:>16}:{port:04x}: {change}  {cost:x} -> {root:>16}  m/h/d: {m:x}/{h:x}/{d:x}\n")
        };
        let nothing = BridgeId(u64::MAX);
        let none = Vector { root: nothing, cost: 0xFFFF, bridge: nothing, ..Vector::default() };
        let heard = |v: Vector| if v.bridge == self.id() { none } else { v };
        let ports = self.ports();
        let mut text: String = ports.iter().map(|p| line(heard(p.designated), self.times())).collect();
        let from = self.root_port().map_or(self.id(), |port| ports[port].designated.bridge);
        let port = self.root_port().map_or_else(Default::default, |port| ports[port].designated.port);
        let (root, cost) = (self.root(), self.root_cost());
        text += &line(Vector { root, cost, bridge: from, port }, self.times());
        text
    }

    /// The whole state, for people.
    pub fn dump(&self) -> String {
        let b = self;
        let Times { max_age, hello, forward_delay } = b.times();
        let [m, h, d] = [max_age, hello, forward_delay].map(|time| time.as_secs_f64());
        let mut text = format!(
            "bridge {}\nroot {}, cost {}, root port {}\nmax age {m}, hello {h}, forward delay {d}\n\
             topology changes {}, {}\n",
            b.id(),
            b.root(),
            b.root_cost(),
            b.root_port_number(),
            b.changes(),
            if b.short_ageing().is_some() { "one going on" } else { "none going on" },
        );
        for (n, p) in b.ports().iter().enumerate() {
            let v = p.designated;
            // A String takes any text.
            let _ = writeln!(
                text,
                "port {n}: {:<10} {:<10} id {:04x}, path cost {}; root {}, cost {}, designated {} port {:04x}",
                b.role(n).to_string(),
                p.state.to_string(),
                p.id.0,
                p.path_cost,
                v.root,
                v.cost,
                v.bridge,
                v.port.0,
            );
        }
        text
    }
}

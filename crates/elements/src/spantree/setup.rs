//! What an EtherSpanTree is configured to be: reads and checks its numbers.

use super::bpdu::Times;
use super::bridge::PortSetup;
use clickwork_packet::addr::EtherAddress;
use clickwork_router::args::{Args, FromArg};
use std::time::Duration;

/// More ports have no identifiers.
const MOST_PORTS: usize = 0xFFF;

/// What the configuration says.
#[derive(Clone, PartialEq, Debug)]
pub struct Setup {
    /// Where its frames come from.
    pub address: EtherAddress,
    /// Its priority.
    pub priority: u16,
    /// Its times as a root.
    pub times: Times,
    /// Its ports.
    pub ports: Vec<PortSetup>,
}

impl Default for Setup {
    /// With Click's priority, which hardly any bridge has so high.
    fn default() -> Setup {
        Setup {
            address: EtherAddress::default(),
            priority: 0xDEAD,
            times: Times::RECOMMENDED,
            ports: Vec::new(),
        }
    }
}

impl Setup {
    /// Reads the arguments of a bridge with so many ports.
    pub fn read(args: &mut Args, ports: usize) -> Setup {
        let mut setup = Setup::default();
        let t = &mut setup.times;
        args.read("ADDR", &mut setup.address)
            .read("BRIDGE_PRIORITY", &mut setup.priority)
            .read("HELLO_TIME", &mut t.hello)
            .read("MAX_AGE", &mut t.max_age)
            .read("FORWARD_DELAY", &mut t.forward_delay);
        if let Err((name, wrong)) = t.check() {
            args.error(format!("{name}: {wrong}"));
        }
        if ports > MOST_PORTS {
            args.error(format!("a bridge has at most {MOST_PORTS} ports"));
        }
        let costs = numbers(args, "PATH_COST", 4, ports, is_cost);
        let priorities = numbers(args, "PORT_PRIORITY", 128, ports, is_priority);
        let both = costs.into_iter().zip(priorities);
        setup.ports =
            both.map(|(path_cost, priority)| PortSetup { path_cost, priority: priority as u8 }).collect();
        setup
    }
}

impl Times {
    /// §8.10.2 and Table 8-3.
    fn check(&self) -> Result<(), (&'static str, &'static str)> {
        let seconds = Duration::from_secs;
        let within = |time: Duration, least, most| (seconds(least)..=seconds(most)).contains(&time);
        if !within(self.hello, 1, 10) {
            Err(("HELLO_TIME", "must be between 1 and 10 seconds"))
        } else if !within(self.max_age, 6, 40) {
            Err(("MAX_AGE", "must be between 6 and 40 seconds"))
        } else if !within(self.forward_delay, 4, 30) {
            Err(("FORWARD_DELAY", "must be between 4 and 30 seconds"))
        } else if (self.forward_delay - seconds(1)) * 2 < self.max_age {
            Err(("FORWARD_DELAY", "too short: twice FORWARD_DELAY less 1 second must be at least MAX_AGE"))
        } else if (self.hello + seconds(1)) * 2 > self.max_age {
            Err(("HELLO_TIME", "too long: twice HELLO_TIME and 1 second must be at most MAX_AGE"))
        } else {
            Ok(())
        }
    }
}

/// A number for each of `ports`: one for all, or as many as there are.
fn numbers(args: &mut Args, name: &str, default: u32, ports: usize, right: impl Fn(u32) -> bool) -> Vec<u32> {
    let Some(text) = args.raw(name) else { return vec![default; ports] };
    let given: Option<Vec<u32>> = text
        .split_whitespace()
        .map(|word| u32::from_arg(word, args.names()).ok().filter(|&n| right(n)))
        .collect();
    match given.as_deref() {
        Some([one]) => return vec![*one; ports],
        Some(each) if each.len() == ports => return each.to_vec(),
        Some(_) => args.error_in(name, format!("expected one number, or {ports}, one for each port")),
        None => args.error_in(name, "number out of range"),
    }
    vec![default; ports]
}

/// Whether a port may have this cost.
pub fn is_cost(cost: u32) -> bool {
    (1..=200_000_000).contains(&cost)
}

/// Whether a port may have this priority.
pub fn is_priority(priority: u32) -> bool {
    priority < 256 && priority.is_multiple_of(16)
}

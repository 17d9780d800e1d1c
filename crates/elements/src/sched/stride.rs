//! Stride scheduling of ports (Waldspurger and Weihl 1995): each port gets turns in proportion to its tickets.
//!
//! A port's *pass* is the virtual time of its next turn. The list is sorted by pass; a turn advances the pass by the
//! port's *stride*, which is inversely proportional to its tickets.

use clickwork_router::args::{ArgSpec, ArgType, Args};

/// The most tickets a port can have.
const MAX_TICKETS: u32 = 1 << 15;
const STRIDE_1: u64 = 1 << 16;

/// The arguments of stride classes.
pub(super) const ARGS: &[ArgSpec] =
    &[ArgSpec::rest("TICKETS", ArgType::U32, "tickets of each port, 0 to 32768")];

#[derive(Clone, Copy, Debug)]
struct Port {
    tickets: u32,
    pass: u64,
}

impl Port {
    fn stride(self) -> u64 {
        STRIDE_1 / u64::from(self.tickets.max(1))
    }
}

/// The ports of an element with their tickets, in the order of their turns.
#[derive(Debug, Default)]
pub(super) struct Stride {
    ports: Vec<Port>,
    /// Ports with tickets, by pass.
    order: Vec<usize>,
    /// Ports that had their turn, while a turn is being given.
    taken: Vec<usize>,
}

impl Stride {
    /// Reads one number of tickets for each of `ports` ports; `side` is "input" or "output".
    pub(super) fn configure(&mut self, args: &mut Args, ports: usize, side: &str) {
        let texts = args.rest().to_vec();
        if texts.len() != ports {
            return args.error(format!("need {ports} arguments, one per {side} port"));
        }
        for (i, text) in texts.iter().enumerate() {
            let tickets = match crate::values::parse::<i64>(text, "number of tickets") {
                Ok(n) if n > i64::from(MAX_TICKETS) => {
                    args.warn(format!("input {i}'s tickets reduced to {MAX_TICKETS}"));
                    MAX_TICKETS
                }
                Ok(n) if n >= 0 => n as u32,
                Ok(_) => {
                    args.error_in_rest(i, format!("argument {i} (number of tickets) must be >= 0"));
                    0
                }
                Err(_) => {
                    args.error_in_rest(i, format!("argument {i} should be number of tickets (integer)"));
                    0
                }
            };
            self.ports.push(Port { tickets, pass: 0 });
        }
        // Backwards, since a port goes before those of the same pass.
        for port in (0..ports).rev().filter(|&p| self.ports[p].tickets > 0).collect::<Vec<_>>() {
            self.advance(port);
            self.insert(port);
        }
    }

    /// All numbers of tickets, as the configuration would give them.
    pub(super) fn config(&self) -> String {
        self.ports.iter().map(|p| p.tickets.to_string()).collect::<Vec<_>>().join(", ")
    }

    /// The tickets of the port whose number stands in `text`.
    pub(super) fn read(&self, text: &str) -> Result<u32, String> {
        let port = crate::values::parse::<u32>(text, "port number")?;
        self.ports.get(port as usize).map(|p| p.tickets).ok_or_else(|| format!("port {port} out of range"))
    }

    /// Sets the tickets of a port from a text with both numbers.
    pub(super) fn write(&mut self, text: &str) -> Result<(), String> {
        let (port, tickets) = text.split_once(' ').unwrap_or((text, ""));
        let port = crate::values::parse::<u32>(port, "port number")? as usize;
        let tickets: i64 =
            crate::values::parse(tickets, "integer").map_err(|_| "tickets value must be integer")?;
        if port >= self.ports.len() {
            return Err(format!("port {port} out of range"));
        }
        if tickets < 0 {
            return Err("number of tickets must be >= 0".to_string());
        }
        self.set(port, tickets.min(i64::from(MAX_TICKETS)) as u32);
        Ok(())
    }

    fn set(&mut self, port: usize, tickets: u32) {
        let before = std::mem::replace(&mut self.ports[port].tickets, tickets);
        if tickets == 0 {
            self.order.retain(|&p| p != port);
        } else if before == 0 {
            let first = self.order.first().map(|&p| self.ports[p].pass);
            self.ports[port].pass = first.map_or(0, |pass| pass + self.ports[port].stride());
            self.insert(port);
        }
    }

    fn advance(&mut self, port: usize) {
        self.ports[port].pass += self.ports[port].stride();
    }

    fn insert(&mut self, port: usize) {
        let pass = self.ports[port].pass;
        let at = self.order.partition_point(|&p| self.ports[p].pass < pass);
        self.order.insert(at, port);
    }

    /// Whether any port that gets turns at all is one that `is_alive`.
    pub(super) fn any(&self, is_alive: impl FnMut(&usize) -> bool) -> bool {
        self.order.iter().any(is_alive)
    }

    /// Offers turns to the ports in order until `take` makes use of one.
    pub(super) fn turn<T>(&mut self, mut take: impl FnMut(usize) -> Option<T>) -> Option<T> {
        let mut result = None;
        let mut passed = 0;
        while result.is_none() && passed < self.order.len() {
            let port = self.order[passed];
            result = take(port);
            self.advance(port);
            passed += 1;
        }
        self.taken.extend(self.order.drain(..passed));
        for i in 0..self.taken.len() {
            self.insert(self.taken[i]);
        }
        self.taken.clear();
        result
    }
}

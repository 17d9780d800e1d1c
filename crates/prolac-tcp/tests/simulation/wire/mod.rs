//! What must hold for every packet that our TCP sends, whatever the link did: a shadow of each connection that knows what
//! each end has been given and so may say.
//!
//! `segment.rs` reads packets, `flow.rs` is the shadow. It is told of every packet that is sent and of every one that
//! arrives whole.

mod flow;
mod ranges;
mod segment;

use std::collections::HashMap;

pub use flow::{Flow, Rules};
pub use segment::Segment;

/// All connections between two ends; end 0 and end 1.
pub struct Wire {
    rules: Rules,
    /// By the ports of ends 0 and 1.
    flows: HashMap<(u16, u16), Flow>,
    /// Packets under way: who sent them, on which incarnation of the connection.
    known: Vec<(usize, u32, Segment)>,
    /// Bytes of text that were sent again; window probes do not count.
    pub retransmitted: u64,
}

impl Wire {
    pub fn new(rules: Rules) -> Wire {
        Wire { rules, flows: HashMap::new(), known: Vec::new(), retransmitted: 0 }
    }

    /// A packet as `end` sends it: its number, or what is wrong with it.
    pub fn sent(&mut self, end: usize, bytes: &[u8]) -> Result<u64, String> {
        let segment = Segment::parse(bytes)?;
        let flow = self.flows.entry(ports(end, &segment)).or_default();
        let checked = flow.sent(end, &segment, &self.rules);
        self.retransmitted += checked.map_err(|error| format!("{segment}: {error}"))?;
        self.known.push((end, flow.incarnation, segment));
        Ok(self.known.len() as u64 - 1)
    }

    /// The packet with this number has arrived whole at the other end.
    pub fn arrived(&mut self, id: u64) {
        let (end, incarnation, segment) = &self.known[id as usize];
        if let Some(flow) = self.flows.get_mut(&ports(*end, segment)) {
            if flow.incarnation == *incarnation {
                flow.arrived(*end, segment);
            }
        }
    }

    /// A packet that was sent.
    pub fn segment(&self, id: u64) -> &Segment {
        &self.known[id as usize].2
    }

    /// How many packets were sent.
    pub fn packets(&self) -> usize {
        self.known.len()
    }
}

fn ports(end: usize, segment: &Segment) -> (u16, u16) {
    let (source, destination) = segment.ports;
    if end == 0 { (source, destination) } else { (destination, source) }
}

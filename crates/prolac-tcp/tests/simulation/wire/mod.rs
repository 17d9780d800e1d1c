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
    /// By the ports of ends 0 and 1: one connection after the other, though an end may be at an earlier one than its peer.
    flows: HashMap<(u16, u16), Vec<Flow>>,
    /// Packets that were sent: by whom, and on which connection with the ports.
    known: Vec<(usize, usize, Segment)>,
    /// Bytes of text that were sent again; what may be a probe does not count.
    pub retransmitted: u64,
}

impl Wire {
    pub fn new(rules: Rules) -> Wire {
        Wire { rules, flows: HashMap::new(), known: Vec::new(), retransmitted: 0 }
    }

    /// A packet as `end` sends it: its number, or what is wrong with it.
    pub fn sent(&mut self, end: usize, bytes: &[u8]) -> Result<u64, String> {
        let segment = Segment::parse(bytes)?;
        let flows = self.flows.entry(ports(end, &segment)).or_insert_with(|| vec![Flow::default()]);
        if let Some(next) = flows.last().and_then(|last| last.next(end, &segment)) {
            flows.push(next);
        }
        let checked = sent_on_one(flows, end, &segment, &self.rules);
        let (flow, again) = checked.map_err(|error| format!("{segment}: {error}"))?;
        self.retransmitted += again;
        self.known.push((end, flow, segment));
        Ok(self.known.len() as u64 - 1)
    }

    /// The packet with this number has arrived whole at the other end.
    pub fn arrived(&mut self, id: u64) {
        let (end, flow, segment) = &self.known[id as usize];
        if let Some(flows) = self.flows.get_mut(&ports(*end, segment)) {
            flows[*flow].arrived(*end, segment);
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

/// The newest connection to which a segment can belong, and how many of its bytes were sent before.
fn sent_on_one(flows: &mut [Flow], end: usize, s: &Segment, rules: &Rules) -> Result<(usize, u64), String> {
    let last = flows.len() - 1;
    if last == 0 {
        return flows[0].sent(end, s, rules).map(|again| (0, again));
    }
    let mut first_error = None;
    for index in (0..=last).rev() {
        let mut flow = flows[index].clone();
        match flow.sent(end, s, rules) {
            Ok(again) => {
                flows[index] = flow;
                return Ok((index, again));
            }
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    Err(first_error.unwrap_or_default())
}

fn ports(end: usize, segment: &Segment) -> (u16, u16) {
    let (source, destination) = segment.ports;
    if end == 0 { (source, destination) } else { (destination, source) }
}

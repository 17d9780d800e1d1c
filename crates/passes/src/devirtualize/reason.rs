//! Why two elements cannot share code: the shortest way from both, along what their code calls, to where a rule tells
//! them apart.

use std::collections::{BTreeSet, VecDeque};
use std::fmt::{self, Display, Formatter};

use super::sharing::{Call, Own, Sharing};
use crate::{ElementId, Network};

/// Why two elements do not share code.
#[derive(Clone, Debug)]
pub struct Reason {
    /// The ways, from one element and from the other, as they are to be read.
    ways: [String; 2],
    difference: Difference,
}

/// What a rule finds at the ends of both ways.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Difference {
    Classes,
    Ports,
    Kinds,
    Code,
    /// A port calls another port.
    Far {
        is_output: bool,
        port: usize,
        far: [usize; 2],
    },
    /// One is specialised and the other is not.
    Specialised,
    /// Nothing was found near enough.
    Distant,
}

/// How many pairs of elements are looked at for a reason, so that those of thousands of elements are found in a moment.
const MOST_PAIRS: usize = 100;
/// The most elements of a way that are named, without those in its middle.
const MOST_NAMES: usize = 8;

impl Reason {
    /// Why `a` and `b` do not share code; `None` if they do.
    pub fn find(sharing: &Sharing, network: &Network, a: ElementId, b: ElementId) -> Option<Reason> {
        let mut seen = BTreeSet::from([(a, b)]);
        let mut queue = VecDeque::from([Way { at: (a, b), before: None }]);
        let mut walked = Vec::new();
        while let Some(way) = queue.pop_front() {
            let (a, b) = way.at;
            walked.push(way);
            if walked.len() > MOST_PAIRS {
                return Some(Reason { ways: ways(&walked[..1], network), difference: Difference::Distant });
            }
            if let Some(difference) = sharing.difference(a, b) {
                return Some(Reason { ways: ways(&walked, network), difference });
            }
            for (call, other) in sharing.calls(a).iter().zip(sharing.calls(b)) {
                let at = (call.far.element, other.far.element);
                if sharing.group(at.0) != sharing.group(at.1) && seen.insert(at) {
                    queue.push_back(Way { at, before: Some((walked.len() - 1, *call)) });
                }
            }
        }
        None
    }
}

/// Where a search has got to, and from which of the ways walked before, along which call.
struct Way {
    at: (ElementId, ElementId),
    before: Option<(usize, Call)>,
}

/// The way to the last of those walked, from both elements.
fn ways(walked: &[Way], network: &Network) -> [String; 2] {
    let name = |id: ElementId| network.element(id).map_or("", |e| e.name.as_str());
    let mut parts = [Vec::new(), Vec::new()];
    let mut next = walked.last();
    while let Some(way) = next {
        let arrow = way.before.map_or(String::new(), |(_, call)| arrow(call));
        for (parts, id) in parts.iter_mut().zip([way.at.0, way.at.1]) {
            parts.push(format!("{arrow}{}", name(id)));
        }
        next = way.before.map(|(index, _)| &walked[index]);
    }
    parts.map(|mut parts| {
        parts.reverse();
        if parts.len() > MOST_NAMES {
            let end = parts.len() - MOST_NAMES / 2;
            parts.splice(MOST_NAMES / 2..end, [" ...".to_string()]);
        }
        parts.concat()
    })
}

/// A connection as the Click language has it, or the other way round if packets are pulled along it. Port 0 is left out.
fn arrow(call: Call) -> String {
    let port = |n: usize| if n == 0 { String::new() } else { format!(" [{n}]") };
    let (near, far) = (port(call.port), port(call.far.port).trim_start().to_string());
    let far = if far.is_empty() { far } else { far + " " };
    format!("{near} {} {far}", if call.is_output { "->" } else { "<-" })
}

impl Sharing {
    pub(super) fn calls(&self, id: ElementId) -> &[Call] {
        self.profiles.get(&id).map_or(&[], |p| &p.calls)
    }

    /// What tells two elements apart without a look at others.
    fn difference(&self, a: ElementId, b: ElementId) -> Option<Difference> {
        let (a, b) = match (self.profiles.get(&a), self.profiles.get(&b)) {
            (Some(a), Some(b)) => (a, b),
            (None, None) => return None,
            _ => return Some(Difference::Specialised),
        };
        own_difference(&a.own, &b.own).or_else(|| call_difference(&a.calls, &b.calls))
    }
}

fn own_difference(a: &Own, b: &Own) -> Option<Difference> {
    let counts = |own: &Own| (own.inputs.len(), own.outputs.len());
    let kinds = |own: &Own| [own.inputs.clone(), own.outputs.clone()];
    let rules = [
        (a.class != b.class, Difference::Classes),
        (counts(a) != counts(b), Difference::Ports),
        (kinds(a) != kinds(b), Difference::Kinds),
        (a.code != b.code, Difference::Code),
    ];
    rules.into_iter().find(|(differ, _)| *differ).map(|(_, difference)| difference)
}

fn call_difference(a: &[Call], b: &[Call]) -> Option<Difference> {
    let near = |c: &Call| (c.is_output, c.port);
    if !a.iter().map(near).eq(b.iter().map(near)) {
        return Some(Difference::Ports);
    }
    let (x, y) = a.iter().zip(b).find(|(x, y)| x.far.port != y.far.port)?;
    Some(Difference::Far { is_output: x.is_output, port: x.port, far: [x.far.port, y.far.port] })
}

impl Display for Reason {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [a, b] = &self.ways;
        write!(f, "{a} is not as {b}: ")?;
        match &self.difference {
            Difference::Classes => f.write_str("other class"),
            Difference::Ports => f.write_str("other ports"),
            Difference::Kinds => f.write_str("one is push where the other is pull"),
            Difference::Code => f.write_str("other arguments"),
            Difference::Far { is_output: true, port, far: [x, y] } => {
                write!(f, "output {port} leads to input {x} of the next element, not to input {y}")
            }
            Difference::Far { is_output: false, port, far: [x, y] } => {
                write!(f, "input {port} pulls from output {x} of the next element, not from output {y}")
            }
            Difference::Specialised => f.write_str("one of them is not specialised"),
            Difference::Distant => f.write_str("something is different far behind them"),
        }
    }
}

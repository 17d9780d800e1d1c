//! The two data-flow analyses: how packets lie on each port, forward from the sources, and how they ought to, backward from
//! what needs it.
//!
//! Both find the fixed point that says most: forward, everything that is true of all packets on all ways; backward, the
//! weakest demand that serves all who need something, or that there is none.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use clickwork_lang::Port;

use super::alignment::Alignment;
use super::rules::{Change, Need, Rule, rule, unknown};
use crate::defines::expanded;
use crate::facts::Facts;
use crate::{ElementId, Network};

/// The rules of all elements of a network.
pub struct Rules<'a> {
    facts: &'a Facts<'a>,
    rules: BTreeMap<ElementId, Known>,
}

/// What is known about an element.
struct Known {
    rule: Rule,
    /// Whether packets may go from every input to every output.
    mixes: bool,
}

impl Known {
    fn new(facts: &Facts<'_>, class: &str, rule: Rule) -> Known {
        Known { rule, mixes: facts.of(class).flow == "x/x" }
    }
}

impl<'a> Rules<'a> {
    /// Finds the rules. `doubt` is told of elements that move packets nobody knows how far, and which argument would say it.
    pub fn new(network: &Network, facts: &'a Facts<'a>, mut doubt: impl FnMut(ElementId, &str)) -> Rules<'a> {
        let mut rules = BTreeMap::new();
        for (id, element) in network.elements() {
            let config = expanded(network, id).unwrap_or_default();
            let found = rule(facts.base(&element.class), facts.of(&element.class).class, &config);
            let found = found.unwrap_or_else(|argument| {
                doubt(id, argument);
                unknown()
            });
            rules.insert(id, Known::new(facts, &element.class, found));
        }
        Rules { facts, rules }
    }

    /// Learns the rule of a new element.
    pub fn add(&mut self, network: &Network, id: ElementId) {
        if let Some(element) = network.element(id) {
            let class = self.facts.of(&element.class).class;
            let found =
                rule(self.facts.base(&element.class), class, &element.config).unwrap_or_else(|_| unknown());
            self.rules.insert(id, Known::new(self.facts, &element.class, found));
        }
    }

    /// What is needed at an input.
    pub fn need(&self, input: Port) -> Need {
        self.rules.get(&input.element).map_or(Need::Downstream, |known| known.rule.need(input.port))
    }

    /// What happens to packets that leave by an output.
    pub fn change(&self, output: Port) -> Change {
        self.rules.get(&output.element).map_or(Change::Keep, |known| known.rule.change(output.port))
    }

    /// Whether packets may go from every input of an element to every output.
    fn mixes(&self, id: ElementId) -> bool {
        self.rules.get(&id).is_some_and(|known| known.mixes)
    }

    /// Whether packets may go through an element from one port to another.
    fn flows(&self, network: &Network, id: ElementId, input: usize, output: usize) -> bool {
        self.mixes(id) || network.element(id).is_some_and(|e| self.facts.of(&e.class).flows(input, output))
    }
}

/// How packets lie on each connected port.
#[derive(Debug, Default)]
pub struct Have {
    inputs: BTreeMap<Port, Alignment>,
    outputs: BTreeMap<Port, Alignment>,
}

impl Have {
    /// Follows packets from their sources.
    pub fn new(network: &Network, rules: &Rules<'_>) -> Have {
        let mut have = Have::default();
        // First come, first served: an element with many inputs is looked at again once for all that have changed.
        let mut queue: VecDeque<ElementId> = network.elements().map(|(id, _)| id).collect();
        let mut queued: BTreeSet<ElementId> = queue.iter().copied().collect();
        while let Some(id) = queue.pop_front() {
            queued.remove(&id);
            // The same for all outputs.
            let all_came = rules.mixes(id).then(|| have.came(network, rules, Port { element: id, port: 0 }));
            for output in ports(id, network.output_count(id)) {
                let came = all_came.unwrap_or_else(|| have.came(network, rules, output));
                let lies = changed(came, rules.change(output));
                if have.output(output) == lies {
                    continue;
                }
                have.outputs.insert(output, lies);
                for to in network.leaving(output).map(|c| c.to) {
                    let before = have.input(to);
                    let now = before.or(lies);
                    if now != before {
                        have.inputs.insert(to, now);
                        if queued.insert(to.element) {
                            queue.push_back(to.element);
                        }
                    }
                }
            }
        }
        have
    }

    /// How packets lay before the element changed them that leave by a port.
    fn came(&self, network: &Network, rules: &Rules<'_>, output: Port) -> Alignment {
        let inputs = ports(output.element, network.input_count(output.element));
        let mut sources =
            inputs.filter(|i| rules.flows(network, output.element, i.port, output.port)).peekable();
        match sources.peek() {
            Some(_) => sources.map(|input| self.input(input)).fold(Alignment::Nothing, Alignment::or),
            None => Alignment::ANY,
        }
    }

    /// How packets lie that come in at a port.
    pub fn input(&self, port: Port) -> Alignment {
        self.inputs.get(&port).copied().unwrap_or(Alignment::Nothing)
    }

    /// How packets lie that leave by a port.
    pub fn output(&self, port: Port) -> Alignment {
        self.outputs.get(&port).copied().unwrap_or(Alignment::Nothing)
    }
}

fn changed(came: Alignment, change: Change) -> Alignment {
    match change {
        _ if came == Alignment::Nothing => came,
        Change::Keep => came,
        Change::Move(bytes) => came.moved(bytes),
        Change::Steps(bytes, step) => came.moved(bytes).coarse(step),
        Change::Make(alignment) => alignment,
        Change::MoveOrMake(bytes, alignment) => came.moved(bytes).or(alignment),
        Change::Nothing => Alignment::Nothing,
        Change::Lose => Alignment::ANY,
    }
}

/// A demand; nothing if what is demanded contradicts itself.
type Demand = Option<Alignment>;

/// How packets ought to lie on each connected input.
#[derive(Debug, Default)]
pub struct Want {
    inputs: BTreeMap<Port, Demand>,
    /// Inputs whose own need contradicts what is needed behind them. They ask only for their own, from then on: else
    /// demands in a cycle might change for ever.
    alone: BTreeSet<Port>,
}

impl Want {
    /// Follows demands back towards the sources.
    pub fn new(network: &Network, rules: &Rules<'_>) -> Want {
        let mut want = Want::default();
        let mut queue: BTreeSet<ElementId> = network.elements().map(|(id, _)| id).collect();
        while let Some(id) = queue.pop_last() {
            // The same for all inputs.
            let all_lead =
                rules.mixes(id).then(|| want.behind(network, rules, Port { element: id, port: 0 }));
            for input in ports(id, network.input_count(id)) {
                let downstream = all_lead.unwrap_or_else(|| want.behind(network, rules, input));
                let demand = want.entering(rules, input, downstream);
                if want.input(input) == demand {
                    continue;
                }
                want.inputs.insert(input, demand);
                queue.extend(network.entering(input).map(|c| c.from.element));
            }
        }
        want
    }

    /// What is needed behind an element of packets that come in at a port.
    fn behind(&self, network: &Network, rules: &Rules<'_>, input: Port) -> Demand {
        let outputs = ports(input.element, network.output_count(input.element));
        let leads = outputs.filter(|o| rules.flows(network, input.element, input.port, o.port));
        let demands = leads.map(|output| self.before(network, rules, output));
        demands.fold(Some(Alignment::ANY), both)
    }

    fn entering(&mut self, rules: &Rules<'_>, input: Port, downstream: Demand) -> Demand {
        match rules.need(input) {
            Need::At(own) if self.alone.contains(&input) => Some(own),
            Need::At(own) => both(Some(own), downstream).or_else(|| {
                self.alone.insert(input);
                Some(own)
            }),
            Need::Downstream | Need::Alike(_) => downstream,
        }
    }

    /// What the demand at an output means for packets before the element changes them.
    fn before(&self, network: &Network, rules: &Rules<'_>, output: Port) -> Demand {
        let targets = network.leaving(output).map(|c| self.input(c.to));
        let demand = targets.fold(Some(Alignment::ANY), both)?;
        let serves = |before: Alignment, can: bool| Some(if can { before } else { Alignment::ANY });
        match rules.change(output) {
            Change::Keep => Some(demand),
            Change::Move(bytes) => Some(demand.moved(-bytes)),
            Change::Steps(bytes, step) => serves(demand.moved(-bytes), demand.modulus() <= step),
            Change::MoveOrMake(bytes, made) => serves(demand.moved(-bytes), made.satisfies(demand)),
            Change::Make(_) | Change::Nothing | Change::Lose => Some(Alignment::ANY),
        }
    }

    /// How packets ought to lie that come in at a port.
    pub fn input(&self, port: Port) -> Demand {
        self.inputs.get(&port).copied().unwrap_or(Some(Alignment::ANY))
    }
}

fn both(a: Demand, b: Demand) -> Demand {
    a?.and(b?)
}

/// The first ports of an element.
pub fn ports(element: ElementId, count: usize) -> impl Iterator<Item = Port> {
    (0..count).map(move |port| Port { element, port })
}

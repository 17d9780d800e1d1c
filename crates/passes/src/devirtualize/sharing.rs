//! Which elements can share code, by the rules of the paper (§6.1): two elements can if
//!
//! 1. they are of the same class,
//! 2. they have the same numbers of ports,
//! 3. the same ports push, and the same pull,
//! 4. and what their code calls, by a push output or a pull input, is the same port of elements that can share code.
//!
//! Our code has an element's arguments in it, so there is one more rule, 0: its own code is the same. Rule 4 speaks of
//! itself, also in cycles; what is sought is the largest relation that the rules allow, which is the
//! [coarsest partition](super::partition).

use std::collections::{BTreeMap, HashMap};

use clickwork_lang::Port;
use clickwork_router::Processing;

use super::Choices;
use super::partition::coarsest;
use crate::facts::Facts;
use crate::kinds::Kinds;
use crate::{ElementId, Network};

/// Which elements share code.
#[derive(Debug)]
pub struct Sharing {
    /// What is known of each specialised element by itself.
    pub(super) profiles: BTreeMap<ElementId, Profile>,
    /// The group of each.
    group: BTreeMap<ElementId, usize>,
    /// The elements of each group. The first elements of groups are in order.
    pub groups: Vec<Vec<ElementId>>,
    /// How many times a connection was looked at, which is what the time goes into.
    pub looks: usize,
}

/// What is known of an element before one looks at others.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    pub own: Own,
    /// What its code calls: push outputs, then pull inputs, by number.
    pub calls: Vec<Call>,
}

/// What rules 0 to 3 compare.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Own {
    pub class: String,
    pub inputs: Vec<Processing>,
    pub outputs: Vec<Processing>,
    pub code: Option<String>,
}

/// A connection that an element's code goes along.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub is_output: bool,
    pub port: usize,
    /// The port on the other side.
    pub far: Port,
}

impl Sharing {
    /// Finds out which elements of a network share code. Those that `choices` leave out, and those without ports, are not
    /// specialised; code calls them like any element.
    pub fn new(network: &Network, facts: &Facts<'_>, choices: &Choices<'_>) -> Sharing {
        let kinds = Kinds::new(network, facts, |_| None);
        let profiles: BTreeMap<ElementId, Profile> = network
            .elements()
            .filter(|(_, e)| !choices.leaves_out(facts, e))
            .map(|(id, _)| (id, profile(network, facts, &kinds, choices, id)))
            .filter(|(_, p)| !(p.own.inputs.is_empty() && p.own.outputs.is_empty()))
            .collect();
        Sharing::of(profiles)
    }

    fn of(profiles: BTreeMap<ElementId, Profile>) -> Sharing {
        // Node 0 stands for all elements that are not specialised.
        let node: BTreeMap<ElementId, usize> = profiles.keys().copied().zip(1..).collect();
        let node_of = |id: &ElementId| node.get(id).copied().unwrap_or(0);
        let mut known = HashMap::new();
        let (mut colours, mut steps) = (vec![0], vec![Vec::new()]);
        for profile in profiles.values() {
            let next = known.len() + 1;
            colours.push(*known.entry(profile.colour()).or_insert(next));
            steps.push(profile.calls.iter().map(|c| node_of(&c.far.element)).collect());
        }
        let partition = coarsest(&colours, &steps);
        let group: BTreeMap<ElementId, usize> =
            node.iter().map(|(&id, &node)| (id, partition.block[node] - 1)).collect();
        let mut groups = vec![Vec::new(); group.values().max().map_or(0, |most| most + 1)];
        group.iter().for_each(|(&id, &group)| groups[group].push(id));
        Sharing { profiles, group, groups, looks: partition.looks }
    }

    /// The group of an element, if it is specialised.
    pub fn group(&self, id: ElementId) -> Option<usize> {
        self.group.get(&id).copied()
    }
}

impl Profile {
    /// What tells it apart without a look at its neighbours: all but that they share code.
    fn colour(&self) -> (&Own, Vec<(bool, usize, usize)>) {
        (&self.own, self.calls.iter().map(|c| (c.is_output, c.port, c.far.port)).collect())
    }
}

fn profile(
    network: &Network,
    facts: &Facts<'_>,
    kinds: &Kinds,
    choices: &Choices<'_>,
    id: ElementId,
) -> Profile {
    let kind = |is_output: bool, port| kinds.resolved(network, facts, Port { element: id, port }, is_output);
    let side = |is_output: bool, count| (0..count).map(|port| kind(is_output, port)).collect::<Vec<_>>();
    let (inputs, outputs) = (side(false, network.input_count(id)), side(true, network.output_count(id)));
    let pushed = network.outputs(id).into_iter().filter(|c| outputs[c.from.port] == Processing::Push);
    let pulled = network.inputs(id).into_iter().filter(|c| inputs[c.to.port] == Processing::Pull);
    let calls = pushed
        .map(|c| Call { is_output: true, port: c.from.port, far: c.to })
        .chain(pulled.map(|c| Call { is_output: false, port: c.to.port, far: c.from }))
        .collect();
    let (class, code) =
        network.element(id).map(|e| (e.class.clone(), choices.code_of(e))).unwrap_or_default();
    Profile { own: Own { class, inputs, outputs, code }, calls }
}

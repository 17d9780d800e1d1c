//! Which elements share which class, and why, for people to read.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::sharing::Call;
use super::{Reason, Sharing, Specialised};
use crate::{ElementId, Network};

/// A paragraph for each class: its elements, what their code calls, and what tells them from those of the first class with the
/// same base. Then the elements that are not specialised.
pub fn listing(network: &Network, sharing: &Sharing, specialised: &[Specialised]) -> String {
    let mut text = String::new();
    let mut firsts = BTreeMap::new();
    for Specialised { class, base, elements } in specialised {
        let names: Vec<&str> = elements.iter().map(|&id| name(network, id)).collect();
        let _ = writeln!(text, "{class}: {}", names.join(", "));
        let Some(&first) = elements.first() else { continue };
        for call in sharing.calls(first) {
            let _ = writeln!(text, "    {}", callee(network, call));
        }
        let like = *firsts.entry(base).or_insert(first);
        if let Some(reason) = Reason::find(sharing, network, first, like) {
            let _ = writeln!(text, "    {reason}");
        }
    }
    for (_, e) in network.elements().filter(|(id, _)| sharing.group(*id).is_none()) {
        let _ = writeln!(text, "{}: {} (not specialised)", e.class, e.name);
    }
    text
}

fn name(network: &Network, id: ElementId) -> &str {
    network.element(id).map_or("", |e| &e.name)
}

/// What a port calls.
fn callee(network: &Network, call: &Call) -> String {
    let class = network.element(call.far.element).map_or("", |e| &e.class);
    match call.is_output {
        true => format!("output {} pushes to input {} of {class}", call.port, call.far.port),
        false => format!("input {} pulls from output {} of {class}", call.port, call.far.port),
    }
}

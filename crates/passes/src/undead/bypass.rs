//! Elements that hand packets through unchanged: connections go past them.

use clickwork_lang::Port;
use clickwork_router::Processing;
use clickwork_router::args::{Args, Names};
use clickwork_source::Diagnostic;

use super::{Undead, port};
use crate::ElementId;
use crate::defines::expanded;
use crate::kinds::Kinds;

/// Classes whose only lasting effect, if connections go past them, can be that they make their neighbours pull. All of
/// them are taken for agnostic to see whether the neighbours pull by themselves.
fn agnostic(class: &str) -> Option<&'static str> {
    match class {
        "PullTee" => Some("a/ah"),
        "PullNull"
        | "StaticPullSwitch"
        | "RoundRobinSched"
        | "SimpleRoundRobinSched"
        | "PrioSched"
        | "SimplePrioSched"
        | "StrideSched" => Some("a/a"),
        _ => None,
    }
}

impl Undead<'_> {
    /// Bypasses static switches and nulls. Whether there were any.
    pub(super) fn bypass_static(&mut self) -> bool {
        let before = self.network.elements().count();
        self.weak = None;
        for id in self.removable("StaticSwitch") {
            if let Some(output) = self.choice(id, "OUTPUT", false) {
                self.bypass_switch(id, port(id, 0), output.map(|n| port(id, n)), "output", output);
            }
        }
        for id in self.removable("StaticPullSwitch") {
            if let Some(input) = self.choice(id, "INPUT", true) {
                self.bypass_pull_switch(id, input);
            }
        }
        for class in ["Null", "PushNull", "PullNull"] {
            for id in self.removable(class) {
                self.bypass(id, port(id, 0), port(id, 0), "it does nothing");
            }
        }
        self.network.elements().count() < before
    }

    fn bypass_switch(
        &mut self,
        id: ElementId,
        input: Port,
        output: Option<Port>,
        side: &str,
        number: Option<usize>,
    ) {
        let why = match number {
            Some(n) => format!("all packets take {side} {n}"),
            None => "it drops all packets".to_string(),
        };
        if let Some(output) = output {
            self.network.bridge(input, output);
        }
        self.remove(id, &why);
    }

    fn bypass_pull_switch(&mut self, id: ElementId, number: Option<usize>) {
        let input = number.map(|n| port(id, n));
        if input.is_some_and(|input| !self.pulls_anyway(input, port(id, 0))) {
            return;
        }
        match input {
            Some(input) => self.bypass_switch(id, input, Some(port(id, 0)), "input", number),
            None => self.remove(id, "it hands out no packets"),
        }
    }

    /// Which port a static switch takes: none if it takes no packets at all. Nothing if that cannot be told.
    fn choice(&mut self, id: ElementId, argument: &str, is_pull: bool) -> Option<Option<usize>> {
        let element = self.network.element(id)?;
        let class = self.facts.of(&element.class).class?;
        let config = expanded(self.network, id).unwrap_or_default();
        let number = Args::new(class.args, &config, &Names::default()).get::<i32>(argument);
        let (inputs, outputs) = self.ports.get(&id).copied().unwrap_or_default();
        let ports = if is_pull { inputs } else { outputs };
        match number.map(usize::try_from) {
            Some(Err(_)) => Some(None),
            Some(Ok(number)) if number < ports => Some(Some(number)),
            _ => {
                let what = "left alone: its configuration does not say which port packets take";
                self.push_once(Diagnostic::warning(
                    self.span(id),
                    format!("{} {what}", self.declaration(id)),
                ));
                None
            }
        }
    }

    /// Connects what enters `input` to what leaves `output`, if both are in use and no neighbour changes between push and
    /// pull by it, and removes the element. Whether it did.
    pub(super) fn bypass(&mut self, id: ElementId, input: Port, output: Port, why: &str) -> bool {
        let sources = self.network.entering(input).count();
        let targets = self.network.leaving(output).count();
        let circle = self.network.leaving(output).any(|c| c.to.element == id);
        // More than one on each side cannot be right, nor can further ports; whoever runs it will hear.
        let is_odd = sources.min(targets) != 1 || circle;
        if is_odd || !self.is_alone(id, input, output) || !self.pulls_anyway(input, output) {
            return false;
        }
        self.network.bridge(input, output);
        self.remove(id, why);
        true
    }

    fn is_alone(&self, id: ElementId, input: Port, output: Port) -> bool {
        self.network.inputs(id).iter().all(|c| c.to == input)
            && self.network.outputs(id).iter().all(|c| c.from == output)
    }

    /// Whether an element that makes its neighbours pull stands where they would without it.
    fn pulls_anyway(&mut self, input: Port, output: Port) -> bool {
        let class = self.network.element(input.element).map_or("", |e| e.class.as_str());
        if agnostic(self.facts.base(class)).is_none() {
            return true;
        }
        let kinds = self.weak.get_or_insert_with(|| Kinds::new(self.network, self.facts, agnostic));
        [kinds.input(input), kinds.output(output)].contains(&Processing::Pull)
    }
}

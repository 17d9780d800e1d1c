//! What a router does with the frames of its sources, to be compared with what another does.

use super::start;
use clickwork_compile::{Scope, plan};
use clickwork_router::{Driver, Handler, Registry, Router};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// What was seen of a router.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Trial {
    /// By Witness: the packets that passed, in order. What a Script prints is here under no name.
    pub packets: BTreeMap<String, Vec<String>>,
    /// `ELEMENT.HANDLER`, and its value at the end.
    pub handlers: BTreeMap<String, String>,
}

/// Runs a router for a simulated second and reads the handlers of its elements, but not of those of the classes in `silent`.
pub fn run(text: &str, ordered: bool, silent: &[&str]) -> Trial {
    run_with(text, &Arc::new(super::frames::registry()), ordered, silent)
}

/// As [`run`], of a configuration with classes that tools have made. The code of elements that they have specialised takes the
/// packets along paths, as if it were compiled.
pub fn run_with(text: &str, registry: &Arc<Registry>, ordered: bool, silent: &[&str]) -> Trial {
    let (mut router, graph, log) = start(text, ordered, registry);
    router.install(plan(&router, Scope::Specialised));
    Driver::default().run_for(&mut router, Duration::from_secs(1));
    let mut trial = Trial::default();
    for line in log.taken().lines() {
        let witness = line.strip_prefix("witness ").and_then(|rest| rest.split_once(' '));
        match witness {
            Some((name, packet)) => {
                trial.packets.entry(name.to_string()).or_default().push(packet.to_string())
            }
            None if line.ends_with("count:") || line.bytes().all(|b| b.is_ascii_digit()) => {
                trial.packets.entry(String::new()).or_default().push(line.to_string());
            }
            None => {}
        }
    }
    for element in graph.elements.iter().filter(|e| !silent.contains(&&*e.class)) {
        let class = registry.get(&element.class);
        let handlers = class.map_or(&[][..], |class| class.handlers);
        read(&mut router, &element.name, handlers, &mut trial.handlers);
    }
    trial
}

/// Reads the handlers that are an element's own. Not what time it is, nor rates, which depend on that: what time it is at the
/// end depends on who was still waiting for a timer. Nor how often the driver called, nor the configuration.
fn read(router: &mut Router, element: &str, handlers: &[Handler], values: &mut BTreeMap<String, String>) {
    let may_change = |name: &str| matches!(name, "now" | "calls" | "config") || name.ends_with("rate");
    let readable = handlers.iter().filter(|h| h.read.is_some() && !h.parameter && h.numbered.is_none());
    for handler in readable.filter(|h| !may_change(h.name)) {
        let name = format!("{element}.{}", handler.name);
        let value = router.read(&name, "").map_or_else(|e| e.to_string(), |v| v.text());
        values.insert(name, value);
    }
}

impl Trial {
    /// With packets that are seen at the same time in any order.
    pub fn unordered(mut self) -> Trial {
        self.packets.values_mut().for_each(|packets| packets.sort());
        self
    }

    /// How many packets were seen.
    pub fn seen(&self) -> usize {
        self.packets.values().map(Vec::len).sum()
    }

    /// The difference from what another router did, which may lack elements and have others besides; nothing if there is none.
    pub fn difference(&self, other: &Trial) -> Option<String> {
        if self.packets != other.packets {
            let mut names = self.packets.keys().chain(other.packets.keys());
            let wrong = names.find(|name| self.packets.get(*name) != other.packets.get(*name))?;
            let lines = |t: &Trial| t.packets.get(wrong).map_or(String::new(), |lines| lines.join("\n  "));
            return Some(format!("{wrong} saw\n  {}\nand then\n  {}", lines(self), lines(other)));
        }
        let both =
            self.handlers.iter().filter_map(|(name, value)| Some((name, value, other.handlers.get(name)?)));
        let wrong = both.filter(|(_, was, is)| was != is);
        let lines: Vec<String> = wrong.map(|(name, was, is)| format!("{name} was {was}, is {is}")).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

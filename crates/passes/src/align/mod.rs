//! Alignment of packets: Aligns are put in where elements need them, and taken out where they are not needed.
//!
//! Some machines cannot read a word from an address that is no multiple of its size. Which elements read words, and where
//! packets begin when they get there, is known before the router runs ([`rules`]). So two analyses ([`flow`]) tell how
//! packets lie and how they ought to, and Aligns go where the two differ: as early as one place serves all that follow.
//! Then Aligns that do nothing go again ([`spare`]). An AlignmentInfo tells the result.
//!
//! What is known about a port is true of all packets, with one exception: an element that removes a header empties packets
//! that are shorter than it, and those lie anywhere.

mod alignment;
mod flow;
mod rules;
mod spare;

use std::collections::BTreeSet;

use clickwork_lang::Port;
use clickwork_source::{Diagnostic, Diagnostics, Span};

pub use self::alignment::Alignment;
use self::flow::{Have, Rules, Want, ports};
use self::rules::Need;
use crate::facts::Facts;
use crate::mentions::mentions;
use crate::{ElementId, Network};

/// Puts in the Aligns that elements need, takes out those that nobody needs, and says in an AlignmentInfo how packets come
/// in. What is added has `place`. The messages are notes on what changed, and warnings about what could not be judged and
/// about how many Aligns there are now that were not there before.
pub fn align(network: &mut Network, facts: &Facts<'_>, place: Span) -> Diagnostics {
    let mut messages = Diagnostics::new();
    let rules = Rules::new(network, facts, |id, argument| messages.push(doubt(network, id, argument)));
    let mentioned = mentions(network, facts).into_keys().collect();
    let mut pass = Align { network, facts, rules, place, mentioned, added: Vec::new(), messages };
    pass.add_needed();
    pass.join_neighbours();
    pass.add_alike();
    pass.bypass_spare();
    pass.remove_unused();
    pass.inform();
    pass.report();
    pass.messages
}

/// How packets lie that come in at each used input of each element: what an AlignmentInfo can say.
pub fn alignments(network: &Network, facts: &Facts<'_>) -> Vec<(ElementId, Vec<Alignment>)> {
    let have = Have::new(network, &Rules::new(network, facts, |_, _| ()));
    let inputs = |id| ports(id, network.input_count(id)).map(|port| have.input(port)).collect();
    network.elements().map(|(id, _)| (id, inputs(id))).collect()
}

fn doubt(network: &Network, id: ElementId, argument: &str) -> Diagnostic {
    let (name, class) = network.element(id).map_or(("", ""), |e| (&e.name, &e.class));
    let message =
        format!("'{name} :: {class}': cannot tell how packets lie behind it: {argument} cannot be read");
    Diagnostic::warning(network.element(id).map_or(Span::NONE, |e| e.span), message)
}

struct Align<'a> {
    network: &'a mut Network,
    facts: &'a Facts<'a>,
    rules: Rules<'a>,
    place: Span,
    /// Elements that must stay because others call them by name.
    mentioned: BTreeSet<ElementId>,
    /// Aligns that were put in, for whom, and why.
    added: Vec<(ElementId, Span, String)>,
    messages: Diagnostics,
}

impl Align<'_> {
    /// Puts an Align before every input at which packets do not lie as they ought to; and again, since an Align may be
    /// wrong for what follows and was right as it was.
    fn add_needed(&mut self) {
        let mut left: BTreeSet<Port> = self.inputs().into_iter().collect();
        loop {
            let have = Have::new(self.network, &self.rules);
            let want = Want::new(self.network, &self.rules);
            let before = left.len();
            left.retain(|&input| {
                let wanted = want.input(input).unwrap_or(Alignment::ANY);
                !self.add_unless(have.input(input), wanted, input)
            });
            if left.len() == before {
                return;
            }
        }
    }

    /// Puts Aligns before elements that do not care how packets lie if only they all lie alike.
    fn add_alike(&mut self) {
        let have = Have::new(self.network, &self.rules);
        for input in self.inputs() {
            let Need::Alike(step) = self.rules.need(input) else { continue };
            let inputs = ports(input.element, self.network.input_count(input.element));
            let all = inputs.map(|i| have.input(i)).fold(Alignment::Nothing, Alignment::or);
            let wanted = if all.modulus() < step { Alignment::at(step, all.offset()) } else { all };
            self.add_unless(have.input(input), wanted, input);
        }
    }

    /// All used inputs.
    fn inputs(&self) -> Vec<Port> {
        let inputs = self.network.connections().map(|c| c.to);
        inputs.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Puts an Align before an input unless packets lie there as wanted. Whether it did.
    fn add_unless(&mut self, lies: Alignment, wanted: Alignment, input: Port) -> bool {
        if lies.satisfies(wanted) {
            return false;
        }
        let config = format!("{}, {}", wanted.modulus(), wanted.offset());
        let name = match self.added.len() {
            0 => "Align@click_align".to_string(),
            n => format!("Align@click_align@{}", n + 1),
        };
        let id = self.network.add_new(&name, "Align", &config, self.place);
        let (into, out) = (Port { element: id, port: 0 }, Port { element: id, port: 0 });
        self.network.redirect_inputs(input, into);
        self.network.connect(out, input, self.place);
        self.rules.add(self.network, id);
        let why = match lies.modulus() {
            1 => "packets lie there in any way".to_string(),
            modulus => format!("packets lie there at {modulus}/{}", lies.offset()),
        };
        let element = self.declaration(input.element);
        let span = self.network.element(input.element).map_or(self.place, |e| e.span);
        self.added.push((id, span, format!("before input {} of {element}: {why}", input.port)));
        true
    }

    /// The AlignmentInfo: in place of those that were there. One that says just this stays as it is.
    fn inform(&mut self) {
        let config = self.info();
        let old = self.network.of_class("AlignmentInfo");
        let same = |&&id: &&ElementId| self.network.element(id).is_some_and(|e| e.config == config);
        let kept = old.iter().find(same).copied();
        old.iter().filter(|&&id| Some(id) != kept).for_each(|&id| drop(self.network.remove(id)));
        if kept.is_none() && !config.is_empty() {
            self.network.add_new("AlignmentInfo@click_align", "AlignmentInfo", &config, self.place);
        }
    }

    /// An entry for each element that can make use of what is known.
    fn info(&self) -> String {
        let have = Have::new(self.network, &self.rules);
        let asks = |class: &str| self.facts.of(class).flag('A').is_some_and(|a| a > 0);
        let mut entries = Vec::new();
        for (id, element) in self.network.elements().filter(|(_, e)| asks(&e.class)) {
            let inputs = ports(id, self.network.input_count(id)).map(|port| have.input(port));
            let pairs: String = inputs.map(|a| format!("  {} {}", a.modulus(), a.offset())).collect();
            if !pairs.is_empty() {
                entries.push(format!("{}{pairs}", element.name));
            }
        }
        entries.join(",\n  ")
    }

    /// Says what was added and is still there.
    fn report(&mut self) {
        let added = std::mem::take(&mut self.added);
        let mut count = 0;
        for (id, span, why) in added.into_iter().filter(|(id, ..)| self.network.element(*id).is_some()) {
            let note = format!("added {} {why}", self.declaration(id));
            self.messages.push(Diagnostic::note(span, note));
            count += 1;
        }
        if count > 0 {
            let s = if count > 1 { "s" } else { "" };
            let message = format!("added {count} Align element{s}");
            self.messages.push(Diagnostic::warning(Span::NONE, message));
        }
    }

    /// `'name :: Class'`, with the configuration if it is short.
    fn declaration(&self, id: ElementId) -> String {
        let Some(e) = self.network.element(id) else { return String::new() };
        match e.config.len() {
            1..=40 => format!("'{} :: {}({})'", e.name, e.class, e.config),
            _ => format!("'{} :: {}'", e.name, e.class),
        }
    }
}

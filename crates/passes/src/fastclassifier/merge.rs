//! Adjacent Classifiers become one: where an output of a Classifier leads to another Classifier, the patterns of the second
//! stand, each together with the pattern of that output, in the place of it. Who has several such neighbours before it is
//! copied into each; it goes away when no packets reach it any more.
//!
//! Packets leave by the same ways, also short ones: every byte is still asked for where it was. But where the second Classifier
//! drops a packet, the first would go on to its later patterns. So it is done only if none of them can match such a packet.
//! (Click's tool does not look, and lets packets through that were dropped.) What changes is what handlers say: the drops of
//! both are counted by the first, and the second has no handlers any more. So none is merged that others call by name.
//!
//! Global variables in the patterns of both are replaced by the values that they have now.
//!
//! IPClassifier and IPFilter stay as they are, as in Click.

use std::collections::{BTreeMap, BTreeSet};

use clickwork_classifier::classifier;
use clickwork_lang::Port;
use clickwork_router::args::{split_args, unquote};
use clickwork_source::{Diagnostic, Diagnostics, Span};

use super::declaration;
use crate::defines::expanded;
use crate::facts::Facts;
use crate::mentions::mentions_except;
use crate::{ElementId, Network};

/// The class whose elements are merged.
const CLASSIFIER: &str = "Classifier";
/// So many patterns at most has an element into which another was copied that stays: chains of copies grow like powers.
const COPIED: usize = 256;

/// Merges what can be. The messages are notes.
pub fn merge(network: &mut Network, facts: &Facts<'_>) -> Diagnostics {
    // How packets lie in memory is told to nobody but the compiler, and it must be told anew.
    let called = mentions_except(network, facts, &["AlignmentInfo"]);
    let (read, merged, refused) = (BTreeSet::new(), Diagnostics::new(), Diagnostics::new());
    let mut merger = Merger { network, called, read, merged, refused };
    loop {
        let before = merger.merged.len();
        merger.refused = Diagnostics::new();
        for id in merger.network.of_class(CLASSIFIER) {
            merger.take_into_senders(id);
        }
        if merger.merged.len() == before {
            merger.merged.extend(merger.refused);
            return merger.merged;
        }
    }
}

struct Merger<'a> {
    network: &'a mut Network,
    /// Elements that others call by name, each with one that does so.
    called: BTreeMap<ElementId, ElementId>,
    /// Elements whose patterns are known to be well formed.
    read: BTreeSet<ElementId>,
    /// Notes about what was done.
    merged: Diagnostics,
    /// Notes about what was not, in this round: when others have been merged it may be right.
    refused: Diagnostics,
}

impl Merger<'_> {
    /// Merges a Classifier into all Classifiers that send packets to it, if that is right.
    fn take_into_senders(&mut self, id: ElementId) {
        let (mut refused, mut is_taken) = (BTreeSet::new(), false);
        while let Some(from) = self.sender(id, &refused) {
            match self.joined(from, id) {
                Ok(patterns) => {
                    self.join(from, id, &patterns);
                    is_taken = true;
                }
                Err(why) => {
                    refused.insert(from);
                    let with = declaration(self.network, from.element);
                    let note = self.note(id, &format!("not merged into {with}: {why}"));
                    self.refused.push(note);
                }
            }
        }
        if is_taken && self.network.inputs(id).is_empty() {
            self.network.remove(id);
        }
    }

    /// The first output of another Classifier that leads to an element.
    fn sender(&self, id: ElementId, refused: &BTreeSet<Port>) -> Option<Port> {
        let input = Port { element: id, port: 0 };
        let is_other = |other| other != id && self.is_classifier(other);
        let from = self.network.entering(input).map(|c| c.from);
        from.filter(|from| is_other(from.element)).find(|from| !refused.contains(from))
    }

    /// The patterns of the Classifier of output `from` once it has taken in the Classifier `to`.
    fn joined(&mut self, from: Port, to: ElementId) -> Result<Vec<String>, String> {
        for id in [to, from.element] {
            if let Some(&by) = self.called.get(&id) {
                let (who, name) = (declaration(self.network, by), self.name(id));
                return Err(format!("{who} may call '{name}' by name"));
            }
        }
        let (mine, theirs) = (self.patterns(from.element)?, self.patterns(to)?);
        let next = self.classifiers_behind(to);
        if next.contains(&to) || next.contains(&from.element) {
            return Err("packets go round in a circle".to_string());
        }
        let stays = self.network.inputs(to).len() > 1;
        if stays && mine.len() + theirs.len() > COPIED {
            return Err(format!("with a copy of it there would be more than {COPIED} patterns"));
        }
        if let Some(later) = wrongly_taken(&mine, from.port, &theirs) {
            return Err(format!("a packet that it drops could match '{}' there", mine[later]));
        }
        let middle = theirs.iter().map(|pattern| both(&mine[from.port], pattern));
        let (before, after) = (&mine[..from.port], &mine[from.port + 1..]);
        Ok(before.iter().cloned().chain(middle).chain(after.iter().cloned()).collect())
    }

    /// The patterns of a Classifier, if they can be read and each has its output connected to one input.
    fn patterns(&mut self, id: ElementId) -> Result<Vec<String>, String> {
        let config = expanded(self.network, id).unwrap_or_default();
        let patterns: Vec<String> = split_args(&config).iter().map(|text| unquote(text)).collect();
        let outputs = self.network.outputs(id).into_iter().map(|c| c.from.port);
        let name = self.name(id);
        if !outputs.eq(0..patterns.len()) || patterns.is_empty() {
            return Err(format!("'{name}' does not have an output for each pattern"));
        }
        if self.network.inputs(id).iter().any(|c| c.to.port != 0) {
            return Err(format!("'{name}' has more than one input"));
        }
        if !self.read.contains(&id) {
            let mut errors = patterns.iter().filter_map(|pattern| classifier(&[pattern]).err()).flatten();
            if let Some(error) = errors.next() {
                return Err(format!("'{name}': {error}"));
            }
            self.read.insert(id);
        }
        Ok(patterns)
    }

    /// Puts the patterns and outputs of `to` in the place of output `from`.
    fn join(&mut self, from: Port, to: ElementId, patterns: &[String]) {
        let (into, what) = (declaration(self.network, from.element), self.network.outputs(to));
        let note = self.note(to, &format!("merged into {into}: its packets come from there"));
        self.merged.push(note);
        let output = |port| Port { element: from.element, port };
        for port in (from.port + 1..self.network.output_count(from.element)).rev() {
            self.network.redirect_outputs(output(port), output(port + what.len() - 1));
        }
        self.network.disconnect(from, Port { element: to, port: 0 });
        for c in what {
            self.network.connect(output(from.port + c.from.port), c.to, c.span);
        }
        if let Some(element) = self.network.element_mut(from.element) {
            element.config = patterns.join(", ");
        }
    }

    fn name(&self, id: ElementId) -> &str {
        self.network.element(id).map_or("", |e| &e.name)
    }

    /// All Classifiers that packets from one reach through none but Classifiers.
    fn classifiers_behind(&self, id: ElementId) -> BTreeSet<ElementId> {
        let (mut reached, mut waiting) = (BTreeSet::new(), vec![id]);
        while let Some(id) = waiting.pop() {
            let next = self.network.outputs(id).into_iter().map(|c| c.to.element);
            waiting.extend(next.filter(|&next| self.is_classifier(next) && reached.insert(next)));
        }
        reached
    }

    fn is_classifier(&self, id: ElementId) -> bool {
        self.network.element(id).is_some_and(|e| e.class == CLASSIFIER)
    }

    fn note(&self, id: ElementId, what: &str) -> Diagnostic {
        let span = self.network.element(id).map_or(Span::NONE, |e| e.span);
        Diagnostic::note(span, format!("{} {what}", declaration(self.network, id)))
    }
}

/// The pattern for packets that match both.
fn both(a: &str, b: &str) -> String {
    match [a, b].map(is_everything) {
        [true, true] => "-".to_string(),
        [true, false] => b.trim().to_string(),
        [false, true] => a.trim().to_string(),
        [false, false] => format!("{} {}", a.trim(), b.trim()),
    }
}

fn is_everything(pattern: &str) -> bool {
    matches!(pattern.trim(), "" | "-")
}

/// A pattern of `mine` behind number `at` that can match a packet which matches number `at`, and none before it, but nothing
/// in `theirs`.
fn wrongly_taken(mine: &[String], at: usize, theirs: &[String]) -> Option<usize> {
    if theirs.iter().any(|pattern| is_everything(pattern)) {
        return None;
    }
    let taken = mine[..at].iter().cloned().chain(theirs.iter().map(|pattern| both(&mine[at], pattern)));
    let mut all: Vec<String> = taken.collect();
    let first = all.len();
    all.extend(mine[at + 1..].iter().map(|later| both(&mine[at], later)));
    match classifier(&all) {
        Ok(compiled) => {
            compiled.program.outputs().range(first..).next().map(|output| at + 1 + output - first)
        }
        Err(_) => Some(at),
    }
}

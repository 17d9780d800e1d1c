//! Patterns that would match forever.
//!
//! Every replacement has a *source*: the latest earlier replacement that all of its elements descend from, if there is one
//! (the immediate dominator, in the graph of replacements and what they were made of). If a pattern matches with the same
//! wildcards as one of its sources did, what happened since will happen again, and again.
//!
//! Patterns can run away without repeating themselves exactly, when configurations grow or replacements move through the
//! network; so there is also a limit to how many replacements there can be in all.

use std::collections::HashMap;

use clickwork_source::Diagnostic;

use super::pattern::Pattern;
use super::wildcard::Bindings;
use crate::ElementId;
use crate::matching::Match;

/// Replacements allowed in any network, and beyond that for each of its elements.
const REPLACEMENTS: usize = 10_000;
const REPLACEMENTS_PER_ELEMENT: usize = 20;

/// Replacements of replacements of replacements: more are too many.
const DEPTH: usize = 1_000;

/// Where elements came from.
pub(super) struct Lineage {
    births: Vec<Birth>,
    /// The replacements that elements came from; those of the user are not here.
    born: HashMap<ElementId, usize>,
    limit: usize,
}

/// A replacement.
struct Birth {
    pattern: usize,
    bindings: Bindings,
    source: Option<usize>,
    /// How many sources there are, one behind the other.
    depth: usize,
}

impl Lineage {
    /// For a network of so many elements, none of them replaced yet.
    pub fn new(elements: usize) -> Lineage {
        let limit = REPLACEMENTS + elements * REPLACEMENTS_PER_ELEMENT;
        Lineage { births: Vec::new(), born: HashMap::new(), limit }
    }

    /// The pattern that made an element.
    pub fn made_by(&self, id: ElementId) -> Option<usize> {
        Some(self.births[*self.born.get(&id)?].pattern)
    }

    /// Notes an element of a replacement.
    pub fn add(&mut self, id: ElementId, birth: usize) {
        self.born.insert(id, birth);
    }

    /// Notes a replacement.
    ///
    /// # Errors
    /// If it shows that replacements go on forever.
    pub fn birth(
        &mut self,
        pattern: usize,
        found: &Match<Bindings>,
        patterns: &[Pattern],
    ) -> Result<usize, Diagnostic> {
        let source = self.common_source(&found.elements);
        let depth = source.map_or(0, |s| self.births[s].depth + 1);
        let sources = std::iter::successors(source, |&s| self.births[s].source);
        let mut between = Vec::new();
        for birth in sources.map(|s| &self.births[s]) {
            if birth.pattern == pattern && birth.bindings == found.bindings {
                let message = format!("pattern '{}' would match forever", patterns[pattern].name);
                return Err(endless(message, pattern, between, patterns));
            }
            between.push(birth.pattern);
        }
        if depth >= DEPTH || self.births.len() >= self.limit {
            let message = format!(
                "pattern '{}' still matches after {} replacements",
                patterns[pattern].name,
                self.births.len()
            );
            return Err(endless(message, pattern, between, patterns));
        }
        self.births.push(Birth { pattern, bindings: found.bindings.clone(), source, depth });
        Ok(self.births.len() - 1)
    }

    /// The latest replacement that all elements descend from.
    fn common_source(&self, elements: &[ElementId]) -> Option<usize> {
        let births = elements.iter().map(|id| self.born.get(id).copied());
        births.reduce(|a, b| self.common(a?, b?)).flatten()
    }

    fn common(&self, mut a: usize, mut b: usize) -> Option<usize> {
        while a != b {
            let (deep, other) = if self.births[a].depth < self.births[b].depth { (b, a) } else { (a, b) };
            (a, b) = (self.births[deep].source?, other);
        }
        Some(a)
    }
}

fn endless(message: String, pattern: usize, mut others: Vec<usize>, patterns: &[Pattern]) -> Diagnostic {
    let span = patterns[pattern].span;
    let mut error = Diagnostic::error(span, message).label(span, "matches what comes of its own replacement");
    others.sort_unstable();
    others.dedup();
    for other in others.into_iter().filter(|&other| other != pattern).map(|other| &patterns[other]) {
        error = error.label(other.span, format!("by way of '{}'", other.name));
    }
    error.hint("change a replacement so that none of the patterns matches it, or use the patterns one after the other")
}

//! `click-xform`: replaces what patterns describe by something equivalent, until no pattern occurs any more.
//!
//! A pattern is a compound class `NAME`, its replacement the class `NAME_Replacement`; [`pattern`] reads both from files.
//! [`wildcard`] compares and fills in configurations, [`replace`] puts a replacement in place of a match, and
//! [`forever`] finds out when patterns undo each other's work without end. [`shipped`] has the patterns that come with
//! the program, and [`Called`] knows who will miss an element that is gone.
//!
//! What a pattern file requires (`require(package ...)`), the configuration requires once a pattern of the file is used.
//!
//! The order is Click's: of the first pattern that occurs, the first occurrence. A pattern does not match what it has
//! made itself, unless other elements are part of the match. After a replacement, only its neighbourhood is searched again.

mod called;
mod forever;
mod pattern;
mod replace;
pub mod shipped;
mod wildcard;

use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

use clickwork_source::{Diagnostic, Sources, Span};

use crate::matching::{Accept, Index, Match, Search};
use crate::{ElementId, Network};
pub use called::Called;
use forever::Lineage;
pub use pattern::{Pattern, Patterns};
use replace::Origin;
use wildcard::Bindings;

/// A replacement that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// The name of the pattern.
    pub pattern: String,
    /// The name under which the new elements stand, such as `Pattern@1`.
    pub compound: String,
    /// The names of the elements that are gone.
    pub elements: Vec<String>,
    /// Where the user wrote the first of them, or what it took the place of.
    pub place: Span,
}

/// Replaces occurrences of the patterns until there is none.
///
/// # Errors
/// If the patterns would match forever, or a pattern has so many partial matches that the search does not end.
pub fn xform(
    network: &mut Network,
    sources: &mut Sources,
    patterns: &[Pattern],
) -> Result<Vec<Replaced>, Diagnostic> {
    let mut work = Work::new(network, sources, patterns);
    let mut replaced = Vec::new();
    while let Some((number, found)) = work.next_match()? {
        replaced.push(work.replace(number, found)?);
    }
    Ok(replaced)
}

/// Pairs of node and element that all searches together may look at, and beyond that for each element of the network:
/// far more than patterns need whose elements are connected with each other.
const EFFORT: usize = 1_000_000;
const EFFORT_PER_ELEMENT: usize = 2_000;

struct Work<'a> {
    network: &'a mut Network,
    sources: &'a mut Sources,
    patterns: &'a [Pattern],
    index: Index,
    /// By pattern: where its first node may be, for all that is known.
    waiting: Vec<BTreeSet<ElementId>>,
    lineage: Lineage,
    /// Where elements that were replaced came from at first.
    origins: HashMap<ElementId, Origin>,
    /// Replacements so far, by name of the pattern.
    counts: HashMap<String, usize>,
    /// What may still be spent on searches.
    effort: usize,
}

impl<'a> Work<'a> {
    fn new(network: &'a mut Network, sources: &'a mut Sources, patterns: &'a [Pattern]) -> Self {
        let index = Index::new(network);
        let waiting = patterns.iter().map(|p| index.of_class(p.fragment.root_class()).collect()).collect();
        let elements = network.elements().count();
        let (lineage, effort) = (Lineage::new(elements), EFFORT + elements * EFFORT_PER_ELEMENT);
        let (origins, counts) = Default::default();
        Work { network, sources, patterns, index, waiting, lineage, origins, counts, effort }
    }

    fn next_match(&mut self) -> Result<Option<(usize, Match<Bindings>)>, Diagnostic> {
        for (number, pattern) in self.patterns.iter().enumerate() {
            while let Some(root) = self.waiting[number].pop_first() {
                let found = self.match_at(number, pattern, root);
                if self.effort == 0 {
                    return Err(pattern.too_vague());
                }
                if let Some(found) = found {
                    return Ok(Some((number, found)));
                }
            }
        }
        Ok(None)
    }

    fn match_at(&mut self, number: usize, pattern: &Pattern, root: ElementId) -> Option<Match<Bindings>> {
        let (fragment, network, index) = (&pattern.fragment, &*self.network, &self.index);
        let search = Search { fragment, network, index, accept: pattern };
        let mut first = None;
        search.at(root, &mut self.effort, |found| {
            if found.elements.iter().all(|&id| self.lineage.made_by(id) == Some(number)) {
                return ControlFlow::Continue(());
            }
            first = Some(found);
            ControlFlow::Break(())
        });
        first
    }

    fn replace(&mut self, number: usize, found: Match<Bindings>) -> Result<Replaced, Diagnostic> {
        let pattern = &self.patterns[number];
        let birth = self.lineage.birth(number, &found, self.patterns)?;
        let compound = self.fresh_compound(&pattern.name);
        let origin = self.origin(&found);
        let span_of = pattern.place_of_replacement(self.sources, &origin);
        let replacement =
            replace::Replacement { pattern, found: &found, compound: &compound, span_of: &span_of };
        let made = replacement.carry_out(self.network);
        for (id, element) in found.elements.iter().zip(&made.old) {
            self.index.remove(*id, &element.class);
            self.origins.remove(id);
        }
        for &id in &made.new {
            self.index.add(id, self.network.element(id).map_or("", |e| &e.class));
            self.lineage.add(id, birth);
            self.origins.insert(id, origin.clone());
        }
        self.search_again(&found, &made.new);
        self.network.require(&pattern.replacement.graph.requirements);
        let elements = made.old.into_iter().map(|e| e.name).collect();
        Ok(Replaced { pattern: pattern.name.clone(), compound, elements, place: origin.span })
    }

    /// Notes where occurrences can have come into being.
    fn search_again(&mut self, found: &Match<Bindings>, new: &[ElementId]) {
        let outside = found.crossings.iter().flatten().map(|c| c.outside.element);
        let changed: Vec<ElementId> = outside.chain(new.iter().copied()).collect();
        for (pattern, waiting) in self.patterns.iter().zip(&mut self.waiting) {
            waiting.extend(pattern.fragment.roots_near(self.network, &self.index, &changed));
        }
    }

    /// A name for a replacement that no element has in its own.
    fn fresh_compound(&mut self, pattern: &str) -> String {
        let count = self.counts.entry(pattern.to_string()).or_default();
        loop {
            *count += 1;
            let name = format!("{pattern}@{count}");
            if !self.network.has_names_under(&name) {
                return name;
            }
        }
    }

    /// What the user wrote in the place of the first element.
    fn origin(&self, found: &Match<Bindings>) -> Origin {
        let first = found.elements[0];
        let known = self.origins.get(&first).cloned();
        known.unwrap_or_else(|| {
            let element = self.network.element(first);
            Origin {
                span: element.map_or(Span::NONE, |e| e.span),
                name: element.map_or(String::new(), |e| e.name.clone()),
                others: found.elements.len() - 1,
            }
        })
    }
}

impl Accept for Pattern {
    type Bindings = Bindings;

    fn accept(
        &self,
        node: usize,
        element: &clickwork_lang::ElementDecl,
        bound: &Bindings,
    ) -> Option<Bindings> {
        self.configs[node].matches(&element.config, bound)
    }
}

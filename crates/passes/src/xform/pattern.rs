//! Patterns and their replacements, as pattern files say.

use std::collections::BTreeSet;

use clickwork_lang::{CompoundClass, Options, elaborate_classes};
use clickwork_source::{Diagnostic, Diagnostics, FileId, Sources, Span};

use super::replace::Origin;
use super::wildcard::{Config, Kinds};
use crate::matching::Fragment;

/// What the name of a replacement ends with.
const SUFFIX: &str = "_Replacement";

/// Patterns as they are read.
#[derive(Clone, Debug, Default)]
pub struct Patterns {
    pairs: Vec<Pair>,
}

#[derive(Clone, Debug)]
struct Pair {
    name: String,
    pattern: CompoundClass,
    replacement: CompoundClass,
}

impl Patterns {
    /// Adds the patterns of a file, in the order of their replacements.
    pub fn read(&mut self, sources: &mut Sources, file: FileId, options: &Options<'_>) -> Diagnostics {
        let (classes, mut diagnostics) = elaborate_classes(sources, file, options);
        let before = self.pairs.len();
        let mut known = BTreeSet::new();
        for class in &classes {
            let Some(name) = class.name.strip_suffix(SUFFIX).filter(|name| !name.is_empty()) else {
                continue;
            };
            if known.insert(name) {
                diagnostics.extend(self.add(name, class, &classes));
            }
        }
        if self.pairs.len() == before && !diagnostics.has_errors() {
            let message = format!("no patterns in {}", sources.name(file));
            let hint =
                "a pattern is 'elementclass NAME { ... }' with 'elementclass NAME_Replacement { ... }'";
            diagnostics.push(Diagnostic::warning(Span::NONE, message).hint(hint));
        }
        diagnostics
    }

    /// Pairs the alternatives of a pattern with those of its replacement.
    fn add(&mut self, name: &str, class: &CompoundClass, classes: &[CompoundClass]) -> Option<Diagnostic> {
        let called = |name: &str| classes.iter().filter(|c| c.name == name).cloned().collect::<Vec<_>>();
        let (patterns, replacements) = (called(name), called(&class.name));
        if patterns.is_empty() {
            let message = format!("'{}' is a replacement for nothing", class.name);
            return Some(
                Diagnostic::warning(class.span, message).hint(format!("declare 'elementclass {name}'")),
            );
        }
        if patterns.len() != replacements.len() {
            let message = format!(
                "pattern '{name}' has {} alternatives and its replacement {}",
                patterns.len(),
                replacements.len()
            );
            return Some(Diagnostic::error(class.span, message).label(patterns[0].span, "the pattern"));
        }
        let pair = |(pattern, replacement)| Pair { name: name.to_string(), pattern, replacement };
        self.pairs.extend(patterns.into_iter().zip(replacements).map(pair));
        None
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Makes patterns of the replacements, and the other way round; the last comes first.
    pub fn reverse(&mut self) {
        self.pairs.reverse();
        for pair in &mut self.pairs {
            std::mem::swap(&mut pair.pattern, &mut pair.replacement);
        }
    }

    /// Gets everything ready for searching, and says what is doubtful.
    pub fn prepare(self, sources: &Sources) -> (Vec<Pattern>, Diagnostics) {
        let mut diagnostics = Diagnostics::new();
        let prepare = |pair| Pattern::new(pair, sources, &mut diagnostics);
        (self.pairs.into_iter().map(prepare).collect(), diagnostics)
    }
}

/// A pattern with its replacement, ready to be sought.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) fragment: Fragment,
    /// By node: names and configurations.
    pub(super) names: Vec<String>,
    pub(super) configs: Vec<Config>,
    pub(super) replacement: CompoundClass,
    /// The configurations of the replacement's elements.
    pub(super) templates: Vec<Config>,
    excerpt: Excerpt,
}

impl Pattern {
    fn new(pair: Pair, sources: &Sources, diagnostics: &mut Diagnostics) -> Pattern {
        let Pair { name, pattern, replacement } = pair;
        let kinds = kinds(&[&pattern, &replacement], diagnostics);
        let configs = |class: &CompoundClass| -> Vec<Config> {
            class.graph.elements.iter().skip(2).map(|e| Config::new(&e.config, &kinds)).collect()
        };
        let made = Pattern {
            span: pattern.span,
            fragment: Fragment::new(&pattern),
            names: pattern.graph.elements.iter().skip(2).map(|e| e.name.clone()).collect(),
            configs: configs(&pattern),
            templates: configs(&replacement),
            excerpt: Excerpt::of(&replacement, sources),
            name,
            replacement,
        };
        made.check(&pattern, diagnostics);
        made
    }

    /// Complains about what cannot be meant.
    fn check(&self, pattern: &CompoundClass, diagnostics: &mut Diagnostics) {
        let name = &self.name;
        if self.fragment.is_impossible() {
            let why = match self.fragment.is_empty() {
                true => "it has no elements",
                false => "it connects 'input' with 'output'",
            };
            let message = format!("pattern '{name}' matches nothing: {why}");
            diagnostics.push(Diagnostic::warning(self.span, message));
        }
        let elements = pattern.graph.elements.iter().skip(2).zip(&self.configs);
        for (element, _) in elements.filter(|(_, config)| config.is_ambiguous()) {
            let message = format!("pattern '{name}': more than one wildcard for any number of arguments");
            diagnostics.push(Diagnostic::error(element.span, message).hint("keep '...' after one of them"));
        }
        self.check_wildcards(diagnostics);
        for (side, kind) in ["input", "output"].into_iter().enumerate() {
            self.check_ports(pattern.ports[side], self.replacement.ports[side], kind, diagnostics);
        }
    }

    fn check_wildcards(&self, diagnostics: &mut Diagnostics) {
        let known: BTreeSet<String> = self.configs.iter().flat_map(Config::variables).collect();
        for (element, config) in self.replacement.graph.elements.iter().skip(2).zip(&self.templates) {
            for unknown in config.variables().difference(&known) {
                let message =
                    format!("'${unknown}' does not occur in pattern '{}' and stays as it is", self.name);
                diagnostics
                    .push(Diagnostic::warning(element.span, message).label(self.span, "the pattern is here"));
            }
        }
    }

    fn check_ports(&self, had: usize, has: usize, kind: &str, diagnostics: &mut Diagnostics) {
        if had == has {
            return;
        }
        let what = match had > has {
            true => format!("has no {kind} {has}: what is connected there will not be any more"),
            false => format!("has {kind} {had}, which the pattern lacks: it will not be connected"),
        };
        let message = format!("the replacement of '{}' {what}", self.name);
        let warning = Diagnostic::warning(self.replacement.span, message);
        diagnostics.push(warning.label(self.span, "the pattern is here"));
    }

    /// Says that a search for this was given up.
    pub(super) fn too_vague(&self) -> Diagnostic {
        let message = format!("pattern '{}' almost matches in too many places to try them all", self.name);
        let hint = "connect its elements with each other, or begin with the rarest";
        Diagnostic::error(self.span, message).hint(hint)
    }

    /// Adds the text of the replacement to the sources once more, under a name that tells what is replaced. Returns what
    /// gives places in that text for places in the pattern file.
    pub(super) fn place_of_replacement(
        &self,
        sources: &mut Sources,
        origin: &Origin,
    ) -> impl Fn(Span) -> Span + use<> {
        let title = origin.title(sources, &self.excerpt.name);
        let Excerpt { span, line, ref text, .. } = self.excerpt;
        let file = sources.add(title.clone(), text.clone());
        sources.line_mark(file, 0, title, line);
        move |place| match place.file == span.file && place.start >= span.start && place.end <= span.end {
            true => Span::new(file, place.start - span.start, place.end - span.start),
            false => place,
        }
    }
}

impl Origin {
    /// What messages call a replacement by what `file` says, in place of this.
    fn title(&self, sources: &Sources, file: &str) -> String {
        let Origin { span, name, others } = self;
        let others = if *others > 0 { format!(" and {others} more") } else { String::new() };
        match sources.landmark(*span) {
            place if place.is_empty() => format!("'{name}'{others} replaced by {file}"),
            place => format!("{place}: '{name}'{others} replaced by {file}"),
        }
    }
}

/// What the parameters of a pattern and its replacement say about wildcards.
fn kinds(classes: &[&CompoundClass], diagnostics: &mut Diagnostics) -> Kinds {
    let mut kinds = Kinds::default();
    for class in classes {
        for (name, keyword) in &class.formals {
            match keyword.as_str() {
                "" => {}
                "__REST__" => _ = kinds.rest.insert(name.clone()),
                "ADDRESSES" => _ = kinds.addresses.insert(name.clone()),
                _ => {
                    let message = format!("'{}': nothing is known of '{keyword} ${name}'", class.name);
                    let hint = "wildcards can be '__REST__' for any number of arguments, or 'ADDRESSES' for IP addresses";
                    diagnostics.push(Diagnostic::warning(class.span, message).hint(hint));
                }
            }
        }
    }
    kinds
}

/// The lines of a pattern file that declare a replacement.
#[derive(Clone, Debug)]
struct Excerpt {
    span: Span,
    /// What messages call the file.
    name: String,
    line: u32,
    text: String,
}

impl Excerpt {
    fn of(class: &CompoundClass, sources: &Sources) -> Excerpt {
        let graph = &class.graph;
        let spans = graph.elements.iter().map(|e| e.span).chain(graph.connections.iter().map(|c| c.span));
        let within = spans.filter(|s| s.file == class.span.file).fold(class.span, Span::join);
        let text = sources.text(within.file);
        let start = text[..within.start as usize].rfind('\n').map_or(0, |n| n + 1);
        let end = text[within.end as usize..].find('\n').map_or(text.len(), |n| within.end as usize + n);
        let span = Span::new(within.file, start as u32, end as u32);
        let (name, line) = sources.marked_line(span).unwrap_or_default();
        Excerpt { span, name: name.to_string(), line: line as u32, text: text[start..end].to_string() }
    }
}

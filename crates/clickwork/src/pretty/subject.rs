//! What a page is about: a configuration with its texts, its flat graph, and the router that it makes.

use crate::config::{Input, Maker};
use crate::graph;
use crate::input::InputOptions;
use crate::packages;
use crate::report::Report;
use clickwork_lang::syntax::SyntaxNode;
use clickwork_lang::{Options, elaborate};
use clickwork_passes::element_map::ElementMap;
use clickwork_passes::kinds::Kinds;
use clickwork_passes::{ElementId, Facts, Network};
use clickwork_router::Registry;
use clickwork_source::{Diagnostics, FileId, Sources, Span};
use std::collections::HashMap;

/// A configuration to be shown.
pub struct Subject {
    /// What messages call it.
    pub name: String,
    /// Its texts.
    pub sources: Sources,
    /// The files with something to show, that of the configuration first.
    pub files: Vec<FileId>,
    /// The elements.
    pub network: Network,
    /// Attached files, for the facts of classes.
    attached: clickwork_lang::archive::Archive,
    /// What is wrong with its text.
    pub mistakes: Diagnostics,
    /// Everything there is to say about it, as text.
    pub messages: String,
    /// The drawing, if a router can be made of it.
    pub drawing: Option<String>,
    /// What is written at a place: elements by their numbers.
    pub written: HashMap<(FileId, u32), Vec<ElementId>>,
    /// The same for compound elements, by their names.
    pub compounds: HashMap<(FileId, u32), Vec<String>>,
}

/// The id of the table row of an element, without its name.
pub const ROW: &str = "f-";
/// The id of the table of a compound element, without its name.
pub const EXPANSION: &str = "x-";

impl Subject {
    /// Reads a configuration.
    ///
    /// # Errors
    /// If there is none.
    pub fn read(options: &InputOptions, report: &Report) -> Result<Subject, String> {
        let input = options.read(report)?;
        packages::ensure_known(options, &input, report)?;
        let path = options.path();
        let mut sources = Sources::new();
        let main = sources.add(input.name.clone(), input.text.clone());
        let language = Options { defines: options.defines(), loader: &path, ..Options::any_class() };
        let (graph, mistakes) = elaborate(&mut sources, main, &language);
        report.print(&sources, &mistakes);
        let (messages, drawing) = check(options, &input);
        let mut subject = Subject {
            name: input.name,
            sources,
            files: vec![main],
            network: Network::new(graph),
            attached: input.files.unwrap_or_default(),
            mistakes,
            messages,
            drawing,
            written: HashMap::new(),
            compounds: HashMap::new(),
        };
        subject.find_places();
        Ok(subject)
    }

    /// Notes what is written where, and which files there are.
    fn find_places(&mut self) {
        let mut spans: Vec<Span> = Vec::new();
        for (id, e) in self.network.elements() {
            self.written.entry((e.span.file, e.span.start)).or_default().push(id);
            spans.push(e.span);
            for c in &e.compounds {
                let names = self.compounds.entry((c.span.file, c.span.start)).or_default();
                if !names.contains(&c.name) {
                    names.push(c.name.clone());
                }
                spans.push(c.span);
            }
        }
        for span in spans.into_iter().filter(|span| !span.is_none()) {
            if !self.files.contains(&span.file) {
                self.files.push(span.file);
            }
        }
    }

    /// The classes of the program, and those that the configuration brings with it.
    pub fn classes(&self) -> Registry {
        let mut classes = Registry::clone(&crate::classes::registry());
        ElementMap::of(&self.attached).add_to(&mut classes);
        classes
    }

    /// The facts about its classes.
    pub fn facts<'a>(&'a self, registry: &'a Registry) -> Facts<'a> {
        Facts::new(registry, &self.attached)
    }

    /// The kinds of its ports.
    pub fn kinds(&self, facts: &Facts<'_>) -> Kinds {
        Kinds::new(&self.network, facts, |_| None)
    }

    /// The syntax tree of a file.
    pub fn tree(&self, file: FileId) -> SyntaxNode {
        tree(self.sources.name(file), self.sources.text(file))
    }
}

/// The syntax tree of a text.
pub fn tree(name: &str, text: &str) -> SyntaxNode {
    let mut sources = Sources::new();
    let file = sources.add(name, text);
    clickwork_lang::parse(&mut sources, file).0.root()
}

/// Everything there is to say about the router, and its drawing.
fn check(options: &InputOptions, input: &Input) -> (String, Option<String>) {
    let maker = Maker { defines: options.defines(), path: options.path(), ..Maker::new() };
    let made = maker.check(input);
    let plain = Report { color: false, ..Report::human() };
    let drawing = made.router.map(|router| graph::linked(&router, &input.name, &format!("#{ROW}")));
    (plain.text(&made.sources, &made.diagnostics), drawing)
}

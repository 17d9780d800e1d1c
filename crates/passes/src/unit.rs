//! What a tool reads and writes: a configuration with the files attached to it.

use clickwork_lang::archive::Archive;
use clickwork_lang::{Graph, Options, elaborate, print, print_marked};
use clickwork_source::{Diagnostic, Diagnostics, Sources, Span};

use crate::Network;

/// A configuration, the texts it came from, and the files attached to it.
#[derive(Debug, Default)]
pub struct Unit {
    /// The texts that places in the network point into.
    pub sources: Sources,
    /// The configuration.
    pub network: Network,
    /// The attached files; the configuration is not among them.
    pub files: Archive,
}

impl Unit {
    /// Reads a configuration or an archive with one. Messages call it `name`. With errors among the messages, the network
    /// lacks what could not be understood.
    pub fn read(name: &str, bytes: Vec<u8>, options: &Options<'_>) -> (Unit, Diagnostics) {
        match Archive::open(bytes) {
            Ok((text, files)) => Unit::new(name, text, files.unwrap_or_default(), options),
            Err(e) => (Unit::default(), Diagnostic::error(Span::NONE, format!("{name}: {e}")).into()),
        }
    }

    /// As [`Unit::read`], of a text and the files attached to it.
    pub fn new(name: &str, text: String, files: Archive, options: &Options<'_>) -> (Unit, Diagnostics) {
        let mut unit = Unit { files, ..Unit::default() };
        let file = unit.sources.add(name, text);
        let (graph, diagnostics) = elaborate(&mut unit.sources, file, options);
        unit.network = Network::new(graph);
        (unit, diagnostics)
    }

    /// The configuration as text that remembers where everything came from, in an archive if files are attached.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.wrap(print_marked(&self.graph(), &self.sources))
    }

    /// The configuration alone, for people to read.
    pub fn to_text(&self) -> String {
        print(&self.graph())
    }

    /// A text in an archive with the attached files, if there are any.
    pub fn wrap(&self, config: String) -> Vec<u8> {
        match self.files.members.is_empty() {
            true => clickwork_source::text::into_bytes(config),
            false => self.files.with_config(config),
        }
    }

    /// The configuration as a graph.
    pub fn graph(&self) -> Graph {
        self.network.clone().into_graph()
    }

    /// A place for what a tool adds: messages call it `<tool>`.
    pub fn place_of_tool(&mut self, tool: &str) -> Span {
        let file = self.sources.add(format!("<{tool}>"), "");
        Span::new(file, 0, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clickwork_lang::archive::Member;

    fn read(bytes: &[u8]) -> (Unit, Diagnostics) {
        Unit::read("r.click", bytes.to_vec(), &Options::any_class())
    }

    #[test]
    fn places_survive_any_number_of_tools() {
        let (mut unit, _) = read(b"a :: A;\n\na\n-> b :: B\n-> C -> E -> F;");
        let span = unit.place_of_tool("click-test");
        unit.network.add_new("d", "D", "", span);
        let once = unit.to_bytes();
        let (again, messages) = Unit::read("<stdin>", once.clone(), &Options::any_class());
        assert!(messages.is_empty(), "{messages:?}");
        assert_eq!(String::from_utf8(again.to_bytes()).unwrap(), String::from_utf8(once).unwrap());
        let b = again.network.find("b").and_then(|b| again.network.element(b)).unwrap();
        assert_eq!(again.sources.landmark(b.span), "r.click:4");
        let d = again.network.find("d").and_then(|d| again.network.element(d)).unwrap();
        assert_eq!(again.sources.landmark(d.span), "<click-test>:1");
        let connections: Vec<_> =
            again.network.connections().map(|c| again.sources.landmark(c.span)).collect();
        assert_eq!(connections, ["r.click:4", "r.click:5", "r.click:5", "r.click:5"]);
    }

    #[test]
    fn attached_files_are_kept() {
        let file = Member { name: "x.rs".into(), modified: 7, mode: 0o600, data: b"fn".to_vec() };
        let config = Member { name: "config".into(), data: b"a :: A;".to_vec(), ..file.clone() };
        let archive = Archive { members: vec![file.clone(), config] };
        let (unit, messages) = read(&archive.to_bytes());
        assert!(messages.is_empty());
        let written = Archive::parse(&unit.to_bytes()).unwrap();
        assert_eq!(written.members[0].name, "config");
        assert_eq!(written.members[1], file);
        assert_eq!(unit.to_text(), "a :: A;\n");
    }

    #[test]
    fn broken_archives_are_refused() {
        let archive = Archive { members: vec![] }.to_bytes();
        assert!(read(&archive).1.has_errors());
        assert!(read(b"!<arch>\nconfig").1.has_errors());
    }
}

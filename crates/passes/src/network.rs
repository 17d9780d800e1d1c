//! A graph of elements that can be changed: the one library of graph operations under all passes.
//!
//! Elements keep their identity ([`ElementId`]) while others come and go. Connections stay in Click's order; new ones come
//! last. [`Network::into_graph`] gives the graph back, without gaps.

use std::collections::{BTreeMap, BTreeSet};

use clickwork_lang::{Connection, Define, ElementDecl, Graph, Port, Requirement};
use clickwork_source::Span;

/// An element of a [`Network`]; the `element` of a [`Port`] here.
pub type ElementId = usize;

/// A graph of elements that can be changed.
#[derive(Clone, Debug, Default)]
pub struct Network {
    elements: Vec<Option<ElementDecl>>,
    /// In Click's order.
    connections: BTreeMap<usize, Connection>,
    next: usize,
    /// The connections of each output and input port.
    from: BTreeMap<Port, BTreeSet<usize>>,
    to: BTreeMap<Port, BTreeSet<usize>>,
    names: BTreeMap<String, ElementId>,
    /// How many elements were added with each class, less those removed. Names of classes cannot be names of elements.
    classes: BTreeMap<String, usize>,
    /// What `require` and `provide` said.
    pub requirements: Vec<Requirement>,
    /// Global variables that configurations still mention.
    pub defines: Vec<Define>,
}

impl Network {
    /// The network of a graph. Elements have the numbers that they have there.
    pub fn new(graph: Graph) -> Self {
        let mut network =
            Network { requirements: graph.requirements, defines: graph.defines, ..Network::default() };
        for element in graph.elements {
            network.add(element);
        }
        for connection in graph.connections {
            network.connect(connection.from, connection.to, connection.span);
        }
        network
    }

    /// The graph, with the elements in the order of their numbers.
    pub fn into_graph(self) -> Graph {
        let mut place = vec![0; self.elements.len()];
        let mut elements = Vec::new();
        for (id, element) in self.elements.into_iter().enumerate() {
            place[id] = elements.len();
            elements.extend(element);
        }
        let moved = |port: Port| Port { element: place[port.element], ..port };
        let connections = self.connections.into_values();
        let connections =
            connections.map(|c| Connection { from: moved(c.from), to: moved(c.to), ..c }).collect();
        Graph { elements, connections, requirements: self.requirements, defines: self.defines }
    }

    /// The elements that there are, in order.
    pub fn elements(&self) -> impl Iterator<Item = (ElementId, &ElementDecl)> {
        self.elements.iter().enumerate().filter_map(|(id, element)| Some((id, element.as_ref()?)))
    }

    /// The numbers of the elements of a class.
    pub fn of_class(&self, class: &str) -> Vec<ElementId> {
        self.elements().filter(|(_, e)| e.class == class).map(|(id, _)| id).collect()
    }

    /// An element, unless it was removed.
    pub fn element(&self, id: ElementId) -> Option<&ElementDecl> {
        self.elements.get(id)?.as_ref()
    }

    /// An element to change its class or configuration. Names are changed with [`Network::rename`].
    pub fn element_mut(&mut self, id: ElementId) -> Option<&mut ElementDecl> {
        self.elements.get_mut(id)?.as_mut()
    }

    /// The element of a name.
    pub fn find(&self, name: &str) -> Option<ElementId> {
        self.names.get(name).copied()
    }

    /// A name that no element has, and no class: `stem`, or `stem@2` and so on.
    pub fn fresh_name(&self, stem: &str) -> String {
        let numbered = (2..).map(|n| format!("{stem}@{n}"));
        let mut candidates = std::iter::once(stem.to_string()).chain(numbered);
        let is_taken = |name: &String| self.names.contains_key(name) || self.classes.contains_key(name);
        candidates.find(|name| !is_taken(name)).unwrap_or_default()
    }

    /// Adds an element. If its name is taken it gets a fresh one.
    pub fn add(&mut self, mut element: ElementDecl) -> ElementId {
        element.name = self.fresh_name(&element.name);
        let id = self.elements.len();
        self.names.insert(element.name.clone(), id);
        match self.classes.get_mut(&element.class) {
            Some(count) => *count += 1,
            None => _ = self.classes.insert(element.class.clone(), 1),
        }
        self.elements.push(Some(element));
        id
    }

    /// Adds an element that no text declares, such as an Align that a pass puts in.
    pub fn add_new(&mut self, name: &str, class: &str, config: &str, span: Span) -> ElementId {
        self.add(ElementDecl {
            name: name.to_string(),
            class: class.to_string(),
            config: config.to_string(),
            span,
            compounds: Vec::new(),
        })
    }

    /// Gives an element another name, a fresh one if that is taken.
    pub fn rename(&mut self, id: ElementId, name: &str) {
        let Some(old) = self.element(id).map(|e| e.name.clone()) else { return };
        self.names.remove(&old);
        let name = self.fresh_name(name);
        self.names.insert(name.clone(), id);
        if let Some(element) = self.element_mut(id) {
            element.name = name;
        }
    }

    /// Adds requirements, unless they are there.
    pub fn require(&mut self, requirements: &[Requirement]) {
        for r in requirements {
            if !self.requirements.iter().any(|other| (&other.kind, &other.value) == (&r.kind, &r.value)) {
                self.requirements.push(r.clone());
            }
        }
    }

    /// Removes an element and its connections.
    pub fn remove(&mut self, id: ElementId) -> Option<ElementDecl> {
        for connection in self.outputs(id).into_iter().chain(self.inputs(id)) {
            self.disconnect(connection.from, connection.to);
        }
        let element = self.elements.get_mut(id)?.take()?;
        self.names.remove(&element.name);
        if let Some(count) = self.classes.get_mut(&element.class) {
            *count -= 1;
            if *count == 0 {
                self.classes.remove(&element.class);
            }
        }
        Some(element)
    }

    /// Connects two ports, unless they are connected.
    pub fn connect(&mut self, from: Port, to: Port, span: Span) {
        if self.number(from, to).is_some() {
            return;
        }
        self.connections.insert(self.next, Connection { from, to, span });
        self.from.entry(from).or_default().insert(self.next);
        self.to.entry(to).or_default().insert(self.next);
        self.next += 1;
    }

    /// Removes the connection between two ports.
    pub fn disconnect(&mut self, from: Port, to: Port) {
        let Some(number) = self.number(from, to) else { return };
        self.connections.remove(&number);
        for (ports, port) in [(&mut self.from, from), (&mut self.to, to)] {
            if let Some(numbers) = ports.get_mut(&port) {
                numbers.remove(&number);
                if numbers.is_empty() {
                    ports.remove(&port);
                }
            }
        }
    }

    /// Whether two ports are connected.
    pub fn is_connected(&self, from: Port, to: Port) -> bool {
        self.number(from, to).is_some()
    }

    /// Whether there are elements inside a compound element called `compound`: with names that begin with it and a slash.
    pub fn has_names_under(&self, compound: &str) -> bool {
        let prefix = format!("{compound}/");
        self.names.range(prefix.clone()..).next().is_some_and(|(name, _)| name.starts_with(&prefix))
    }

    fn number(&self, from: Port, to: Port) -> Option<usize> {
        let (a, b) = (self.from.get(&from)?, self.to.get(&to)?);
        let (few, many) = if a.len() < b.len() { (a, b) } else { (b, a) };
        few.iter().find(|n| many.contains(n)).copied()
    }

    /// All connections, in Click's order.
    pub fn connections(&self) -> impl Iterator<Item = &Connection> {
        self.connections.values()
    }

    /// The connections that leave an output port.
    pub fn leaving(&self, port: Port) -> impl Iterator<Item = &Connection> {
        self.from.get(&port).into_iter().flatten().map(|n| &self.connections[n])
    }

    /// The connections that enter an input port.
    pub fn entering(&self, port: Port) -> impl Iterator<Item = &Connection> {
        self.to.get(&port).into_iter().flatten().map(|n| &self.connections[n])
    }

    /// The connections from all outputs of an element, by port.
    pub fn outputs(&self, id: ElementId) -> Vec<Connection> {
        self.at_ports(&self.from, id)
    }

    /// The connections to all inputs of an element, by port.
    pub fn inputs(&self, id: ElementId) -> Vec<Connection> {
        self.at_ports(&self.to, id)
    }

    fn at_ports(&self, ports: &BTreeMap<Port, BTreeSet<usize>>, id: ElementId) -> Vec<Connection> {
        ports.range(all_of(id)).flat_map(|(_, numbers)| numbers).map(|n| self.connections[n]).collect()
    }

    /// How many inputs of an element are used, counting up to the highest.
    pub fn input_count(&self, id: ElementId) -> usize {
        self.to.range(all_of(id)).next_back().map_or(0, |(port, _)| port.port + 1)
    }

    /// How many outputs of an element are used, counting up to the highest.
    pub fn output_count(&self, id: ElementId) -> usize {
        self.from.range(all_of(id)).next_back().map_or(0, |(port, _)| port.port + 1)
    }

    /// Connects whatever enters `input` to whatever `output` leads to, as if packets went straight through.
    pub fn bridge(&mut self, input: Port, output: Port) {
        let sources: Vec<Connection> = self.entering(input).copied().collect();
        let targets: Vec<Connection> = self.leaving(output).copied().collect();
        for source in &sources {
            for target in &targets {
                self.connect(source.from, target.to, source.span);
            }
        }
    }

    /// Moves everything that enters `old` to enter `new`.
    pub fn redirect_inputs(&mut self, old: Port, new: Port) {
        for c in self.entering(old).copied().collect::<Vec<_>>() {
            self.disconnect(c.from, c.to);
            self.connect(c.from, new, c.span);
        }
    }

    /// Renumbers the ports of an element so that none between others is free.
    pub fn close_gaps(&mut self, id: ElementId) {
        let inputs: BTreeSet<Port> = self.inputs(id).iter().map(|c| c.to).collect();
        let outputs: BTreeSet<Port> = self.outputs(id).iter().map(|c| c.from).collect();
        let place = |port| Port { element: id, port };
        for (n, port) in inputs.into_iter().enumerate().filter(|(n, port)| *n != port.port) {
            self.redirect_inputs(port, place(n));
        }
        for (n, port) in outputs.into_iter().enumerate().filter(|(n, port)| *n != port.port) {
            self.redirect_outputs(port, place(n));
        }
    }

    /// Moves everything that leaves `old` to leave `new`.
    pub fn redirect_outputs(&mut self, old: Port, new: Port) {
        for c in self.leaving(old).copied().collect::<Vec<_>>() {
            self.disconnect(c.from, c.to);
            self.connect(new, c.to, c.span);
        }
    }
}

/// All ports of an element.
fn all_of(element: ElementId) -> std::ops::Range<Port> {
    Port { element, port: 0 }..Port { element: element + 1, port: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clickwork_lang::{Options, elaborate, print};
    use clickwork_source::Sources;

    fn network(text: &str) -> Network {
        let mut sources = Sources::new();
        let file = sources.add("t.click", text);
        Network::new(elaborate(&mut sources, file, &Options::any_class()).0)
    }

    fn port(element: ElementId, port: usize) -> Port {
        Port { element, port }
    }

    fn text(network: Network) -> String {
        print(&network.into_graph()).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_graph_comes_back_as_it_was() {
        let source = "a :: A; b :: B; a => b, [1] b; b [2] -> a;";
        let graph = network(source).into_graph();
        assert_eq!(Network::new(graph.clone()).into_graph(), graph);
    }

    #[test]
    fn a_removed_element_leaves_its_neighbours_bridged() {
        let mut n = network("a :: A; x :: X; b :: B; c :: C; a -> x; c -> x; x -> b; x [1] -> c");
        let x = n.find("x").unwrap();
        n.bridge(port(x, 0), port(x, 0));
        n.remove(x);
        assert!(n.find("x").is_none() && n.element(x).is_none());
        assert_eq!(text(n), "a :: A; b :: B; c :: C; a -> b; c -> b;");
    }

    #[test]
    fn names_stay_unique() {
        let mut n = network("a :: A; b :: B;");
        let c = n.add_new("a", "C", "", Span::NONE);
        assert_eq!(n.element(c).unwrap().name, "a@2");
        let d = n.add_new("C", "D", "", Span::NONE);
        assert_eq!(n.element(d).unwrap().name, "C@2", "C is a class");
        n.rename(c, "b");
        assert_eq!((n.find("b@2"), n.find("a@2")), (Some(c), None));
    }

    #[test]
    fn ports_count_to_the_highest_used() {
        let mut n = network("a :: A; b :: B; a [3] -> [1] b;");
        let (a, b) = (n.find("a").unwrap(), n.find("b").unwrap());
        assert_eq!((n.output_count(a), n.input_count(b), n.input_count(a)), (4, 2, 0));
        n.close_gaps(b);
        n.redirect_outputs(port(a, 3), port(a, 0));
        n.connect(port(a, 0), port(b, 0), Span::NONE);
        assert_eq!(text(n), "a :: A; b :: B; a -> b;");
    }
}

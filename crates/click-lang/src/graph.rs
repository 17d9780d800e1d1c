//! The flat graph: what elaboration makes of a configuration, and what the router and every tool work on.
//!
//! Not here: how it is made (`elaborate`) and how it is printed (`print`).

use clickwork_source::Span;

/// A router: elements of primitive classes and the connections between their ports.
///
/// Elements stand in Click's order (that of its `list` handler): first those of the top level in the order of
/// their declaration, then those of compound elements as they are expanded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// The elements; a [`Port`] names one by its index here.
    pub elements: Vec<ElementDecl>,
    /// The connections, in Click's order, without repetitions.
    pub connections: Vec<Connection>,
    /// What `require` and `provide` said.
    pub requirements: Vec<Requirement>,
    /// Global variables that the elements' configurations still mention; empty when they were substituted.
    pub defines: Vec<Define>,
}

/// One element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementDecl {
    /// The full name, such as `a/b/Queue@3`.
    pub name: String,
    /// The element class.
    pub class: String,
    /// The configuration string, with compound parameters and variables substituted.
    pub config: String,
    /// Where it was declared.
    pub span: Span,
    /// The compound elements it stands in, outermost first.
    pub compounds: Vec<CompoundOrigin>,
}

/// A compound element that was expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompoundOrigin {
    /// The full name of the compound element, such as `a/b`.
    pub name: String,
    /// Its class; empty for an anonymous `{ ... }` or `( ... )`.
    pub class: String,
    /// Where the compound element was declared.
    pub span: Span,
}

/// A port of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Port {
    /// Index into [`Graph::elements`].
    pub element: usize,
    /// Port number, from 0.
    pub port: usize,
}

/// A connection from an output port to an input port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// The output port packets leave.
    pub from: Port,
    /// The input port they enter.
    pub to: Port,
    /// Where the connection was written.
    pub span: Span,
}

/// A requirement, as in `require(package "x")`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// `package`, `compact_config`, and so on; `library` files are read and do not appear. `provide` for what
    /// `provide(...)` announced.
    pub kind: String,
    /// What is required; empty for a plain flag.
    pub value: String,
    /// Where it was required.
    pub span: Span,
}

/// A global variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Define {
    /// The name, without `$`.
    pub name: String,
    /// The value, as text of a configuration string.
    pub value: String,
}

impl Graph {
    /// Index of the element called `name`.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.elements.iter().position(|e| e.name == name)
    }

    /// How many input ports of `element` are connected, counting up to the highest.
    pub fn input_count(&self, element: usize) -> usize {
        ports(self.connections.iter().map(|c| c.to), element)
    }

    /// How many output ports of `element` are connected, counting up to the highest.
    pub fn output_count(&self, element: usize) -> usize {
        ports(self.connections.iter().map(|c| c.from), element)
    }
}

fn ports(ends: impl Iterator<Item = Port>, element: usize) -> usize {
    ends.filter(|p| p.element == element).map(|p| p.port + 1).max().unwrap_or(0)
}

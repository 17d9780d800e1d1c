//! Push and pull: which kind each port is, and whether the graph is right.
//!
//! Ports are nodes of a constraint graph. A connection demands that its two ends agree, and within an element an
//! agnostic input and an agnostic output agree if packets flow between them. Push and pull ports fix their nodes, and
//! the rest follow by propagation; where push meets pull, the chain between the two is the error message (SOSP '99
//! Figure 4). What nothing fixes is push.

use crate::facts::{Class, Processing, flows, processing_of};
use crate::router::{Endpoint, Link};
use clickwork_source::{Diagnostic, Diagnostics, Span};
use std::collections::{HashMap, VecDeque};

/// What the check needs to know of an element.
pub(crate) struct Node {
    pub name: String,
    pub class: &'static Class,
    pub config: String,
    pub span: Span,
    pub inputs: usize,
    pub outputs: usize,
}

impl Node {
    /// `name :: Class`, as Click writes it in messages.
    pub fn declaration(&self) -> String {
        format!("{} :: {}", self.name, self.class.name)
    }

    /// How a person would call it: `FromDevice(eth0)` if it has no name of its own.
    fn nickname(&self) -> String {
        let base = self.name.rsplit('/').next().unwrap_or(&self.name);
        if !base.contains('@') {
            return format!("'{}'", self.declaration());
        }
        let config = self.config.trim();
        let short: String = config.chars().take(24).collect();
        let dots = if short.len() < config.len() { "..." } else { "" };
        if config.is_empty() {
            self.class.name.to_string()
        } else {
            format!("{}({short}{dots})", self.class.name)
        }
    }
}

/// The kinds of all ports: for each element its inputs and its outputs.
pub(crate) struct Resolved {
    pub inputs: Vec<Vec<Processing>>,
    pub outputs: Vec<Vec<Processing>>,
}

/// A port: element, number, whether it is an output.
type Port = (usize, usize, bool);

/// Resolves all ports and reports where push meets pull. Click's messages about that have no place.
pub(crate) fn resolve(nodes: &[Node], links: &[Link], as_click: bool, errors: &mut Diagnostics) -> Resolved {
    let mut graph = Constraints::new(nodes, links);
    let mut conflicts = Diagnostics::default();
    graph.propagate(nodes, &mut conflicts);
    let placeless = |d: Diagnostic| Diagnostic::error(Span::NONE, d.message);
    errors.extend(conflicts.into_iter().map(|d| if as_click { placeless(d) } else { d }));
    graph.kinds(nodes)
}

struct Constraints {
    /// Kind of each port that is known, with the port it was learned from and the connection, for the message.
    known: HashMap<Port, (Processing, Option<Port>)>,
    edges: HashMap<Port, Vec<(Port, Option<Span>)>>,
    queue: VecDeque<Port>,
}

fn side_name(is_output: bool) -> &'static str {
    if is_output { "output" } else { "input" }
}

fn end(e: Endpoint, is_output: bool) -> Port {
    (e.element.index(), e.port as usize, is_output)
}

impl Constraints {
    fn new(nodes: &[Node], links: &[Link]) -> Constraints {
        let mut c = Constraints { known: HashMap::new(), edges: HashMap::new(), queue: VecDeque::new() };
        for (e, node) in nodes.iter().enumerate() {
            (0..node.inputs).for_each(|p| c.seed(node, (e, p, false)));
            (0..node.outputs).for_each(|p| c.seed(node, (e, p, true)));
            c.join_agnostic(node, e);
        }
        for l in links {
            c.join(end(l.from, true), end(l.to, false), Some(l.span));
        }
        c
    }

    fn seed(&mut self, node: &Node, port: Port) {
        let kind = processing_of(node.class.processing, port.2, port.1);
        if kind != Processing::Agnostic {
            self.known.insert(port, (kind, None));
            self.queue.push_back(port);
        }
    }

    fn join_agnostic(&mut self, node: &Node, e: usize) {
        let agnostic =
            |is_output, p| processing_of(node.class.processing, is_output, p) == Processing::Agnostic;
        for i in (0..node.inputs).filter(|&i| agnostic(false, i)) {
            for o in (0..node.outputs).filter(|&o| agnostic(true, o)) {
                if flows(node.class.flow, i, o) {
                    self.join((e, i, false), (e, o, true), None);
                }
            }
        }
    }

    fn join(&mut self, a: Port, b: Port, span: Option<Span>) {
        self.edges.entry(a).or_default().push((b, span));
        self.edges.entry(b).or_default().push((a, span));
    }

    fn propagate(&mut self, nodes: &[Node], errors: &mut Diagnostics) {
        let mut reported = Vec::new();
        while let Some(port) = self.queue.pop_front() {
            let (kind, _) = self.known[&port];
            for (next, span) in self.edges.get(&port).cloned().unwrap_or_default() {
                match self.known.get(&next) {
                    None => {
                        self.known.insert(next, (kind, Some(port)));
                        self.queue.push_back(next);
                    }
                    Some((other, _)) if *other != kind => {
                        let pair = [port.min(next), port.max(next)];
                        if !reported.contains(&pair) {
                            reported.push(pair);
                            errors.push(self.conflict(nodes, port, next, span));
                        }
                    }
                    Some(_) => {}
                }
            }
        }
    }

    /// The way from a port back to the one that fixed its kind, ending with that one.
    fn trail(&self, mut port: Port) -> Vec<Port> {
        let mut trail = vec![port];
        while let Some(&(_, Some(from))) = self.known.get(&port) {
            trail.push(from);
            port = from;
        }
        trail
    }

    fn conflict(&self, nodes: &[Node], a: Port, b: Port, span: Option<Span>) -> Diagnostic {
        let (pusher, puller) = if self.known[&a].0 == Processing::Push { (a, b) } else { (b, a) };
        let mut chain: Vec<usize> = self.trail(pusher).iter().rev().map(|p| p.0).collect();
        chain.extend(self.trail(puller).iter().map(|p| p.0));
        chain.dedup();
        let (first, last) = (self.root(pusher), self.root(puller));
        let verb = |p: Port, active, passive| if p.2 { active } else { passive };
        let (push, pull) = (&nodes[first.0], &nodes[last.0]);
        let between: Vec<_> = chain.iter().filter(|&&e| e != first.0 && e != last.0).collect();
        let via = match between.len() {
            0 => String::new(),
            _ => {
                let names: Vec<_> = between.iter().map(|&&e| nodes[e].nickname()).collect();
                format!(" through {}", names.join(", "))
            }
        };
        let message = if first.0 == last.0 {
            format!("{} push and pull meet in one chain{via}", push.nickname())
        } else {
            format!(
                "{} {}, {} {}{via}",
                push.nickname(),
                verb(first, "pushes", "expects pushed packets"),
                pull.nickname(),
                verb(last, "only hands out packets when asked", "pulls"),
            )
        };
        let place = span.unwrap_or(nodes[a.0].span);
        let upstream_pushes = first.2 || !last.2;
        let hint = if upstream_pushes { "put a Queue between them" } else { "put an Unqueue between them" };
        Diagnostic::error(place, format!("{message}: {hint}"))
            .aside(push.span, format!("{} {} is push", side_name(first.2), first.1))
            .aside(pull.span, format!("{} {} is pull", side_name(last.2), last.1))
    }

    fn root(&self, port: Port) -> Port {
        *self.trail(port).last().expect("a trail begins with its port")
    }

    fn kinds(&self, nodes: &[Node]) -> Resolved {
        let kind = |port| self.known.get(&port).map_or(Processing::Push, |k| k.0);
        let side = |is_output: bool| {
            let count = move |n: &Node| if is_output { n.outputs } else { n.inputs };
            let ports = |(e, n): (usize, &Node)| (0..count(n)).map(|p| kind((e, p, is_output))).collect();
            nodes.iter().enumerate().map(ports).collect()
        };
        Resolved { inputs: side(false), outputs: side(true) }
    }
}

/// Push outputs and pull inputs have exactly one connection; push inputs and pull outputs at least one.
pub(crate) fn check_use(nodes: &[Node], links: &[Link], resolved: &Resolved, errors: &mut Diagnostics) {
    let mut uses: HashMap<Port, Vec<Span>> = HashMap::new();
    for l in links {
        uses.entry(end(l.from, true)).or_default().push(l.span);
        uses.entry(end(l.to, false)).or_default().push(l.span);
    }
    for (e, node) in nodes.iter().enumerate() {
        let inputs = resolved.inputs[e].iter().enumerate().map(|(p, &k)| ((e, p, false), k));
        let outputs = resolved.outputs[e].iter().enumerate().map(|(p, &k)| ((e, p, true), k));
        for (port, kind) in inputs.chain(outputs) {
            let spans = uses.get(&port).map_or(&[][..], Vec::as_slice);
            check_port(node, port, kind, spans, errors);
        }
    }
}

fn check_port(node: &Node, port: Port, kind: Processing, spans: &[Span], errors: &mut Diagnostics) {
    let side = side_name(port.2);
    let single = (kind == Processing::Push) == port.2;
    let what = format!("'{}' {} {side} {}", node.declaration(), kind.name(), port.1);
    if single && spans.len() > 1 {
        let d = Diagnostic::error(node.span, format!("illegal reuse of {what}"))
            .aside(spans[0], "used here")
            .aside(spans[1], "and used again here");
        let other = if port.2 {
            "a Tee copies packets to several elements"
        } else {
            "a scheduler such as RoundRobinSched pulls from several"
        };
        errors.push(d.hint(other));
    } else if spans.is_empty() {
        let fix = if port.2 {
            "connect it to Discard if its packets are not wanted"
        } else {
            "connect it to Idle if no packets should come"
        };
        errors.push(Diagnostic::error(node.span, format!("{what} unused")).hint(fix));
    }
}

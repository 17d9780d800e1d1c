//! The compound classes of a file as graphs of their own, for tools that read patterns.

use std::rc::Rc;

use clickwork_source::{Diagnostics, FileId, Sources, Span};

use super::body::{Body, PORT_NAMES};
use super::class::Class;
use super::{Declarer, Options, expansion, flatten, in_order};
use crate::graph::{Connection, Graph};

/// A compound class that a file declares, by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompoundClass {
    /// The name of the class.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
    /// Its parameters, each with its keyword: empty for positional ones, `__REST__` for the last of all.
    pub formals: Vec<(String, String)>,
    /// What it consists of, without compound elements. Elements 0 and 1 stand for the pseudo-elements `input` and
    /// `output`; the parameters are not filled in. Its requirements are those of the file.
    pub graph: Graph,
    /// How many inputs and outputs it has.
    pub ports: [usize; 2],
}

impl CompoundClass {
    /// The element of [`CompoundClass::graph`] that stands for `input`.
    pub const INPUT: usize = 0;
    /// The element of [`CompoundClass::graph`] that stands for `output`.
    pub const OUTPUT: usize = 1;
}

/// Parses a file and gives the compound classes that it declares outside of other classes, in order; of a class with
/// several alternatives, each. The file's own elements are left out.
pub fn elaborate_classes(
    sources: &mut Sources,
    file: FileId,
    options: &Options<'_>,
) -> (Vec<CompoundClass>, Diagnostics) {
    let mut declared = Declarer::new(sources, options);
    declared.libraries.insert(declared.sources.name(file).to_owned());
    declared.file(file);
    let mut diagnostics = in_order(std::mem::take(&mut declared.diagnostics));
    for (name, value) in &options.defines {
        declared.body.define_again(name, value);
    }
    let globals = &declared.body.variables;
    let mut bodies: Vec<Rc<Body>> = declared.classes.outermost().flat_map(bodies).collect();
    bodies.sort_by_key(|body| (body.span.file, body.span.start));
    bodies.dedup_by(|a, b| Rc::ptr_eq(a, b));
    let mut classes: Vec<_> = bodies.iter().map(|body| class(body, globals, &mut diagnostics)).collect();
    classes.iter_mut().for_each(|class| class.graph.requirements.clone_from(&declared.requirements));
    (classes, diagnostics)
}

fn bodies(class: &Class) -> Vec<Rc<Body>> {
    match class {
        Class::Compound(class) => class.overloads.clone(),
        Class::Tunnel | Class::Primitive(_) => Vec::new(),
    }
}

fn class(body: &Body, globals: &[(String, String)], diagnostics: &mut Diagnostics) -> CompoundClass {
    let mut body = body.clone();
    for (item, name) in body.items.iter_mut().zip(PORT_NAMES) {
        item.class = Class::Primitive(name.into());
    }
    let formals = body.variables.drain(..std::mem::take(&mut body.formals)).collect();
    let (name, span, ports) = (body.name.clone(), body.span, body.ports);
    let mut graph = Graph::default();
    flatten::flatten(expansion::expand_alone(body, globals, diagnostics), &mut graph, diagnostics);
    // Those that use the pseudo-elements the wrong way round have been complained about.
    let right_way =
        |c: &Connection| c.from.element != CompoundClass::OUTPUT && c.to.element != CompoundClass::INPUT;
    graph.connections.retain(right_way);
    CompoundClass { name, span, formals, graph, ports }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(text: &str) -> (Vec<CompoundClass>, Diagnostics) {
        let mut sources = Sources::new();
        let file = sources.add("p.click", text);
        elaborate_classes(&mut sources, file, &Options::any_class())
    }

    #[test]
    fn classes_come_in_order_with_their_ends() {
        let (classes, diagnostics) = classes(
            "define($n 7); elementclass B { $x, __REST__ $y | input -> A($x, $n, $y) -> [1] output; input [1] -> \
             output } elementclass A { $v | input -> Queue($v) -> output || $v, $w, $z | input -> q :: Queue($w) -> \
             output } a :: Idle;",
        );
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        let names: Vec<_> = classes.iter().map(|c| (c.name.as_str(), c.ports, c.formals.len())).collect();
        assert_eq!(names, [("B", [2, 2], 2), ("A", [1, 1], 1), ("A", [1, 1], 3)]);
        let text = crate::print(&classes[2].graph).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(text, "input :: input; output :: output; q :: Queue($w); input -> q -> output;");
        assert_eq!(classes[0].graph.elements[2].config, "$x, 7, $y");
        assert_eq!(classes[0].graph.connections.len(), 3);
    }

    #[test]
    fn all_have_the_requirements_of_the_file() {
        let (classes, _) =
            classes("elementclass A { input -> output } require(package x); elementclass B { }");
        let values = classes.iter().map(|c| &*c.graph.requirements[0].value).collect::<Vec<_>>();
        assert_eq!(values, ["x", "x"]);
    }

    #[test]
    fn compounds_inside_are_expanded_and_mistakes_reported() {
        let (found, diagnostics) = classes(
            "elementclass P { elementclass Q { $a | input -> Null -> X($a, $b) -> output } input -> q :: Q($c) -> output }",
        );
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        let names: Vec<_> = found[0].graph.elements.iter().map(|e| (&*e.name, &*e.config)).collect();
        assert_eq!(names[3..], [("q/X@2", "$c, $b")]);
        assert!(classes("elementclass P { input -> output -> output }").1.has_errors());
        assert!(classes("elementclass P { input -> -> output }").1.has_errors());
        let (found, diagnostics) = classes("elementclass P { output -> a :: A -> input }");
        assert!(diagnostics.has_errors() && found[0].graph.connections.is_empty());
    }
}

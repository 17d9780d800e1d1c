//! A configuration with its compound classes as they are written, for tools that show or pass on its structure.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use clickwork_source::{Diagnostics, FileId, Sources, Span};

use super::body::{Body, PORT_NAMES};
use super::class::{self, Class};
use super::flatten::{self, Tunnels};
use super::{Declarer, Options, expansion, in_order};
use crate::graph::{Graph, Requirement};

/// A configuration before compound elements are expanded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Structure {
    /// The compound classes, each behind those that it uses. An alternative of an overloaded class is a class of its own.
    pub classes: Vec<DeclaredClass>,
    /// The elements and connections of the file itself.
    pub top: Part,
    /// What `require` and `provide` said.
    pub requirements: Vec<Requirement>,
}

/// A compound class, or one alternative of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredClass {
    /// The name; empty for the class of an anonymous `{ ... }`.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
    /// Its parameters, each with its keyword: empty for positional ones, `__REST__` for the last of all.
    pub formals: Vec<(String, String)>,
    /// How many inputs and outputs it has.
    pub ports: [usize; 2],
    /// What is tried if this alternative does not fit: an earlier one, or the class that `...` extends.
    pub overloads: Option<ClassRef>,
    /// What it consists of. Elements 0 and 1 stand for the pseudo-elements `input` and `output`.
    pub part: Part,
}

/// Elements and connections. Groups in parentheses are dissolved; compound elements are elements like others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// The elements, with parameters not filled in, and the connections.
    pub graph: Graph,
    /// The class of each element.
    pub classes: Vec<ClassRef>,
}

/// What class an element has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClassRef {
    /// One that the configuration does not declare.
    Primitive(String),
    /// The index of one that it does, in [`Structure::classes`].
    Declared(usize),
}

/// Parses a file and gives its structure, with global variables replaced by their values. Mistakes that show only when
/// compound elements are expanded are not reported.
pub fn elaborate_structure(
    sources: &mut Sources,
    file: FileId,
    options: &Options<'_>,
) -> (Structure, Diagnostics) {
    let mut declared = Declarer::new(sources, options);
    declared.libraries.insert(declared.sources.name(file).to_owned());
    declared.file(file);
    let diagnostics = in_order(std::mem::take(&mut declared.diagnostics));
    for (name, value) in &options.defines {
        declared.body.define_again(name, value);
    }
    let mut outermost: Vec<Class> = declared.classes.outermost().cloned().collect();
    outermost.sort_by_key(place);
    let mut builder = Builder::new(declared.body.variables.clone());
    for class in &outermost {
        builder.note_variables(class);
    }
    for class in &outermost {
        builder.class(class);
    }
    let top = builder.part(&declared.body);
    let requirements = declared.requirements;
    (Structure { classes: builder.classes, top, requirements }, diagnostics)
}

fn place(class: &Class) -> (FileId, u32) {
    let span = match class {
        Class::Compound(class) => class.overloads.first().map_or(Span::NONE, |body| body.span),
        Class::Tunnel | Class::Primitive(_) => Span::NONE,
    };
    (span.file, span.start)
}

/// Makes the list of classes.
struct Builder {
    globals: Vec<(String, String)>,
    /// Variables of classes, which hide global ones of the same name.
    hidden: BTreeSet<String>,
    classes: Vec<DeclaredClass>,
    known: HashMap<*const Body, usize>,
}

impl Builder {
    fn new(globals: Vec<(String, String)>) -> Self {
        Builder { globals, hidden: BTreeSet::new(), classes: Vec::new(), known: HashMap::new() }
    }

    fn note_variables(&mut self, class: &Class) {
        let Class::Compound(class) = class else { return };
        for body in &class.overloads {
            self.hidden.extend(body.variables.iter().map(|(name, _)| name.clone()));
        }
    }

    fn class(&mut self, class: &Class) -> ClassRef {
        match class {
            Class::Tunnel => ClassRef::Primitive(String::new()),
            Class::Primitive(name) => ClassRef::Primitive(name.to_string()),
            Class::Compound(class) => self.compound(class),
        }
    }

    /// All alternatives; the last one stands for the class.
    fn compound(&mut self, class: &class::CompoundClass) -> ClassRef {
        let mut last = class.extension.as_ref().map(|extended| self.class(extended));
        for body in &class.overloads {
            last = Some(ClassRef::Declared(self.alternative(body, last)));
        }
        last.unwrap_or_else(|| ClassRef::Primitive(class.name.clone()))
    }

    fn alternative(&mut self, body: &Rc<Body>, overloads: Option<ClassRef>) -> usize {
        if let Some(&known) = self.known.get(&Rc::as_ptr(body)) {
            return known;
        }
        let part = self.part(body);
        let declared = DeclaredClass {
            name: body.name.clone(),
            span: body.span,
            formals: body.variables[..body.formals].to_vec(),
            ports: body.ports,
            overloads,
            part,
        };
        self.classes.push(declared);
        self.known.insert(Rc::as_ptr(body), self.classes.len() - 1);
        self.classes.len() - 1
    }

    fn part(&mut self, body: &Body) -> Part {
        let mut body = body.clone();
        let globals: Vec<_> = match body.depth {
            0 => Vec::new(),
            _ => self.globals.iter().filter(|(name, _)| !self.hidden.contains(name)).cloned().collect(),
        };
        if body.depth > 0 {
            for (item, name) in body.items.iter_mut().zip(PORT_NAMES) {
                item.class = Class::Primitive(name.into());
            }
        }
        let mut classes = Vec::new();
        for item in &mut body.items {
            if !matches!(item.class, Class::Tunnel) {
                classes.push(self.class(&item.class));
                item.class = Class::Primitive(item.class.name().into());
            }
        }
        let mut graph = Graph::default();
        // What is wrong is said when the configuration is elaborated.
        let ignored = &mut Diagnostics::new();
        expansion::fill_in(&mut body, &globals, ignored);
        let tunnels = Tunnels::of_groups(&body);
        flatten::flatten(expansion::Expanded { body, tunnels }, &mut graph, ignored);
        Part { graph, classes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn structure(text: &str) -> Structure {
        let mut sources = Sources::new();
        let file = sources.add("t.click", text);
        let (structure, diagnostics) = elaborate_structure(&mut sources, file, &Options::any_class());
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        structure
    }

    fn text(part: &Part) -> String {
        crate::print(&part.graph).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn compound_elements_stay_and_variables_go() {
        let s = structure(
            "define($n 7, $m 8); elementclass P { $m | define($k 2) input -> Queue($m, $n, $k) -> output } \
             elementclass T P; a :: T(3) -> (=> x :: X, y :: Y; ) -> Z($m);",
        );
        assert_eq!(s.classes.len(), 1);
        assert_eq!(s.classes[0].formals, [("m".to_string(), String::new())]);
        assert_eq!(
            text(&s.classes[0].part),
            "input :: input; output :: output; Queue@1 :: Queue($m, 7, 2); input -> Queue@1 -> output;"
        );
        assert_eq!(s.top.classes[0], ClassRef::Declared(0));
        assert!(text(&s.top).contains("a :: P(3);") && text(&s.top).contains("Z(8)"), "{}", text(&s.top));
        assert!(s.top.graph.elements.iter().all(|e| !e.class.is_empty()), "groups are dissolved");
    }

    #[test]
    fn alternatives_are_classes_that_point_back() {
        let s = structure(
            "elementclass A { $x | input -> B($x) -> output || input -> C -> output } elementclass A { $x, $y | input -> D \
             -> output || ... } A -> { input -> E -> output } -> A(1, 2)",
        );
        let overloads: Vec<_> = s.classes.iter().map(|c| (c.name.as_str(), c.overloads.clone())).collect();
        let declared = |n| Some(ClassRef::Declared(n));
        assert_eq!(overloads, [("A", None), ("A", declared(0)), ("A", declared(1)), ("", None)]);
        assert_eq!(s.top.classes, [ClassRef::Declared(2), ClassRef::Declared(3), ClassRef::Declared(2)]);
    }
}

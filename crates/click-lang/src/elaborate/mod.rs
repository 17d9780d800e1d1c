//! From the tree to the flat graph.
//!
//! Three stages. *Declaration* (`statements`, `chain`, `connect`) walks the statements in order and gives every compound element
//! a [`body::Body`]: its elements, still compound, and the wires between them. *Expansion* (`expansion`, `overload`)
//! replaces each compound element by the elements of its body, with parameters filled in. *Flattening* (`flatten`)
//! replaces each chain of wires through `input` and `output` pseudo-elements by connections between elements.
//!
//! The order of elements and the numbers in names such as `Queue@3` are Click's, and so is the wording of errors.

mod body;
mod chain;
mod class;
mod classes;
mod connect;
mod expansion;
mod flatten;
mod overload;
mod requirements;
mod statements;
mod structure;

use std::collections::HashSet;

use clickwork_source::{Diagnostic, Diagnostics, FileId, Sources, Span};

use crate::graph::{Define, Graph, Requirement};
use crate::syntax::{self, ast};
use body::Body;
use class::ClassTable;

pub use classes::{CompoundClass, elaborate_classes};
pub use structure::{ClassRef, DeclaredClass, Part, Structure, elaborate_structure};

/// The element classes there are.
pub trait ClassNames {
    /// Whether there is an element class called `name`.
    fn contains(&self, name: &str) -> bool;
    /// All names, for suggestions.
    fn names(&self) -> Vec<String>;
}

/// Reads the files that `require(library ...)` names.
pub trait Loader {
    /// Finds and reads a library that is required by the file `from`.
    fn load(&self, library: &str, from: &str) -> Result<Library, LoadError>;
}

/// A library file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    /// The name of the file: what messages call it, and what tells whether it was read before.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// Why a library could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// There is no such file.
    NotFound,
    /// There is, but it could not be read; the text says why.
    Failed(String),
}

/// A loader for where there are no files.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLibraries;

impl Loader for NoLibraries {
    fn load(&self, _library: &str, _from: &str) -> Result<Library, LoadError> {
        Err(LoadError::NotFound)
    }
}

/// What elaboration needs to know besides the text.
#[derive(Clone)]
pub struct Options<'a> {
    /// Global variables, as from `VAR=value` on the command line. They go before `define`d ones of the same name.
    pub defines: Vec<(String, String)>,
    /// The element classes. Without them, as in tools that know none, every name after `::` or before a configuration
    /// string is a class, and so is every other undeclared name with a capital letter first.
    pub classes: Option<&'a dyn ClassNames>,
    /// Reads libraries.
    pub loader: &'a dyn Loader,
    /// Whether global variables are replaced by their values; otherwise they go to [`Graph::defines`].
    pub expand_defines: bool,
}

impl<'a> Options<'a> {
    /// For a router made of elements of `classes`: no definitions, no libraries, variables replaced.
    pub fn new(classes: &'a dyn ClassNames) -> Self {
        Options { classes: Some(classes), ..Options::any_class() }
    }

    /// For tools that know no element class.
    pub fn any_class() -> Self {
        Options { defines: Vec::new(), classes: None, loader: &NoLibraries, expand_defines: true }
    }
}

/// Limits that no sensible configuration reaches, so that none can exhaust the machine.
pub(crate) mod limits {
    /// Ports of one element.
    pub const PORTS: usize = 1 << 16;
    /// Elements after expansion, pseudo-elements included.
    pub const ELEMENTS: usize = 1 << 17;
    /// Bytes of names and configuration strings after expansion.
    pub const TEXT: usize = 1 << 26;
    /// Wires written or copied, and connections after flattening.
    pub const WIRES: usize = 1 << 20;
    /// Compound elements inside compound elements, and libraries required by libraries.
    pub const NESTING: usize = 200;
}

/// Parses and elaborates a file. With errors, the graph holds what could be understood.
pub fn elaborate(sources: &mut Sources, file: FileId, options: &Options<'_>) -> (Graph, Diagnostics) {
    let mut declared = Declarer::new(sources, options);
    declared.libraries.insert(declared.sources.name(file).to_owned());
    declared.file(file);
    declared.finish(file)
}

/// The first stage: walks statements and fills the current body.
struct Declarer<'a> {
    sources: &'a mut Sources,
    options: &'a Options<'a>,
    classes: ClassTable<'a>,
    /// The body statements go to; that of the file itself has depth 0.
    body: Body,
    requirements: Vec<Requirement>,
    /// Names of the files read.
    libraries: HashSet<String>,
    /// Files being read, one inside the other.
    library_depth: usize,
    diagnostics: Diagnostics,
    /// Wires made so far, in all bodies.
    wires: usize,
}

impl<'a> Declarer<'a> {
    fn new(sources: &'a mut Sources, options: &'a Options<'a>) -> Self {
        Declarer {
            sources,
            options,
            classes: ClassTable::new(options.classes),
            body: Body::new(String::new(), Span::NONE, 0),
            requirements: Vec::new(),
            libraries: HashSet::new(),
            library_depth: 0,
            diagnostics: Diagnostics::new(),
            wires: 0,
        }
    }

    /// Parses a file and takes in its statements.
    fn file(&mut self, file: FileId) {
        let (tree, diagnostics) = syntax::parse(self.sources, file);
        self.diagnostics.extend(diagnostics);
        self.statements(&ast::statements(&tree));
    }

    fn error(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Whether this is for a tool that knows no classes.
    fn knows_no_class(&self) -> bool {
        self.options.classes.is_none()
    }

    fn finish(self, file: FileId) -> (Graph, Diagnostics) {
        let length = self.sources.text(file).len() as u32;
        let end = Span::new(file, length, length);
        let mut diagnostics = in_order(self.diagnostics);
        let mut top = self.body;
        for (name, value) in &self.options.defines {
            top.define_again(name, value);
        }
        let mut graph = Graph { requirements: self.requirements, ..Graph::default() };
        if !self.options.expand_defines {
            let defines = std::mem::take(&mut top.variables);
            graph.defines = defines.into_iter().map(|(name, value)| Define { name, value }).collect();
        }
        let top = expansion::expand(top, self.options.expand_defines, end, &mut diagnostics);
        flatten::flatten(top, &mut graph, &mut diagnostics);
        (graph, diagnostics)
    }
}

/// The messages of the first stage in the order of their places: the parser's come before all others otherwise.
fn in_order(diagnostics: Diagnostics) -> Diagnostics {
    let mut list: Vec<Diagnostic> = diagnostics.into_iter().collect();
    list.sort_by_key(|d| (d.span().file, d.span().start));
    list.into_iter().collect()
}

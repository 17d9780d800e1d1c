//! Which name in a configuration's text means what.
//!
//! Elements are known in the braces that they are declared in, before and behind their declaration; compound classes from
//! their declaration on, and in the braces inside. A name that is neither is that of a class.

use clickwork_lang::syntax::{SyntaxKind, SyntaxNode, SyntaxToken};
use std::collections::HashMap;
use std::rc::Rc;

/// What a name is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Name {
    /// It declares an element.
    Element(Declared),
    /// It declares a class.
    Class { id: String },
    /// It means an element declared elsewhere.
    ElementUse(Declared),
    /// It means a class that is declared at this id.
    ClassUse { class: String, id: String },
    /// It means a class that the configuration does not declare.
    Outside { class: String },
    /// `input` or `output`.
    Pseudo,
}

/// A declaration of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// The id of the place.
    pub id: String,
    /// Where it starts.
    pub start: u32,
    /// `name :: Class(...)`.
    pub text: String,
}

/// The names of one text.
#[derive(Default)]
pub struct Names {
    /// What each name is, by where it starts.
    pub at: HashMap<u32, Name>,
    /// Where unnamed elements start: at their class, or at the brace of a compound.
    pub unnamed: HashMap<u32, String>,
    /// The elements declared in the same braces, by the start of a configuration string.
    pub around: HashMap<u32, Rc<HashMap<String, Declared>>>,
    /// The elements and classes declared outside of all braces, each with its id and words for it.
    pub top: HashMap<String, (String, String)>,
}

/// Finds the names of a tree. `prefix` makes the ids of several trees differ.
pub fn names(root: &SyntaxNode, prefix: &str) -> Names {
    let mut reader = Reader { prefix, names: Names::default(), scopes: Vec::new() };
    reader.scope(root);
    reader.names
}

struct Scope {
    elements: Rc<HashMap<String, Declared>>,
    /// Where each class starts, and its id.
    classes: Vec<(String, u32, String)>,
}

struct Reader<'a> {
    prefix: &'a str,
    names: Names,
    scopes: Vec<Scope>,
}

impl Reader<'_> {
    fn scope(&mut self, node: &SyntaxNode) {
        let is_top = self.scopes.is_empty();
        let mut scope = Scope { elements: Rc::default(), classes: Vec::new() };
        for n in inside(node) {
            match n.kind() {
                SyntaxKind::Element => self.declare(&n, is_top, &mut scope),
                SyntaxKind::Elementclass => self.declare_class(&n, is_top, &mut scope),
                _ => {}
            }
        }
        if is_top {
            let elements = scope.elements.iter().map(|(name, d)| (name, d.id.clone(), d.text.clone()));
            let classes = scope
                .classes
                .iter()
                .map(|(name, _, id)| (name, id.clone(), format!("compound class {name}")));
            self.names.top =
                elements.chain(classes).map(|(name, id, text)| (name.clone(), (id, text))).collect();
        }
        self.scopes.push(scope);
        for n in inside(node) {
            match n.kind() {
                SyntaxKind::Element => self.element(&n),
                SyntaxKind::Elementclass => self.synonym(&n),
                SyntaxKind::Overload => self.scope(&n),
                _ => {}
            }
        }
        self.scopes.pop();
    }

    fn id(&self, kind: &str, name: &str, at: u32, is_unique: bool) -> String {
        match is_unique && self.prefix.is_empty() {
            true => format!("{kind}-{name}"),
            false => format!("{kind}{}{at}-{name}", self.prefix),
        }
    }

    fn declare(&mut self, node: &SyntaxNode, is_top: bool, scope: &mut Scope) {
        let Some(name) = name_of(node) else { return };
        let Some(class) = class_of(node) else { return };
        let is_new = !scope.elements.contains_key(name.text());
        let id = self.id("e", name.text(), start(&name), is_top && is_new);
        let text = format!("{} :: {class}", name.text());
        let declared = Declared { id, start: start(&name), text };
        self.names.at.insert(start(&name), Name::Element(declared.clone()));
        Rc::make_mut(&mut scope.elements).entry(name.text().to_string()).or_insert(declared);
    }

    fn declare_class(&mut self, node: &SyntaxNode, is_top: bool, scope: &mut Scope) {
        let Some(name) = idents(node).next() else { return };
        let is_new = scope.classes.iter().all(|(known, _, _)| known != name.text());
        let id = self.id("c", name.text(), start(&name), is_top && is_new);
        self.names.at.insert(start(&name), Name::Class { id: id.clone() });
        scope.classes.push((name.text().to_string(), start(&name), id));
    }

    fn synonym(&mut self, node: &SyntaxNode) {
        if let Some(class) = idents(node).nth(1) {
            self.class_use(&class);
        }
    }

    fn class_use(&mut self, token: &SyntaxToken) {
        let name = self.class(token);
        self.names.at.insert(start(token), name);
    }

    fn class(&self, token: &SyntaxToken) -> Name {
        let class = token.text().to_string();
        let at = start(token);
        let mut declared = self.scopes.iter().rev().flat_map(|s| s.classes.iter().rev());
        match declared.find(|(name, from, _)| *name == class && *from < at) {
            Some((_, _, id)) => Name::ClassUse { class, id: id.clone() },
            None => Name::Outside { class },
        }
    }

    fn element(&mut self, node: &SyntaxNode) {
        let scope = self.scopes.last().map(|s| Rc::clone(&s.elements)).unwrap_or_default();
        match name_of(node) {
            Some(name) if self.names.at.contains_key(&start(&name)) => {}
            Some(name) if matches!(name.text(), "input" | "output") => {
                self.names.at.insert(start(&name), Name::Pseudo);
            }
            Some(name) => match scope.get(name.text()) {
                Some(declared) => {
                    self.names.at.insert(start(&name), Name::ElementUse(declared.clone()));
                }
                None => {
                    self.class_use(&name);
                    self.unnamed(start(&name));
                }
            },
            None => {
                if let Some(brace) = node.children().find(|n| n.kind() == SyntaxKind::Compound) {
                    self.unnamed(brace.text_range().start().into());
                }
            }
        }
        if let Some(class) = class_token(node) {
            self.class_use(&class);
        }
        if let Some(config) = node.children().find(|n| n.kind() == SyntaxKind::Config) {
            self.names.around.insert(config.text_range().start().into(), scope);
        }
    }

    fn unnamed(&mut self, at: u32) {
        self.names.unnamed.insert(at, format!("at{}{at}", self.prefix));
    }
}

/// The nodes in the same braces as what is directly inside `node`, and the alternatives of compounds there.
fn inside(node: &SyntaxNode) -> Vec<SyntaxNode> {
    let mut found = Vec::new();
    let mut waiting: Vec<SyntaxNode> = node.children().collect();
    waiting.reverse();
    while let Some(node) = waiting.pop() {
        if node.kind() != SyntaxKind::Overload {
            let mut children: Vec<SyntaxNode> = node.children().collect();
            children.reverse();
            waiting.extend(children);
        }
        found.push(node);
    }
    found
}

/// Where a token starts.
pub fn start(token: &SyntaxToken) -> u32 {
    token.text_range().start().into()
}

fn tokens(node: &SyntaxNode) -> impl Iterator<Item = SyntaxToken> {
    node.children_with_tokens().filter_map(|e| e.into_token())
}

fn idents(node: &SyntaxNode) -> impl Iterator<Item = SyntaxToken> {
    tokens(node).filter(|t| t.kind() == SyntaxKind::Ident)
}

fn colons(node: &SyntaxNode) -> Option<u32> {
    tokens(node).find(|t| t.kind() == SyntaxKind::ColonColon).map(|t| start(&t))
}

/// The name before `::`, or that of an element without `::`.
fn name_of(node: &SyntaxNode) -> Option<SyntaxToken> {
    let border = colons(node).unwrap_or(u32::MAX);
    idents(node).find(|t| start(t) < border)
}

/// The name behind `::`.
fn class_token(node: &SyntaxNode) -> Option<SyntaxToken> {
    let border = colons(node)?;
    idents(node).find(|t| start(t) > border)
}

/// The class that an element is declared with, its own or that of a later one in `a, b :: Class`; none for an element that
/// is only used.
fn class_of(node: &SyntaxNode) -> Option<String> {
    let mut siblings = std::iter::successors(Some(node.clone()), SyntaxNode::next_sibling);
    let with_class = siblings.find(|n| n.kind() == SyntaxKind::Element && colons(n).is_some())?;
    let is_plain = |n: &SyntaxNode| n.children().next().is_none();
    if with_class != *node && !is_plain(node) {
        return None;
    }
    let class = class_token(&with_class).map_or("{ ... }".to_string(), |t| t.text().to_string());
    let config = with_class.children().find(|n| n.kind() == SyntaxKind::Config);
    Some(class + &config.map_or(String::new(), |n| one_line(&n.text().to_string())))
}

/// A text without line breaks, cut if it is long.
pub fn one_line(text: &str) -> String {
    const LONGEST: usize = 120;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{} ...", &text[..at]),
        None => text,
    }
}

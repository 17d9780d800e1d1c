//! The tree's meaning-bearing parts as plain structs, which is what elaboration reads.
//!
//! Whatever is missing after a syntax error is left out or empty here; the parser has already complained.

use clickwork_source::{FileId, Span};

use super::{SyntaxKind, SyntaxNode, SyntaxToken, SyntaxTree, span};

/// A piece of text and its place.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    pub text: String,
    pub span: Span,
}

pub(crate) enum Statement {
    Connection(Chain),
    Elementclass(Elementclass),
    Require(Word),
    Provide(Word),
    Define(Word),
}

/// `a, b -> c => d`.
pub(crate) struct Chain {
    pub lists: Vec<Vec<Element>>,
    /// Before each list but the first: whether it is `=>`, and its place.
    pub arrows: Vec<Arrow>,
}

#[derive(Clone, Copy)]
pub(crate) struct Arrow {
    pub double: bool,
    pub span: Span,
}

pub(crate) struct Element {
    pub inputs: Option<Ports>,
    pub name: Name,
    pub class: Option<Class>,
    pub config: Option<Word>,
    pub outputs: Option<Ports>,
    /// From the name to the configuration string.
    pub span: Span,
}

pub(crate) enum Name {
    Word(Word),
    Compound(Compound),
    Group(Group),
    /// Left out: `input` or `output` is meant.
    Implicit,
}

/// What stands after `::`.
pub(crate) enum Class {
    Word(Word),
    Compound(Compound),
    Missing,
}

pub(crate) struct Ports {
    /// Single ports and ranges.
    pub list: Vec<(Word, Option<Word>)>,
    /// `[0, ]` or `[]`: as many more as needed.
    pub open: bool,
    pub span: Span,
}

pub(crate) struct Group {
    pub statements: Vec<Statement>,
    /// The closing parenthesis, which is where Click says the group is.
    pub span: Span,
}

pub(crate) struct Compound {
    pub overloads: Vec<Overload>,
    /// The `...` that extends an older class of the same name.
    pub extension: Option<Span>,
}

pub(crate) struct Overload {
    pub formals: Vec<Formal>,
    pub statements: Vec<Statement>,
    /// The first token inside, which is where Click says the overload is.
    pub span: Span,
}

pub(crate) struct Formal {
    pub keyword: Option<Word>,
    /// The variable without its `$`.
    pub name: Word,
}

pub(crate) struct Elementclass {
    pub name: Option<Word>,
    pub class: Class,
}

/// Reads the statements of a whole file.
pub(crate) fn statements(tree: &SyntaxTree) -> Vec<Statement> {
    Reader { file: tree.file() }.statements(&tree.root())
}

#[derive(Clone, Copy)]
struct Reader {
    file: FileId,
}

impl Reader {
    fn statements(self, node: &SyntaxNode) -> Vec<Statement> {
        node.children().filter_map(|child| self.statement(&child)).collect()
    }

    fn statement(self, node: &SyntaxNode) -> Option<Statement> {
        Some(match node.kind() {
            SyntaxKind::Connection => Statement::Connection(self.chain(node)),
            SyntaxKind::Elementclass => Statement::Elementclass(self.elementclass(node)),
            SyntaxKind::Require => Statement::Require(self.config(node)?),
            SyntaxKind::Provide => Statement::Provide(self.config(node)?),
            SyntaxKind::Define => Statement::Define(self.config(node)?),
            _ => return None,
        })
    }

    fn chain(self, node: &SyntaxNode) -> Chain {
        let lists = children(node, SyntaxKind::ElementList).map(|list| {
            children(&list, SyntaxKind::Element).map(|element| self.element(&element)).collect::<Vec<_>>()
        });
        let arrows = tokens(node).filter(|t| matches!(t.kind(), SyntaxKind::Arrow | SyntaxKind::DoubleArrow));
        let arrow =
            |t: SyntaxToken| Arrow { double: t.kind() == SyntaxKind::DoubleArrow, span: self.span(&t) };
        Chain { lists: lists.filter(|list| !list.is_empty()).collect(), arrows: arrows.map(arrow).collect() }
    }

    fn elementclass(self, node: &SyntaxNode) -> Elementclass {
        let mut words = tokens(node).filter(|t| t.kind() == SyntaxKind::Ident).map(|t| self.word(&t));
        let name = words.next();
        let class = match child(node, SyntaxKind::Compound) {
            Some(compound) => Class::Compound(self.compound(&compound)),
            None => words.next().map_or(Class::Missing, Class::Word),
        };
        Elementclass { name, class }
    }

    fn element(self, node: &SyntaxNode) -> Element {
        let colons = tokens(node).find(|t| t.kind() == SyntaxKind::ColonColon);
        let border = colons.as_ref().map_or(node.text_range().end(), |t| t.text_range().start());
        let config = child(node, SyntaxKind::Config);
        Element {
            inputs: child(node, SyntaxKind::InputPorts).map(|ports| self.ports(&ports)),
            name: self.name(node, border),
            class: colons.map(|_| self.class(node, border)),
            config: config.map(|config| self.config_text(&config)),
            outputs: child(node, SyntaxKind::OutputPorts).map(|ports| self.ports(&ports)),
            span: self.element_span(node),
        }
    }

    /// What stands before the `::` at `border`.
    fn name(self, node: &SyntaxNode, border: rowan::TextSize) -> Name {
        let before = |range: rowan::TextRange| range.start() < border;
        if let Some(word) = tokens(node).find(|t| t.kind() == SyntaxKind::Ident && before(t.text_range())) {
            return Name::Word(self.word(&word));
        }
        if let Some(compound) = children(node, SyntaxKind::Compound).find(|n| before(n.text_range())) {
            return Name::Compound(self.compound(&compound));
        }
        match child(node, SyntaxKind::Group) {
            Some(group) => {
                let last = group.last_token().map_or(self.first_token(&group), |t| self.span(&t));
                Name::Group(Group { statements: self.statements(&group), span: last })
            }
            None => Name::Implicit,
        }
    }

    /// What stands after the `::` at `border`.
    fn class(self, node: &SyntaxNode, border: rowan::TextSize) -> Class {
        let after = |range: rowan::TextRange| range.start() > border;
        if let Some(word) = tokens(node).find(|t| t.kind() == SyntaxKind::Ident && after(t.text_range())) {
            return Class::Word(self.word(&word));
        }
        children(node, SyntaxKind::Compound)
            .find(|n| after(n.text_range()))
            .map_or(Class::Missing, |compound| Class::Compound(self.compound(&compound)))
    }

    /// An element without its ports; the opening brace or parenthesis alone for what is long.
    fn element_span(self, node: &SyntaxNode) -> Span {
        let mut whole = Span::NONE;
        for part in node.children_with_tokens() {
            let kind = part.kind();
            if kind.is_trivia() || matches!(kind, SyntaxKind::InputPorts | SyntaxKind::OutputPorts) {
                continue;
            }
            if matches!(kind, SyntaxKind::Compound | SyntaxKind::Group) {
                return whole.join(part.as_node().map_or(Span::NONE, |n| self.first_token(n)));
            }
            whole = whole.join(span(self.file, part.text_range()));
        }
        if whole.is_none() { span(self.file, node.text_range()) } else { whole }
    }

    fn ports(self, node: &SyntaxNode) -> Ports {
        let mut list: Vec<(Word, Option<Word>)> = Vec::new();
        let (mut open, mut range) = (true, false);
        for token in tokens(node) {
            match token.kind() {
                SyntaxKind::Ident => {
                    let word = self.word(&token);
                    match list.last_mut() {
                        Some(last) if range => last.1 = Some(word),
                        _ => list.push((word, None)),
                    }
                    (open, range) = (false, false);
                }
                SyntaxKind::Minus => range = true,
                SyntaxKind::Comma => open = true,
                _ => {}
            }
        }
        let closed = tokens(node).any(|t| t.kind() == SyntaxKind::RightBracket);
        Ports { list, open: open && closed, span: span(self.file, node.text_range()) }
    }

    fn compound(self, node: &SyntaxNode) -> Compound {
        let extension = tokens(node).find(|t| t.kind() == SyntaxKind::Dots).map(|t| self.span(&t));
        let overloads = children(node, SyntaxKind::Overload).map(|n| self.overload(&n)).collect();
        Compound { overloads, extension }
    }

    fn overload(self, node: &SyntaxNode) -> Overload {
        let formals = child(node, SyntaxKind::Formals).map_or(Vec::new(), |n| self.formals(&n));
        Overload { formals, statements: self.statements(node), span: self.first_token(node) }
    }

    fn formals(self, node: &SyntaxNode) -> Vec<Formal> {
        let mut formals = Vec::new();
        let mut keyword = None;
        for token in tokens(node) {
            let mut word = self.word(&token);
            match token.kind() {
                SyntaxKind::Ident => keyword = Some(word),
                SyntaxKind::Variable => {
                    word.text.remove(0);
                    formals.push(Formal { keyword: keyword.take(), name: word });
                }
                _ => {}
            }
        }
        formals
    }

    fn config(self, statement: &SyntaxNode) -> Option<Word> {
        child(statement, SyntaxKind::Config).map(|config| self.config_text(&config))
    }

    /// The text between the parentheses, without line directives.
    fn config_text(self, node: &SyntaxNode) -> Word {
        let text = tokens(node)
            .filter(|t| t.kind() == SyntaxKind::ConfigText)
            .map(|t| t.text().to_owned())
            .collect();
        Word { text, span: span(self.file, node.text_range()) }
    }

    fn word(self, token: &SyntaxToken) -> Word {
        Word { text: token.text().to_owned(), span: self.span(token) }
    }

    fn span(self, token: &SyntaxToken) -> Span {
        span(self.file, token.text_range())
    }

    /// The place of the first token of a node; an empty place if it has none.
    fn first_token(self, node: &SyntaxNode) -> Span {
        let first = node.first_token().filter(|t| node.text_range().contains_range(t.text_range()));
        first.map_or(span(self.file, node.text_range()).at_start(), |t| self.span(&t))
    }
}

fn child(node: &SyntaxNode, kind: SyntaxKind) -> Option<SyntaxNode> {
    children(node, kind).next()
}

fn children(node: &SyntaxNode, kind: SyntaxKind) -> impl Iterator<Item = SyntaxNode> + use<> {
    node.children().filter(move |n| n.kind() == kind)
}

fn tokens(node: &SyntaxNode) -> impl Iterator<Item = SyntaxToken> + use<> {
    node.children_with_tokens().filter_map(|e| e.into_token())
}

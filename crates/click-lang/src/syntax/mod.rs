//! The lossless syntax tree: every byte of the text is in it, comments and layout included, whatever errors there are.
//!
//! [`parse`] builds it, `ast` reads it. The kinds of nodes are listed in [`SyntaxKind`]; a statement's node contains
//! its `;`, and comments stand beside the node they precede.

pub(crate) mod ast;
pub(crate) mod lexer;
mod line_directive;
mod parser;

use clickwork_source::{Diagnostics, FileId, Sources, Span};

/// Defines the kinds, and the table that turns numbers back into kinds.
macro_rules! syntax_kinds {
    ($($(#[$doc:meta])* $kind:ident,)*) => {
        /// The kinds of tokens and nodes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        #[allow(missing_docs)] // the names are the tokens' and statements' own
        pub enum SyntaxKind {
            $($(#[$doc])* $kind,)*
        }

        const KINDS: &[SyntaxKind] = &[$(SyntaxKind::$kind,)*];
    };
}

syntax_kinds! {
    // Trivia.
    Whitespace,
    Comment,
    LineDirective,
    // Tokens.
    Ident,
    Variable,
    Arrow,
    DoubleArrow,
    ColonColon,
    BarBar,
    Dots,
    ElementclassKw,
    RequireKw,
    ProvideKw,
    DefineKw,
    Semicolon,
    Comma,
    Bar,
    Minus,
    LeftParen,
    RightParen,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    /// The inside of a configuration string, between line directives.
    ConfigText,
    /// A character that begins no token.
    Unknown,
    Eof,
    // Nodes.
    SourceFile,
    /// `a -> b, c => d;`, also a lone declaration.
    Connection,
    /// `a, b :: C` between arrows.
    ElementList,
    /// `[0] name :: Class(config) [1]`.
    Element,
    /// `[0,1]` before a name.
    InputPorts,
    /// `[0,1]` after a name.
    OutputPorts,
    /// `( ... )` after a name or a keyword.
    Config,
    /// `( ... )` in place of a name.
    Group,
    /// `{ ... || ... }`.
    Compound,
    /// One alternative of a compound.
    Overload,
    /// `$a, KEYWORD $b |`.
    Formals,
    Elementclass,
    Require,
    Provide,
    Define,
    /// Text that was skipped.
    Error,
}

impl SyntaxKind {
    /// Whether the parser looks through tokens of this kind.
    pub fn is_trivia(self) -> bool {
        matches!(self, SyntaxKind::Whitespace | SyntaxKind::Comment | SyntaxKind::LineDirective)
    }

    fn from_raw(raw: u16) -> SyntaxKind {
        KINDS.get(usize::from(raw)).copied().unwrap_or(SyntaxKind::Error)
    }
}

/// The Click language, for `rowan`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ClickLanguage {}

impl rowan::Language for ClickLanguage {
    type Kind = SyntaxKind;

    fn kind_from_raw(raw: rowan::SyntaxKind) -> SyntaxKind {
        SyntaxKind::from_raw(raw.0)
    }

    fn kind_to_raw(kind: SyntaxKind) -> rowan::SyntaxKind {
        rowan::SyntaxKind(kind as u16)
    }
}

/// A node of the tree.
pub type SyntaxNode = rowan::SyntaxNode<ClickLanguage>;
/// A token of the tree.
pub type SyntaxToken = rowan::SyntaxToken<ClickLanguage>;
/// A node or a token.
pub type SyntaxElement = rowan::SyntaxElement<ClickLanguage>;

/// The tree of one file.
#[derive(Clone, Debug)]
pub struct SyntaxTree {
    file: FileId,
    root: rowan::GreenNode,
}

impl SyntaxTree {
    /// The file it was made from.
    pub fn file(&self) -> FileId {
        self.file
    }

    /// The node of the whole file.
    pub fn root(&self) -> SyntaxNode {
        SyntaxNode::new_root(self.root.clone())
    }
}

/// Parses a file of `sources`. Never fails: what could not be understood is in [`SyntaxKind::Error`] nodes and in the
/// messages. Registers the file's line directives with `sources`.
pub fn parse(sources: &mut Sources, file: FileId) -> (SyntaxTree, Diagnostics) {
    let (root, mut diagnostics) = parser::parse(file, sources.text(file));
    let tree = SyntaxTree { file, root };
    line_directive::register(sources, &tree, &mut diagnostics);
    (tree, diagnostics)
}

/// The place of a range of the tree.
pub(crate) fn span(file: FileId, range: rowan::TextRange) -> Span {
    Span::new(file, range.start().into(), range.end().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_survive_the_way_through_numbers() {
        for (i, &kind) in KINDS.iter().enumerate() {
            assert_eq!(kind as usize, i);
            assert_eq!(SyntaxKind::from_raw(kind as u16), kind);
        }
    }
}

//! C statements, before they are laid out as lines.

use clickwork_source::Span;

/// A statement and where its Prolac text is.
#[derive(Clone, Debug)]
pub(super) struct Stmt {
    /// The place in the source; none for what has no place of its own.
    pub span: Span,
    /// What it is.
    pub kind: StmtKind,
}

/// The forms of statements.
#[derive(Clone, Debug)]
pub(super) enum StmtKind {
    /// An expression, without the semicolon.
    Do(String),
    /// `place = value;`
    Store {
        /// A variable.
        place: String,
        /// Its new value.
        value: String,
    },
    /// A new variable.
    Declare {
        /// Its name.
        name: String,
        /// The name with its type around it.
        declarator: String,
        /// Its value.
        value: Option<String>,
    },
    /// A choice.
    If {
        /// The condition, without parentheses.
        test: String,
        /// If it holds.
        then: Vec<Stmt>,
        /// If not.
        otherwise: Vec<Stmt>,
    },
    /// `for (;;)`
    Loop(Vec<Stmt>),
    /// `for (uint64_t index = 0; index < count; index++)`
    Count {
        /// A new variable.
        index: String,
        /// How often.
        count: u64,
        /// What is done.
        body: Vec<Stmt>,
    },
    /// `return`, `goto`, `continue` or a call that does not return, without the semicolon.
    Jump(String),
    /// A label.
    Label(String),
    /// C code from the source: its lines.
    Code(Vec<String>),
}

/// Whether the end of the statements cannot be reached.
pub(super) fn ends(statements: &[Stmt]) -> bool {
    match statements.last().map(|s| &s.kind) {
        Some(StmtKind::Jump(_)) => true,
        Some(StmtKind::Loop(body)) => !breaks(body),
        Some(StmtKind::If { then, otherwise, .. }) => ends(then) && ends(otherwise),
        _ => false,
    }
}

/// Whether statements of a loop leave it by `break`.
fn breaks(statements: &[Stmt]) -> bool {
    statements.iter().any(|s| match &s.kind {
        StmtKind::Jump(text) => text == "break",
        StmtKind::If { then, otherwise, .. } => breaks(then) || breaks(otherwise),
        _ => false,
    })
}

/// Takes away the `continue`s that are the last thing in a loop.
pub(super) fn without_last_continue(statements: &mut Vec<Stmt>) {
    match statements.last_mut().map(|s| &mut s.kind) {
        Some(StmtKind::Jump(text)) if text == "continue" => {
            statements.pop();
        }
        Some(StmtKind::If { then, otherwise, .. }) if !otherwise.is_empty() => {
            without_last_continue(then);
            without_last_continue(otherwise);
        }
        _ => {}
    }
}

//! C statements, before they are laid out as lines.

use clickwork_source::Span;

use super::text::C;

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
        /// Whether its value is never used.
        unused: bool,
    },
    /// A choice.
    If {
        /// The condition.
        test: C,
        /// If it holds.
        then: Vec<Stmt>,
        /// If not.
        otherwise: Vec<Stmt>,
    },
    /// `for (;;)`
    Loop(Vec<Stmt>),
    /// `for (uint32_t index = 0; index < count; index++)`
    Each {
        /// The variable that counts.
        index: String,
        /// How often.
        count: u64,
        /// What is done each time.
        body: Vec<Stmt>,
    },
    /// Statements with variables of their own.
    Block(Vec<Stmt>),
    /// `return`, `goto`, `continue` or a call that does not return, without the semicolon.
    Jump(String),
    /// A label.
    Label(String),
    /// C code from the source on one line.
    Line(String),
    /// C code from the source that goes into braces: its lines.
    Code(Vec<String>),
}

/// Whether the end of the statements cannot be reached.
pub(super) fn ends(statements: &[Stmt]) -> bool {
    match statements.last().map(|s| &s.kind) {
        Some(StmtKind::Jump(_)) => true,
        Some(StmtKind::Loop(body)) => !breaks(body),
        Some(StmtKind::Block(body)) => ends(body),
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

/// Removes jumps to jumps and labels that nothing jumps to.
pub(super) fn straighten(statements: &mut Vec<Stmt>) {
    for statement in statements.iter_mut() {
        match &mut statement.kind {
            StmtKind::If { then, otherwise, .. } => {
                straighten(then);
                straighten(otherwise);
            }
            StmtKind::Loop(body) | StmtKind::Each { body, .. } | StmtKind::Block(body) => straighten(body),
            _ => {}
        }
    }
    while let Some((label, target)) = forwarding(statements) {
        retarget(statements, &format!("goto {label}"), &target);
        let own = |s: &Stmt| matches!(&s.kind, StmtKind::Label(name) if *name == label);
        if let Some(at) = statements.iter().position(own) {
            let reached = at == 0 || !ends(&statements[..at]);
            statements.remove(at);
            if !reached {
                statements.remove(at);
            }
        }
    }
    drop_jumps_to_next(statements);
}

/// A label with nothing but a jump after it, and that jump.
fn forwarding(statements: &[Stmt]) -> Option<(String, String)> {
    statements.windows(2).find_map(|pair| match (&pair[0].kind, &pair[1].kind) {
        (StmtKind::Label(label), StmtKind::Jump(target)) if is_short(target) => {
            Some((label.clone(), target.clone()))
        }
        _ => None,
    })
}

fn is_short(jump: &str) -> bool {
    jump.len() <= 16 && !jump.contains('(')
}

fn retarget(statements: &mut [Stmt], from: &str, to: &str) {
    for statement in statements {
        match &mut statement.kind {
            StmtKind::Jump(text) if text == from => *text = to.to_string(),
            StmtKind::If { then, otherwise, .. } => {
                retarget(then, from, to);
                retarget(otherwise, from, to);
            }
            StmtKind::Loop(body) | StmtKind::Each { body, .. } | StmtKind::Block(body) => {
                retarget(body, from, to)
            }
            _ => {}
        }
    }
}

/// Removes a `goto` whose label comes next, with the label if nothing else uses it.
fn drop_jumps_to_next(statements: &mut Vec<Stmt>) {
    let mut at = 0;
    while at + 1 < statements.len() {
        if let (StmtKind::Jump(text), StmtKind::Label(label)) =
            (&statements[at].kind, &statements[at + 1].kind)
            && *text == format!("goto {label}")
        {
            let label = text.clone();
            statements.remove(at);
            if !uses(statements, &label) {
                statements.remove(at);
            }
            continue;
        }
        at += 1;
    }
}

fn uses(statements: &[Stmt], jump: &str) -> bool {
    statements.iter().any(|s| match &s.kind {
        StmtKind::Jump(text) => text == jump,
        StmtKind::If { then, otherwise, .. } => uses(then, jump) || uses(otherwise, jump),
        StmtKind::Loop(body) | StmtKind::Each { body, .. } | StmtKind::Block(body) => uses(body, jump),
        _ => false,
    })
}

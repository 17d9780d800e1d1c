//! Outlined code goes to the end of its function, so that the path taken mostly reads, and runs, straight on.
//!
//! A branch whose condition is marked `unlikely` (or the other branch of a `likely` one) becomes a jump to a label behind
//! the last statement, and jumps back from there. Branches that are a jump or one short statement stay where they are, and
//! so do those in inner blocks, whose variables are not in sight at the end.

use super::stmt::{Stmt, StmtKind, ends, straighten};

/// Moves the cold branches of a function's body. `label` makes labels.
pub(super) fn move_to_end(statements: &mut Vec<Stmt>, label: &mut impl FnMut(&str) -> String) {
    let mut cold = Vec::new();
    take_from(statements, label, &mut cold);
    for statement in statements.iter_mut() {
        if let StmtKind::Loop(body) = &mut statement.kind {
            take_from(body, label, &mut cold);
        }
    }
    let Some(first) = cold.first() else { return };
    if !ends(statements) {
        statements.push(Stmt { span: first.span, kind: StmtKind::Jump("return".into()) });
    }
    statements.append(&mut cold);
    straighten(statements);
}

/// Takes the cold branches out of a list of statements.
fn take_from(statements: &mut Vec<Stmt>, label: &mut impl FnMut(&str) -> String, cold: &mut Vec<Stmt>) {
    let mut at = 0;
    while at < statements.len() {
        let span = statements[at].span;
        let taken = cold_branch(&mut statements[at].kind).map(|branch| {
            let name = label("cold");
            let jump = Stmt { span, kind: StmtKind::Jump(format!("goto {name}")) };
            (name, std::mem::replace(branch, vec![jump]))
        });
        at += 1;
        let Some((name, mut moved)) = taken else { continue };
        if !ends(&moved) {
            let back = label("back");
            moved.push(Stmt { span, kind: StmtKind::Jump(format!("goto {back}")) });
            statements.insert(at, Stmt { span, kind: StmtKind::Label(back) });
            at += 1;
        }
        cold.push(Stmt { span, kind: StmtKind::Label(name) });
        let declares = moved.iter().any(|s| matches!(s.kind, StmtKind::Declare { .. }));
        match declares {
            true => cold.push(Stmt { span, kind: StmtKind::Block(moved) }),
            false => cold.append(&mut moved),
        }
    }
}

/// The branch of a choice that is cold and worth a jump.
fn cold_branch(statement: &mut StmtKind) -> Option<&mut Vec<Stmt>> {
    let StmtKind::If { test, then, otherwise } = statement else { return None };
    let branch = match () {
        () if is_call_of("unlikely", &test.text) => then,
        () if is_call_of("likely", &test.text) => otherwise,
        () => return None,
    };
    (is_long(branch) && !leaves_loop(branch)).then_some(branch)
}

/// Whether all of a condition is `name(...)`.
fn is_call_of(name: &str, text: &str) -> bool {
    let Some(inside) = text.strip_prefix(name).and_then(|rest| rest.strip_prefix('(')) else { return false };
    let mut depth = 1;
    for (at, byte) in inside.bytes().enumerate() {
        depth += i32::from(byte == b'(') - i32::from(byte == b')');
        if depth == 0 {
            return at + 1 == inside.len();
        }
    }
    false
}

fn is_long(branch: &[Stmt]) -> bool {
    match branch {
        [] => false,
        [one] => !matches!(one.kind, StmtKind::Jump(_) | StmtKind::Store { .. } | StmtKind::Do(_)),
        [_, last] => !matches!(last.kind, StmtKind::Jump(_)),
        _ => true,
    }
}

/// Whether statements have a jump that means a loop around them.
fn leaves_loop(statements: &[Stmt]) -> bool {
    statements.iter().any(|s| match &s.kind {
        StmtKind::Jump(text) => text == "continue" || text == "break",
        StmtKind::If { then, otherwise, .. } => leaves_loop(then) || leaves_loop(otherwise),
        StmtKind::Code(_) | StmtKind::Line(_) => true,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::is_call_of;

    #[test]
    fn the_whole_condition_must_be_the_mark() {
        assert!(is_call_of("unlikely", "unlikely((a) && b())"));
        assert!(!is_call_of("unlikely", "unlikely(a) && unlikely(b)"));
        assert!(!is_call_of("likely", "unlikely(a)") && !is_call_of("unlikely", "unlikely(a"));
    }
}

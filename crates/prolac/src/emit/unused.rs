//! Which variables of a function are never used, found in its statements: compilers warn of them.

use std::collections::HashSet;

use super::stmt::{Stmt, StmtKind};

/// Marks the declarations of variables that are never used, and gives the names that are used but not declared here.
pub(super) fn mark(statements: &mut [Stmt]) -> HashSet<String> {
    let mut used = HashSet::new();
    for statement in statements.iter_mut() {
        used.extend(names_in(&mut statement.kind));
    }
    for statement in statements {
        if let StmtKind::Declare { name, unused, declarator, .. } = &mut statement.kind {
            let is_array = declarator.contains(&format!("{name}["));
            let element = used.remove(&element_of(name));
            *unused = !used.remove(name) && (is_array || !element);
        }
    }
    used
}

/// What stands for storing in an element of an array or behind a pointer.
fn element_of(name: &str) -> String {
    format!("{name}[]")
}

/// Whether a parameter is used.
pub(super) fn is_used(used: &HashSet<String>, name: &str) -> bool {
    used.contains(name) || used.contains(&element_of(name))
}

fn names_in(statement: &mut StmtKind) -> HashSet<String> {
    let mut used = HashSet::new();
    match statement {
        StmtKind::Do(text) | StmtKind::Line(text) | StmtKind::Jump(text) => reads(text, &mut used),
        StmtKind::Code(lines) => lines.iter().for_each(|line| reads(line, &mut used)),
        StmtKind::Store { place, value } => {
            reads(&format!("{place} = "), &mut used);
            reads(value, &mut used);
        }
        StmtKind::Declare { value, .. } => value.iter().for_each(|value| reads(value, &mut used)),
        StmtKind::If { test, then, otherwise } => {
            reads(&test.text, &mut used);
            used.extend(mark(then));
            used.extend(mark(otherwise));
        }
        StmtKind::Loop(body) | StmtKind::Each { body, .. } | StmtKind::Block(body) => used = mark(body),
        StmtKind::Label(_) => {}
    }
    used
}

/// Adds the names whose values a piece of C reads: all but those that are only assigned to, and members.
fn reads(text: &str, used: &mut HashSet<String>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte == b'"' || byte == b'\'' {
            at = after_string(bytes, at);
        } else if is_letter(byte) {
            let end = at + bytes[at..].iter().take_while(|&&b| is_letter(b)).count();
            let member = text[..at].ends_with('.') || text[..at].ends_with("->");
            let name = &text[at..end];
            if !member && !byte.is_ascii_digit() && !is_written(&text[end..], at == 0) {
                let element = after_index(&text[end..]).is_some_and(|after| is_written(after, at == 0));
                used.insert(if element { element_of(name) } else { name.to_string() });
            }
            at = end;
        } else {
            at += 1;
        }
    }
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn after_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != bytes[start] {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

/// What follows `[...]`.
fn after_index(text: &str) -> Option<&str> {
    let mut depth = 0;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'[' => depth += 1,
            b']' if depth == 1 => return text.get(at + 1..),
            b']' => depth -= 1,
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// Whether what follows a variable stores in it, in a member of it or in an element of a member. At the start of a
/// statement nothing uses the value of `+=` or `++`. If the member is a pointer, the variable is used; to say that it is
/// not does no harm.
fn is_written(after: &str, at_start: bool) -> bool {
    let mut rest = after;
    while let Some(member) = rest.strip_prefix('.') {
        rest = member.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        while let Some(after) = after_index(rest).filter(|_| rest.starts_with('[')) {
            rest = after;
        }
    }
    let rest = rest.trim_start();
    if let Some(rest) = rest.strip_prefix('=') {
        return !rest.starts_with('=');
    }
    let operators = ["+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"];
    at_start && operators.iter().any(|op| rest.starts_with(op))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        let mut used = HashSet::new();
        reads(text, &mut used);
        let mut all: Vec<String> = used.into_iter().collect();
        all.sort();
        all
    }

    #[test]
    fn what_is_only_assigned_is_not_used() {
        assert_eq!(read("x = y"), ["y"]);
        assert_eq!(read("x.a.b = y.c"), ["y"]);
        assert_eq!(read("x.list[i] = 1"), ["i"]);
        assert_eq!(read("x.list[i].a == 1"), ["i", "x"]);
        assert_eq!(read("p->a = 1"), ["p"]);
        assert_eq!(read("b[f(i)] = x[2]"), ["b[]", "f", "i", "x"]);
        assert_eq!(read("x == 2"), ["x"]);
        assert_eq!(read("x += 1"), Vec::<String>::new());
        assert_eq!(read("f(x++, \"a \\\" b\")"), ["f", "x"]);
    }
}

//! Reports about a program, for people: what each module sees, what overrides what, who calls whom.
//!
//! Each report is a text made from a checked [`Program`]. Places are given as `file:line`, line marks included.

mod callgraph;
mod calls;
mod chain;
pub mod doc;
mod explain;
mod find;
mod namespaces;

use clickwork_source::{Sources, Span};

use crate::Name;
use crate::program::{MethodId, MethodKind, Program, Type};

pub use callgraph::callgraph;
pub use chain::chains;
pub use explain::explain;
pub use find::find_method;
pub use namespaces::namespaces;

/// The signature of a method without its module: `static f(a :> int) :> bool`.
pub fn signature(program: &Program, method: MethodId) -> String {
    let m = &program[method];
    let locals = m.body.locals.iter().take(m.params as usize);
    let params: Vec<String> =
        locals.map(|local| format!("{} :> {}", local.name, program.type_name(&local.ty))).collect();
    let params = if params.is_empty() { String::new() } else { format!("({})", params.join(", ")) };
    let is_static = if m.is_static { "static " } else { "" };
    let returns = match m.returns {
        Type::Void => String::new(),
        _ => format!(" :> {}", program.type_name(&m.returns)),
    };
    format!("{is_static}{}{params}{returns}", dotted(&m.path))
}

/// What made a method, if the source did not.
pub fn made(kind: MethodKind) -> Option<&'static str> {
    match kind {
        MethodKind::Plain | MethodKind::Constructor => None,
        MethodKind::GeneratedConstructor => Some("generated"),
        MethodKind::Forwarder => Some("implicit"),
    }
}

fn dotted(path: &[Name]) -> String {
    path.iter().map(Name::as_str).collect::<Vec<_>>().join(".")
}

/// The line of source that a span starts in, without spaces around it.
fn source_line(sources: &Sources, span: Span) -> &str {
    let text = sources.text(span.file);
    let Some((before, after)) = text.split_at_checked(span.start as usize) else { return "" };
    let start = before.rfind('\n').map_or(0, |n| n + 1);
    let end = before.len() + after.find('\n').unwrap_or(after.len());
    text[start..end].trim()
}

/// Rows of cells as lines with columns; two spaces between columns, none at the end.
fn table(rows: &[Vec<String>], indent: &str) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = indent.to_string();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(&format!("{cell:width$}  "));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [vec!["a".to_string(), "b".into()], vec!["long".into(), String::new()]];
        assert_eq!(table(&rows, "  "), "  a     b\n  long\n");
    }

    #[test]
    fn the_line_of_a_place() {
        let mut sources = Sources::new();
        let file = sources.add("a", "one\n  two é \n");
        assert_eq!(source_line(&sources, Span::new(file, 6, 8)), "two é");
        assert_eq!(source_line(&sources, Span::new(file, 11, 12)), "");
        assert_eq!(source_line(&sources, Span::NONE), "");
    }
}

//! The rules for handlers whose body is folded.

use std::collections::BTreeSet;

use clickwork_source::Span;

use super::void::{flat, sequence};
use crate::analyze::callee;
use crate::program::tree::{Expr, ExprKind};
use crate::program::{ExceptionId, Program, Type};

/// `body catch these`.
pub fn catch(program: &Program, body: Expr, these: Option<Vec<ExceptionId>>, span: Span) -> Expr {
    let caught = Caught { program, these: these.as_deref() };
    if !caught.can_be_raised_in(&body) {
        return sequence(vec![body], Expr::bool(false, span));
    }
    match caught.raised_at_end(body) {
        Ok(before) => sequence(before, Expr::bool(true, span)),
        Err(body) => Expr::new(Type::Bool, span, ExprKind::Catch(Box::new(body), these)),
    }
}

struct Caught<'a> {
    program: &'a Program,
    /// All of them if `None`.
    these: Option<&'a [ExceptionId]>,
}

impl Caught<'_> {
    fn has(&self, exception: ExceptionId) -> bool {
        self.these.is_none_or(|these| these.contains(&exception))
    }

    fn has_any(&self, exceptions: &BTreeSet<ExceptionId>) -> bool {
        exceptions.iter().any(|&e| self.has(e))
    }

    fn can_be_raised_in(&self, expr: &Expr) -> bool {
        let here = match expr.kind {
            ExprKind::Raise(exception) => self.has(exception),
            _ => callee(self.program, expr).is_some_and(|m| self.has_any(&self.program[m].throws)),
        };
        let mut raised = here;
        expr.for_each_child(|part| raised = raised || self.can_be_raised_in(part));
        raised
    }

    /// What is done before a raise at the end that is caught, if nothing before it can be.
    fn raised_at_end(&self, body: Expr) -> Result<Vec<Expr>, Expr> {
        let Expr { ty, span, kind } = body;
        match kind {
            ExprKind::Raise(exception) if self.has(exception) => Ok(Vec::new()),
            ExprKind::Sequence(mut parts) => {
                let raises =
                    matches!(parts.last(), Some(Expr { kind: ExprKind::Raise(e), .. }) if self.has(*e));
                let before = &parts[..parts.len().saturating_sub(1)];
                if raises && !before.iter().any(|part| self.can_be_raised_in(part)) {
                    parts.pop();
                    return Ok(parts);
                }
                Err(flat(parts, ty, span))
            }
            kind => Err(Expr { ty, span, kind }),
        }
    }
}

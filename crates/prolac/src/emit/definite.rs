//! Whether a variable is written before it is read, on every way through a body.

use crate::program::tree::{CPiece, Expr, ExprKind};
use crate::program::{LocalId, ModuleId};

/// Whether no read of `local` can come before a write.
/// `constructs` tells whether constructing an object of a module stores anything in it.
pub(super) fn is_assigned_first(root: &Expr, local: LocalId, constructs: &dyn Fn(ModuleId) -> bool) -> bool {
    let mut search = Search { local, constructs, read_first: false };
    search.visit(root, false);
    !search.read_first
}

struct Search<'a> {
    local: LocalId,
    constructs: &'a dyn Fn(ModuleId) -> bool,
    /// Whether a read was found where no write came before.
    read_first: bool,
}

impl Search<'_> {
    /// Whether the variable is surely written after `e` if it was before as `written` says.
    fn visit(&mut self, e: &Expr, written: bool) -> bool {
        match &e.kind {
            ExprKind::Local(local) if *local == self.local => {
                self.read_first |= !written;
                written
            }
            ExprKind::AddressOf(place) if self.is_local(place) => true,
            ExprKind::Assign(place, value) if self.is_local(place) => {
                self.visit(value, written);
                true
            }
            ExprKind::ConstructAt { place, args, module } if self.is_local(place) => {
                let written = args.iter().fold(written, |written, arg| self.visit(arg, written));
                written || (self.constructs)(*module)
            }
            ExprKind::And(a, b) | ExprKind::Or(a, b) | ExprKind::Implies(a, b) => {
                let written = self.visit(a, written);
                self.visit(b, written);
                written
            }
            ExprKind::Conditional(test, a, b) => {
                let written = self.visit(test, written);
                let (a, b) = (self.visit(a, written), self.visit(b, written));
                a && b
            }
            ExprKind::Raise(_) | ExprKind::Missing => true,
            ExprKind::Catch(body, _) => {
                self.visit(body, written);
                written
            }
            ExprKind::CBlock(block) => {
                let mentioned = block.pieces.iter().any(|piece| match piece {
                    CPiece::Value(value) => super::effects::root_local(value) == Some(self.local),
                    CPiece::Text(..) => false,
                });
                written || mentioned
            }
            _ => {
                let mut now = written;
                e.for_each_child(|child| now = self.visit(child, now));
                now
            }
        }
    }

    fn is_local(&self, place: &Expr) -> bool {
        super::effects::root_local(place) == Some(self.local)
    }
}

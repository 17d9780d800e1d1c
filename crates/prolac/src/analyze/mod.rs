//! What a whole program does, found without running it: which exceptions leave which methods.
//!
//! Nothing here changes a body; `optimize` does. Start with [`throws`].

#[cfg(test)]
pub(crate) mod testing;
pub mod throws;

use crate::program::tree::{Expr, ExprKind};
use crate::program::{MethodId, Program};

pub use throws::{Escape, escapes, exceptions};

/// The method that an expression calls itself, not through its parts: by name, or the constructor of what it makes.
pub fn callee(program: &Program, expr: &Expr) -> Option<MethodId> {
    match &expr.kind {
        ExprKind::Call(call) => Some(call.method),
        ExprKind::Construct { module, .. } | ExprKind::ConstructAt { module, .. } => {
            Some(program[*module].constructor)
        }
        _ => None,
    }
}

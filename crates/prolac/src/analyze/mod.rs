//! What a whole program does, found without running it.
//!
//! - [`throws`]: which exceptions leave which methods,
//! - [`reach`]: which methods can run, of which modules objects are made, what each dispatch can call,
//! - [`callgraph`]: who calls whom, callees first,
//! - [`counts`]: the numbers of `--stats`,
//! - [`effects`]: what the evaluation of an expression can change, see or end.
//!
//! Nothing here changes a body; `optimize` does.

pub mod callgraph;
pub mod counts;
pub mod effects;
pub mod reach;
#[cfg(test)]
pub(crate) mod testing;
pub mod throws;

use crate::program::tree::{Expr, ExprKind};
use crate::program::{MethodId, Program};

pub use callgraph::CallGraph;
pub use counts::{Counts, counts};
pub use reach::{Reach, warnings};
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

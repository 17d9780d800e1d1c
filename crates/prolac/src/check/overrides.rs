//! Whether overriding methods fit what they override (section 7).

use clickwork_source::Diagnostic;

use super::{Checker, Signature};
use crate::program::{MethodId, Program, Type};

impl Checker<'_> {
    /// Checks every dynamic method that overrides one. Static methods can change their signature.
    pub(super) fn check_overrides(&mut self) {
        for method in self.program.method_ids() {
            if let Some(overridden) =
                self.program[method].overrides.filter(|_| !self.program[method].is_static)
            {
                self.check_override(method, overridden);
            }
        }
    }

    fn check_override(&mut self, method: MethodId, overridden: MethodId) {
        let (mine, theirs) = (self.signature(method), self.signature(overridden));
        if mine.params.len() != theirs.params.len() {
            let counts = format!("{}, not {}", count(&theirs), mine.params.len());
            self.report_bad_override(method, overridden, format!("the overridden method takes {counts}"));
            return;
        }
        for ((_, mine, span), (_, theirs, _)) in mine.params.iter().zip(theirs.params.iter()) {
            if !accepts(&self.program, mine, theirs) {
                let (mine, theirs) = (self.program.type_name(mine), self.program.type_name(theirs));
                let message =
                    format!("this parameter is `{mine}`, but the overridden method takes `{theirs}`");
                let place = self.program[overridden].span;
                self.report(Diagnostic::error(*span, message).label(place, "overridden here"));
            }
        }
        if !accepts(&self.program, &theirs.returns, &mine.returns) {
            let (mine, theirs) =
                (self.program.type_name(&mine.returns), self.program.type_name(&theirs.returns));
            let message = format!("it returns `{mine}`, but the overridden method returns `{theirs}`");
            self.report_bad_override(method, overridden, message);
        }
    }

    fn report_bad_override(&mut self, method: MethodId, overridden: MethodId, why: String) {
        let name = self.program.method_name(overridden);
        let message = format!("this method cannot override `{name}`: {why}");
        let place = self.program[overridden].span;
        let report = Diagnostic::error(self.program[method].span, message).label(place, "overridden here");
        self.report(report.hint("to have a new method instead, hide the old one in the header"));
    }
}

/// Whether `wide` is `narrow`, or points to an ancestor of what `narrow` points to.
fn accepts(program: &Program, wide: &Type, narrow: &Type) -> bool {
    match (wide, narrow) {
        (Type::Error, _) | (_, Type::Error) => true,
        (Type::Pointer(a), Type::Pointer(b)) => match (a.module(), b.module()) {
            (Some(a), Some(b)) => program.is_derived(b.module, a.module),
            _ => a == b,
        },
        _ => wide == narrow,
    }
}

fn count(signature: &Signature) -> String {
    match signature.params.len() {
        0 => "no parameters".into(),
        1 => "1 parameter".into(),
        n => format!("{n} parameters"),
    }
}

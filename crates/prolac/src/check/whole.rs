//! What can be checked only when the whole program is known: layouts, and exceptions that have no way out.

use std::collections::BTreeSet;

use clickwork_source::Diagnostic;

use super::Checker;
use crate::analyze::throws;
use crate::program::{FieldId, LayoutError, Slot, Type, layouts};

impl Checker<'_> {
    /// Lays out all modules and reports fields that do not fit. Each field is reported once, though derived modules have
    /// it too. Fields with an error are taken out, until the rest fits.
    pub(super) fn check_layouts(&mut self) {
        let mut seen: BTreeSet<FieldId> = BTreeSet::new();
        let mut before = None;
        while before != Some(seen.len()) {
            before = Some(seen.len());
            self.try_layouts(&mut seen);
        }
    }

    fn try_layouts(&mut self, seen: &mut BTreeSet<FieldId>) {
        for error in layouts(&self.program, &BTreeSet::new()).into_iter().filter_map(Result::err) {
            let (LayoutError::Misaligned { field, .. }
            | LayoutError::Overlap { field, .. }
            | LayoutError::Infinite { field }
            | LayoutError::TooLarge { field }) = error;
            if seen.insert(field) {
                let message = self.layout_message(field, &error);
                self.report(message);
            }
        }
        for &field in &*seen {
            self.program[field].ty = Type::Error;
            self.program[field].offset = None;
        }
    }

    fn layout_message(&self, field: FieldId, error: &LayoutError) -> Diagnostic {
        let name = self.program.field_name(field);
        let span = self.program[field].span;
        let offset = self.program[field].offset.unwrap_or(0);
        match error {
            LayoutError::Misaligned { align, .. } => {
                let ty = self.program.type_name(&self.program[field].ty);
                let message = format!("`{name}` is misaligned: offset {offset} is no multiple of {align}");
                let near = offset / align * align;
                Diagnostic::error(span, message).hint(format!(
                    "a field of type `{ty}` can lie at {near} or {}; for other offsets declare single bytes (`uchar`)",
                    near + align
                ))
            }
            LayoutError::Overlap { other, .. } => {
                let message =
                    Diagnostic::error(span, format!("`{name}` at offset {offset} overlaps another field"));
                match other {
                    Slot::Field(other) => message.label(
                        self.program[*other].span,
                        format!("`{}` lies there already", self.program.field_name(*other)),
                    ),
                    Slot::Table(_) => message,
                }
            }
            LayoutError::Infinite { .. } => {
                let module = self.program.module_name(self.program[field].module);
                Diagnostic::error(span, format!("`{name}` makes an object of `{module}` contain itself"))
                    .hint("make it a pointer: put `*` before the type")
            }
            LayoutError::TooLarge { .. } => {
                Diagnostic::error(span, format!("`{name}` makes an object larger than 2 GiB"))
            }
        }
    }

    /// Finds which exceptions leave which methods, and reports those that must not.
    pub(super) fn check_exceptions(&mut self) {
        throws::exceptions(&mut self.program);
        for (method, exception, span) in throws::escapes(&self.program) {
            let name = self.program.exception_name(exception);
            let returns = self.program.type_name(&self.program[method].returns);
            let message = format!(
                "exception `{name}` can leave `{}`, which returns `{returns}`",
                self.program.method_name(method)
            );
            self.report(
                Diagnostic::error(span, message)
                    .label(
                        self.program[method].span,
                        "only methods that return void or bool may let one escape",
                    )
                    .hint("catch it here, with `catch`"),
            );
        }
    }
}

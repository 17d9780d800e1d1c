//! Configurations for programs that do not read Click's language: [`xml`] in the form of Click's `click2xml`, [`json`] in a
//! form of our own. [`structure`] says which ports push and pull inside compound classes.

pub mod json;
mod structure;
pub mod xml;

use clickwork_router::Processing;
use clickwork_source::{Sources, Span};

/// Where something was written: file and line, line marks included.
fn place(sources: &Sources, span: Span) -> Option<(&str, usize)> {
    (!span.is_none()).then(|| sources.marked_line(span)).flatten()
}

/// The letter of a processing code.
fn letter(kind: Processing) -> char {
    match kind {
        Processing::Agnostic => 'a',
        Processing::Push => 'h',
        Processing::Pull => 'l',
    }
}

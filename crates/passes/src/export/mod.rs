//! Configurations for programs that do not read Click's language: [`xml`] in the form of Click's `click2xml`, [`json`] in a
//! form of our own. [`structure`] says which ports push and pull inside compound classes.

pub mod json;
mod structure;
pub mod xml;

use clickwork_lang::Port;
use clickwork_router::Processing;
use clickwork_source::{Sources, Span};

use crate::kinds::Kinds;
use crate::{Facts, Network};

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

/// The kind of a port: as its connections have it, or else its class. What nothing decides pushes.
fn kind(network: &Network, kinds: &Kinds, facts: &Facts<'_>, port: Port, is_output: bool) -> Processing {
    let own = || network.element(port.element).map(|e| facts.of(&e.class).processing(is_output, port.port));
    let kind = kinds.decided(port, is_output).or_else(own);
    kind.filter(|&kind| kind != Processing::Agnostic).unwrap_or(Processing::Push)
}

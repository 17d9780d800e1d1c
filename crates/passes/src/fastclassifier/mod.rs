//! Classifiers as code: adjacent Classifiers become one ([`merge`]), and each classifier gets a class of its own that stands for
//! its decision diagram ([`specialise`]), as click-fastclassifier does (ASPLOS 2002, §4).
//!
//! The class `FastClassifier@@c` is an alias of its base, and its elements keep their configurations: interpreted, they do what
//! they did. That the class is a specialised one tells a compiler of routers to make code of it. The element map of the archive
//! brings its facts; the member [`SOURCE`] shows people the code. [`reverse`] undoes it, and a second run begins with that.
//!
//! Not here: making diagrams and code of patterns. That needs elements that know the names their arguments use, so the caller
//! hands in what it read of the classifiers in [`alone`]. Read first: [`merge`].

pub mod alone;
mod merge;
mod reverse;
mod source;
mod specialise;

use std::collections::BTreeMap;

use clickwork_lang::archive::Archive;
use clickwork_source::Diagnostics;

use crate::element_map::Entry;
use crate::facts::Facts;
use crate::{ElementId, Network};
use alone::Alone;
pub use reverse::reverse;

/// The classes that this is about.
const CLASSES: [&str; 3] = ["Classifier", "IPClassifier", "IPFilter"];
/// The member of an archive that has the code of all classes, to read.
pub const SOURCE: &str = "fastclassifier.rs";

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Make one of adjacent Classifiers.
    pub combine: bool,
    /// Give classifiers classes of their own.
    pub classes: bool,
}

/// How an element classifies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagram {
    /// Its decision diagram, as the handler `program` prints it: where that is equal, so is what the elements do.
    pub steps: String,
    /// The diagram as Rust; `None` if every packet needs the element itself.
    pub code: Option<String>,
}

/// The diagrams of elements by name, or what is wrong with their configurations.
pub type Diagrams = BTreeMap<String, Result<Diagram, String>>;

/// Merges and specialises the classifiers of a configuration; `diagrams` is asked for those that are left. The messages are notes
/// about what was done and warnings about what could not be.
pub fn fastclassifier(
    network: &mut Network,
    files: &mut Archive,
    facts: &Facts<'_>,
    options: Options,
    diagrams: impl FnOnce(&Alone) -> Diagrams,
) -> Diagnostics {
    let mut messages = Diagnostics::new();
    // What an earlier run did is done anew; what it could not undo is none of the user's business now.
    let _ = reverse(network, files);
    if options.combine {
        messages.extend(merge::merge(network, facts));
    }
    if options.classes {
        let diagrams = diagrams(&Alone::new(network, facts));
        messages.extend(specialise::specialise(network, files, facts, &diagrams));
    }
    messages
}

/// Whether facts about a class were written here.
fn is_ours(entry: &Entry) -> bool {
    entry.get("sourcefile") == Some(SOURCE)
}

/// `'name :: Class'`, with the configuration if it is short.
fn declaration(network: &Network, id: ElementId) -> String {
    let Some(e) = network.element(id) else { return String::new() };
    match e.config.len() {
        1..=40 => format!("'{} :: {}({})'", e.name, e.class, e.config),
        _ => format!("'{} :: {}'", e.name, e.class),
    }
}

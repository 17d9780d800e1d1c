//! Configurations of elements as they will be: with the global variables that the configuration defines replaced.

use clickwork_lang::Define;
use clickwork_lang::expand::{Variables, expand};

use crate::{ElementId, Network};

/// The configuration of an element. Variables that nobody defines stay as they are; nothing if it cannot be read.
pub fn expanded(network: &Network, id: ElementId) -> Option<String> {
    expand(&network.element(id)?.config, &Defines(&network.defines), false).ok()
}

/// Global variables, as the configuration defines them.
struct Defines<'a>(&'a [Define]);

impl Variables for Defines<'_> {
    fn value(&self, name: &str) -> Option<String> {
        self.0.iter().find(|d| d.name == name).map(|d| d.value.clone())
    }

    fn complete(&self) -> bool {
        false
    }
}

//! Elements that others call by name, and that are gone after a replacement.

use clickwork_source::{Diagnostic, Diagnostics};

use super::Replaced;
use crate::mentions::mentions;
use crate::{Facts, Network};

/// Who calls whom by name.
#[derive(Clone, Debug, Default)]
pub struct Called {
    /// The name of an element, and that of one that calls it.
    pairs: Vec<(String, String)>,
}

impl Called {
    /// Who calls whom in a network, before anything is replaced.
    pub fn new(network: &Network, facts: &Facts<'_>) -> Called {
        let name = |id| network.element(id).map(|e| e.name.clone());
        let pairs = mentions(network, facts).into_iter().filter_map(|(id, by)| Some((name(id)?, name(by)?)));
        Called { pairs: pairs.collect() }
    }

    /// Warns of calls that lead nowhere after replacements.
    pub fn warn(&self, network: &Network, replaced: &[Replaced]) -> Diagnostics {
        let gone = self.pairs.iter().filter(|(name, _)| network.find(name).is_none());
        gone.filter_map(|(name, by)| {
            let caller = network.element(network.find(by)?)?;
            let by_what = replaced.iter().find(|r| r.elements.contains(name))?;
            let message = format!("'{by}' calls '{name}', which pattern '{}' has replaced", by_what.pattern);
            let hint = "an element of the replacement keeps the name if it is called as in the pattern";
            Some(Diagnostic::warning(caller.span, message).hint(hint))
        })
        .collect()
    }
}

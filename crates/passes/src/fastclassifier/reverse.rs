//! The way back: elements get the classes that they had.

use std::collections::BTreeSet;

use clickwork_lang::archive::Archive;
use clickwork_source::{Diagnostic, Diagnostics};

use super::{SOURCE, declaration, is_ours};
use crate::Network;
use crate::element_map::ElementMap;

/// Gives all elements of specialised classes their base classes again, and detaches what was attached. Merged elements stay
/// merged. Of classes that another tool has made of the specialised ones a warning says that they stay.
pub fn reverse(network: &mut Network, files: &mut Archive) -> Diagnostics {
    let mut messages = Diagnostics::new();
    let mut map = ElementMap::of(files);
    let ours = |map: &ElementMap, class: &str| map.get(class).is_some_and(is_ours);
    let ids: Vec<_> = network.elements().map(|(id, _)| id).collect();
    for id in ids {
        let Some(element) = network.element_mut(id) else { continue };
        if ours(&map, &element.class) {
            element.class = map.base(&element.class).to_string();
        } else if map.bases(&element.class).any(|class| ours(&map, class)) {
            let span = element.span;
            let what =
                format!("{} left alone: another tool has specialised it further", declaration(network, id));
            let hint = "undo what that did first, as with 'clickwork devirtualize --reverse'";
            messages.push(Diagnostic::warning(span, what).hint(hint));
        }
    }
    let still_used = used_by_others(&map);
    let classes: Vec<String> = map.entries().map(|(name, _)| name.to_string()).collect();
    for class in
        classes.iter().filter(|class| ours(&map, class) && !still_used.contains(*class)).collect::<Vec<_>>()
    {
        map.remove(class);
    }
    map.attach(files);
    if still_used.is_empty() {
        files.remove(SOURCE);
    }
    messages
}

/// Our classes of which others are specialised forms.
fn used_by_others(map: &ElementMap) -> BTreeSet<String> {
    let others = map.entries().filter(|(_, entry)| !is_ours(entry));
    let bases = others.flat_map(|(name, _)| map.bases(name));
    bases.filter(|class| map.get(class).is_some_and(is_ours)).map(str::to_string).collect()
}

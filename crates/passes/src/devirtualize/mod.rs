//! Elements that are specialised to their neighbours (Kohler, Morris and Chen, ASPLOS 2002, §6.1): each group of elements that
//! can [share code](sharing) gets a class of its own, `CLASS@@NAME` after its first element, an alias of the class it had.
//!
//! What such elements do, their arguments and handlers stay as they are; the compiler of routers sees by the class which
//! elements are to be compiled with direct calls to the next. The element map of the archive says what each class
//! is an alias of, so the way [back](undo) is known as well.

mod instructions;
mod listing;
mod partition;
mod reason;
mod sharing;

use std::collections::BTreeSet;

use clickwork_lang::ElementDecl;

pub use instructions::{in_configuration, read_instructions};
pub use listing::listing;
pub use reason::Reason;
pub use sharing::Sharing;

use crate::element_map::{ElementMap, Entry};
use crate::facts::Facts;
use crate::{ElementId, Network, Unit};

/// The member of an archive that is the generated code, for people to read.
pub const FILE: &str = "devirtualize.rs";

/// Which elements are specialised, and what is known of their code.
pub struct Choices<'a> {
    /// Elements and classes that are left alone.
    pub left_out: BTreeSet<String>,
    /// The code that an element brings with it, with its arguments, if it has some of its own.
    pub code: &'a dyn Fn(&ElementDecl) -> Option<String>,
}

impl Choices<'_> {
    fn leaves_out(&self, facts: &Facts<'_>, element: &ElementDecl) -> bool {
        let base = facts.base(&element.class);
        // The tool that takes combined routers apart looks for RouterLinks.
        let names = [element.name.as_str(), &element.class, base];
        base == "RouterLink" || names.into_iter().any(|name| self.left_out.contains(name))
    }

    /// What rule 0 compares. Arguments that are not known yet may turn out different if they are written differently.
    fn code_of(&self, element: &ElementDecl) -> Option<String> {
        let code = (self.code)(element)?;
        Some(if element.config.contains('$') { code + &element.config } else { code })
    }
}

/// A group of elements with a class of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Specialised {
    /// The class.
    pub class: String,
    /// The class that it is an alias of.
    pub base: String,
    /// Its elements.
    pub elements: Vec<ElementId>,
}

/// Gives each group of elements a class of its own, and the facts about it to the element map of the unit.
pub fn specialise(unit: &mut Unit, facts: &Facts<'_>, sharing: &Sharing) -> Vec<Specialised> {
    let mut map = ElementMap::of(&unit.files);
    let specialised: Vec<Specialised> = sharing
        .groups
        .iter()
        .filter_map(|elements| {
            let first = unit.network.element(*elements.first()?)?;
            let class = unused(&map, &format!("{}@@{}", first.class, first.name));
            map.add(facts.specialised(&class, &first.class, FILE));
            Some(Specialised { class, base: first.class.clone(), elements: elements.clone() })
        })
        .collect();
    for Specialised { class, elements, .. } in &specialised {
        elements.iter().for_each(|&id| set_class(&mut unit.network, id, class));
    }
    map.attach(&mut unit.files);
    specialised
}

/// A class name that no facts are given about.
fn unused(map: &ElementMap, name: &str) -> String {
    let numbered = (2..).map(|n| format!("{name}@{n}"));
    let mut names = std::iter::once(name.to_string()).chain(numbered);
    names.find(|name| map.get(name).is_none()).unwrap_or_default()
}

fn set_class(network: &mut Network, id: ElementId, class: &str) {
    if let Some(element) = network.element_mut(id) {
        element.class = class.to_string();
    }
}

/// Gives all specialised elements their classes back, and takes away what [`specialise`] attached. Classes that other tools
/// made stay.
pub fn undo(unit: &mut Unit) {
    let mut map = ElementMap::of(&unit.files);
    let ids: Vec<ElementId> = unit.network.elements().map(|(id, _)| id).collect();
    for id in ids {
        let class = unit.network.element(id).map_or("", |e| e.class.as_str());
        if let Some(base) = general(&map, class) {
            set_class(&mut unit.network, id, base);
        }
    }
    map.retain(|entry| !is_made_here(entry));
    map.attach(&mut unit.files);
    unit.files.remove(FILE);
}

/// The class that a class made here is an alias of.
fn general<'m>(map: &'m ElementMap, class: &str) -> Option<&'m str> {
    map.get(class).filter(|entry| is_made_here(entry))?.get("base")
}

fn is_made_here(entry: &Entry) -> bool {
    entry.get("sourcefile") == Some(FILE)
}

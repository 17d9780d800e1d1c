//! The manuals of all element classes as web pages: an index with search, and a page for each family.
//!
//! The pages need no network, and no scripts but for the search. Examples are drawn.

mod families;
mod page;

use crate::output;
use clickwork_router::{Class, Registry};
use families::{FAMILIES, Family};
use std::collections::BTreeMap;
use std::path::Path;

/// A class under one of its names.
pub type Named<'a> = (&'a str, &'static Class);

/// A family with its classes, by name.
pub struct Chapter<'a> {
    /// The name in the facts.
    pub name: &'a str,
    pub title: &'a str,
    pub about: &'a str,
    pub classes: Vec<Named<'a>>,
}

/// Writes the pages to a folder, which is made if it is not there.
///
/// # Errors
/// If that is not possible.
pub fn write(folder: &Path, registry: &Registry) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {}", folder.display(), output::reason(&e)))?;
    let chapters = chapters(registry);
    output::write(&folder.join("style.css"), &page::style())?;
    output::write(&folder.join("index.html"), &page::index(&chapters))?;
    chapters.iter().try_for_each(|chapter| {
        output::write(&folder.join(page_of(chapter.name)), &page::family(chapter, registry))
    })
}

/// The page of a family. Families in others have a slash in their names.
fn page_of(family: &str) -> String {
    format!("{}.html", family.replace('/', "-"))
}

/// The families that have classes: those of the library in their order, then others.
fn chapters(registry: &Registry) -> Vec<Chapter<'_>> {
    let mut classes: BTreeMap<&str, Vec<Named<'_>>> = BTreeMap::new();
    for named in registry.iter() {
        classes.entry(named.1.family).or_default().push(named);
    }
    let known = FAMILIES.iter().filter_map(|f| Some(chapter(f, classes.remove(f.name)?)));
    let mut chapters: Vec<Chapter<'_>> = known.collect();
    let other = |(name, classes)| chapter(&Family { name, title: name, about: "" }, classes);
    chapters.extend(classes.into_iter().map(other));
    chapters
}

fn chapter<'a>(family: &Family<'a>, mut classes: Vec<Named<'a>>) -> Chapter<'a> {
    classes.sort_by_key(|(name, _)| name.to_lowercase());
    Chapter { name: family.name, title: family.title, about: family.about, classes }
}

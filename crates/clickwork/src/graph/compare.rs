//! Comparison with another configuration: what it does not have, and what it has otherwise.

use super::model::{Mark, Model};
use clickwork_lang::{Graph, Port, config::split_args};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Marks elements and connections. Elements are the same if their names are, as tools keep names.
pub fn mark(model: &mut Model, other: &Graph, file: &Path) {
    let elements: HashMap<&str, (&str, String)> =
        other.elements.iter().map(|e| (&*e.name, (&*e.class, plain(&e.config)))).collect();
    for part in &mut model.parts {
        part.mark = match elements.get(&*part.full_name) {
            None => Some(Mark::Missing),
            Some((class, config)) if *class == part.class && *config == part.whole => None,
            Some(_) => Some(Mark::Different),
        };
    }
    let end = |p: Port| (&*other.elements[p.element].name, p.port);
    let wires: HashSet<_> = other.connections.iter().map(|c| (end(c.from), end(c.to))).collect();
    let parts = &model.parts;
    let end = |(part, port): (usize, usize)| (&*parts[part].full_name, port);
    for wire in &mut model.wires {
        wire.missing = !wires.contains(&(end(wire.from), end(wire.to)));
    }
    let name = file.file_name().unwrap_or(file.as_os_str());
    model.other = Some(name.to_string_lossy().into_owned());
}

/// A configuration without comments and unneeded space.
pub fn plain(config: &str) -> String {
    split_args(config).join(", ")
}

//! An extension overrides only what the base or a file that it needs has defined: two that happen to use one name for two things
//! would change each other in silence.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

#[path = "../src/compose.rs"]
#[allow(dead_code)]
mod compose;

use compose::Catalogue;

/// Modules by name, with the extension whose file they stand in.
fn modules(folder: &Path, catalogue: &Catalogue) -> BTreeMap<String, String> {
    let mut modules = BTreeMap::new();
    for name in catalogue.names() {
        let places = ["extensions", "examples"].map(|place| folder.join(place).join(format!("{name}.pc")));
        let text = places.iter().find_map(|path| std::fs::read_to_string(path).ok()).expect("its file");
        let names = text.lines().filter_map(|line| line.strip_prefix("module ")?.split_whitespace().next());
        modules.extend(names.map(|module| (module.to_string(), name.clone())));
    }
    modules
}

/// Each override: the module, the method, and the module that had it first.
fn overrides(catalogue: &Catalogue) -> Vec<(String, String, String)> {
    let mut compilation = catalogue.compilation(&catalogue.names(), 0).expect("the program can be read");
    let chains = compilation.chains().expect("the program has no errors");
    let (mut found, mut origins) = (Vec::new(), BTreeMap::new());
    let mut module = String::new();
    for line in chains.lines() {
        let text = line.trim();
        if let Some(list) = text.strip_prefix("overrides ") {
            for (method, parent) in list.split(", ").filter_map(|word| word.split_once(" (")) {
                let parent = parent.trim_end_matches(')').to_string();
                let key = (method.to_string(), parent.clone());
                let origin = origins.get(&key).cloned().unwrap_or(parent);
                origins.insert((method.to_string(), module.clone()), origin.clone());
                found.push((module.clone(), method.to_string(), origin));
            }
        } else if text.starts_with(":> ") || (!line.starts_with(' ') && !text.is_empty()) {
            module = text.trim_start_matches(":> ").split_whitespace().next().unwrap_or_default().to_string();
        }
    }
    found
}

#[test]
fn names_do_not_collide() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tcp");
    let catalogue = Catalogue::read(&folder.join("examples")).expect("the catalogue can be read");
    let modules = modules(&folder, &catalogue);
    let overrides = overrides(&catalogue);
    assert!(overrides.len() > 200, "only {} overrides: have chains another form now?", overrides.len());
    let collisions: BTreeSet<String> = overrides
        .iter()
        .filter_map(|(module, method, origin)| {
            let (extension, other) = (modules.get(module)?, modules.get(origin)?);
            let needs = catalogue.with_needs(std::slice::from_ref(extension)).expect("it is there");
            let line = format!("{extension} overrides `{method}` of {other}, which it does not need");
            (!needs.contains(other)).then_some(line)
        })
        .collect();
    assert!(collisions.is_empty(), "{collisions:#?}");
}

//! Groups of elements whose names begin alike: what is left of compound elements in the configurations that tools write.

use super::model::{Compound, Model};
use std::collections::HashMap;

/// Puts elements called `a/b/c` that stand in no compound element into a group `a/b`, and that into a group `a`. A group with
/// a name that a machine made up would say nothing, so there is none.
pub fn by_name(model: &mut Model) {
    let mut known = HashMap::new();
    for part in model.parts.iter_mut().filter(|p| p.compound.is_none()) {
        for (slash, _) in part.full_name.match_indices('/') {
            let name = &part.full_name[..slash];
            let own = name.rsplit('/').next().unwrap_or(name);
            if own.contains('@') {
                continue;
            }
            part.compound = Some(*known.entry(name.to_string()).or_insert_with(|| {
                let group = Compound { name: name.into(), title: own.into(), parent: part.compound };
                model.compounds.push(group);
                model.compounds.len() - 1
            }));
        }
    }
}

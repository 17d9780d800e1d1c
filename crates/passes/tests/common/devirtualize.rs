//! Devirtualizing a configuration in tests: with the code that elements really have, and a check of what holds always.

use clickwork_lang::archive::Member;
use clickwork_lang::{ElementDecl, Options, elaborate};
use clickwork_passes::devirtualize::{
    Choices, FILE, Sharing, Specialised, in_configuration, listing, specialise, undo,
};
use clickwork_passes::element_map::ElementMap;
use clickwork_passes::{ElementId, Facts, Unit};
use clickwork_router::{Registry, Router};
use clickwork_source::Sources;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A configuration with specialised elements.
pub struct Devirtualized {
    pub unit: Unit,
    pub sharing: Sharing,
    pub specialised: Vec<Specialised>,
}

/// Specialises all elements but those that are left out.
pub fn devirtualize(mut unit: Unit, registry: &Registry, left_out: &str) -> Devirtualized {
    let mut left_out: BTreeSet<String> = left_out.split_whitespace().map(str::to_string).collect();
    undo(&mut unit);
    in_configuration(&unit.network, &mut left_out).unwrap();
    let codes = codes(&unit, registry);
    let code = |e: &ElementDecl| match &codes {
        Some(codes) => codes.get(&e.name).cloned(),
        None => Some(e.config.clone()),
    };
    let facts = Facts::new(registry, &unit.files);
    let sharing = Sharing::new(&unit.network, &facts, &Choices { left_out, code: &code });
    let specialised = specialise(&mut unit, &facts, &sharing);
    Devirtualized { unit, sharing, specialised }
}

/// The classes with those that the element map of the unit makes known.
pub fn known(unit: &Unit, registry: &Registry) -> Arc<Registry> {
    let mut registry = registry.clone();
    ElementMap::of(&unit.files).add_to(&mut registry);
    Arc::new(registry)
}

/// A router of the configuration that has read its arguments, unless they are wrong.
pub fn configured(unit: &Unit, registry: &Registry) -> Option<Router> {
    let registry = known(unit, registry);
    let mut sources = Sources::default();
    let file = sources.add("t.click", unit.to_text());
    let (graph, _) = elaborate(&mut sources, file, &Options::new(&*registry));
    let (router, messages) = clickwork_router::check(&graph, &sources, &registry, Default::default());
    router.filter(|_| !messages.has_errors())
}

/// The code of elements, by name.
pub fn codes(unit: &Unit, registry: &Registry) -> Option<BTreeMap<String, String>> {
    let router = configured(unit, registry)?;
    let code = |id| Some((router.info(id).name.clone(), format!("{:?}", router.fast_code(id)?)));
    Some(router.ids().filter_map(code).collect())
}

impl Devirtualized {
    pub fn listing(&self) -> String {
        listing(&self.unit.network, &self.sharing, &self.specialised)
    }

    /// The groups by the names of their elements.
    pub fn groups(&self) -> BTreeSet<BTreeSet<String>> {
        let name = |&id: &ElementId| self.unit.network.element(id).unwrap().name.clone();
        self.sharing.groups.iter().map(|group| group.iter().map(name).collect()).collect()
    }

    /// That only classes are others, that the element map knows them, and that there is a way back to `before`.
    pub fn check(&self, before: &Unit, registry: &Registry) {
        let facts = Facts::new(registry, &self.unit.files);
        let map = ElementMap::of(&self.unit.files);
        let (was, is) = (before.graph(), self.unit.graph());
        for (id, (old, new)) in was.elements.iter().zip(&is.elements).enumerate() {
            assert_eq!((&old.name, &old.config), (&new.name, &new.config));
            let class = match self.sharing.group(id) {
                Some(group) => &self.specialised[group].class,
                None => &old.class,
            };
            assert_eq!(&new.class, class);
            assert_eq!(facts.base(&new.class), facts.base(&old.class));
            let told = map.get(&new.class).and_then(|e| e.get("base"));
            assert!(self.sharing.group(id).is_none() || told == Some(&old.class), "{told:?}");
        }
        assert_eq!(was.connections, is.connections);
        let options = Options { expand_defines: false, ..Options::any_class() };
        let mut back = Unit::read("t.click", self.unit.to_bytes(), &options).0;
        let data = b"code".to_vec();
        back.files.set(Member { name: FILE.into(), modified: 0, mode: 0o600, data });
        undo(&mut back);
        assert_eq!(back.to_text(), before.to_text());
        assert_eq!(back.files, before.files);
    }
}

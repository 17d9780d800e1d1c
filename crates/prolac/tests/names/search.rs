//! What implicit names stand for (section 10), and what calls return (6.2, 9.3).

use super::model::{Id, Member, Operator, Path, Pick, Used, What};
use super::resolve::{Fault, LinkKind, Named, Names, Place, Resolver, Thing, Using, find, lookup};

/// What an implicit name stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Meaning {
    Found(Target),
    Ambiguous,
    /// Names that lead back to each other: to the one at this place of the search.
    Circular(usize),
    /// Nothing, because of a mistake elsewhere.
    Lost,
    Missing,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    pub via: Via,
    pub thing: Thing,
    pub is_static: bool,
}

/// Through what a target was found.
#[derive(Clone, Debug, PartialEq)]
pub enum Via {
    /// The module.
    Import(Id),
    /// Module and place of the field, and the module it points to.
    Field(Id, usize, Id),
}

/// What a call gives; `None` for what is not run.
pub type Value = Option<i64>;

/// Calls deeper than this are taken to be endless.
const DEEP: usize = 30;

impl Resolver<'_> {
    pub fn implicit(&self, module: Id, name: &str) -> Result<Meaning, Fault> {
        self.search(module, name, &mut Vec::new())
    }

    /// `trail` are the names that are being looked for.
    fn search(&self, module: Id, name: &str, trail: &mut Vec<(Id, String)>) -> Result<Meaning, Fault> {
        trail.push((module, name.into()));
        let found = self.by_generation(module, name, trail)?;
        trail.pop();
        Ok(match found {
            Meaning::Circular(place) if place > trail.len() => Meaning::Lost,
            found => found,
        })
    }

    fn by_generation(&self, module: Id, name: &str, trail: &mut Vec<(Id, String)>) -> Result<Meaning, Fault> {
        let mut closed: Vec<Id> = Vec::new();
        for generation in self.ancestry(module) {
            if closed.contains(&generation) {
                break;
            }
            let mut found = Vec::new();
            for (via, view) in self.sources(generation)? {
                let Some(named) = view.get(name) else { continue };
                match self.offered(&via, named, trail)? {
                    Meaning::Found(target) => found.push(target),
                    Meaning::Missing => {}
                    other => return Ok(other),
                }
            }
            match found.len() {
                0 => {}
                1 => return Ok(Meaning::Found(found.remove(0))),
                _ => return Ok(Meaning::Ambiguous),
            }
            let parents = &self.program.module(generation).parents;
            let shut = parents.iter().filter(|parent| is_closed(&parent.operators));
            closed.extend(shut.map(|parent| self.program.target(parent.of)));
        }
        Ok(Meaning::Missing)
    }

    /// The imports and fields of a module, with their views.
    fn sources(&self, module: Id) -> Result<Vec<(Via, Names)>, Fault> {
        let header = self.program.module(module);
        let mut sources = Vec::new();
        for (index, import) in header.imports.iter().enumerate() {
            let (target, view) = self.expr_view(import, Place::Import(module, index))?;
            sources.push((Via::Import(target), view));
        }
        for (index, member) in header.members.iter().enumerate() {
            if let What::Pointer { of, operators, .. } = &member.what {
                let (target, view) = self.pointed(module, index, *of, operators)?;
                sources.push((Via::Field(module, index, target), view));
            }
        }
        Ok(sources)
    }

    /// The view of a field's type.
    pub fn pointed(
        &self,
        module: Id,
        index: usize,
        of: Id,
        operators: &[Operator],
    ) -> Result<(Id, Names), Fault> {
        let (target, mut view) = self.link_view(module, of)?;
        let place = Place::Field(module, index);
        view = self.apply_operators(view, target, operators, place)?;
        Ok((target, view))
    }

    fn offered(&self, via: &Via, named: &Named, trail: &mut Vec<(Id, String)>) -> Result<Meaning, Fault> {
        let nothing = Ok(Meaning::Missing);
        if let Thing::Space(inner, original) = &named.thing {
            return match inner.get(original) {
                Some(inner) if !matches!(inner.thing, Thing::Space(..)) => self.offered(via, inner, trail),
                _ => nothing,
            };
        }
        if named.using == Using::Closed {
            return nothing;
        }
        let (thing, is_static) = match &named.thing {
            Thing::Method(m, i) => (named.thing.clone(), self.is_static(*m, *i)),
            Thing::Exception(..) => (named.thing.clone(), true),
            Thing::Implicit(m, name) => {
                let key = (*m, name.clone());
                if trail.last() == Some(&key) {
                    return nothing;
                }
                if let Some(place) = trail.iter().position(|name| *name == key) {
                    return Ok(Meaning::Circular(place));
                }
                match self.search(*m, name, trail)? {
                    Meaning::Found(target) => {
                        let thing = match target.thing {
                            Thing::Exception(..) => target.thing,
                            _ => named.thing.clone(),
                        };
                        (thing, target.is_static)
                    }
                    Meaning::Missing => return nothing,
                    Meaning::Circular(place) => return Ok(Meaning::Circular(place)),
                    Meaning::Ambiguous | Meaning::Lost => return Ok(Meaning::Lost),
                }
            }
            _ => return nothing,
        };
        let is_exception = matches!(thing, Thing::Exception(..));
        if named.using == Using::IfStatic && !is_static {
            return nothing;
        }
        match via {
            Via::Import(_) if is_static => {}
            Via::Field(..) if !is_static && !is_exception => {}
            _ => return nothing,
        }
        // A forwarder through an object's field needs the object.
        let is_static = match via {
            Via::Import(_) => true,
            Via::Field(m, i, _) => self.is_static(*m, *i),
        };
        Ok(Meaning::Found(Target { via: via.clone(), thing, is_static }))
    }

    // Calls.

    /// What a method or implicit method gives on an object of the module `object`, or without one.
    pub fn call(&self, thing: &Thing, object: Option<Id>, depth: usize) -> Result<Value, Fault> {
        if depth > DEEP {
            return Ok(None);
        }
        match thing {
            Thing::Method(module, index) => {
                let member = self.member(*module, *index);
                match &member.what {
                    What::Number { .. } => Ok(Some(number(*module, *index))),
                    What::Probe(used) => match object {
                        Some(object) => self.probe(*module, member, used, object, depth),
                        None => Ok(None),
                    },
                    _ => Ok(None),
                }
            }
            Thing::Implicit(module, name) => match self.implicit(*module, name)? {
                Meaning::Found(target) => match target.via {
                    Via::Import(_) => self.call(&target.thing, None, depth + 1),
                    Via::Field(.., of) => self.dispatch(&target.thing, of, depth + 1),
                },
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// A call through an object: the definition that the object's own module uses.
    pub fn dispatch(&self, thing: &Thing, object: Id, depth: usize) -> Result<Value, Fault> {
        self.call(&self.latest(object, thing), Some(object), depth)
    }

    fn latest(&self, object: Id, thing: &Thing) -> Thing {
        let root = self.chain(thing).pop().unwrap_or(thing.clone());
        self.definition(object, &root)
    }

    fn probe(
        &self,
        module: Id,
        member: &Member,
        used: &Used,
        object: Id,
        depth: usize,
    ) -> Result<Value, Fault> {
        let Some(named) = self.used(module, member, used)? else { return Ok(None) };
        match (self.is_dynamic(&named.thing)?, used) {
            (true, Used::Super(_)) => match self.ancestry(module).get(1) {
                Some(&parent) => self.call(&self.latest(parent, &named.thing), Some(object), depth + 1),
                None => Ok(None),
            },
            (true, _) => self.dispatch(&named.thing, object, depth + 1),
            (false, _) => self.call(&named.thing, None, depth + 1),
        }
    }

    /// Whether something is a method that needs an object.
    pub fn is_dynamic(&self, thing: &Thing) -> Result<bool, Fault> {
        Ok(match thing {
            Thing::Method(m, i) => !self.is_static(*m, *i),
            Thing::Implicit(m, name) => match self.implicit(*m, name)? {
                Meaning::Found(target) => !target.is_static,
                _ => false,
            },
            _ => false,
        })
    }

    /// What the name in a probe stands for.
    pub fn used(&self, module: Id, member: &Member, used: &Used) -> Result<Option<Named>, Fault> {
        let named = match used {
            Used::Simple(path) => {
                let original = self.original(module)?;
                match (lookup(&original, &member.path, &path[0]).cloned(), path.len()) {
                    (Some(named), 1) => Some(named),
                    (Some(Named { thing: Thing::Space(inner, _), .. }), _) => {
                        find(&inner, &path[1..]).cloned()
                    }
                    _ => None,
                }
            }
            Used::Super(path) | Used::Parent(path) => match self.parent(module)? {
                Some(index) => {
                    let parent = &self.program.module(module).parents[index];
                    find(&self.expr_view(parent, Place::Parent(module, index))?.1, path).cloned()
                }
                None => None,
            },
        };
        Ok(named.and_then(callable))
    }

    /// The exceptions among what an implicit name stands for.
    pub fn is_exception(&self, thing: &Thing) -> Result<bool, Fault> {
        Ok(match thing {
            Thing::Exception(..) => true,
            Thing::Implicit(m, name) => {
                matches!(self.implicit(*m, name)?, Meaning::Found(Target { thing: Thing::Exception(..), .. }))
            }
            _ => false,
        })
    }

    /// The link that a name leads to inside a module.
    pub fn link(&self, module: Id, name: &str) -> Result<Option<LinkKind>, Fault> {
        Ok(match self.original(module)?.get(name).map(|named| &named.thing) {
            Some(Thing::Link(_, kind)) => Some(*kind),
            _ => None,
        })
    }
}

/// What a name stands for where a value is expected: a namespace stands for its `n.n`.
pub fn callable(named: Named) -> Option<Named> {
    match &named.thing {
        Thing::Space(inner, original) => {
            inner.get(original).filter(|inner| !matches!(inner.thing, Thing::Space(..))).cloned()
        }
        _ => Some(named),
    }
}

/// The number that a method returns.
pub fn number(module: Id, index: usize) -> i64 {
    (1000 * (module + 1) + index) as i64
}

/// Whether the last of these operators that open or close all closes it.
fn is_closed(operators: &[Operator]) -> bool {
    let last = operators.iter().rev().find_map(|operator| match operator {
        Operator::Using(Pick::All) => Some(false),
        Operator::NotUsing(Pick::All) => Some(true),
        _ => None,
    });
    last == Some(true)
}

/// A path as the source writes it.
pub fn dotted(path: &Path) -> String {
    path.join(".")
}

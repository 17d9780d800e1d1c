//! A second resolver: what every name means, by the words of the reference (sections 5, 6 and 10), without cleverness.
//!
//! It shares nothing with the compiler. Tables are copied, searches start anew each time.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::model::{Expr, Id, Item, Member, Operator, Path, Pick, Program, Used, What};

pub type Names = BTreeMap<String, Named>;

/// What a name stands for in a view.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    pub thing: Thing,
    pub using: Using,
    pub level: Option<u8>,
    /// Who introduced it.
    pub origin: Id,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Using {
    Closed,
    /// An implicit name under `using allstatic`: open if what it stands for is static.
    IfStatic,
    Open,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Thing {
    /// A method or probe: module and place among its members.
    Method(Id, usize),
    Exception(Id, usize),
    Field(Id, usize),
    Constructor(Id),
    /// With the name it was opened under.
    Space(Names, String),
    Link(Id, LinkKind),
    Implicit(Id, String),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkKind {
    Own,
    Parent,
    Import,
}

/// A view: of which module, and its names.
pub type View = (Id, Names);

/// What is wrong with a program, by the thing to leave out.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    Operator(Place, usize),
    Member(Id, usize),
    Parents(Id),
}

/// Where operators stand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// After the brace, or in an equation.
    After(Id),
    Parent(Id, usize),
    Import(Id, usize),
    Field(Id, usize),
}

pub struct Resolver<'p> {
    pub program: &'p Program,
    originals: RefCell<BTreeMap<Id, Rc<Names>>>,
    /// What each method overrides.
    overrides: RefCell<BTreeMap<(Id, usize), Thing>>,
}

impl<'p> Resolver<'p> {
    pub fn new(program: &'p Program) -> Self {
        Resolver { program, originals: RefCell::default(), overrides: RefCell::default() }
    }

    pub fn member(&self, module: Id, index: usize) -> &Member {
        &self.program.module(module).members[index]
    }

    pub fn is_static(&self, module: Id, index: usize) -> bool {
        matches!(
            self.member(module, index).what,
            What::Number { is_static: true } | What::Pointer { is_static: true, .. }
        )
    }

    /// The parent that the others are ancestors of: its place in the header.
    pub fn parent(&self, module: Id) -> Result<Option<usize>, Fault> {
        let parents: Vec<Id> = self.targets(module);
        if parents.is_empty() {
            return Ok(None);
        }
        let real = parents.iter().position(|&one| parents.iter().all(|&p| self.is_derived(one, p)));
        real.map(Some).ok_or(Fault::Parents(module))
    }

    fn targets(&self, module: Id) -> Vec<Id> {
        self.program.module(module).parents.iter().map(|p| self.program.target(p.of)).collect()
    }

    fn is_derived(&self, module: Id, from: Id) -> bool {
        module == from || self.targets(module).into_iter().any(|p| self.is_derived(p, from))
    }

    /// The module, its parent, and so on.
    pub fn ancestry(&self, module: Id) -> Vec<Id> {
        let mut all = vec![module];
        if let Ok(Some(index)) = self.parent(module) {
            all.extend(self.ancestry(self.targets(module)[index]));
        }
        all
    }

    // Views.

    /// What others see of a module (5.5).
    pub fn default_view(&self, module: Id) -> Result<Names, Fault> {
        let mut names = (*self.original(module)?).clone();
        remove(&mut names, &|_, named| match named.thing {
            Thing::Link(..) => true,
            Thing::Implicit(..) => named.origin == module,
            _ => false,
        });
        self.apply_operators(names, module, &self.program.module(module).operators, Place::After(module))
    }

    pub fn item_view(&self, id: Id) -> Result<View, Fault> {
        match &self.program.items[id] {
            Item::Module(_) => Ok((id, self.default_view(id)?)),
            Item::Equation(expr) => self.expr_view(expr, Place::After(id)),
        }
    }

    /// A module as a header or an equation writes it.
    pub fn expr_view(&self, expr: &Expr, place: Place) -> Result<View, Fault> {
        let (module, names) = self.item_view(expr.of)?;
        Ok((module, self.apply_operators(names, module, &expr.operators, place)?))
    }

    /// What a module sees of one that its header names, or of itself.
    pub fn link_view(&self, module: Id, of: Id) -> Result<View, Fault> {
        let header = self.program.module(module);
        if let Some((index, parent)) = header.parents.iter().enumerate().find(|(_, p)| p.of == of) {
            return self.expr_view(parent, Place::Parent(module, index));
        }
        if let Some((index, import)) = header.imports.iter().enumerate().find(|(_, i)| i.of == of) {
            return self.expr_view(import, Place::Import(module, index));
        }
        Ok((module, (*self.original(module)?).clone()))
    }

    pub fn apply_operators(
        &self,
        mut names: Names,
        module: Id,
        operators: &[Operator],
        place: Place,
    ) -> Result<Names, Fault> {
        for (index, operator) in operators.iter().enumerate() {
            self.apply(&mut names, module, operator, place).ok_or(Fault::Operator(place, index))?;
            prune(&mut names);
        }
        Ok(names)
    }

    // What a module has (5.5).

    pub fn original(&self, module: Id) -> Result<Rc<Names>, Fault> {
        if let Some(known) = self.originals.borrow().get(&module) {
            return Ok(known.clone());
        }
        let mut names = self.inherited(module)?;
        let header = self.program.module(module);
        let own = self.program.name(module);
        names.entry(own).or_insert(new(Thing::Link(module, LinkKind::Own), module));
        for (part, kind) in (header.parents.iter().map(|p| (p, LinkKind::Parent)))
            .chain(header.imports.iter().map(|i| (i, LinkKind::Import)))
        {
            names.insert(
                self.program.name(part.of),
                new(Thing::Link(self.program.target(part.of), kind), module),
            );
        }
        let body = self.body(module)?;
        self.merge(module, &mut names, &body)?;
        names.insert("constructor".into(), new(Thing::Constructor(module), module));
        for member in &header.members {
            let What::Probe(Used::Simple(path)) = &member.what else { continue };
            if lookup(&names, &member.path, &path[0]).is_none() {
                let thing = Thing::Implicit(module, path[0].clone());
                names.insert(path[0].clone(), new(thing, module));
            }
        }
        let names = Rc::new(names);
        self.originals.borrow_mut().insert(module, names.clone());
        Ok(names)
    }

    fn inherited(&self, module: Id) -> Result<Names, Fault> {
        let Some(real) = self.parent(module)? else { return Ok(Names::new()) };
        let parents = &self.program.module(module).parents;
        let (parent, mut names) = self.expr_view(&parents[real], Place::Parent(module, real))?;
        for (index, further) in parents.iter().enumerate().filter(|&(index, _)| index != real) {
            let (_, shown) = self.expr_view(further, Place::Parent(module, index))?;
            self.show_again(parent, &mut names, &shown);
        }
        Ok(names)
    }

    /// What a further ancestor shows, opens or gives a level, applied to what is inherited (6.4).
    fn show_again(&self, parent: Id, names: &mut Names, shown: &Names) {
        for (name, theirs) in shown {
            match names.get_mut(name) {
                None => {
                    names.insert(name.clone(), self.as_inherited(parent, theirs));
                }
                Some(mine) => {
                    let same = mine.thing == self.as_inherited(parent, theirs).thing;
                    match (&mut mine.thing, &theirs.thing) {
                        (Thing::Space(mine, a), Thing::Space(theirs, b)) if a == b => {
                            self.show_again(parent, mine, theirs);
                        }
                        (Thing::Space(..), _) | (_, Thing::Space(..)) => {}
                        _ if same => {
                            mine.using =
                                if theirs.using == Using::Closed { mine.using } else { theirs.using };
                            mine.level = theirs.level.or(mine.level);
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    /// The same, with the definitions that `parent` uses.
    fn as_inherited(&self, parent: Id, named: &Named) -> Named {
        let thing = match &named.thing {
            Thing::Space(inner, name) => {
                let inner = inner.iter().map(|(name, n)| (name.clone(), self.as_inherited(parent, n)));
                Thing::Space(inner.collect(), name.clone())
            }
            thing => self.definition(parent, thing),
        };
        Named { thing, ..named.clone() }
    }

    /// The definition of a method that a module uses: its own or the nearest ancestor's.
    pub fn definition(&self, module: Id, thing: &Thing) -> Thing {
        if !matches!(thing, Thing::Method(..) | Thing::Implicit(..)) {
            return thing.clone();
        }
        for ancestor in self.ancestry(module) {
            // What overrides what is known when names are.
            let _ = self.original(ancestor);
            for index in 0..self.program.module(ancestor).members.len() {
                let candidate = Thing::Method(ancestor, index);
                if self.chain(&candidate).contains(thing) {
                    return candidate;
                }
            }
        }
        thing.clone()
    }

    /// A method and all that it overrides.
    pub fn chain(&self, thing: &Thing) -> Vec<Thing> {
        let mut chain = vec![thing.clone()];
        while let Some(Thing::Method(module, index)) = chain.last() {
            match self.overrides.borrow().get(&(*module, *index)) {
                Some(next) => chain.push(next.clone()),
                None => break,
            }
        }
        chain
    }

    fn body(&self, module: Id) -> Result<Names, Fault> {
        let mut body = Names::new();
        for (index, member) in self.program.module(module).members.iter().enumerate() {
            let thing = match member.what {
                What::Number { .. } | What::Probe(_) => Thing::Method(module, index),
                What::Exception => Thing::Exception(module, index),
                What::Int | What::Pointer { .. } => Thing::Field(module, index),
            };
            put(&mut body, &member.path, new(thing, module)).ok_or(Fault::Member(module, index))?;
        }
        Ok(body)
    }

    fn merge(&self, module: Id, names: &mut Names, body: &Names) -> Result<(), Fault> {
        for (name, mine) in body {
            let Some(old) = names.get_mut(name) else {
                names.insert(name.clone(), mine.clone());
                continue;
            };
            match (&mut old.thing, &mine.thing) {
                (Thing::Space(old, _), Thing::Space(mine, _)) => self.merge(module, old, mine)?,
                (thing @ (Thing::Method(..) | Thing::Implicit(..)), Thing::Method(_, index)) => {
                    self.overrule(module, *index, thing)?;
                    *thing = mine.thing.clone();
                }
                (Thing::Link(_, LinkKind::Own), _) => *old = mine.clone(),
                _ => return Err(Fault::Member(module, first_member(&mine.thing))),
            }
        }
        Ok(())
    }

    fn overrule(&self, module: Id, index: usize, old: &Thing) -> Result<(), Fault> {
        let fault = Err(Fault::Member(module, index));
        if let Thing::Method(m, i) = old
            && self.is_static(*m, *i) != self.is_static(module, index)
        {
            return fault;
        }
        if !self.is_static(module, index) {
            let root = self.chain(old).pop();
            let mine = (0..self.program.module(module).members.len()).map(|i| Thing::Method(module, i));
            for other in mine.filter(|other| *other != Thing::Method(module, index)) {
                let chain = self.chain(&other);
                if chain.len() > 1 && chain.last() == root.as_ref() {
                    return fault;
                }
            }
        }
        self.overrides.borrow_mut().insert((module, index), old.clone());
        Ok(())
    }

    // Operators (5.1 to 5.4). `None`: an error.

    fn apply(&self, names: &mut Names, module: Id, operator: &Operator, place: Place) -> Option<()> {
        match operator {
            Operator::Hide(pick) => self.hide(names, module, pick),
            Operator::Show { new, old } => self.show(names, module, new, old),
            Operator::ShowAll => {
                if place == Place::After(module) && matches!(self.program.items[module], Item::Module(_)) {
                    return None;
                }
                let full = self.default_view(module).ok()?;
                take_back(names, &full).then_some(())
            }
            Operator::Rename { new, old } => {
                let named = find(names, old)?.clone();
                if matches!(named.thing, Thing::Constructor(_)) {
                    return None;
                }
                space_mut(names, &old[..old.len() - 1])?.remove(old.last()?);
                bind(names, new, named)
            }
            Operator::Using(pick) => self.mark(names, module, pick, &|named, pick| {
                named.using = match (&named.thing, pick) {
                    (Thing::Implicit(..), Pick::AllStatic) if named.using == Using::Closed => Using::IfStatic,
                    (Thing::Implicit(..), Pick::AllStatic) => named.using,
                    _ => Using::Open,
                }
            }),
            Operator::NotUsing(Pick::AllStatic) => None,
            Operator::NotUsing(pick) => {
                self.mark(names, module, pick, &|named, _| named.using = Using::Closed)
            }
            Operator::Level(_, Pick::AllStatic | Pick::Pattern(_)) => None,
            Operator::Level(level, pick) => {
                self.mark(names, module, pick, &|named, _| named.level = Some(*level))
            }
        }
    }

    fn hide(&self, names: &mut Names, module: Id, pick: &Pick) -> Option<()> {
        match pick {
            Pick::All => names.clear(),
            Pick::AllStatic => return None,
            Pick::Inside(space) => {
                matches!(names.get(space)?.thing, Thing::Space(..)).then_some(())?;
                names.remove(space);
            }
            Pick::From(from) => {
                self.ancestry(module).contains(from).then_some(())?;
                remove(names, &|_, n| n.origin == *from && !matches!(n.thing, Thing::Constructor(_)));
            }
            Pick::FromNamed(from, name) => {
                self.ancestry(module).contains(from).then_some(())?;
                if names.get(name).is_some_and(|named| named.origin == *from) {
                    names.remove(name);
                }
            }
            Pick::Named(path) => {
                space_mut(names, &path[..path.len() - 1])?.remove(path.last()?);
            }
            Pick::Pattern(pattern) => names.retain(|name, _| !matches(pattern, name)),
        }
        Some(())
    }

    fn show(&self, names: &mut Names, module: Id, new: &Path, old: &Path) -> Option<()> {
        let original = self.original(module).ok()?;
        let named = find(&original, old)?.clone();
        match named.thing {
            Thing::Link(..) => None,
            Thing::Constructor(_) if new != old => None,
            _ => bind(names, new, named),
        }
    }

    fn mark(
        &self,
        names: &mut Names,
        module: Id,
        pick: &Pick,
        change: &dyn Fn(&mut Named, &Pick),
    ) -> Option<()> {
        let is_static = |named: &Named| match &named.thing {
            Thing::Method(m, i) | Thing::Field(m, i) => self.is_static(*m, *i),
            Thing::Exception(..) | Thing::Implicit(..) => true,
            _ => false,
        };
        match pick {
            Pick::All => each(names, &mut |named| change(named, pick)),
            Pick::AllStatic => each(names, &mut |named| {
                if is_static(named) {
                    change(named, pick);
                }
            }),
            Pick::Inside(space) => {
                each(space_mut(names, std::slice::from_ref(space))?, &mut |named| change(named, pick))
            }
            Pick::From(from) => {
                self.ancestry(module).contains(from).then_some(())?;
                each(names, &mut |named| {
                    if named.origin == *from && !matches!(named.thing, Thing::Constructor(_)) {
                        change(named, pick);
                    }
                });
            }
            Pick::FromNamed(from, name) => {
                self.ancestry(module).contains(from).then_some(())?;
                let named = names.get_mut(name)?;
                if named.origin == *from {
                    each_of(named, &mut |named| change(named, pick));
                }
            }
            Pick::Named(path) => {
                let space = space_mut(names, &path[..path.len() - 1])?;
                each_of(space.get_mut(path.last()?)?, &mut |named| change(named, pick));
            }
            Pick::Pattern(_) => return None,
        }
        Some(())
    }
}

fn new(thing: Thing, origin: Id) -> Named {
    Named { thing, using: Using::Closed, level: None, origin }
}

/// The first member among those in a body's entry.
fn first_member(thing: &Thing) -> usize {
    match thing {
        Thing::Method(_, i) | Thing::Exception(_, i) | Thing::Field(_, i) => *i,
        Thing::Space(inner, _) => inner.values().map(|n| first_member(&n.thing)).min().unwrap_or(0),
        _ => 0,
    }
}

/// A simple name, from the namespaces around a member outward.
pub fn lookup<'n>(names: &'n Names, member: &Path, name: &str) -> Option<&'n Named> {
    (0..member.len()).rev().find_map(|depth| {
        let mut path = member[..depth].to_vec();
        path.push(name.into());
        find(names, &path)
    })
}

pub fn find<'n>(names: &'n Names, path: &[String]) -> Option<&'n Named> {
    let named = names.get(&path[0])?;
    match (&named.thing, path.len()) {
        (_, 1) => Some(named),
        (Thing::Space(inner, _), _) => find(inner, &path[1..]),
        _ => None,
    }
}

fn space_mut<'n>(names: &'n mut Names, path: &[String]) -> Option<&'n mut Names> {
    let Some((first, rest)) = path.split_first() else { return Some(names) };
    match &mut names.get_mut(first)?.thing {
        Thing::Space(inner, _) => space_mut(inner, rest),
        _ => None,
    }
}

/// Enters a member of a body; `None` if something is there.
fn put(names: &mut Names, path: &[String], named: Named) -> Option<()> {
    let (last, outer) = path.split_last()?;
    let mut space = names;
    for name in outer {
        let empty = Thing::Space(Names::new(), name.clone());
        let next = space.entry(name.clone()).or_insert(new(empty, named.origin));
        let Thing::Space(inner, _) = &mut next.thing else { return None };
        space = inner;
    }
    if space.contains_key(last) {
        return None;
    }
    space.insert(last.clone(), named);
    Some(())
}

/// Binds a name in a view, unless it shows something else under it.
fn bind(names: &mut Names, path: &[String], named: Named) -> Option<()> {
    let (last, outer) = path.split_last()?;
    let mut space = names;
    for name in outer {
        let empty = Thing::Space(Names::new(), name.clone());
        let next = space.entry(name.clone()).or_insert(new(empty, named.origin));
        let Thing::Space(inner, _) = &mut next.thing else { return None };
        space = inner;
    }
    let same = |old: &Named| match (&old.thing, &named.thing) {
        (Thing::Space(_, a), Thing::Space(_, b)) => a == b && old.origin == named.origin,
        (a, b) => a == b,
    };
    if space.get(last).is_some_and(|old| !same(old)) {
        return None;
    }
    space.insert(last.clone(), named);
    Some(())
}

/// Puts in what a view lacks; whether it lacked anything.
fn take_back(names: &mut Names, full: &Names) -> bool {
    let mut lacked = false;
    for (name, theirs) in full {
        match (names.get_mut(name).map(|mine| &mut mine.thing), &theirs.thing) {
            (None, _) => {
                names.insert(name.clone(), theirs.clone());
                lacked = true;
            }
            (Some(Thing::Space(mine, a)), Thing::Space(theirs, b)) if a == b => {
                lacked |= take_back(mine, theirs)
            }
            _ => {}
        }
    }
    lacked
}

fn remove(names: &mut Names, gone: &dyn Fn(&String, &Named) -> bool) {
    names.retain(|name, named| match &mut named.thing {
        Thing::Space(inner, _) => {
            remove(inner, gone);
            true
        }
        _ => !gone(name, named),
    });
    prune(names);
}

/// A namespace goes with the last of what it has.
fn prune(names: &mut Names) {
    names.retain(|_, named| match &mut named.thing {
        Thing::Space(inner, _) => {
            prune(inner);
            !inner.is_empty()
        }
        _ => true,
    });
}

fn each(names: &mut Names, change: &mut dyn FnMut(&mut Named)) {
    names.values_mut().for_each(|named| each_of(named, change));
}

/// The entry itself, or what is in a namespace.
fn each_of(named: &mut Named, change: &mut dyn FnMut(&mut Named)) {
    match &mut named.thing {
        Thing::Space(inner, _) => each(inner, change),
        _ => change(named),
    }
}

/// Patterns here have one `*` at the end, or one `?` or class in front.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None if pattern.starts_with('[') => {
            let class: Vec<char> = pattern.chars().collect();
            let first = name.chars().next().unwrap_or(' ');
            (class[1]..=class[3]).contains(&first) && name.len() == 1
        }
        None => name.len() == pattern.len(),
    }
}

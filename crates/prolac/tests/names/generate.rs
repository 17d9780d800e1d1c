//! Random programs of modules that inherit, import, hide, show, rename and open names.

use super::model::{Expr, Id, Item, Member, Module, Operator, Path, Pick, Program, Used, What};
use super::random::Random;
use super::resolve::{Fault, Place, Resolver, Thing};
use super::search::Meaning;

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
const SPACES: [&str; 3] = ["n", "m", "a"];
const PATTERNS: [&str; 5] = ["*", "a*", "n*", "?", "[a-c]"];

/// The program of a seed, without mistakes but for implicit names that are ambiguous, circular or missing.
pub fn program(seed: u64) -> Program {
    let mut random = Random::new(seed);
    let mut program = Generator { random: &mut random }.program();
    // Programs with names that stand for nothing are not run.
    let kept = random.percent(20);
    while let Some(fault) = first_fault(&program).or_else(|| first_unsettled(&program).filter(|_| !kept)) {
        leave_out(&mut program, fault);
    }
    program
}

/// The first probe of a name that stands for nothing.
fn first_unsettled(program: &Program) -> Option<Fault> {
    let resolver = Resolver::new(program);
    for id in program.modules() {
        for (index, member) in program.module(id).members.iter().enumerate() {
            let What::Probe(used) = &member.what else { continue };
            let named = resolver.used(id, member, used).ok().flatten();
            if let Some(Thing::Implicit(m, name)) = named.map(|named| named.thing)
                && !matches!(resolver.implicit(m, &name), Ok(Meaning::Found(_)))
            {
                return Some(Fault::Member(id, index));
            }
        }
    }
    None
}

struct Generator<'r> {
    random: &'r mut Random,
}

impl Generator<'_> {
    fn program(&mut self) -> Program {
        let count = self.random.range(3, 8);
        let mut program = Program { items: Vec::new() };
        for id in 0..count {
            let item = match id > 0 && self.random.percent(20) {
                true => Item::Equation(self.expr(id, &program)),
                false => Item::Module(self.module(id, count, &program)),
            };
            program.items.push(item);
        }
        let imports = (0..count).map(|of| {
            let operators = if self.random.percent(60) { vec![] } else { self.operators(of, &program) };
            Expr { of, operators }
        });
        let imports = imports.collect();
        program.items.push(Item::Module(Module { imports, ..Module::default() }));
        // Imports of items that came later.
        for id in 0..count {
            let Item::Module(module) = &mut program.items[id] else { continue };
            let own = module.parents.iter().map(|p| p.of).collect::<Vec<_>>();
            module.imports.retain(|import| !own.contains(&import.of) && import.of != id);
        }
        program
    }

    fn module(&mut self, id: Id, count: usize, before: &Program) -> Module {
        let mut module = Module::default();
        if id > 0 && self.random.percent(70) {
            module.parents.push(self.expr(id, before));
            if self.random.percent(15) {
                self.further_parent(&mut module, before);
            }
        }
        for _ in 0..self.random.range(0, 3) {
            let of = self.random.below(count);
            if module.imports.iter().all(|import| import.of != of) {
                let operators = self.sparse_operators(of, before);
                module.imports.push(Expr { of, operators });
            }
        }
        self.members(id, &mut module, before);
        if self.random.percent(40) {
            module.operators = self.operators(id, before);
        }
        self.show_implicit(&mut module);
        module
    }

    /// Shows names that probes use, many of which are implicit.
    fn show_implicit(&mut self, module: &mut Module) {
        for member in &module.members {
            if let What::Probe(Used::Simple(old)) = &member.what
                && old.len() == 1
                && self.random.percent(35)
            {
                let new = if self.random.percent(80) { old.clone() } else { self.path() };
                module.operators.push(Operator::Show { new, old: old.clone() });
            }
        }
        if self.random.percent(30) {
            module.operators.push(Operator::Using(Pick::All));
        }
    }

    /// An ancestor of the parent.
    fn further_parent(&mut self, module: &mut Module, before: &Program) {
        let parent = before.target(module.parents[0].of);
        let ancestors = Resolver::new(before).ancestry(parent);
        let of = *self.random.pick(&ancestors);
        if of != module.parents[0].of {
            let operators = self.operators(of, before);
            module.parents.push(Expr { of, operators });
            if self.random.percent(30) {
                module.parents.swap(0, 1);
            }
        }
    }

    fn expr(&mut self, id: Id, before: &Program) -> Expr {
        // Rather the last ones, so that chains grow.
        let of = if self.random.percent(60) { id - 1 } else { self.random.below(id) };
        Expr { of, operators: self.sparse_operators(of, before) }
    }

    fn sparse_operators(&mut self, of: Id, before: &Program) -> Vec<Operator> {
        if self.random.percent(40) { vec![] } else { self.operators(of, before) }
    }

    fn operators(&mut self, of: Id, before: &Program) -> Vec<Operator> {
        (0..self.random.range(1, 3)).map(|_| self.operator(of, before)).collect()
    }

    fn operator(&mut self, of: Id, before: &Program) -> Operator {
        match self.random.weighted(&[16, 22, 4, 10, 34, 10, 6]) {
            0 => Operator::Hide(self.pick(of, before, true)),
            1 => {
                let old = if self.random.percent(8) { vec!["constructor".into()] } else { self.path() };
                let new = if self.random.percent(70) { old.clone() } else { self.path() };
                Operator::Show { new, old }
            }
            2 => Operator::ShowAll,
            3 => Operator::Rename { new: self.path(), old: self.path() },
            4 if self.random.percent(60) => Operator::Using(Pick::All),
            4 if self.random.percent(30) => Operator::Using(Pick::AllStatic),
            4 => Operator::Using(self.pick(of, before, false)),
            5 => Operator::NotUsing(self.pick(of, before, false)),
            _ => Operator::Level(self.random.below(4) as u8, self.pick(of, before, false)),
        }
    }

    fn pick(&mut self, of: Id, before: &Program, hides: bool) -> Pick {
        let ancestor = |random: &mut Random| match of < before.items.len() {
            true => *random.pick(&Resolver::new(before).ancestry(before.target(of))),
            false => of,
        };
        match self.random.weighted(&[25, 45, 8, 10, 8, 12]) {
            0 => Pick::All,
            1 => Pick::Named(self.path()),
            2 => Pick::Inside(self.name(&SPACES)),
            3 => Pick::From(ancestor(self.random)),
            4 => Pick::FromNamed(ancestor(self.random), self.name(&NAMES)),
            _ if hides => Pick::Pattern(self.name(&PATTERNS)),
            _ => Pick::All,
        }
    }

    fn name(&mut self, names: &[&str]) -> String {
        self.random.pick(names).to_string()
    }

    fn path(&mut self) -> Path {
        match self.random.percent(22) {
            true => vec![self.name(&SPACES), self.member_name()],
            false if self.random.percent(12) => vec![self.name(&SPACES)],
            false => vec![self.name(&NAMES)],
        }
    }

    /// A name in a namespace: often the namespace's own.
    fn member_name(&mut self) -> String {
        if self.random.percent(50) { self.name(&SPACES) } else { self.name(&NAMES) }
    }

    fn members(&mut self, id: Id, module: &mut Module, before: &Program) {
        for _ in 0..self.random.range(0, 3) {
            let what = match self.random.weighted(&[55, 30, 8, 7]) {
                0 => What::Number { is_static: false },
                1 => What::Number { is_static: true },
                2 => What::Exception,
                _ => What::Int,
            };
            let path = match what {
                What::Exception => vec![self.name(&NAMES)],
                _ if self.random.percent(18) => vec![self.name(&SPACES), self.member_name()],
                _ => vec![self.name(&NAMES)],
            };
            module.members.push(Member { path, what });
        }
        for number in 0..self.random.range(2, 6) {
            let used = match self.random.weighted(&[84, 8, 8]) {
                0 => Used::Simple(self.path()),
                1 => Used::Super(self.path()),
                _ => Used::Parent(self.path()),
            };
            let mut path = vec![format!("q{id}_{number}")];
            if self.random.percent(15) {
                path.insert(0, self.name(&SPACES));
            }
            module.members.push(Member { path, what: What::Probe(used) });
        }
        for number in 0..self.random.range(0, 3) {
            let links = module.parents.iter().chain(&module.imports).map(|part| part.of).chain([id]);
            let links: Vec<Id> = links.collect();
            let of = *self.random.pick(&links);
            let mut operators = if of <= id { self.sparse_operators(of, before) } else { vec![] };
            if self.random.percent(50) {
                operators.push(Operator::Using(Pick::All));
            }
            let is_static = self.random.percent(15);
            let what = What::Pointer { of, operators, is_static };
            module.members.push(Member { path: vec![format!("f{id}_{number}")], what });
        }
    }
}

/// The first mistake that is no matter of implicit names.
pub fn first_fault(program: &Program) -> Option<Fault> {
    let resolver = Resolver::new(program);
    find_fault(program, &resolver).err()
}

fn find_fault(program: &Program, resolver: &Resolver<'_>) -> Result<(), Fault> {
    for id in 0..program.items.len() {
        resolver.item_view(id)?;
        let Item::Module(module) = &program.items[id] else { continue };
        for (index, part) in module.imports.iter().enumerate() {
            resolver.expr_view(part, Place::Import(id, index))?;
        }
        for (index, member) in module.members.iter().enumerate() {
            let fault = Err(Fault::Member(id, index));
            match &member.what {
                What::Pointer { of, operators, .. } => {
                    let links = module.parents.iter().chain(&module.imports).any(|part| part.of == *of);
                    if !links && *of != id || resolver.link(id, &program.name(*of))?.is_none() {
                        return fault;
                    }
                    resolver.pointed(id, index, *of, operators)?;
                }
                What::Probe(used) => match resolver.used(id, member, used)? {
                    Some(named) if !is_value(&named.thing) => return fault,
                    None => return fault,
                    _ => {}
                },
                _ => {}
            }
            overridden_implicit(resolver, id, index)?;
        }
    }
    Ok(())
}

fn is_value(thing: &Thing) -> bool {
    matches!(thing, Thing::Method(..) | Thing::Implicit(..) | Thing::Exception(..))
}

/// A method in the place of a shown implicit one must be of its kind.
fn overridden_implicit(resolver: &Resolver<'_>, module: Id, index: usize) -> Result<(), Fault> {
    let method = Thing::Method(module, index);
    if let [_, implicit @ Thing::Implicit(m, name)] = &resolver.chain(&method)[..] {
        let exists = matches!(resolver.implicit(*m, name)?, Meaning::Found(_));
        let wrong = resolver.is_exception(implicit)?
            || exists && resolver.is_dynamic(implicit)? == resolver.is_static(module, index);
        if wrong {
            return Err(Fault::Member(module, index));
        }
    }
    Ok(())
}

fn leave_out(program: &mut Program, fault: Fault) {
    match fault {
        Fault::Member(id, index) => drop(program.module_mut(id).members.remove(index)),
        Fault::Parents(id) => drop(program.module_mut(id).parents.pop()),
        Fault::Operator(place, index) => {
            let operators = match place {
                Place::Parent(id, part) => &mut program.module_mut(id).parents[part].operators,
                Place::Import(id, part) => &mut program.module_mut(id).imports[part].operators,
                Place::Field(id, member) => match &mut program.module_mut(id).members[member].what {
                    What::Pointer { operators, .. } => operators,
                    _ => panic!("member {member} of {id} is no field"),
                },
                Place::After(id) => match &mut program.items[id] {
                    Item::Module(module) => &mut module.operators,
                    Item::Equation(expr) => &mut expr.operators,
                },
            };
            operators.remove(index);
        }
    }
}

/// The program with one thing left out, in each possible way that makes no mistake.
pub fn smaller(program: &Program) -> Vec<Program> {
    let mut all = Vec::new();
    let mut try_fault = |fault: Fault| {
        let mut smaller = program.clone();
        leave_out(&mut smaller, fault);
        while let Some(fault) = first_fault(&smaller) {
            leave_out(&mut smaller, fault);
        }
        all.push(smaller);
    };
    for fault in parts(program) {
        try_fault(fault);
    }
    all.extend(without_imports(program));
    all
}

fn without_imports(program: &Program) -> Vec<Program> {
    let mut all = Vec::new();
    for id in 0..program.items.len() {
        let Item::Module(module) = &program.items[id] else { continue };
        for index in 0..module.imports.len() {
            let mut smaller = program.clone();
            if let Item::Module(module) = &mut smaller.items[id] {
                module.imports.remove(index);
            }
            while let Some(fault) = first_fault(&smaller) {
                leave_out(&mut smaller, fault);
            }
            all.push(smaller);
        }
    }
    all
}

/// Everything that can be left out.
fn parts(program: &Program) -> Vec<Fault> {
    let mut all = Vec::new();
    for (id, item) in program.items.iter().enumerate() {
        let module = match item {
            Item::Equation(expr) => {
                all.extend((0..expr.operators.len()).map(|index| Fault::Operator(Place::After(id), index)));
                continue;
            }
            Item::Module(module) => module,
        };
        let mut operators = |place: Place, list: &[Operator]| {
            all.extend((0..list.len()).map(|index| Fault::Operator(place, index)));
        };
        operators(Place::After(id), &module.operators);
        module.parents.iter().enumerate().for_each(|(i, p)| operators(Place::Parent(id, i), &p.operators));
        module.imports.iter().enumerate().for_each(|(i, p)| operators(Place::Import(id, i), &p.operators));
        for (index, member) in module.members.iter().enumerate() {
            if let What::Pointer { operators: list, .. } = &member.what {
                operators(Place::Field(id, index), list);
            }
        }
        all.extend((0..module.members.len()).map(|index| Fault::Member(id, index)));
        all.extend((!module.parents.is_empty()).then_some(Fault::Parents(id)));
    }
    all
}

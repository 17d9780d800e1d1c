//! What the compiler makes of a program, beside what the second resolver makes of it.

use std::collections::BTreeMap;

use clickwork_prolac::check::check;
use clickwork_prolac::interpret::{Limits, Machine, Outcome};
use clickwork_prolac::names::{self, Entry, Feature, LinkKind, Names, Space, Via};
use clickwork_prolac::program::{self, Target, ViewId};
use clickwork_prolac::{Name, syntax};
use clickwork_source::{Diagnostics, FileId, Severity, Sources, render_human};

use super::model::{Id, Item, Program, Used, What};
use super::random::Random;
use super::resolve::{self, Fault, Resolver, Thing, Using};
use super::search::{self, Meaning};
use super::text::{Text, text};

/// Compares; what differs, after the program's text.
pub fn compare(program: &Program, seed: u64) -> Result<(), String> {
    let resolver = Resolver::new(program);
    let text = text(program, &resolver, &mut Random::new(seed)).expect("the program has no faults");
    let mut sources = Sources::new();
    let file = sources.add("t.pc", text.source.as_str());
    let result = views(program, &resolver, &mut sources, file)
        .and_then(|()| runs(program, &resolver, &text, &mut sources, file));
    result.map_err(|difference| format!("{}\n{difference}", text.source))
}

/// Every view, and what implicit names stand for.
fn views(
    program: &Program,
    resolver: &Resolver<'_>,
    sources: &mut Sources,
    file: FileId,
) -> Result<(), String> {
    let mut diagnostics = Diagnostics::new();
    let ast = syntax::parse(sources, file, &mut diagnostics);
    let mut built = program::Program { target: Target::host(), ..program::Program::default() };
    let names = Names::build(&ast, &mut built, &mut diagnostics);
    let said: Vec<String> =
        diagnostics.iter().filter(|d| d.severity == Severity::Error).map(|d| d.message.clone()).collect();
    let seen = Seen { names: &names, built: &built };
    let module_of = |id: Id| {
        let name = program.name(id);
        built.module_ids().find(|&m| built.module_name(m) == name).expect("the module exists")
    };
    for id in program.modules() {
        let module = module_of(id);
        let name = program.name(id);
        let original = resolver.original(id).map_err(fault)?;
        let expected = list_expected(program, resolver, &original);
        let got = seen.list(names.original_view(module));
        differ(&format!("{name} inside"), &got, &expected)?;
        let expected = list_expected(program, resolver, &resolver.default_view(id).map_err(fault)?);
        let got = seen.list(names.default_view(module).ok_or_else(|| String::from("no default view"))?);
        differ(&format!("{name} by default"), &got, &expected)?;
    }
    for id in program.modules().into_iter().chain([program.main()]) {
        let header = program.module(id);
        for part in header.parents.iter().chain(&header.imports) {
            let link = names
                .links(module_of(id))
                .into_iter()
                .find(|(name, _)| *name == program.name(part.of).as_str());
            let (_, link) = link.ok_or("a link is lost")?;
            let expected = resolver.link_view(id, part.of).map_err(fault)?.1;
            let what = format!("{} as {} sees it", program.name(part.of), program.name(id));
            differ(&what, &seen.list(link.view), &list_expected(program, resolver, &expected))?;
        }
    }
    let ambiguous = implicits(program, resolver, &seen, &module_of)?;
    let expected: Vec<String> = ambiguous;
    let mut said = said;
    said.sort();
    let said: Vec<String> = said.iter().map(|m| m.split(':').next().unwrap_or("").to_string()).collect();
    differ("errors of names", &said.join("\n"), &expected.join("\n"))
}

fn fault(fault: Fault) -> String {
    format!("the resolver finds a fault: {fault:?}")
}

fn differ(what: &str, got: &str, expected: &str) -> Result<(), String> {
    match got == expected {
        true => Ok(()),
        false => Err(format!("{what}:\n  compiler {got}\n  expected {expected}")),
    }
}

/// Compares each implicit name; the messages that must come.
fn implicits(
    program: &Program,
    resolver: &Resolver<'_>,
    seen: &Seen<'_>,
    module_of: &dyn Fn(Id) -> program::ModuleId,
) -> Result<Vec<String>, String> {
    let mut messages = Vec::new();
    for (id, name) in implicit_names(program, resolver)? {
        let meaning = resolver.implicit(id, &name).map_err(fault)?;
        match meaning {
            Meaning::Ambiguous => messages.push(format!("`{name}` is ambiguous")),
            Meaning::Circular(_) => messages.push(format!("`{name}` leads back to itself")),
            _ => {}
        }
        let got = match seen.names.lookup_top(module_of(id), &Name::new(&name)) {
            Some(Entry { feature: Feature::Implicit(implicit), .. }) => {
                match seen.names.implicit(*implicit) {
                    Some(entry) => seen.target(entry),
                    None => "a message".into(),
                }
            }
            Some(_) => "something else".into(),
            None => "nothing".into(),
        };
        let expected = match &meaning {
            Meaning::Found(target) => target_expected(program, target),
            Meaning::Ambiguous | Meaning::Circular(_) | Meaning::Lost => "a message".into(),
            Meaning::Missing => "nothing".into(),
        };
        differ(&format!("{}.{name}", program.name(id)), &got, &expected)?;
    }
    messages.sort();
    Ok(messages)
}

/// The implicit names that modules introduce.
fn implicit_names(program: &Program, resolver: &Resolver<'_>) -> Result<Vec<(Id, String)>, String> {
    let mut all = Vec::new();
    for id in program.modules() {
        for (name, named) in resolver.original(id).map_err(fault)?.iter() {
            if named.thing == Thing::Implicit(id, name.clone()) {
                all.push((id, name.clone()));
            }
        }
    }
    Ok(all)
}

fn target_expected(program: &Program, target: &search::Target) -> String {
    let via = match &target.via {
        search::Via::Import(module) => program.name(*module),
        search::Via::Field(module, index, _) => {
            format!("{}.{}", program.name(*module), program.module(*module).members[*index].path.join("."))
        }
    };
    match &target.thing {
        Thing::Exception(..) => thing_expected(program, &target.thing),
        thing => format!("{} through {via}", thing_expected(program, thing)),
    }
}

fn thing_expected(program: &Program, thing: &Thing) -> String {
    match thing {
        Thing::Method(m, i) | Thing::Exception(m, i) | Thing::Field(m, i) => {
            format!("{}.{}", program.name(*m), program.module(*m).members[*i].path.join("."))
        }
        Thing::Constructor(m) => format!("{}.constructor", program.name(*m)),
        Thing::Link(m, kind) => format!("{kind:?} {}", program.name(*m)),
        Thing::Implicit(m, name) => format!("{}.{name}", program.name(*m)),
        Thing::Space(..) => "a namespace".into(),
    }
}

/// Names with what they stand for: `a=M0.a`, `+` if open for implicit search, a level, who introduced it.
fn list_expected(program: &Program, resolver: &Resolver<'_>, names: &resolve::Names) -> String {
    let words = names.iter().map(|(name, named)| match &named.thing {
        Thing::Space(inner, original) => {
            format!("{name}:{original}{{{}}}", list_expected(program, resolver, inner))
        }
        Thing::Link(..) => format!("{name}={}", thing_expected(program, &named.thing)),
        Thing::Constructor(_) => format!("{name}={}", thing_expected(program, &named.thing)),
        thing => {
            let what = match thing {
                Thing::Implicit(m, name) => match resolver.implicit(*m, name) {
                    Ok(Meaning::Found(target)) if matches!(target.thing, Thing::Exception(..)) => {
                        thing_expected(program, &target.thing)
                    }
                    Ok(Meaning::Found(_)) => thing_expected(program, thing),
                    _ => "?".into(),
                },
                thing => thing_expected(program, thing),
            };
            let using = match named.using {
                Using::Closed => "",
                Using::IfStatic => "+static",
                Using::Open => "+",
            };
            let level = named.level.map_or(String::new(), |level| format!("[{level}]"));
            format!("{name}={what}{using}{level}<{}", program.name(named.origin))
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The compiler's names.
struct Seen<'n> {
    names: &'n Names<'n>,
    built: &'n program::Program,
}

impl Seen<'_> {
    fn list(&self, view: ViewId) -> String {
        self.space(&self.names.view(view).space)
    }

    fn space(&self, space: &Space) -> String {
        let mut words = BTreeMap::new();
        for (name, entry) in space.iter().filter(|(name, _)| **name != "G") {
            words.insert(name.as_str().to_string(), self.entry(name, entry));
        }
        words.into_values().collect::<Vec<_>>().join(" ")
    }

    fn entry(&self, name: &Name, entry: &Entry) -> String {
        let what = match &entry.feature {
            Feature::Space(inner, original) => return format!("{name}:{original}{{{}}}", self.space(inner)),
            Feature::Module(link) => {
                let kind = match link.kind {
                    LinkKind::Own => "Own",
                    LinkKind::Parent => "Parent",
                    LinkKind::Import => "Import",
                };
                return format!("{name}={kind} {}", self.built.module_name(link.module));
            }
            Feature::Constructor(method) => return format!("{name}={}", self.built.method_name(*method)),
            Feature::Implicit(id) => self.names.implicit(*id).map_or("?".into(), |entry| self.thing(entry)),
            _ => self.thing(entry),
        };
        let using = match entry.using {
            names::Using::Closed => "",
            names::Using::IfStatic => "+static",
            names::Using::Open => "+",
        };
        let level = entry.level.map_or(String::new(), |level| format!("[{}]", self.names.level(level)));
        format!("{name}={what}{using}{level}<{}", self.built.module_name(entry.origin))
    }

    fn thing(&self, entry: &Entry) -> String {
        match entry.feature {
            Feature::Method(method) => self.built.method_name(method),
            Feature::Field(field) => self.built.field_name(field),
            Feature::Exception(exception) => self.built.exception_name(exception),
            _ => entry.feature.describe().into(),
        }
    }

    /// What an implicit name stands for.
    fn target(&self, entry: &Entry) -> String {
        let Feature::Method(forwarder) = entry.feature else { return self.thing(entry) };
        let Some(forward) = self.names.forward(forwarder) else { return "no forwarder".into() };
        let via = match forward.via {
            Via::Import(module) => self.built.module_name(module),
            Via::Field(field) => self.built.field_name(field),
        };
        format!("{} through {via}", self.built.method_name(forward.method))
    }
}

/// Which methods calls reach, and that undeclared names are reported and nothing else.
fn runs(
    program: &Program,
    resolver: &Resolver<'_>,
    text: &Text,
    sources: &mut Sources,
    file: FileId,
) -> Result<(), String> {
    let mut diagnostics = Diagnostics::new();
    let ast = syntax::parse(sources, file, &mut diagnostics);
    let checked = check(sources, &ast, Target::host());
    diagnostics.extend(checked.diagnostics);
    let wrong: Vec<_> = diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
    let meanings = implicit_names(program, resolver)?
        .into_iter()
        .map(|(id, name)| resolver.implicit(id, &name).map_err(fault))
        .collect::<Result<Vec<_>, _>>()?;
    let told =
        |meaning: &Meaning| matches!(meaning, Meaning::Ambiguous | Meaning::Circular(_) | Meaning::Missing);
    if meanings.iter().any(told) == wrong.is_empty() {
        let shown: Vec<String> = wrong.iter().map(|d| render_human(sources, d, false)).collect();
        return Err(format!("messages:\n{}", shown.concat()));
    }
    if !wrong.is_empty() {
        return undeclared(program, resolver, &wrong.iter().map(|d| d.message.clone()).collect::<Vec<_>>());
    }
    let mut machine = Machine::new(&checked.program, Limits::default()).map_err(|trap| trap.to_string())?;
    let method = |name: &str| {
        checked
            .program
            .method_ids()
            .find(|&m| checked.program.method_name(m) == name)
            .expect("the method exists")
    };
    machine.call(method("G.init"), None, &[]).map_err(|trap| format!("G.init: {trap}"))?;
    for (number, &expected) in text.calls.iter().enumerate() {
        let name = format!("Main.t{number}");
        let got = match machine.call(method(&name), None, &[]) {
            Ok(Outcome::Value(value)) => value.number().map_or("void".into(), |n| n.to_string()),
            Ok(Outcome::Exception(_)) => "an exception".into(),
            Err(trap) => trap.to_string(),
        };
        differ(&name, &got, &expected.to_string())?;
    }
    Ok(())
}

/// The names that messages say are not declared: those that stand for nothing, once for each use.
fn undeclared(program: &Program, resolver: &Resolver<'_>, said: &[String]) -> Result<(), String> {
    let mut expected = Vec::new();
    for (id, item) in program.items.iter().enumerate() {
        let Item::Module(module) = item else { continue };
        for member in &module.members {
            let What::Probe(used) = &member.what else { continue };
            // Through a namespace or the parent, it is only an echo of that.
            let Used::Simple(path) = used else { continue };
            let original = resolver.original(id).map_err(fault)?;
            let named = resolve::lookup(&original, &member.path, &path[0]);
            let Some(Thing::Implicit(m, name)) = named.map(|named| &named.thing) else { continue };
            if resolver.implicit(*m, name).map_err(fault)? == Meaning::Missing {
                expected.push(format!("`{}` is not declared", path[0]));
            }
        }
    }
    let mut got: Vec<String> = said.iter().filter(|m| m.ends_with("is not declared")).cloned().collect();
    got.sort();
    expected.sort();
    differ("undeclared names", &got.join("\n"), &expected.join("\n"))
}

/// How many implicit names there are of each kind.
#[derive(Debug, Default)]
pub struct Counts {
    pub found: usize,
    pub ambiguous: usize,
    pub circular: usize,
    pub missing: usize,
    pub inherited: usize,
    pub overridden: usize,
    pub nested: usize,
}

impl Counts {
    pub fn add(&mut self, program: &Program) {
        let resolver = Resolver::new(program);
        for (id, name) in implicit_names(program, &resolver).expect("no faults") {
            match resolver.implicit(id, &name).expect("no faults") {
                Meaning::Found(target) => {
                    self.found += 1;
                    self.nested += usize::from(matches!(target.thing, Thing::Implicit(..)));
                }
                Meaning::Ambiguous => self.ambiguous += 1,
                Meaning::Circular(_) => self.circular += 1,
                Meaning::Missing => self.missing += 1,
                Meaning::Lost => {}
            }
        }
        for id in program.modules() {
            let original = resolver.original(id).expect("no faults");
            let inherited = original
                .values()
                .filter(|named| named.origin != id && matches!(named.thing, Thing::Implicit(..)));
            self.inherited += inherited.count();
            for index in 0..program.module(id).members.len() {
                let chain = resolver.chain(&Thing::Method(id, index));
                self.overridden += usize::from(matches!(chain.last(), Some(Thing::Implicit(..))));
            }
        }
    }
}

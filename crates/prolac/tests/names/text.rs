//! A program as Prolac text, with calls from outside of everything that can be called.

use super::model::{Expr, Id, Item, Member, Operator, Pick, Program, Used, What};
use super::random::Random;
use super::resolve::{Fault, Named, Names, Place, Resolver, Thing};
use super::search::{callable, dotted, number};

/// A program's text and what calls of methods of `Main` must return.
pub struct Text {
    pub source: String,
    /// `Main.t0` and so on.
    pub calls: Vec<i64>,
}

pub fn text(program: &Program, resolver: &Resolver<'_>, random: &mut Random) -> Result<Text, Fault> {
    let writer = Writer { program, resolver };
    let (main, calls) = writer.main(random)?;
    let mut items = Vec::new();
    for id in 0..program.main() {
        items.push(match &program.items[id] {
            Item::Equation(expr) => format!("module {} ::= {};\n", program.name(id), writer.expr(expr)),
            Item::Module(_) => writer.module(id)?,
        });
    }
    items.push(writer.objects());
    items.push(main);
    for last in (1..items.len()).rev() {
        items.swap(last, random.below(last + 1));
    }
    Ok(Text { source: items.concat(), calls })
}

struct Writer<'p> {
    program: &'p Program,
    resolver: &'p Resolver<'p>,
}

impl Writer<'_> {
    fn module(&self, id: Id) -> Result<String, Fault> {
        let module = self.program.module(id);
        let list = |parts: &[Expr]| parts.iter().map(|part| self.expr(part)).collect::<Vec<_>>().join(", ");
        let mut text = format!("module {}", self.program.name(id));
        if !module.parents.is_empty() {
            text += &format!(" :> {}", list(&module.parents));
        }
        if !module.imports.is_empty() {
            text += &format!(" has {}", list(&module.imports));
        }
        text += " has G {\n";
        for (index, member) in module.members.iter().enumerate() {
            text += &format!("  {}\n", self.member(id, index, member)?);
        }
        let steps = module.members.iter().filter_map(|member| match &member.what {
            What::Pointer { of, .. } => {
                Some(format!("{} = &G.o{}, ", dotted(&member.path), self.program.target(*of)))
            }
            _ => None,
        });
        text += &format!("  constructor ::= {}true;\n", steps.collect::<String>());
        Ok(text + "}" + &self.operators(&module.operators) + ";\n")
    }

    fn member(&self, id: Id, index: usize, member: &Member) -> Result<String, Fault> {
        let name = dotted(&member.path);
        let space = |is_static: bool| if is_static { "static " } else { "" };
        Ok(match &member.what {
            What::Number { is_static } => {
                format!("{}{name} :> int ::= {};", space(*is_static), number(id, index))
            }
            What::Exception => format!("exception {name};"),
            What::Int => format!("field {name} :> int;"),
            What::Pointer { of, operators, is_static } => {
                let ty = self.program.name(*of) + &self.operators(operators);
                format!("{}field {name} :> *{ty};", space(*is_static))
            }
            What::Probe(used) => {
                let named = self.resolver.used(id, member, used)?;
                let raises = named.map_or(Ok(false), |named| self.resolver.is_exception(&named.thing))?;
                let ty = if raises { "" } else { " :> int" };
                let path = match used {
                    Used::Simple(path) => dotted(path),
                    Used::Super(path) => format!("super.{}", dotted(path)),
                    Used::Parent(path) => {
                        let parent = self.resolver.parent(id)?.unwrap_or(0);
                        let of = self.program.module(id).parents[parent].of;
                        format!("{}.{}", self.program.name(of), dotted(path))
                    }
                };
                format!("{name}{ty} ::= {path};")
            }
        })
    }

    pub fn expr(&self, expr: &Expr) -> String {
        self.program.name(expr.of) + &self.operators(&expr.operators)
    }

    fn operators(&self, operators: &[Operator]) -> String {
        operators.iter().map(|operator| format!(" {}", self.operator(operator))).collect()
    }

    fn operator(&self, operator: &Operator) -> String {
        match operator {
            Operator::Hide(pick) => format!("hide {}", self.pick(pick)),
            Operator::Show { new, old } if new == old => format!("show {}", dotted(new)),
            Operator::Show { new, old } => format!("show ({} = {})", dotted(new), dotted(old)),
            Operator::ShowAll => "show all".into(),
            Operator::Rename { new, old } => format!("rename ({} = {})", dotted(new), dotted(old)),
            Operator::Using(pick) => format!("using {}", self.pick(pick)),
            Operator::NotUsing(pick) => format!("notusing {}", self.pick(pick)),
            Operator::Level(level, pick) => format!("inline[{level}] {}", self.pick(pick)),
        }
    }

    fn pick(&self, pick: &Pick) -> String {
        match pick {
            Pick::All => "all".into(),
            Pick::AllStatic => "allstatic".into(),
            Pick::Inside(space) => format!("{space}.all"),
            Pick::From(from) => format!("{}.all", self.program.name(*from)),
            Pick::FromNamed(from, name) => format!("{}.{name}", self.program.name(*from)),
            Pick::Named(path) => dotted(path),
            Pick::Pattern(pattern) => format!("\"{pattern}\""),
        }
    }

    /// One object of each module, constructed by `G.init`.
    fn objects(&self) -> String {
        let modules = self.program.modules();
        let each = |f: &dyn Fn(&str, Id) -> String| {
            modules.iter().map(|&id| f(&self.program.name(id), id)).collect::<Vec<_>>()
        };
        let imports = each(&|name, _| format!("{name} show constructor")).join(", ");
        let fields = each(&|name, id| format!("  static field o{id} :> {name};\n")).concat();
        let steps = each(&|_, id| format!("o{id}.constructor(), ")).concat();
        format!("module G has {imports} {{\n{fields}  static init ::= {steps}true;\n}};\n")
    }

    /// `Main`, and what its methods return.
    fn main(&self, random: &mut Random) -> Result<(String, Vec<i64>), Fault> {
        let main = self.program.main();
        let imports = &self.program.module(main).imports;
        let (mut calls, mut text) = (Vec::new(), String::new());
        for (index, import) in imports.iter().enumerate() {
            let (module, names) = self.resolver.expr_view(import, Place::Import(main, index))?;
            let mut found = Vec::new();
            collect(&names, &mut Vec::new(), &mut found);
            for (path, thing) in found {
                let Some((expr, value)) =
                    self.call(&self.program.name(import.of), module, &path, &thing, random)?
                else {
                    continue;
                };
                text += &format!("  static t{} :> int ::= {expr};\n", calls.len());
                calls.push(value);
            }
        }
        let list: String = imports.iter().map(|import| format!(" has {}", self.expr(import))).collect();
        Ok((format!("module Main{list} has G {{\n{text}}};\n"), calls))
    }

    fn call(
        &self,
        view: &str,
        module: Id,
        path: &str,
        thing: &Thing,
        random: &mut Random,
    ) -> Result<Option<(String, i64)>, Fault> {
        if self.resolver.is_exception(thing)? {
            return Ok(None);
        }
        if !self.resolver.is_dynamic(thing)? {
            let value = self.resolver.call(thing, None, 0)?;
            return Ok(value.map(|value| (format!("{view}.{path}"), value)));
        }
        let modules = self.program.modules();
        let objects = modules.into_iter().filter(|&id| self.resolver.ancestry(id).contains(&module));
        let object = *random.pick(&objects.collect::<Vec<_>>());
        let value = self.resolver.dispatch(thing, object, 0)?;
        let expr = format!("let p :> *{view} = &G.o{object} in p->{path} end");
        Ok(value.map(|value| (expr, value)))
    }
}

/// The methods among names, with their paths.
fn collect(names: &Names, outer: &mut Vec<String>, found: &mut Vec<(String, Thing)>) {
    for (name, named) in names {
        outer.push(name.clone());
        let path = outer.join(".");
        if let Thing::Space(inner, _) = &named.thing {
            collect(inner, outer, found);
        }
        let method = |named: &Named| matches!(named.thing, Thing::Method(..) | Thing::Implicit(..));
        found.extend(callable(named.clone()).filter(method).map(|named| (path, named.thing)));
        outer.pop();
    }
}

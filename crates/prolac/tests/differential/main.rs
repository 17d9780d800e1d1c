//! Random programs must do the same everywhere.
//!
//! A generator writes well-typed Prolac programs. Each is run by the interpreter as it is, by the interpreter after the
//! optimiser, and as C, and must give the same results, raise the same exceptions and leave the same static fields.
//!
//! - `PROLAC_DIFFERENTIAL_SECONDS=600` runs new programs for so long;
//! - `PROLAC_DIFFERENTIAL_SEED=17` runs one program and prints it;
//! - `PROLAC_DIFFERENTIAL_SHRINK=60` makes a program that fails smaller for at most so many seconds.
//!
//! Read first: [`Generator`], then `expressions.rs` for what programs are made of, and `interpreted.rs`.

mod calls;
mod compiled;
mod control;
mod expressions;
mod interpreted;
mod model;
mod modules;
mod node;
mod random;
#[path = "../rules/mod.rs"]
mod rules;
mod scope;
mod shrink;
mod ways;

use std::fmt::{self, Display};
use std::time::{Duration, Instant};

use compiled::Compiler;
use model::{Int, Model};
use node::Node;
use random::Random;
use ways::Way;

/// Writes a program.
struct Generator {
    random: Random,
    model: Model,
    equations: Vec<model::Equation>,
    rank: usize,
    names: usize,
}

/// A method to call from outside: static, in the module `Main`, with integers for parameters.
#[derive(Clone, Debug)]
struct Entry {
    pub number: usize,
    pub params: Vec<Int>,
}

impl Entry {
    fn name(&self) -> String {
        format!("e{}", self.number)
    }

    /// Arguments for a round of calls: the same for the same program.
    fn arguments(&self, seed: u64, round: usize) -> Vec<i64> {
        const EDGES: [i64; 10] = [0, 1, -1, 2, 7, 127, 255, 65535, i32::MAX as i64, i64::MIN];
        let mut random = Random::new(seed ^ (self.number as u64) << 32 ^ (round as u64) << 48);
        let mut number = || if random.percent(60) { *random.pick(&EDGES) } else { random.next() as i64 };
        self.params.iter().map(|_| number()).collect()
    }
}

/// A program that can be made smaller.
#[derive(Clone)]
struct Source {
    pub seed: u64,
    modules: Vec<model::Source>,
    equations: Vec<model::Equation>,
    pub entries: Vec<Entry>,
    /// Methods that read the static fields.
    pub readers: Vec<String>,
}

impl Source {
    /// The program of this seed.
    pub fn new(seed: u64) -> Source {
        let (random, model) = (Random::new(seed), Model::default());
        let mut generator = Generator { random, model, equations: Vec::new(), rank: 0, names: 0 };
        for _ in 0..generator.random.range(3, 9) {
            generator.module();
        }
        let entries = generator.main_module(10);
        let readers = generator.readers();
        let mut modules: Vec<model::Source> = generator.model.modules.into_iter().map(|m| m.source).collect();
        for i in (1..modules.len()).rev() {
            modules.swap(i, generator.random.below(i + 1));
        }
        Source { seed, modules, equations: generator.equations, entries, readers }
    }
}

impl Source {
    /// How much text there is, roughly.
    fn size(&self) -> usize {
        let members = self.modules.iter().flat_map(|m| &m.members).map(Node::size).sum::<usize>();
        members + self.modules.len() + self.entries.len() + self.readers.len()
    }

    /// Removes a module from the headers of the others.
    fn forget(&mut self, name: &str) {
        self.modules.iter_mut().for_each(|module| module.imports.retain(|import| import.name != name));
        let (gone, left) =
            std::mem::take(&mut self.equations).into_iter().partition(|equation| equation.of == name);
        self.equations = left;
        let gone: Vec<model::Equation> = gone;
        gone.iter().for_each(|equation| self.forget(&equation.name));
    }
}

impl Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for module in &self.modules {
            let imports: Vec<&str> = module.imports.iter().map(|import| &*import.text).collect();
            let has = if imports.is_empty() { "" } else { " has " };
            writeln!(f, "{}{has}{} {{", module.header, imports.join(", "))?;
            module.members.iter().try_for_each(|member: &Node| member.fmt(f))?;
            writeln!(f, "}}{};", module.operators)?;
        }
        self.equations.iter().try_for_each(|equation| f.write_str(&equation.text))?;
        let names = self.entries.iter().map(Entry::name).chain(self.readers.iter().cloned());
        let names: Vec<String> = names.map(|name| format!("Main.{name}")).collect();
        writeln!(f, "export {};", names.join(", "))
    }
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|value| value.parse().ok())
}

/// The trees of programs are deep, and the interpreter goes as deep as a program's recursion.
const STACK: usize = 192 << 20;

/// What is wrong with a program.
#[derive(Clone, Debug)]
enum Failure {
    /// It is not well-typed: the generator or the checker is wrong.
    Rejected(String),
    /// It does what no program must do: the generator or the interpreter is wrong.
    Trap(String),
    /// Its C does not compile without warnings.
    Refused(String),
    /// It does one thing here and another there.
    Differs(String),
}

impl Failure {
    /// The same, with where it happened in front.
    fn after(self, how: &str) -> Failure {
        use Failure::*;
        match self {
            Refused(text) => Refused(format!("{how}: {text}")),
            Differs(text) => Differs(format!("{how}: {text}")),
            other => other,
        }
    }

    /// Whether both are wrong in the same way; of warnings, whether they are of the same name.
    fn is_like(&self, other: &Failure) -> bool {
        let warning = |failure: &Failure| {
            let text = failure.to_string();
            text.split_once("[-W")
                .and_then(|(_, rest)| rest.split_once(']'))
                .map(|(name, _)| name.to_string())
        };
        std::mem::discriminant(self) == std::mem::discriminant(other) && warning(self) == warning(other)
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Failure::*;
        let (Rejected(text) | Trap(text) | Refused(text) | Differs(text)) = self;
        f.write_str(text)
    }
}

/// What is wrong with a program, and the way to run it that shows it.
fn test(source: &Source, ways: &[Way]) -> Result<(), (Failure, Vec<Way>)> {
    let (source, ways) = (source.clone(), ways.to_vec());
    let run = move || ways::compare(&source, &ways);
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(run);
    let panicked = Failure::Trap("a panic".into());
    thread.expect("threads can be made").join().unwrap_or(Err((panicked, vec![])))
}

/// Makes a program that fails smaller and says what is wrong with it.
fn explain(source: Source, failure: &Failure, ways: &[Way]) -> String {
    let seed = source.seed;
    let time = Duration::from_secs(variable("PROLAC_DIFFERENTIAL_SHRINK").unwrap_or(60));
    let fails = |source: &Source| test(source, ways).is_err_and(|(other, _)| other.is_like(failure));
    let small =
        if matches!(failure, Failure::Rejected(_)) { source } else { shrink::shrink(source, time, fails) };
    let after = test(&small, ways).err().map_or(String::new(), |(failure, _)| failure.to_string());
    format!("{small}\nThe program of seed {seed}: {failure}\nThe smaller one: {after}")
}

fn programs_do_the_same_interpreted_and_as_c() {
    compare(compiled::CC, 8);
}

fn programs_do_the_same_with_sanitizers() {
    compare(compiled::SANITIZED, 4);
}

fn programs_do_the_same_by_clang() {
    compare(compiled::CLANG, 4);
}

fn programs_do_the_same_by_clang_with_sanitizers() {
    compare(compiled::CLANG_SANITIZED, 4);
}

clickwork_oracles::tests! {
    programs_do_the_same_interpreted_and_as_c,
    programs_do_the_same_with_sanitizers,
    programs_do_the_same_by_clang,
    programs_do_the_same_by_clang_with_sanitizers,
}

/// Runs this many random programs, or as the environment says, interpreted and by this compiler.
fn compare(compiler: Compiler, programs: u64) {
    clickwork_oracles::c_compiler(compiler.program, compiler.options);
    let one = variable("PROLAC_DIFFERENTIAL_SEED");
    let end = variable("PROLAC_DIFFERENTIAL_SECONDS").map(|long| Instant::now() + Duration::from_secs(long));
    let first = one.unwrap_or(if end.is_some() { u64::from(std::process::id()) << 20 } else { 1 });
    let most = if one.is_some() { 1 } else { end.map_or(programs, |_| u64::MAX) };
    for seed in (first..).take_while(|seed| seed - first < most) {
        if end.is_some_and(|end| Instant::now() >= end) {
            break;
        }
        let source = Source::new(seed);
        if one.is_some() {
            println!("{source}");
        }
        let ways = ways::ways(&compiler);
        if let Err((failure, ways)) = test(&source, &ways) {
            panic!("{}", explain(source, &failure, &ways));
        }
    }
    compiled::clean(&compiler);
}

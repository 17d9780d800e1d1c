//! Checks a program, and runs it in the interpreter as it is or optimised.

use clickwork_prolac::interpret::{Limits, Machine, Outcome, Trap, TrapKind, Value};
use clickwork_prolac::program::{IntType, MethodId, Program, Target, Type};
use clickwork_prolac::{check, syntax};
use clickwork_source::{Diagnostics, Severity, Sources, render_human};

use super::Source;

/// How often each entry is called.
const ROUNDS: usize = 3;

/// Calls from outside, in order. The last ones read the static fields.
pub type Calls = Vec<(MethodId, Vec<i64>)>;

/// Checks a program; the texts are for messages.
pub fn check(source: &str) -> Result<(Program, Sources), String> {
    let mut sources = Sources::new();
    let file = sources.add("random.pc", source);
    let mut diagnostics = Diagnostics::new();
    let syntax = syntax::parse(&mut sources, file, &mut diagnostics);
    if diagnostics.has_errors() {
        return Err(messages(&sources, &diagnostics));
    }
    let checked = check::check(&sources, &syntax, Target::host());
    if checked.diagnostics.has_errors() {
        return Err(messages(&sources, &checked.diagnostics));
    }
    let program = checked.program;
    Ok((program, sources))
}

fn messages(sources: &Sources, diagnostics: &Diagnostics) -> String {
    let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error);
    errors.map(|d| render_human(sources, d, false)).collect()
}

/// What to call, and with which arguments.
pub fn calls(source: &Source, program: &Program) -> Calls {
    let method = |name: &str| {
        let full = format!("Main.{name}");
        program.method_ids().find(|&m| program.method_name(m) == full).unwrap_or_else(|| panic!("no {full}"))
    };
    let rounds = (0..ROUNDS).flat_map(|round| source.entries.iter().map(move |entry| (round, entry)));
    let calls = rounds.map(|(round, entry)| (method(&entry.name()), entry.arguments(source.seed, round)));
    calls.chain(source.readers.iter().map(|reader| (method(reader), vec![]))).collect()
}

/// What each call gives. A call that goes on for too long is left out, with all others of `calls` that come after it.
pub fn run(program: &Program, calls: &mut Calls, junk: u8) -> Result<Vec<String>, Trap> {
    let limits = Limits { steps: 3_000_000, depth: 50_000, memory: 64 << 20 };
    let mut machine = Machine::new(program, limits)?;
    machine.fill_variables_with(junk);
    let mut lines = Vec::new();
    for i in 0..calls.len() {
        match call(program, &mut machine, &calls[i]) {
            Ok(line) => lines.push(line),
            Err(Trap { kind: TrapKind::OutOfSteps, .. }) => {
                calls.truncate(i);
                break;
            }
            Err(trap) => return Err(trap),
        }
    }
    Ok(lines)
}

fn call(
    program: &Program,
    machine: &mut Machine<'_>,
    (method, args): &(MethodId, Vec<i64>),
) -> Result<String, Trap> {
    let ints = parameters(program, *method);
    let values: Vec<Value> = ints.zip(args).map(|(int, &arg)| Value::int(int, arg)).collect();
    let outcome = machine.call(*method, None, &values)?;
    Ok(match outcome {
        Outcome::Exception(exception) => format!("exception {}", -1 - i64::from(exception.0)),
        Outcome::Value(value) => value.number().map_or("void".into(), |number| number.to_string()),
    })
}

/// The types of the parameters of an entry.
pub fn parameters(program: &Program, method: MethodId) -> impl Iterator<Item = IntType> {
    let method = &program[method];
    let locals = method.body.locals.iter().take(method.params as usize);
    locals.filter_map(|local| match local.ty {
        Type::Int(int) => Some(int),
        _ => None,
    })
}

/// The first call that gave something else.
pub fn difference(program: &Program, calls: &Calls, expected: &[String], lines: &[String]) -> Option<String> {
    let at = (0..expected.len()).find(|&i| lines.get(i) != Some(&expected[i]))?;
    let (method, args) = &calls[at];
    let got = lines.get(at).map_or("nothing", |line| line);
    Some(format!(
        "call {at}, {}{args:?}: {} expected, {got} found",
        program.method_name(*method),
        expected[at]
    ))
}

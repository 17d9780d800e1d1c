//! Runs one method of a checked program in the interpreter, with arguments given as words.

use clickwork_source::{Diagnostic, Span};

use crate::interpret::{Limits, Machine, Outcome, TrapKind, Value};
use crate::program::tree::Local;
use crate::program::{IntType, MethodId, ModuleId, Program, Type};
use crate::report::find_method;

/// Bytes of stack that [`run`] may need.
pub const STACK: usize = 256 << 20;

/// Calls a method and gives what it returned as text. A dynamic method is called on an object that its module's
/// constructor makes without arguments.
///
/// # Errors
/// What is wrong with the method, the arguments, or the program while it runs.
pub fn run(program: &Program, name: &str, words: &[String]) -> Result<String, Diagnostic> {
    let wrong = |message: String| Diagnostic::error(Span::NONE, message);
    let method = find_method(program, name).map_err(wrong)?;
    let depth = (STACK / 2 / Limits::LEVEL_BYTES) as u32;
    let limits = Limits { depth, ..Limits::default() };
    let mut machine = Machine::new(program, limits).map_err(|t| Diagnostic::error(t.span, t.to_string()))?;
    let args = arguments(program, &mut machine, method, words).map_err(wrong)?;
    let receiver = match program[method].is_static {
        true => None,
        false => Some(receiver(program, &mut machine, method, name)?),
    };
    outcome(program, method, machine.call(method, receiver, &args))
}

fn outcome(
    program: &Program,
    method: MethodId,
    result: Result<Outcome, crate::interpret::Trap>,
) -> Result<String, Diagnostic> {
    match result {
        Ok(Outcome::Value(value)) => Ok(shown(program, &value)),
        Ok(Outcome::Exception(exception)) => {
            let message = format!("the exception {} leaves the method", program.exception_name(exception));
            Err(Diagnostic::error(program[method].span, message))
        }
        Err(trap) => {
            let message = format!("the program stops here: {trap}");
            let diagnostic = Diagnostic::error(trap.span, message);
            Err(match trap.kind {
                TrapKind::CBlock => diagnostic.hint("compile the program to run its C code"),
                _ => diagnostic,
            })
        }
    }
}

/// An object for a dynamic method.
fn receiver(
    program: &Program,
    machine: &mut Machine<'_>,
    method: MethodId,
    name: &str,
) -> Result<u64, Diagnostic> {
    let module = program[method].module;
    match outcome_of_construction(program, machine, module) {
        Some(address) => Ok(address),
        None => {
            let message = format!(
                "`{name}` needs an object, and the constructor of {} needs arguments or fails",
                program.module_name(module)
            );
            Err(Diagnostic::error(program[method].span, message)
                .hint("call a static method that makes the object"))
        }
    }
}

fn outcome_of_construction(program: &Program, machine: &mut Machine<'_>, module: ModuleId) -> Option<u64> {
    if program[program[module].constructor].params > 0 {
        return None;
    }
    match machine.construct(module, &[]) {
        Ok(Outcome::Value(Value::Pointer(address))) => Some(address),
        _ => None,
    }
}

fn arguments(
    program: &Program,
    machine: &mut Machine<'_>,
    method: MethodId,
    words: &[String],
) -> Result<Vec<Value>, String> {
    let params = &program[method].body.locals[..program[method].params as usize];
    if params.len() != words.len() {
        let name = program.method_name(method);
        let plural = if params.len() == 1 { "" } else { "s" };
        return Err(format!("{name} takes {} argument{plural}, but {} are given", params.len(), words.len()));
    }
    params.iter().zip(words).map(|(param, word)| argument(program, machine, param, word)).collect()
}

fn argument(
    program: &Program,
    machine: &mut Machine<'_>,
    param: &Local,
    word: &str,
) -> Result<Value, String> {
    let wanted = || format!("'{word}' is no {}, which `{}` is", program.type_name(&param.ty), param.name);
    match &param.ty {
        Type::Bool => match word {
            "true" | "1" => Ok(Value::Bool(true)),
            "false" | "0" => Ok(Value::Bool(false)),
            _ => Err(wanted()),
        },
        Type::Int(ty) => number(word).map(|n| Value::int(*ty, n)).ok_or_else(wanted),
        Type::Pointer(to) if **to == Type::Int(IntType::Char) => {
            string(machine, word).map_err(|kind| kind.to_string())
        }
        Type::Pointer(_) if word == "0" => Ok(Value::Pointer(0)),
        _ => Err(format!("{}; only 0, numbers, bools and strings can be given", wanted())),
    }
}

fn number(word: &str) -> Option<i64> {
    let (digits, sign) = word.strip_prefix('-').map_or((word, 1), |rest| (rest, -1));
    let value = match digits.strip_prefix("0x") {
        Some(hex) => i128::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    let value = value.ok()? * sign;
    i64::try_from(value).ok().or_else(|| u64::try_from(value).ok().map(|n| n as i64))
}

fn string(machine: &mut Machine<'_>, text: &str) -> Result<Value, TrapKind> {
    let memory = machine.memory();
    let address = memory.allocate(text.len() as u64 + 1)?;
    memory.write(address, text.as_bytes())?;
    Ok(Value::Pointer(address))
}

fn shown(program: &Program, value: &Value) -> String {
    match value {
        Value::Void => String::new(),
        Value::Bool(value) => format!("{value}\n"),
        Value::Int(IntType::Ulong, value) => format!("{}\n", *value as u64),
        Value::Int(_, value) => format!("{value}\n"),
        Value::Pointer(address) => format!("{address:#x}\n"),
        Value::Object(module, bytes) => {
            let bytes: Vec<String> = bytes.iter().map(|b| format!("{b:02x}")).collect();
            format!("{} {}\n", program.module_name(*module), bytes.join(" "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_have_the_range_of_all_integer_types() {
        assert_eq!(number("-12"), Some(-12));
        assert_eq!(number("0xff"), Some(255));
        assert_eq!(number("18446744073709551615"), Some(-1));
        assert_eq!(number("18446744073709551616"), None);
        assert_eq!(number("-0x1"), Some(-1));
        for word in ["", "-", "x", "0x", "1.5"] {
            assert_eq!(number(word), None, "{word}");
        }
    }
}

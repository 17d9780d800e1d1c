//! Random programs do in C what they do in the interpreter.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use clickwork_source::Sources;

use super::{Options, emit};
use crate::analyze;
use crate::interpret::{Limits, Machine, Operand, Outcome, TrapKind, Value};
use crate::optimize::{self, random};
use crate::program::{FieldId, IntType, Program, print_method};

/// How many random programs are compared; more if the environment says so.
fn count() -> u64 {
    std::env::var("EMIT_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(12)
}

/// What `main(3, -5)` gives and what the static integers are then; `None` if it says nothing.
fn expected(program: &Program) -> Option<String> {
    let limits = Limits { steps: 50_000, depth: 400, memory: 1 << 20 };
    let mut machine = Machine::new(program, limits).unwrap();
    machine.on_c_block(|code| {
        for operand in &code.operands {
            if let Operand::Place { address, .. } = operand {
                let bytes = code.memory.bytes_mut(*address, 1)?;
                bytes[0] = bytes[0].wrapping_add(1);
            }
        }
        Ok(true)
    });
    let args = [Value::int(IntType::Int, 3), Value::int(IntType::Int, -5)];
    let value = match machine.call(program.exports[0], None, &args) {
        Ok(Outcome::Value(value)) => value.number()?,
        Ok(Outcome::Exception(_)) => return None,
        Err(trap) if trap.kind == TrapKind::DivisionByZero => return Some("ended".into()),
        Err(_) => return None,
    };
    let mut text = value.to_string();
    for field in statics(program) {
        let value = machine.load(machine.static_field(field), &program[field].ty).unwrap();
        let _ = write!(text, " {}", value.number().unwrap_or_default());
    }
    Some(text)
}

fn statics(program: &Program) -> impl Iterator<Item = FieldId> {
    let fields = (0..program.fields.len() as u32).map(FieldId);
    fields.filter(|&f| program[f].is_static && program[f].ty.is_int())
}

/// Writes, compiles and runs a program: its output.
fn run(program: &Program, folder: &Path) -> String {
    let options = Options { lines: false, source_name: "p.c".into(), header_name: "p.h".into() };
    let output = emit(program, &Sources::new(), &options).unwrap();
    let main = program.method_name(program.exports[0]).replace("Base.main", "main__Base");
    let fields = statics(program).map(|f| {
        let name = program.field_name(f).replace('.', "__");
        format!("\tprintf(\" %lld\", (long long){name});\n")
    });
    let test = format!(
        "#include <stdio.h>\n#include \"p.h\"\nint main(void)\n{{\n\tprintf(\"%d\", {main}(3, -5));\n{}\treturn 0;\n}}\n",
        fields.collect::<String>()
    );
    for (name, text) in [("p.c", &output.source), ("p.h", &output.header), ("test.c", &test)] {
        std::fs::write(folder.join(name), text).unwrap();
    }
    // Random programs say foolish things, of which compilers warn. What is undefined traps, for which no library is needed.
    let flags = "-std=c11 -Wall -Wextra -Werror -Wno-tautological-compare -Wno-type-limits -Wno-self-assign -Wno-unknown-warning-option \
                 -Wno-infinite-recursion \
                 -Wno-overflow -Wno-constant-conversion -Wno-sign-compare -O1 -fsanitize=undefined \
                 -fsanitize-undefined-trap-on-error p.c test.c -o test";
    let compiled = Command::new("cc").args(flags.split_whitespace()).current_dir(folder).output().unwrap();
    if !compiled.status.success() {
        return String::from_utf8_lossy(&compiled.stderr).into_owned();
    }
    let ran = Command::new("./test").current_dir(folder).output().unwrap();
    match (ran.status.success(), ran.status.code()) {
        (true, _) => String::from_utf8_lossy(&ran.stdout).into_owned(),
        (false, None) => "ended".into(),
        _ => String::from_utf8_lossy(&ran.stderr).into_owned(),
    }
}

fn folder(name: &str) -> PathBuf {
    let folder = clickwork_oracles::unused(&format!("prolac-emit-{name}"));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn compare(seed: u64, folder: &Path) -> Result<(), String> {
    let mut program = random::program(seed);
    analyze::exceptions(&mut program);
    if !analyze::escapes(&program).is_empty() {
        return Ok(());
    }
    let Some(expected) = expected(&program) else { return Ok(()) };
    let level = (seed % 5) as u8;
    let mut changed = program.clone();
    if level < 4 {
        let options =
            optimize::Options { level, cha: !seed.is_multiple_of(3), ..optimize::Options::default() };
        optimize::optimize(&mut changed, &options);
    }
    let found = run(&changed, folder);
    let trees = || changed.method_ids().map(|m| print_method(&changed, m)).collect::<String>();
    if found == expected { Ok(()) } else { Err(format!("seed {seed}: {expected}\n{found}\n{}", trees())) }
}

#[test]
fn random_programs_do_the_same_in_c() {
    let folder = folder("random");
    let first = std::env::var("EMIT_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(1u64);
    for i in 0..count() {
        let result = compare((first + i).wrapping_mul(0x9e37_79b9_7f4a_7c15), &folder);
        assert!(
            result.is_ok(),
            "number {}: {}\nthe C is in {}",
            first + i,
            result.unwrap_err(),
            folder.display()
        );
    }
    std::fs::remove_dir_all(folder).unwrap();
}

//! Random programs do the same before and after.

use proptest::prelude::*;

use super::{Options, optimize, random};
use crate::interpret::{Limits, Machine, Operand, Outcome, TrapKind, Value};
use crate::program::{IntType, MethodId, Program, print_method};

/// How `main` ended, and the static fields after it.
type Result = std::result::Result<(Outcome, Vec<Value>), TrapKind>;

fn run(program: &Program, junk: u8) -> Result {
    let limits = Limits { steps: 50_000, depth: 400, memory: 1 << 20 };
    let mut machine = Machine::new(program, limits).unwrap();
    machine.fill_variables_with(junk);
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
    let outcome = machine.call(program.exports[0], None, &args).map_err(|trap| trap.kind)?;
    let fields = (0..program.fields.len() as u32).map(crate::program::FieldId);
    let statics = fields.filter(|&f| program[f].is_static && program[f].ty.is_int());
    let values = statics.map(|f| machine.load(machine.static_field(f), &program[f].ty).unwrap()).collect();
    Ok((outcome, values))
}

/// Runs that use too much say nothing.
fn ends(result: &Result) -> bool {
    matches!(result, Ok(_) | Err(TrapKind::DivisionByZero))
}

fn print(program: &Program) -> String {
    program.method_ids().map(|m: MethodId| print_method(program, m)).collect()
}

fn all_options() -> impl Iterator<Item = Options> {
    let switches = [(true, true), (true, false), (false, true)];
    (0..=3).flat_map(move |level| {
        switches.map(|(cha, inline)| Options { level, cha, inline, outline: level != 2 })
    })
}

fn alike(seed: u64) -> std::result::Result<(), TestCaseError> {
    let program = random::program(seed);
    let expected = run(&program, 0);
    if !ends(&expected) {
        return Ok(());
    }
    for options in all_options() {
        let mut optimised = program.clone();
        optimize(&mut optimised, &options);
        for junk in [0, 0xa5] {
            let found = run(&optimised, junk);
            prop_assert!(
                found == expected,
                "seed {seed}, {options:?}\n{}\n{expected:?}\n{}\n{found:?}",
                print(&program),
                print(&optimised)
            );
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn programs_do_the_same(seed: u64) {
        alike(seed)?;
    }
}

#[test]
fn most_random_programs_end() {
    let ended =
        (0..200u64).filter(|&seed| ends(&run(&random::program(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)), 0)));
    assert!(ended.count() > 150);
}

//! What must hold for any text given to the whole Prolac compiler. The fuzz target runs it on made-up bytes, the tests of
//! `prolac` on the seeds and on mutilated programs.

use clickwork_prolac::driver::{Compilation, Options};
use clickwork_prolac::emit::Output;
use clickwork_prolac::interpret::{Limits, Machine};
use clickwork_prolac::optimize;
use clickwork_prolac::program::tree::ExprKind;
use clickwork_source::render_human;

/// Compiles with and without optimisation, and runs what can be run; panics if any of it goes wrong. The C that comes out
/// is not looked at here: the differential test compiles and runs it.
pub fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for level in [0, 3] {
        drop(compile(&text, level));
    }
}

/// Compiles at one level; the C (header and source) if there were no errors, and whether there is C code of the program's
/// own in it.
pub fn compile(text: &str, level: u8) -> Option<(Output, bool)> {
    let optimize = optimize::Options { level, ..optimize::Options::default() };
    let mut compilation = Compilation::new(Options { optimize, ..Options::default() });
    compilation.add("fuzz.pc", text);
    let output = compilation.emit("fuzz.c", "fuzz.h");
    let failed = compilation.diagnostics.has_errors();
    assert_eq!(output.is_none(), failed, "there is C if and only if there are no errors");
    for diagnostic in compilation.diagnostics.iter().take(20) {
        render_human(&compilation.sources, diagnostic, false);
    }
    if !failed {
        run(&compilation);
    }
    output.map(|output| (output, has_c_code(&compilation)))
}

fn has_c_code(compilation: &Compilation) -> bool {
    let Some(program) = &compilation.program else { return false };
    let mut found = !program.support.is_empty();
    for method in &program.methods {
        method.body.root.walk(&mut |expr| found |= matches!(expr.kind, ExprKind::CBlock(_)));
    }
    found
}

/// Calls every exported method that needs neither object nor arguments.
fn run(compilation: &Compilation) {
    let Some(program) = &compilation.program else { return };
    let limits = Limits { steps: 20_000, ..Limits::default() };
    let callable = program.exports.iter().filter(|&&m| program[m].is_static && program[m].params == 0);
    for &method in callable {
        // A trap is an answer, too.
        let _ = Machine::new(program, limits).and_then(|mut machine| machine.call(method, None, &[]));
    }
}

//! Runs a program as C.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clickwork_prolac::emit::{self, emit};
use clickwork_prolac::program::{IntType, MethodId, Program};
use clickwork_source::Sources;

use super::Failure;
use super::interpreted::{Calls, parameters};

/// A C compiler with options.
#[derive(Clone, Copy, Debug)]
pub struct Compiler {
    pub program: &'static str,
    pub options: &'static str,
}

const CHECKS: &str = "-O1 -fsanitize=address,undefined -fno-sanitize-recover=all";
const STRICT: &[&str] = &["-std=c11", "-Wall", "-Wextra", "-Werror"];

/// Warnings about what a program says rather than how it is written in C: a random program compares things with
/// themselves, and gcc takes `0xffffffff - x` for `~x`.
const TOLERATED: &[&str] = &[
    "-Wno-unknown-warning-option",
    "-Wno-tautological-compare",
    "-Wno-tautological-constant-out-of-range-compare",
    "-Wno-type-limits",
    "-Wno-sign-compare",
    "-Wno-self-assign",
    "-Wno-constant-logical-operand",
    "-Wno-bool-operation",
];

/// No program runs longer.
const PATIENCE: Duration = Duration::from_secs(20);

/// The compiler of every machine.
pub const CC: Compiler = Compiler { program: "cc", options: "-O2" };
/// Those that not every machine has.
pub const SANITIZED: Compiler = Compiler { program: "cc", options: CHECKS };
pub const CLANG: Compiler = Compiler { program: "clang", options: "-O2" };
pub const CLANG_SANITIZED: Compiler = Compiler { program: "clang", options: CHECKS };

/// Removes what was written. After a failure it stays, to be looked at.
pub fn clean(compiler: &Compiler) {
    let _ = fs::remove_dir_all(directory(compiler));
}

/// Where programs of a compiler are.
fn directory(compiler: &Compiler) -> PathBuf {
    let Compiler { program, options } = compiler;
    let name =
        format!("differential-{}-{program}{}", std::process::id(), options.split(' ').next().unwrap_or(""));
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&path).expect("the directory for tests can be written");
    path
}

/// What is wrong with C files, in the words of the compiler; nothing if that is nothing.
fn compile(compiler: &Compiler, directory: &Path, files: &[&str]) -> std::io::Result<String> {
    let mut command = Command::new(compiler.program);
    command
        .current_dir(directory)
        .args(STRICT)
        .args(TOLERATED)
        .args(compiler.options.split(' '))
        .args(files)
        .args(["-o", "random"]);
    let output = command.stdin(Stdio::null()).output()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok(if output.status.success() { String::new() } else { format!("{}: {text}", compiler.program) })
}

/// What the calls give in C.
pub fn run(
    program: &Program,
    sources: &Sources,
    calls: &Calls,
    compiler: &Compiler,
) -> Result<Vec<String>, Failure> {
    let options =
        emit::Options { lines: false, source_name: "random.c".into(), header_name: "random.h".into() };
    let rejected = |_| Failure::Refused("the program cannot be written in C".into());
    let output = emit(program, sources, &options).map_err(rejected)?;
    let directory = directory(compiler);
    let files = [("random.c", output.source), ("random.h", output.header), ("main.c", main(program, calls))];
    for (name, text) in files {
        fs::write(directory.join(name), text).map_err(|e| Failure::Refused(e.to_string()))?;
    }
    let complaints = compile(compiler, &directory, &["random.c", "main.c"]);
    match complaints.map_err(|e| Failure::Refused(e.to_string()))? {
        text if text.is_empty() => execute(&directory).map_err(Failure::Differs),
        text => Err(Failure::Refused(text)),
    }
}

/// The lines that the program prints, and what it says if it fails.
fn execute(directory: &Path) -> Result<Vec<String>, String> {
    let (out, err) = (directory.join("out"), directory.join("err"));
    let create = |path: &Path| fs::File::create(path).map_err(|e| e.to_string());
    let mut command = Command::new(directory.join("random"));
    command
        .stdin(Stdio::null())
        .stdout(create(&out)?)
        .stderr(create(&err)?)
        .env("ASAN_OPTIONS", "detect_leaks=0");
    let mut child = command.spawn().map_err(|e| e.to_string())?;
    let end = Instant::now() + PATIENCE;
    while child.try_wait().map_err(|e| e.to_string())?.is_none() {
        if Instant::now() > end {
            let _ = child.kill();
            let _ = child.wait();
            return Err("the compiled program does not end".into());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let errors = fs::read_to_string(&err).unwrap_or_default();
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(fs::read_to_string(&out).unwrap_or_default().lines().map(String::from).collect())
}

/// C code that makes the calls and prints what they give, one a line.
fn main(program: &Program, calls: &Calls) -> String {
    let lines: String =
        calls.iter().map(|(method, args)| format!("\t{}\n", statement(program, *method, args))).collect();
    format!(
        "#include <stdio.h>\n#include \"random.h\"\n\nint main(void)\n{{\n\tlong long r;\n\t(void)r;\n\
         \tsetvbuf(stdout, NULL, _IOLBF, 0);\n{lines}\treturn 0;\n}}\n"
    )
}

fn statement(program: &Program, method: MethodId, args: &[i64]) -> String {
    let callee = &program[method];
    let name = program.method_name(method);
    let name = name.strip_prefix("Main.").unwrap_or(&name);
    let args: Vec<String> =
        parameters(program, method).zip(args).map(|(int, &arg)| argument(int, arg)).collect();
    let call = format!("{name}__Main({})", args.join(", "));
    let value = if callee.returns.is_void() { "puts(\"void\")" } else { "printf(\"%lld\\n\", r)" };
    match (callee.returns.is_void(), callee.throws.is_empty()) {
        (true, true) => format!("{call}; {value};"),
        (_, false) => format!("r = {call}; if (r < 0) printf(\"exception %lld\\n\", r); else {value};"),
        (false, true) => format!("r = (long long){call}; {value};"),
    }
}

fn argument(int: IntType, value: i64) -> String {
    let c = match int {
        IntType::Char => "int8_t",
        IntType::Short => "int16_t",
        IntType::Int => "int32_t",
        IntType::Long => "int64_t",
        IntType::Uchar => "uint8_t",
        IntType::Ushort => "uint16_t",
        IntType::Uint | IntType::Seqint => "uint32_t",
        IntType::Ulong => "uint64_t",
    };
    format!("({c}){}ull", int.wrap(value) as u64)
}

//! The optimiser on the programs in `tests/optimize`: beside each `.pc` file stand the methods that can run, before and
//! after, and what became of each call. A first line `// -O2 no-cha` says with what. The exported static methods
//! without parameters are run before and after. `SNAPSHOTS=overwrite` writes the trees anew.

use std::fmt::Write;
use std::path::Path;

use clickwork_prolac::analyze::{Reach, warnings};
use clickwork_prolac::check::check;
use clickwork_prolac::interpret::{Limits, Machine, Outcome};
use clickwork_prolac::optimize::{Options, Report, optimize};
use clickwork_prolac::program::{Program, Target, print_method};
use clickwork_prolac::syntax::parse;
use clickwork_source::{Diagnostics, Severity, Sources, render_click};
use snapbox::{Data, assert_data_eq};

fn options(text: &str) -> Options {
    let line = text.lines().next().unwrap_or_default();
    let words: Vec<&str> = line.split(':').next().unwrap_or_default().split_whitespace().collect();
    let level =
        words.iter().find_map(|word| word.strip_prefix("-O")).map_or(3, |level| level.parse().unwrap());
    let has = |word| words.contains(&word);
    Options { level, cha: !has("no-cha"), inline: !has("no-inline"), outline: !has("no-outline") }
}

fn checked(sources: &mut Sources, name: &str, text: &str) -> Program {
    let file = sources.add(name, text);
    let mut diagnostics = Diagnostics::new();
    let syntax = parse(sources, file, &mut diagnostics);
    let checked = check(sources, &syntax, Target::default());
    let all = diagnostics.iter().chain(checked.diagnostics.iter());
    let errors = all.filter(|d| d.severity == Severity::Error);
    let messages: Vec<String> = errors.map(|d| render_click(sources, d)).collect();
    assert!(messages.is_empty(), "{}", messages.join("\n"));
    checked.program
}

fn print(program: &Program) -> String {
    Reach::new(program).methods().map(|m| print_method(program, m)).collect()
}

fn print_report(sources: &Sources, program: &Program, report: &Report) -> String {
    let mut text = String::new();
    for call in &report.calls {
        let (line, column) = sources.line_col(call.span);
        let targets: Vec<String> = call.targets.iter().map(|&m| program.method_name(m)).collect();
        let caller = program.method_name(call.caller);
        writeln!(text, "{line}:{column} {caller}: {}: {}", targets.join(" or "), call.fate).unwrap();
    }
    text
}

/// What the exported static methods without parameters give.
fn results(program: &Program) -> Vec<Outcome> {
    let runnable = program.exports.iter().filter(|&&m| program[m].is_static && program[m].params == 0);
    let run = |&method| {
        let mut machine = Machine::new(program, Limits::default()).unwrap();
        machine.on_c_block(|_| Ok(true));
        machine.call(method, None, &[]).unwrap()
    };
    runnable.map(run).collect()
}

fn outcome(name: &str, text: &str) -> String {
    let mut sources = Sources::new();
    let mut program = checked(&mut sources, name, text);
    let before = print(&program);
    let warnings: String =
        warnings(&program, &Reach::new(&program)).iter().map(|d| render_click(&sources, d) + "\n").collect();
    let expected = results(&program);
    let report = optimize(&mut program, &options(text));
    assert_eq!(results(&program), expected, "{name}");
    let report = print_report(&sources, &program, &report);
    format!("{warnings}before:\n{before}\nafter:\n{}\ncalls:\n{report}", print(&program))
}

#[test]
fn programs_become_what_is_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/optimize");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut programs: Vec<_> = files.filter(|p| p.extension().is_some_and(|e| e == "pc")).collect();
    programs.sort();
    assert!(programs.len() > 5);
    for program in programs {
        let name = program.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&program).unwrap();
        assert_data_eq!(outcome(&name, &text), Data::read_from(&program.with_extension("tree"), None).raw());
    }
}

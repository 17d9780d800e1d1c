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

/// A chain of methods: each but the last has the body given, in which `NEXT` is the next one.
fn chain(count: usize, body: &str, level: &str) -> String {
    let links: String = (1..count)
        .map(|i| {
            format!(
                "static f{}(n :> int) :> int ::= {};\n",
                i - 1,
                body.replace("NEXT", &format!("{level} f{i}"))
            )
        })
        .collect();
    format!(
        "module M {{\n{links}static f{}(n :> int) :> int ::= n * 3 + n / 5 - n;\n}}\nexport M.f0;\n",
        count - 1
    )
}

/// Optimises on the stack of a main thread; the number of nodes that are left.
fn nodes_left(text: String) -> usize {
    let work = move || {
        let mut program = checked(&mut Sources::new(), "chain.pc", &text);
        optimize(&mut program, &Options::default());
        let mut nodes = 0;
        for method in Reach::new(&program).methods() {
            program[method].body.root.walk(&mut |_| nodes += 1);
        }
        nodes
    };
    std::thread::Builder::new().stack_size(8 << 20).spawn(work).unwrap().join().unwrap()
}

#[test]
fn long_chains_are_not_inlined_into_one_deep_tree() {
    for level in ["", "inline", "pathinline"] {
        let nodes = nodes_left(chain(5_000, "NEXT(n) + 1", level));
        assert!(nodes < 100_000, "{level}: {nodes}");
    }
}

#[test]
fn what_doubles_at_every_step_is_cut_off() {
    for level in ["", "inline", "pathinline"] {
        let nodes = nodes_left(chain(60, "NEXT(n) + NEXT(n + 1)", level));
        assert!(nodes < 300_000, "{level}: {nodes}");
    }
}

#[test]
fn circles_of_inlining_end() {
    let methods: String = (0..12)
        .map(|i| {
            let calls: Vec<String> = (0..12).map(|j| format!("f{j}(n - {i})")).collect();
            format!(
                "static f{i}(n :> int) :> int ::= n < 0 ==> {i} ||| pathinline ({});\n",
                calls.join(" + ")
            )
        })
        .collect();
    let nodes = nodes_left(format!("module M {{\n{methods}}}\nexport M.f0;\n"));
    assert!(nodes < 300_000, "{nodes}");
}

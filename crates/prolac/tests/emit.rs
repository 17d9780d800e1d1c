//! The C of the programs in `tests/emit`: beside each `.pc` file stand the C file and the header that come of it.
//!
//! The first line says how the program is compiled, `// -O3 lines`; `//MAIN: ` gives the statements of a C `main` that is
//! linked with it and run, `//OUT: ` what that prints, with `|` for the end of a line. `cc` and clang must be content with
//! `-Wall -Wextra -Werror`, with and without sanitizers: a test each, since not every machine has them. `SNAPSHOTS=overwrite` writes the C anew.

use std::path::{Path, PathBuf};
use std::process::Command;

use clickwork_oracles::{SANITIZERS, c_compiler, fallible, run};
use clickwork_prolac::check::check;
use clickwork_prolac::emit::{Options, Output, emit};
use clickwork_prolac::optimize::{self, optimize};
use clickwork_prolac::program::Target;
use clickwork_prolac::syntax::parse;
use clickwork_source::{Diagnostics, Sources, render_click};
use libtest_mimic::{Failed, Trial};
use snapbox::{Data, assert_data_eq};

/// Names for ways to compile: the compiler, and options.
const WAYS: [(&str, &str, &str); 4] = [
    ("cc", "cc", ""),
    ("sanitized", "cc", SANITIZERS),
    ("clang", "clang", ""),
    ("clang_sanitized", "clang", SANITIZERS),
];

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/emit");
    let files = std::fs::read_dir(&folder).expect("the programs are there");
    let mut paths: Vec<PathBuf> = files.map(|entry| entry.expect("a file").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "pc"));
    paths.sort();
    run(paths.into_iter().flat_map(trials).collect())
}

/// The tests of a program: what C it becomes, and that each compiler takes that.
fn trials(path: PathBuf) -> impl Iterator<Item = Trial> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    WAYS.into_iter().map(move |way| {
        let (name, path) = (name.clone(), path.clone());
        fallible(&format!("{name}::{}", way.0), move || trial(&name, &path, way))
    })
}

fn trial(
    name: &str,
    path: &Path,
    (way, compiler, options): (&str, &'static str, &'static str),
) -> Result<(), Failed> {
    c_compiler(compiler, options);
    let text = std::fs::read_to_string(path)?;
    let output = compiled(name, &text).map_err(Failed::from)?;
    assert_data_eq!(output.source.clone(), Data::read_from(&path.with_extension("c"), None).raw());
    assert_data_eq!(output.header.clone(), Data::read_from(&path.with_extension("h"), None).raw());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("emit").join(format!("{name}-{way}"));
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join(format!("{name}.c")), output.source)?;
    std::fs::write(folder.join(format!("{name}.h")), output.header)?;
    std::fs::write(folder.join("main.c"), main_file(name, &text))?;
    let level = if options.is_empty() { "-O2" } else { "-O1" };
    compile_and_run(name, &folder, compiler, &format!("{level} {options}"), &head(&text, "OUT"))
}

fn head(text: &str, key: &str) -> String {
    let start = format!("//{key}: ");
    text.lines().find_map(|line| line.strip_prefix(&start)).unwrap_or_default().to_string()
}

fn main_file(name: &str, text: &str) -> String {
    let statements = head(text, "MAIN");
    format!(
        "#include <stdio.h>\n#include \"{name}.h\"\n\nint main(void)\n{{\n\t{statements}\n\treturn 0;\n}}\n"
    )
}

/// The C of a program, or what is wrong with it.
fn compiled(name: &str, text: &str) -> Result<Output, String> {
    let mut sources = Sources::new();
    let file = sources.add(format!("{name}.pc"), text);
    let mut diagnostics = Diagnostics::new();
    let syntax = parse(&mut sources, file, &mut diagnostics);
    let checked = check(&sources, &syntax, Target::named("x86_64").unwrap_or_default());
    if diagnostics.has_errors() || checked.diagnostics.has_errors() {
        let all = diagnostics.iter().chain(checked.diagnostics.iter());
        return Err(all.map(|d| render_click(&sources, d)).collect());
    }
    let mut program = checked.program;
    let line = text.lines().next().unwrap_or_default();
    let words: Vec<&str> = line.split(':').next().unwrap_or_default().split_whitespace().collect();
    let level = words.iter().find_map(|word| word.strip_prefix("-O")).map_or(3, |n| n.parse().unwrap_or(3));
    let cha = !words.contains(&"no-cha");
    optimize(&mut program, &optimize::Options { level, cha, ..optimize::Options::default() });
    let options = Options {
        lines: words.contains(&"lines"),
        source_name: format!("{name}.c"),
        header_name: format!("{name}.h"),
    };
    emit(&program, &sources, &options)
        .map_err(|errors| errors.iter().map(|d| render_click(&sources, d)).collect())
}

fn compile_and_run(
    name: &str,
    folder: &Path,
    compiler: &str,
    flags: &str,
    expected: &str,
) -> Result<(), Failed> {
    let words = format!("-std=c11 -Wall -Wextra -Werror {flags} main.c {name}.c -o main");
    let compiled = Command::new(compiler).args(words.split_whitespace()).current_dir(folder).output()?;
    if !compiled.status.success() {
        return Err(format!("{compiler} {flags}: {}", String::from_utf8_lossy(&compiled.stderr)).into());
    }
    let ran = Command::new(folder.join("main")).output()?;
    let found = String::from_utf8_lossy(&ran.stdout).trim_end().replace('\n', "|");
    match ran.status.success() && found == expected {
        true => Ok(()),
        false => {
            Err(format!("expected {expected}, found {found} {}", String::from_utf8_lossy(&ran.stderr)).into())
        }
    }
}

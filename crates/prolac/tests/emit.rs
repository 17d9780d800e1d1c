//! The C of the programs in `tests/emit`: beside each `.pc` file stand the C file and the header that come of it.
//!
//! The first line says how the program is compiled, `// -O3 lines`; `//MAIN: ` gives the statements of a C `main` that is
//! linked with it and run, `//OUT: ` what that prints, with `|` for the end of a line. gcc and clang must be content with
//! `-Wall -Wextra -Werror`, with and without sanitizers. `SNAPSHOTS=overwrite` writes the C anew.

use std::path::{Path, PathBuf};
use std::process::Command;

use clickwork_prolac::check::check;
use clickwork_prolac::emit::{Options, Output, emit};
use clickwork_prolac::optimize::{self, optimize};
use clickwork_prolac::program::Target;
use clickwork_prolac::syntax::parse;
use clickwork_source::{Diagnostics, Sources, render_click};
use libtest_mimic::{Arguments, Failed, Trial};
use snapbox::{Data, assert_data_eq};

const WAYS: [(&str, &str); 4] = [
    ("gcc", "-O2"),
    ("gcc", "-O1 -fsanitize=address,undefined -fno-sanitize-recover=all"),
    ("clang", "-O2"),
    ("clang", "-O1 -fsanitize=address,undefined -fno-sanitize-recover=all"),
];

fn main() {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/emit");
    let files = std::fs::read_dir(&folder).expect("the programs are there");
    let mut paths: Vec<PathBuf> = files.map(|entry| entry.expect("a file").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "pc"));
    paths.sort();
    let trials = paths.into_iter().map(|path| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Trial::test(name.clone(), move || trial(&name, &path))
    });
    libtest_mimic::run(&arguments, trials.collect()).exit();
}

fn trial(name: &str, path: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(path)?;
    let output = compiled(name, &text).map_err(Failed::from)?;
    assert_data_eq!(output.source.clone(), Data::read_from(&path.with_extension("c"), None).raw());
    assert_data_eq!(output.header.clone(), Data::read_from(&path.with_extension("h"), None).raw());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("emit").join(name);
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join(format!("{name}.c")), output.source)?;
    std::fs::write(folder.join(format!("{name}.h")), output.header)?;
    std::fs::write(folder.join("main.c"), main_file(name, &text))?;
    WAYS.iter().try_for_each(|(compiler, flags)| run(name, &folder, compiler, flags, &head(&text, "OUT")))
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

fn run(name: &str, folder: &Path, compiler: &str, flags: &str, expected: &str) -> Result<(), Failed> {
    let words = format!("-std=c11 -Wall -Wextra -Werror {flags} main.c {name}.c -o main");
    let Ok(compiled) = Command::new(compiler).args(words.split_whitespace()).current_dir(folder).output()
    else {
        println!("skipped: there is no {compiler}");
        return Ok(());
    };
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

//! Whole programs: each `.pc` file under `programs/` is compiled, and what its head says must happen.
//!
//! - `//ERROR: text @ LINE:COLUMN`, one line for each error: exactly these are reported, nothing is written
//! - `//WARNING: text @ LINE:COLUMN`, the same for warnings
//! - `//HINT: text` stands in some hint
//! - `//MAIN: statements` go into a `main` that includes the header; it is linked with the C and run
//! - `//OUT: text` is what it prints, `|` for the end of a line
//! - `//FLAGS: words` for prolacc; then `//STDOUT: text` stands in its output, and no C is compiled
//!
//! The C must compile without warnings. Plain C by clang, and optimised C by `cc` with sanitizers, in
//! tests of their own, since not every machine has these.

use clickwork_oracles::{SANITIZERS, c_compiler, fallible, run};
use libtest_mimic::{Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn main() {
    let base = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let mut paths: Vec<PathBuf> = ["right", "wrong"]
        .iter()
        .flat_map(|kind| std::fs::read_dir(base.join(kind)).expect("the programs are there"))
        .map(|entry| entry.expect("a directory entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "pc"))
        .collect();
    paths.sort();
    run(paths.into_iter().flat_map(|path| trials(&base, path)).collect())
}

/// The tests of a program: one of all that it says of itself, and one for each other way to make a program of its C.
fn trials(base: &Path, path: PathBuf) -> Vec<Trial> {
    let name = path.strip_prefix(base).unwrap_or(&path).with_extension("").display().to_string();
    let program = Program::new(path, "");
    let ways = WAYS.iter().filter(|way| !way.name.is_empty() && program.becomes_a_program());
    let others = ways.map(|way| {
        let path = program.path.clone();
        fallible(&format!("{name}::{}", way.name), move || Program::new(path, way.name).compiled_by(way))
    });
    let others: Vec<Trial> = others.collect();
    [fallible(&name, move || program.check())].into_iter().chain(others).collect()
}

/// One program with a directory to work in.
struct Program {
    path: PathBuf,
    text: String,
    directory: PathBuf,
}

/// How C is made and compiled. Without a name it is a way of every machine.
struct Way {
    name: &'static str,
    /// For prolacc.
    words: &'static str,
    compiler: &'static str,
    level: &'static str,
    options: &'static str,
}

const WAYS: [Way; 3] = [
    Way { name: "sanitized", words: "-O3", compiler: "cc", level: "-O1", options: SANITIZERS },
    Way { name: "clang", words: "-O0", compiler: "clang", level: "-O0", options: "" },
    Way { name: "", words: "-O2 --no-cha --no-outline", compiler: "cc", level: "-O2", options: "" },
];

impl Program {
    /// `way` keeps those apart that work on the same file.
    fn new(path: PathBuf, way: &str) -> Program {
        let text = std::fs::read_to_string(&path).expect("a program");
        let stem = path.file_stem().unwrap_or_default();
        let directory =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs").join(stem).join(format!("way-{way}"));
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).expect("a directory to work in");
        Program { path, text, directory }
    }

    /// The values of a key of the head.
    fn head(&self, key: &str) -> Vec<&str> {
        let key = format!("//{key}:");
        self.text.lines().filter_map(|line| line.strip_prefix(&key)).map(str::trim).collect()
    }

    fn check(&self) -> Result<(), Failed> {
        if let Some(flags) = self.head("FLAGS").first() {
            let output = self.prolacc(flags);
            self.messages(&output)?;
            let stdout = String::from_utf8_lossy(&output.stdout);
            return self.head("STDOUT").iter().try_for_each(|text| {
                if stdout.contains(text) { Ok(()) } else { fail(format!("no '{text}' in\n{stdout}")) }
            });
        }
        WAYS.iter().try_for_each(|way| self.translate(way))?;
        if self.becomes_a_program() { self.run(&WAYS[2]) } else { Ok(()) }
    }

    /// Whether there is something to run.
    fn becomes_a_program(&self) -> bool {
        self.head("FLAGS").is_empty() && self.head("ERROR").is_empty() && !self.head("MAIN").is_empty()
    }

    fn compiled_by(&self, way: &Way) -> Result<(), Failed> {
        c_compiler(way.compiler, way.options);
        self.translate(way)?;
        self.run(way)
    }

    /// Prolac to C, as the head says.
    fn translate(&self, way: &Way) -> Result<(), Failed> {
        let c = self.directory.join("p.c");
        let _ = std::fs::remove_file(&c);
        let output = self.prolacc(&format!("{} -o p.c", way.words));
        self.messages(&output).map_err(|e| with(way.words, e))?;
        if c.exists() != self.head("ERROR").is_empty() {
            return fail(format!("{}: the C file is written exactly if there are no errors", way.words));
        }
        Ok(())
    }

    fn prolacc(&self, words: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_prolacc"));
        command.current_dir(&self.directory).arg(&self.path).args(words.split_whitespace());
        command.output().expect("prolacc runs")
    }

    /// Whether the messages are those that the head lists.
    fn messages(&self, output: &Output) -> Result<(), Failed> {
        let text = String::from_utf8_lossy(&output.stderr);
        for (key, kind) in [("ERROR", "error: "), ("WARNING", "warning: ")] {
            let found = messages(&text, kind);
            let expected = self.head(key);
            if found.len() != expected.len() {
                return fail(format!("{} of '{kind}', expected {}:\n{text}", found.len(), expected.len()));
            }
            for line in expected {
                let (fragment, place) = line.rsplit_once(" @ ").unwrap_or((line, ""));
                let place = format!(".pc:{place}");
                let matches = |(message, at): &(String, String)| {
                    message.contains(fragment) && (place == ".pc:" || at.ends_with(&place))
                };
                if !found.iter().any(matches) {
                    return fail(format!("no {kind}{line} in\n{text}"));
                }
            }
        }
        if let Some(hint) = self.head("HINT").iter().find(|hint| !text.contains(**hint)) {
            return fail(format!("no hint '{hint}' in\n{text}"));
        }
        let status = i32::from(!self.head("ERROR").is_empty());
        match output.status.code() {
            Some(code) if code == status => Ok(()),
            code => fail(format!("exit status {code:?} instead of {status}:\n{text}")),
        }
    }

    /// Compiles the C strictly, links it with a `main` and runs it.
    fn run(&self, way: &Way) -> Result<(), Failed> {
        let main = self.head("MAIN")[0];
        let text = format!(
            "#include <stdio.h>\n#include <stddef.h>\n#include \"p.h\"\nint main(void) {{\n{main}\nreturn 0;\n}}\n"
        );
        std::fs::write(self.directory.join("main.c"), text).expect("main is written");
        let Way { words, compiler, level, options, .. } = way;
        let flags = format!("{level} {options}");
        self.command(compiler, &format!("-std=c11 -Wall -Wextra -Werror {flags} -c p.c"))
            .map_err(|e| with(words, e))?;
        self.command(compiler, &format!("-std=c11 -w {flags} main.c p.o -o p"))?;
        let output = self.command("./p", "").map_err(|e| with(words, e))?;
        let out = String::from_utf8_lossy(&output.stdout).trim().replace('\n', "|");
        match self.head("OUT").first() {
            Some(expected) if *expected != out => {
                fail(format!("{words}: printed {out} instead of {expected}"))
            }
            _ => Ok(()),
        }
    }

    fn command(&self, program: &str, words: &str) -> Result<Output, Failed> {
        let mut command = Command::new(if program.starts_with("./") {
            self.directory.join(program)
        } else {
            PathBuf::from(program)
        });
        let output = command.current_dir(&self.directory).args(words.split_whitespace()).output();
        let output = output.map_err(|e| Failed::from(format!("{program}: {e}")))?;
        match output.status.success() {
            true => Ok(output),
            false => fail(format!("{program} {words}:\n{}", String::from_utf8_lossy(&output.stderr))),
        }
    }
}

/// The messages of a kind that prolacc printed, with the line that gives their place.
fn messages(text: &str, kind: &str) -> Vec<(String, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let starts = lines.iter().enumerate().filter(|(_, line)| line.starts_with(kind));
    let place = |at: usize| lines[at..].iter().find(|line| line.trim_start().starts_with("--> "));
    starts
        .map(|(at, line)| (line.to_string(), place(at).map_or(String::new(), |line| line.trim().to_string())))
        .collect()
}

fn with(words: &str, failed: Failed) -> Failed {
    Failed::from(format!("{words}: {}", failed.message().unwrap_or_default()))
}

fn fail<T>(message: String) -> Result<T, Failed> {
    Err(Failed::from(message))
}

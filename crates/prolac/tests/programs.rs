//! Whole programs: each `.pc` file under `programs/` is compiled, and what its head says must happen.
//!
//! - `//ERROR: text @ LINE:COLUMN`, one line for each error: exactly these are reported, nothing is written
//! - `//WARNING: text @ LINE:COLUMN`, the same for warnings
//! - `//HINT: text` stands in some hint
//! - `//MAIN: statements` go into a `main` that includes the header; it is linked with the C and run
//! - `//OUT: text` is what it prints, `|` for the end of a line
//! - `//FLAGS: words` for prolacc; then `//STDOUT: text` stands in its output, and no C is compiled
//!
//! The C must compile without warnings. Optimised C is compiled by gcc with sanitizers, plain C by clang, or by `cc` where
//! these are missing.

use libtest_mimic::{Arguments, Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn main() {
    let arguments = Arguments::from_args();
    let base = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let mut paths: Vec<PathBuf> = ["right", "wrong"]
        .iter()
        .flat_map(|kind| std::fs::read_dir(base.join(kind)).expect("the programs are there"))
        .map(|entry| entry.expect("a directory entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "pc"))
        .collect();
    paths.sort();
    let trials = paths.into_iter().map(|path| {
        let name = path.strip_prefix(&base).unwrap_or(&path).with_extension("").display().to_string();
        Trial::test(name, move || Program::new(path).check())
    });
    libtest_mimic::run(&arguments, trials.collect()).exit();
}

/// One program with a directory to work in.
struct Program {
    path: PathBuf,
    text: String,
    directory: PathBuf,
}

/// How C is made and compiled: words for prolacc, the C compiler that is preferred, words for it.
const WAYS: [(&str, &str, &str); 3] = [
    ("-O3", "gcc", "-O1 -fsanitize=address,undefined -fno-sanitize-recover=all"),
    ("-O0", "clang", "-O0"),
    ("-O2 --no-cha --no-outline", "gcc", "-O2"),
];

impl Program {
    fn new(path: PathBuf) -> Program {
        let text = std::fs::read_to_string(&path).expect("a program");
        let stem = path.file_stem().unwrap_or_default();
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs").join(stem);
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
        WAYS.iter().enumerate().try_for_each(|(number, way)| self.compile(number, way))
    }

    fn compile(&self, number: usize, (words, compiler, flags): &(&str, &str, &str)) -> Result<(), Failed> {
        let c = format!("p{number}.c");
        let output = self.prolacc(&format!("{words} -o {c}"));
        self.messages(&output).map_err(|e| with(words, e))?;
        let has_error = !self.head("ERROR").is_empty();
        if self.directory.join(&c).exists() == has_error {
            return fail(format!("{words}: the C file is written exactly if there are no errors"));
        }
        match self.head("MAIN").first() {
            Some(main) if !has_error => self.run(number, main, compiler, flags).map_err(|e| with(words, e)),
            _ => Ok(()),
        }
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
    fn run(&self, number: usize, main: &str, compiler: &str, flags: &str) -> Result<(), Failed> {
        let text = format!(
            "#include <stdio.h>\n#include <stddef.h>\n#include \"p{number}.h\"\nint main(void) {{\n{main}\nreturn 0;\n}}\n"
        );
        std::fs::write(self.directory.join(format!("main{number}.c")), text).expect("main is written");
        let compiler = if installed(compiler) { compiler } else { "cc" };
        self.command(compiler, &format!("-std=c11 -Wall -Wextra -Werror {flags} -c p{number}.c"))?;
        self.command(compiler, &format!("-std=c11 -w {flags} main{number}.c p{number}.o -o p{number}"))?;
        let output = self.command(&format!("./p{number}"), "")?;
        let out = String::from_utf8_lossy(&output.stdout).trim().replace('\n', "|");
        match self.head("OUT").first() {
            Some(expected) if *expected != out => fail(format!("printed {out} instead of {expected}")),
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

fn installed(compiler: &str) -> bool {
    Command::new(compiler).arg("--version").output().is_ok_and(|output| output.status.success())
}

fn with(words: &str, failed: Failed) -> Failed {
    Failed::from(format!("{words}: {}", failed.message().unwrap_or_default()))
}

fn fail<T>(message: String) -> Result<T, Failed> {
    Err(Failed::from(message))
}

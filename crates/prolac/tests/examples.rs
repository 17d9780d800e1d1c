//! The programs in `examples/prolac`: each is compiled and run by the commands that its head says, and prints what it says.
//!
//! In a head, `//    $ command` is a command, and what stands below the last one of several is printed by it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/prolac")
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap()
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(files_in(&path)) } else { files.push(path) }
    }
    files.sort();
    files
}

/// Some commands, one after the other, and what the last one prints.
#[derive(Default)]
struct Session {
    commands: Vec<String>,
    printed: Vec<String>,
}

/// The sessions in the head of a program.
fn sessions(text: &str) -> Vec<Session> {
    let mut sessions: Vec<Session> = Vec::new();
    for line in text.lines().take_while(|line| line.starts_with("//")) {
        let Some(shown) = line.strip_prefix("//    ") else { continue };
        match (shown.strip_prefix("$ "), sessions.last_mut()) {
            (Some(command), Some(session)) if session.printed.is_empty() => {
                session.commands.push(command.into());
            }
            (Some(command), _) => {
                sessions.push(Session { commands: vec![command.into()], printed: Vec::new() })
            }
            (None, Some(session)) => session.printed.push(shown.into()),
            (None, None) => panic!("printed by what? {line}"),
        }
    }
    sessions
}

/// A copy of all examples to work in.
fn copy(called: &str) -> PathBuf {
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join(called);
    let _ = fs::remove_dir_all(&to);
    for file in files_in(&folder()) {
        let target = to.join(file.strip_prefix(folder()).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(&file, &target).unwrap();
    }
    to
}

fn run(directory: &Path, session: &Session) -> String {
    let bin = Path::new(env!("CARGO_BIN_EXE_prolacc")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let script = format!("exec 2>&1\n{}", session.commands.join("\n"));
    let output = Command::new("sh").args(["-ec", &script]).env("PATH", path).current_dir(directory).output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}

#[test]
fn the_programs_print_what_their_heads_say() {
    let copy = copy("examples");
    let mut count = 0;
    for file in files_in(&copy).iter().filter(|file| file.extension().is_some_and(|e| e == "pc")) {
        for session in sessions(&fs::read_to_string(file).unwrap()) {
            let printed = run(file.parent().unwrap(), &session);
            assert_eq!(printed.trim_end(), session.printed.join("\n"), "{}", file.display());
            count += 1;
        }
    }
    assert!(count >= 7, "{count}");
}

#[test]
fn every_file_says_what_it_is() {
    for file in files_in(&folder()) {
        let text = fs::read_to_string(&file).unwrap();
        let starts = ["// ", "/* "].iter().any(|mark| text.starts_with(&format!("{mark}{}: ", name(&file))));
        assert!(starts, "{}", file.display());
        assert!(text.lines().all(|line| line.chars().count() <= 132), "{} has long lines", file.display());
    }
}

#[test]
fn the_programs_are_laid_out_as_the_formatter_does() {
    let programs = files_in(&folder()).into_iter().filter(|file| file.extension().is_some_and(|e| e == "pc"));
    let output = Command::new(env!("CARGO_BIN_EXE_prolacc")).args(["fmt", "--check"]).args(programs).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn chain_and_hookup_become_the_same_program() {
    let copy = copy("examples-hooks");
    let commands = ["cd chain", "prolacc --no-line --emit=c tcb.pc rtt.pc retransmit.pc main.pc"];
    let chain = Session { commands: commands.map(String::from).to_vec(), ..Session::default() };
    let commands = ["cd hookup", "prolacc --no-line --emit=c main.pc"];
    let hookup = Session { commands: commands.map(String::from).to_vec(), ..Session::default() };
    let hooks = copy.join("hooks");
    let code =
        |text: String| text.lines().filter(|line| !line.starts_with("/* ")).collect::<Vec<_>>().join("\n");
    assert_eq!(code(run(&hooks, &chain)), code(run(&hooks, &hookup)));
}

/// The tutorial shows the same program, piece by piece.
#[test]
fn the_tutorial_has_the_programs_as_they_are() {
    let tutorial = fs::read_to_string(folder().join("../../docs/prolac/tutorial.md")).unwrap();
    for file in files_in(&folder().join("stop-and-wait")) {
        let text = fs::read_to_string(&file).unwrap();
        let code = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("//"));
        for line in code.filter(|line| !line.starts_with("/* ")) {
            assert!(tutorial.lines().any(|l| l == line), "{}: {line}", file.display());
        }
    }
}

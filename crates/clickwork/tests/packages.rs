//! Packages and minimal drivers: the tutorial, and what can go wrong.
//!
//! Cargo builds drivers here from this source tree, without optimisation and without the network, in a folder that is
//! kept; so only what has changed is compiled.

mod common;

use common::Scratch;
use snapbox::cmd::Command;
use std::path::Path;
use std::process::Output;
use std::sync::{Mutex, MutexGuard, PoisonError};

const CACHE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/drivers");
const WORKSPACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// One driver is built at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a line of shell in a folder, with `clickwork` in the search path.
fn shell(dir: &Scratch, folder: &str, line: &str) -> Output {
    let bin = dir.path("path");
    if !bin.exists() {
        std::fs::create_dir(&bin).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_clickwork"), bin.join("clickwork")).unwrap();
    }
    let path = std::env::var("PATH").unwrap_or_default();
    std::process::Command::new("sh")
        .args(["-c", line])
        .current_dir(dir.path(folder))
        .env("PATH", format!("{}:{path}", bin.display()))
        .env("NO_COLOR", "1")
        .env("CLICKWORK_CACHE", CACHE)
        .env("CLICKWORK_SOURCES", std::fs::canonicalize(WORKSPACE).unwrap())
        .env("CLICKWORK_DRIVER_PROFILE", "dev")
        .env("CARGO_NET_OFFLINE", "true")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_TERM_COLOR", "never")
        .env("CARGO_TARGET_DIR", format!("{CACHE}/{}-tree/target", env!("CARGO_PKG_VERSION")))
        .env_remove("CLICKPATH")
        .output()
        .unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A code block of the tutorial: what its first line says, and the text.
fn blocks(text: &str) -> Vec<(&str, &str)> {
    let mut blocks = Vec::new();
    let mut rest = text;
    while let Some((_, block)) = rest.split_once("\n```") {
        let (info, block) = block.split_once('\n').unwrap();
        let (code, after) = block.split_once("```").unwrap();
        blocks.push((info, code));
        rest = after;
    }
    blocks
}

#[test]
fn the_tutorial_works() {
    let _alone = alone();
    let dir = Scratch::new("tutorial");
    let text = std::fs::read_to_string(format!("{WORKSPACE}/docs/writing-elements.md")).unwrap();
    let mut folder = ".";
    for (info, code) in blocks(&text) {
        let (what, place) = info.split_once(' ').unwrap_or((info, ""));
        match (what, place.split_once(' ')) {
            ("console", _) => {
                for command in code.split("$ ").skip(1) {
                    let (line, expected) = command.split_once('\n').unwrap();
                    let output = shell(&dir, folder, line);
                    assert!(output.status.success(), "{line}: {}{}", out(&output), err(&output));
                    snapbox::assert_data_eq!(out(&output), expected.to_string());
                    folder = "count-vowels";
                }
            }
            ("toml", _) => {
                dir.write("count-vowels/other.toml", code);
            }
            ("rust" | "click", Some((how, place))) => apply(&dir, how, place, code),
            _ => panic!("a block that is not tested: {info}"),
        }
    }
}

/// Does with a piece of Rust what the tutorial says.
fn apply(dir: &Scratch, how: &str, place: &str, code: &str) {
    let (file, line) = place.split_once(": ").unwrap_or((place, ""));
    let name = format!("count-vowels/{file}");
    if how == "file" {
        std::fs::create_dir_all(dir.path(&name).parent().unwrap()).unwrap();
        dir.write(&name, code);
        return;
    }
    let text = dir.read(&name);
    if how == "shown" {
        return assert!(text.contains(code), "{file} has\n{code}");
    }
    let start = text.find(line).unwrap_or_else(|| panic!("{file} has '{line}'"));
    let end = start + text[start..].find('\n').unwrap() + 1;
    // A function's last line goes behind what it does already.
    let end = if line.starts_with("fn ") { start + text[start..].find("\n    }").unwrap() + 1 } else { end };
    let kept = if how == "replaces" { start } else { end };
    dir.write(&name, &[&text[..kept], code, &text[end..]].concat());
}

/// A new package in a folder, and its driver.
fn package(dir: &Scratch) {
    let made = shell(dir, ".", "clickwork new element CountVowels");
    assert!(made.status.success(), "{}", err(&made));
    let built = shell(dir, "count-vowels", "clickwork check example.click");
    assert!(built.status.success(), "{}", err(&built));
}

#[test]
fn packages_are_found_where_the_command_line_and_the_files_say() {
    let _alone = alone();
    let dir = Scratch::new("packages");
    package(&dir);
    let config = "require(package count_vowels);\nIdle -> CountVowels(x) -> Discard;\n";
    for folder in ["beside/below", "elsewhere"] {
        std::fs::create_dir_all(dir.path(folder)).unwrap();
        dir.write(&format!("{folder}/r.click"), config);
    }
    dir.write("beside/clickwork.toml", "[packages]\ncount-vowels = { path = \"../count-vowels\" }\n");
    for line in [
        "clickwork check beside/below/r.click",
        "clickwork check elsewhere/r.click --package count-vowels",
        "clickwork check --package count-vowels - < elsewhere/r.click",
        "CLICKPATH=. clickwork check elsewhere/r.click",
        "clickwork run -q elsewhere/r.click --package count-vowels -h packages",
        "cd beside; clickwork xml -e 'require(count-vowels); Idle -> CountVowels -> Discard'",
        "clickwork undead --package count-vowels elsewhere/r.click",
        "clickwork list --package count-vowels vowels",
    ] {
        let output = shell(&dir, ".", line);
        assert!(output.status.success(), "{line}: {}", err(&output));
        let wanted = if line.contains("-h") { "count-vowels\n" } else { "" };
        assert!(out(&output).contains(wanted), "{line}: {}", out(&output));
        assert!(!err(&output).contains("building"), "{line}: built again: {}", err(&output));
    }
    let lost = shell(&dir, ".", "clickwork run elsewhere/r.click");
    assert_eq!(lost.status.code(), Some(1));
    let said = err(&lost);
    assert!(said.contains("requirement 'count_vowels' not available\n --> elsewhere/r.click:1:8"), "{said}");
    assert!(said.contains("--package FOLDER") && said.contains("clickwork.toml"), "{said}");
}

#[test]
fn mistakes_in_a_package_are_shown() {
    let _alone = alone();
    let dir = Scratch::new("broken-package");
    package(&dir);
    let source = dir.read("count-vowels/src/lib.rs");
    dir.write("count-vowels/src/lib.rs", &source.replace("Verdict::PASS", "Verdict::PAST"));
    let broken = shell(&dir, "count-vowels", "clickwork run example.click");
    let said = err(&broken);
    assert_eq!(broken.status.code(), Some(1), "{said}");
    assert!(said.contains("no variant") && said.contains("PAST") && said.contains("lib.rs:"), "{said}");
    assert!(said.ends_with("error: the package 'count-vowels' does not compile\n"), "{said}");
    dir.write("count-vowels/src/lib.rs", &source.replace("pub static CLASSES", "static CLASSES"));
    let said = err(&shell(&dir, "count-vowels", "clickwork run example.click"));
    assert!(said.contains("a package should have a line 'pub static CLASSES"), "{said}");
}

#[test]
fn a_minimal_driver_has_the_classes_that_it_was_made_for() {
    let _alone = alone();
    let dir = Scratch::new("minimal");
    package(&dir);
    dir.write("a.click", "elementclass Unused { input -> Paint(1) -> output }\nInfiniteSource(LIMIT 3, STOP true) -> c :: Counter -> Discard;");
    let made =
        shell(&dir, ".", "clickwork mkmindriver a.click count-vowels/example.click -E Print -o driver");
    assert!(made.status.success(), "{}", err(&made));
    let run = shell(&dir, ".", "./driver a.click --quiet -h c.count");
    assert_eq!(out(&run), "3\n", "{}", err(&run));
    let run = shell(&dir, ".", "./driver count-vowels/example.click");
    assert_eq!(out(&run), "130 letters in 10 packets\n", "{}", err(&run));
    let lacks = err(&shell(&dir, ".", "./driver -e 'Idle -> Paint(1) -> Discard'"));
    assert!(lacks.contains("this driver is minimal, and was made without 'Paint'"), "{lacks}");
    assert!(lacks.contains("clickwork mkmindriver -E Paint"), "{lacks}");
    let binary = std::fs::read(dir.path("driver")).unwrap();
    let has = |text: &str| binary.windows(text.len()).any(|w| w == text.as_bytes());
    // The manual of CheckPaint is part of the class, and so of the program only if the class is.
    assert!(
        has("Passes every packet on and counts it.") && !has("Passes packets whose"),
        "only what is needed"
    );
}

#[test]
fn which_classes_a_minimal_driver_would_have() {
    let dir = Scratch::new("minimal-list");
    dir.write(
        "a.click",
        "elementclass Unused { input -> Paint(1) -> output }\nIdle -> PollDevice@@x :: Null -> Discard;",
    );
    dir.write("b.click", "PollDevice(eth0) -> q :: Queue($N) -> Discard;");
    let list = |tool: Command, more: &[&str]| {
        let listed = tool.args(["--list", "a.click", "b.click", "N=5"]).args(more).assert().success();
        String::from_utf8(listed.get_output().stdout.clone()).unwrap().replace('\n', " ")
    };
    let plain = "Align ControlSocket Discard FromDevice IPNameInfo Idle Null Queue PollDevice ";
    assert_eq!(list(dir.clickwork().arg("mkmindriver"), &[]), plain);
    let all = "ControlSocket Counter Discard FromDevice Idle Null Paint Print Queue PollDevice ";
    let more = ["-p", "small", "-a", "--no-extras", "-E", "Print Counter", "-u"];
    assert_eq!(list(dir.tool("click-mkmindriver"), &more), all);
    let refused = |args: &[&str], message: &str| {
        dir.clickwork().arg("mkmindriver").args(args).assert().code(1).stderr_eq(message.to_string());
    };
    refused(
        &["a.click"],
        "error: what is the driver to be called? Say '-o FILE', or '-p NAME' for NAMEclick\n",
    );
    refused(&["-o", "x", "-E", "Countr"], "error: unknown element class 'Countr': did you mean 'Counter'?\n");
    refused(&["-o", "x", "-e", "Idle -> Nul"], "...\nerror: config: not a correct configuration\n");
    refused(&["a.click", "--project", "."], "error: .: it exists already\n");
}

#[test]
fn a_project_has_all_that_cargo_needs() {
    let dir = Scratch::new("minimal-project");
    dir.clickwork().args(["mkmindriver", "-e", "Idle -> Discard", "--project", "p"]).assert().success();
    let output = shell(
        &dir,
        "p",
        "cargo metadata --offline --format-version 1 --filter-platform $(rustc -vV | sed -n 's/^host: //p')",
    );
    assert!(output.status.success(), "{}", err(&output));
    // What sources include is there too.
    for (file, text) in sources(&dir.path("p/sources")) {
        for (_, rest) in
            text.match_indices("include_str!(\"").map(|(at, start)| text.split_at(at + start.len()))
        {
            let name = rest.split('"').next().unwrap();
            assert!(file.parent().unwrap().join(name).is_file(), "{}: {name}", file.display());
        }
    }
    assert!(!dir.path("p/sources/crates/clickwork/tests").exists());
}

/// The Rust files below a folder.
fn sources(folder: &Path) -> Vec<(std::path::PathBuf, String)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let read = |path: std::path::PathBuf| match path.extension() {
        _ if path.is_dir() => sources(&path),
        Some(e) if e == "rs" => vec![(path.clone(), std::fs::read_to_string(&path).unwrap())],
        _ => Vec::new(),
    };
    entries.flat_map(read).collect()
}

#[test]
fn new_elements_need_a_name_and_a_place() {
    let dir = Scratch::new("new-element");
    let new = |args: &[&str]| {
        dir.clickwork().env("CLICKWORK_CACHE", dir.path("cache")).args(["new", "element"]).args(args).assert()
    };
    new(&["Counter"])
        .code(1)
        .stderr_eq("error: there is an element class Counter already: choose another name\n");
    new(&["a/b"]).code(1).stderr_eq("error: 'a/b' is no name: write it as CountVowels or count-vowels\n");
    new(&["match"])
        .code(1)
        .stderr_eq("error: 'match' has a meaning in Rust, or in the crate: choose another name\n");
    new(&["my-vowels", "--path", "here"]).success();
    new(&["my-vowels", "--path", "here"])
        .code(1)
        .stderr_eq("error: here: it exists already; say --path for another folder\n");
    assert!(dir.read("here/src/lib.rs").contains("Class::new(\"MyVowels\", \"my-vowels\""));
}

#[test]
fn what_is_missing_is_said() {
    let dir = Scratch::new("no-cargo");
    let run = |args: &[&str]| {
        let command = dir
            .clickwork()
            .env("CLICKWORK_CACHE", dir.path("cache"))
            .env("CARGO", "/none")
            .env("RUSTC", "/none");
        command.arg("check").args(args).assert().code(1)
    };
    dir.write("r.click", "require(package x, userlevel);");
    dir.write("clickwork.toml", "[packages]\nx = 5\n");
    run(&["r.click"]).stderr_eq(
        "error: [..]/clickwork.toml:2: say where the package is: { path = \"...\" } or a version\n",
    );
    dir.write("clickwork.toml", "[packages]\n\nx = { pth = \"x\" }\n");
    run(&["r.click"])
        .stderr_eq("error: [..]/clickwork.toml:3: 'pth' does not say where a package is; path, [..] do\n");
    dir.write("clickwork.toml", "[packages\n");
    run(&["r.click"]).stderr_eq("error: [..]/clickwork.toml:1: [..]\n");
    dir.write("clickwork.toml", "[packages]\nx = \"1\"\n");
    run(&["r.click"]).stderr_eq(
        "error: no Rust compiler (rustc): install Rust from https://rustup.rs, or set RUSTC to the compiler\n",
    );
    let cargo = |program: &str| {
        let command = dir.clickwork().env("CLICKWORK_CACHE", dir.path("cache")).env("CARGO", program);
        let checked = command.args(["check", "r.click"]).assert().code(1);
        String::from_utf8(checked.get_output().stderr.clone()).unwrap()
    };
    if std::process::Command::new("rustc").arg("-vV").output().is_ok() {
        assert!(
            cargo("/none").contains("error: cargo cannot be run (No such file or directory)"),
            "{}",
            cargo("/none")
        );
        assert!(cargo("/bin/false").contains("error: /bin/false built nothing and did not say why"));
    }
    run(&["r.click", "--package", "nothing"])
        .stderr_eq("error: nothing/Cargo.toml: No such file or directory\n");
}

//! `clickwork build` and `clickwork run --compiled`: the same router, compiled.

mod common;

use common::{Scratch, text};
use snapbox::cmd::Command;
use std::path::{Path, PathBuf};
use std::process::Output;

/// Where these tests keep compiled code.
fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("compiled")
}

fn clickwork(dir: &Scratch) -> Command {
    dir.clickwork().env("CLICKWORK_CACHE", cache())
}

/// Builds a program in the folder.
fn build(dir: &Scratch, args: &[&str]) {
    clickwork(dir).arg("build").args(args).assert().success().stdout_eq("");
}

/// A program of the folder.
fn program(dir: &Scratch, name: &str) -> Command {
    Command::new(dir.path(name)).current_dir(dir.path("")).env("NO_COLOR", "1")
}

fn ip_router() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/ip-router-mem.click")
}

fn done(command: Command) -> Output {
    command.assert().success().get_output().clone()
}

fn stdout(command: Command) -> String {
    String::from_utf8(done(command).stdout).unwrap()
}

/// What a program says on standard error.
fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Handlers of all elements.
const HANDLERS: &[&str] = &[
    "--simtime",
    "-h",
    "list",
    "-h",
    "*.count",
    "-h",
    "*.drops",
    "-h",
    "*.length",
    "-h",
    "*.config",
    "-h",
    "*.ports",
];

#[test]
fn the_ip_router_says_the_same_built() {
    let dir = Scratch::new("built-ip");
    let file = ip_router();
    let run = |n: &str| stdout(clickwork(&dir).args(["run", text(&file), n]).args(HANDLERS));
    build(&dir, &[text(&file), "N=500", "-o", "router"]);
    let built = done(program(&dir, "router").args(HANDLERS));
    assert_eq!(String::from_utf8_lossy(&built.stdout), run("N=500"));
    assert!(said(&built).contains("elements run compiled"), "{}", said(&built));
    // A variable that is given when it runs goes before what was given when it was built.
    assert_eq!(stdout(program(&dir, "router").arg("N=70").args(HANDLERS)), run("N=70"));
    assert!(run("N=70").contains("src.count:\n70\n"));
}

#[test]
fn a_built_program_needs_nothing_else() {
    let (dir, elsewhere) = (Scratch::new("built-alone"), Scratch::new("built-elsewhere"));
    dir.write("lib.click", "elementclass Marked { input -> Paint(3) -> output }");
    dir.write(
        "router.click",
        "require(library lib.click); InfiniteSource(LIMIT $N, STOP true) -> Marked -> s :: PaintSwitch;
        s [0] -> Discard; s [1] -> Discard; s [2] -> Discard; s [3] -> c :: Counter -> Discard;",
    );
    build(&dir, &["router.click", "N=4"]);
    std::fs::copy(dir.path("router"), elsewhere.path("router")).unwrap();
    drop(dir);
    let alone = Command::new(elsewhere.path("router")).env_clear().current_dir(elsewhere.path(""));
    let output = done(alone.args(["-h", "c.count"]));
    assert_eq!(output.stdout, b"4\n");
    assert!(said(&output).contains("elements run compiled"), "{}", said(&output));
    program(&elsewhere, "router").arg("--version").assert().success();
    let help = stdout(program(&elsewhere, "router").arg("--help"));
    assert!(help.contains("made by 'clickwork build'") && help.contains("--handler"), "{help}");
    let asked = program(&elsewhere, "router").args([
        "-e",
        "Idle -> c :: Counter -> Discard",
        "-h",
        "c.class",
        "--quit",
    ]);
    assert_eq!(stdout(asked), "Counter\n", "another configuration");
}

#[test]
fn configurations_come_from_everywhere() {
    let dir = Scratch::new("built-inputs");
    let config = "InfiniteSource(LIMIT 3, STOP true) -> Strip(5) -> c :: Counter -> Discard;";
    let count = |name: &str| stdout(program(&dir, name).args(["-h", "c.count"]));
    build(&dir, &["-e", config, "-o", "expression"]);
    assert_eq!(count("expression"), "3\n");
    clickwork(&dir).args(["build", "-", "-o", "input"]).stdin(config).assert().success();
    assert_eq!(count("input"), "3\n");
    // An archive, as the tools write it: with classes of its own.
    let config = "InfiniteSource(LIMIT 3, STOP true) -> k :: Classifier(0/52, -) -> c :: Counter -> Discard; k [1] -> Discard;";
    let made = stdout(clickwork(&dir).args(["fastclassifier", "-e", config]));
    assert!(made.starts_with("!<arch>"));
    dir.write("fast.click", &made);
    build(&dir, &["fast.click"]);
    assert_eq!(count("fast"), "3\n");
    clickwork(&dir)
        .args(["build", "-e", config])
        .assert()
        .failure()
        .stderr_eq("error: say with -o where to write the program\n");
}

#[test]
fn the_rust_source_names_the_elements_and_is_complete() {
    let dir = Scratch::new("emit-rust");
    let source = stdout(clickwork(&dir).args(["build", "--emit=rust", text(&ip_router())]));
    for declared in ["// gio0 :: IPGWOptions(10.0.0.1)", "// rt :: StaticIPLookup(", "packets come in at c0"]
    {
        assert!(source.contains(declared), "{declared}:\n{source}");
    }
    let to_file = clickwork(&dir).args(["build", "--emit=rust", text(&ip_router()), "-o", "router.rs"]);
    to_file.assert().success().stdout_eq("");
    assert_eq!(dir.read("router.rs"), source);
}

#[test]
fn what_cannot_be_built_is_explained() {
    let dir = Scratch::new("build-errors");
    // Numbers that no other test has: the code is not there yet.
    let config = "InfiniteSource(LIMIT 1, STOP true) -> Strip(31) -> CheckLength(777) -> Discard;";
    let build = |config: &str| {
        dir.clickwork()
            .env("CLICKWORK_CACHE", dir.path("cache"))
            .args(["build", "-e", config, "-o", "router"])
    };
    let missing = "error: no Rust compiler (rustc): install Rust from https://rustup.rs, or set RUSTC to the compiler\n";
    build(config).env("RUSTC", "/proc/nonexistent").assert().failure().stderr_eq(missing);
    build(config)
        .env("PATH", "")
        .env("HOME", dir.path(""))
        .env_remove("RUSTC")
        .assert()
        .failure()
        .stderr_eq(missing);
    let failing = done_badly(build(config).env("RUSTC", "/bin/false"));
    assert!(failing.starts_with("error: /bin/false, which RUSTC names, is no Rust compiler: "), "{failing}");
    dir.write("file", "");
    let no_folder = done_badly(build(config).env("CLICKWORK_CACHE", dir.path("file/cache")));
    assert!(no_folder.contains("file/cache: ") && no_folder.contains("CLICKWORK_CACHE"), "{no_folder}");
    let no_home = done_badly(build(config).env_clear().env_remove("CLICKWORK_CACHE"));
    assert!(no_home.contains("set CLICKWORK_CACHE to one"), "{no_home}");
    let wrong = done_badly(build("Idle -> Quene(3) -> Discard"));
    assert!(
        wrong.contains("undeclared element 'Quene'") && wrong.contains("not a correct configuration"),
        "{wrong}"
    );
    assert!(!dir.path("router").exists());
    // Nothing to compile needs no compiler.
    let plain = build("Idle -> Discard").env("RUSTC", "/proc/nonexistent");
    plain.assert().success();
    std::fs::create_dir(dir.path("folder")).unwrap();
    let taken = done_badly(dir.clickwork().args(["build", "-e", "Idle -> Discard", "-o", "folder"]));
    assert!(taken.contains("folder: "), "{taken}");
    let nowhere = done_badly(dir.clickwork().args(["build", "-e", "Idle -> Discard", "-o", "no/where"]));
    assert!(nowhere.contains("no/where: No such file or directory"), "{nowhere}");
    let left = std::fs::read_dir(dir.path("")).unwrap().flatten().map(|entry| entry.file_name());
    let left: Vec<_> = left.filter(|name| name.to_string_lossy().starts_with('.')).collect();
    assert!(left.is_empty(), "{left:?}");
}

fn done_badly(command: Command) -> String {
    said(command.assert().failure().get_output())
}

#[test]
fn without_a_compiler_a_router_runs_interpreted_and_says_why() {
    let dir = Scratch::new("run-without");
    let config = "InfiniteSource(LIMIT 9, STOP true) -> Strip(32) -> c :: Counter -> Discard;";
    let run = |time: &[&str]| {
        let command =
            dir.clickwork().env("CLICKWORK_CACHE", dir.path("cache")).env("RUSTC", "/proc/nonexistent");
        done(command.args(["run", "--compiled", "-e", config, "-h", "c.count"]).args(time))
    };
    let output = run(&["--simtime"]);
    assert_eq!(output.stdout, b"9\n");
    assert!(
        said(&output).contains("warning: the router runs interpreted: no Rust compiler (rustc): install")
    );
    assert_eq!(run(&[]).stdout, b"9\n");
    let damaged =
        dir.clickwork().env("CLICKWORK_CACHE", "/dev/null/x").args(["run", "--compiled", "--simtime"]);
    let output = done(damaged.args(["-e", config, "-h", "c.count"]));
    assert_eq!(output.stdout, b"9\n");
    assert!(said(&output).contains("/dev/null/x: "), "{}", said(&output));
}

#[test]
fn a_damaged_cache_is_mended() {
    let dir = Scratch::new("damaged-cache");
    let config = "InfiniteSource(LIMIT 9, STOP true) -> Strip(33) -> c :: Counter -> Discard;";
    let run = || {
        let command = dir.clickwork().env("CLICKWORK_CACHE", dir.path("cache"));
        done(command.args(["run", "--compiled", "--simtime", "-e", config, "-h", "c.count"]))
    };
    assert!(said(&run()).contains("elements run compiled"));
    let entries: Vec<_> = std::fs::read_dir(dir.path("cache")).unwrap().flatten().map(|e| e.path()).collect();
    let [library] = entries.as_slice() else { panic!("{entries:?}") };
    let whole = std::fs::read(library).unwrap();
    for damaged in [&b"not a library"[..], &whole[..20000.min(whole.len() / 2)]] {
        std::fs::write(library, damaged).unwrap();
        let output = run();
        assert!(said(&output).contains("elements run compiled"), "{}", said(&output));
        assert_eq!(output.stdout, b"9\n");
    }
    // Built programs have whole libraries, too.
    std::fs::write(library, "not a library").unwrap();
    let build = dir.clickwork().env("CLICKWORK_CACHE", dir.path("cache"));
    build.args(["build", "-e", config, "-o", "router"]).assert().success();
    assert_eq!(stdout(program(&dir, "router").args(["-h", "c.count"])), "9\n");
}

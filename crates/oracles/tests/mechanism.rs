//! What tests with needs say where these are not met, and that no test of the workspace says it otherwise.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs `examples/sample.rs` with nothing in the search path.
fn sample(arguments: &[&str], require: &str) -> (bool, String) {
    let mut command = Command::new(program());
    let Output { status, stdout, .. } =
        command.args(arguments).env("PATH", "").env("REQUIRE_ORACLES", require).output().expect("it runs");
    (status.success(), String::from_utf8_lossy(&stdout).into_owned())
}

fn program() -> PathBuf {
    let here = std::env::current_exe().expect("this program");
    here.ancestors().nth(2).expect("the folder of the profile").join("examples/sample")
}

#[test]
fn what_is_missing_is_ignored_with_the_reason() {
    let (success, said) = sample(&["--test-threads=1"], "0");
    assert!(success, "{said}");
    for line in [
        "test needs_nothing          ... ok",
        "test needs_tshark           ... ignored (tshark is not installed)",
        "test needs_another_kernel   ... ignored (this kernel has no bridges)",
        "test says_what_is_wrong     ... ignored (no-such-program is not installed)",
    ] {
        assert!(said.contains(line), "no '{line}' in {said}");
    }
    let root = "test needs_root_in_a_thread ... ";
    assert!(
        said.contains(&format!("{root}ok")) || said.contains(&format!("{root}ignored (it needs root)")),
        "{said}"
    );
}

#[test]
fn what_is_required_and_missing_is_a_failure() {
    let (success, said) = sample(&["needs_tshark"], "1");
    assert!(!success && said.contains("tshark is not installed, and REQUIRE_ORACLES is set"), "{said}");
    let (success, said) = sample(&["needs_another_kernel"], "1");
    assert!(success && said.contains("1 ignored"), "{said}");
}

#[test]
fn filters_and_lists_work() {
    let (success, said) = sample(&["-q", "--exact", "needs_nothing"], "1");
    assert!(success && said.contains("1 passed"), "{said}");
    let (_, said) = sample(&["--list"], "1");
    assert_eq!(said.matches(": test").count(), 5, "{said}");
}

#[test]
fn a_file_can_say_which_tests_to_run() {
    let file = clickwork_oracles::unused("clickwork-oracle-tests");
    std::fs::write(&file, "needs_nothing\nneeds_tshark\n").expect("a temporary file");
    let mut command = Command::new(program());
    let output = command.arg("--list").env("ORACLE_TESTS", &file).output().expect("it runs");
    std::fs::remove_file(file).expect("it was written");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "needs_nothing: test\nneeds_tshark: test\n");
}

/// `#[test]` means nothing to a target that has its own main function: such a test would never run.
#[test]
fn no_test_is_in_a_target_that_does_not_run_it() {
    let mut targets = 0;
    for folder in crates() {
        for root in targets_without_harness(&folder) {
            targets += 1;
            let modules = root.with_extension("");
            let own = if root.ends_with("main.rs") { root.parent() } else { Some(&*modules) };
            for file in own.into_iter().flat_map(rust_files).chain([root.clone()]) {
                let text = std::fs::read_to_string(&file).expect("a source file");
                let lost = text.lines().any(|line| line.trim_start().starts_with("#[test]"));
                assert!(!lost, "{}: list its tests in `clickwork_oracles::tests!`", file.display());
            }
        }
    }
    assert!(targets > 5, "only {targets}");
}

#[test]
fn nobody_skips_tests_in_another_way() {
    let said = ["println!(\"", "skipped"].concat();
    for file in crates().iter().flat_map(|folder| rust_files(folder)) {
        let text = std::fs::read_to_string(&file).expect("a source file");
        assert!(!text.contains(&said), "{}: a test that is not run counts as passed", file.display());
    }
}

fn crates() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let entries = std::fs::read_dir(folder).expect("the crates").map(|entry| entry.expect("a crate").path());
    entries.filter(|path| path.join("Cargo.toml").is_file()).collect()
}

/// The first files of the tests that have a main function of their own.
fn targets_without_harness(folder: &Path) -> Vec<PathBuf> {
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
    let targets = manifest.split("[[test]]").skip(1).map(|target| target.split("\n[").next().unwrap_or(""));
    let own = targets.filter(|target| target.contains("harness = false"));
    own.map(|target| {
        let name = target.split('"').nth(1).expect("a name");
        let file = folder.join(format!("tests/{name}.rs"));
        if file.exists() { file } else { folder.join(format!("tests/{name}/main.rs")) }
    })
    .collect()
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let mut all: Vec<_> =
        files.into_iter().filter(|file| file.extension().is_some_and(|e| e == "rs")).collect();
    all.extend(folders.iter().flat_map(|folder| rust_files(folder)));
    all
}

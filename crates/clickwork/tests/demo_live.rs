//! The live demonstration. It needs root, network namespaces and `ip`; without, these tests say that they are skipped.

mod common;

use common::Scratch;
use std::process::Command;

/// Whether a network namespace can be made here.
fn is_possible(test: &str) -> bool {
    let name = format!("clickwork-test-{}-{test}", std::process::id());
    let netns = |verb: &str| {
        Command::new("ip").args(["netns", verb, &name]).output().is_ok_and(|o| o.status.success())
    };
    let made = netns("add");
    if !made {
        eprintln!("skipped {test}: a network namespace needs root and `ip` (iproute2)");
    }
    made && netns("del")
}

/// The namespaces that the process `pid` made and left.
fn left_by(pid: u32) -> Vec<String> {
    let list = Command::new("ip").args(["netns", "list"]).output().expect("it was there before");
    let prefix = format!("clickwork-{pid}-");
    String::from_utf8_lossy(&list.stdout)
        .lines()
        .filter(|l| l.starts_with(&prefix))
        .map(str::to_string)
        .collect()
}

#[test]
fn every_step_goes_as_it_should() {
    if !is_possible("every_step_goes_as_it_should") {
        return;
    }
    let dir = Scratch::new("demo-live");
    let done = dir.clickwork().args(["demo", "--live"]).assert().success();
    let printed = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    assert!(printed.contains("Every byte is right") && !printed.contains("WRONG"), "{printed}");
    for handler in ["from0.count: ", "to1.count: "] {
        assert!(printed.contains(handler), "{printed}");
    }
}

#[test]
fn an_interrupt_leaves_nothing_behind() {
    if !is_possible("an_interrupt_leaves_nothing_behind") {
        return;
    }
    let mut program = Command::new(env!("CARGO_BIN_EXE_clickwork"))
        .args(["demo", "--live"])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let pid = program.id();
    while left_by(pid).len() < 3 {
        assert!(program.try_wait().unwrap().is_none(), "it ended before its namespaces were made");
        std::thread::yield_now();
    }
    let asked = Command::new("kill").args(["-INT", &pid.to_string()]).status();
    assert!(asked.is_ok_and(|s| s.success()));
    assert!(!program.wait().unwrap().success());
    assert_eq!(left_by(pid), [""; 0]);
}

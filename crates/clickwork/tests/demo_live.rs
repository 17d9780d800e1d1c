//! The live demonstration. It needs root, network namespaces, and the programs that it shows.

mod common;

use common::Scratch;
use std::process::Command;

/// The demonstration can run here.
fn expect_possible(test: &str) {
    clickwork_oracles::namespaces();
    let name = clickwork_oracles::unique(&format!("clickwork-test-{test}"));
    let netns = |verb: &str| {
        Command::new("ip").args(["netns", verb, &name]).output().is_ok_and(|o| o.status.success())
    };
    if !(netns("add") && netns("del")) {
        clickwork_oracles::lacking("no network namespaces here");
    }
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

/// What the demonstration prints, which goes as it should.
fn demonstration(name: &str) -> String {
    expect_possible(name);
    let dir = Scratch::new(name);
    let done = dir.clickwork().args(["demo", "--live"]).assert().success();
    let printed = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    assert!(printed.contains("Every byte is right") && !printed.contains("WRONG"), "{printed}");
    printed
}

fn every_step_goes_as_it_should() {
    clickwork_oracles::program("ping");
    let printed = demonstration("demo-live");
    for handler in ["from0.count: ", "to1.count: "] {
        assert!(printed.contains(handler), "{printed}");
    }
}

fn traceroute_sees_the_router() {
    ["ping", "traceroute"].iter().for_each(|name| clickwork_oracles::program(name));
    let printed = demonstration("demo-traceroute");
    assert!(!printed.contains("skipped"), "{printed}");
}

fn an_interrupt_leaves_nothing_behind() {
    expect_possible("an_interrupt_leaves_nothing_behind");
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

clickwork_oracles::tests! {
    every_step_goes_as_it_should,
    traceroute_sees_the_router,
    an_interrupt_leaves_nothing_behind,
}

//! The program as itself: what a person sees of each subcommand.

mod common;

use common::Scratch;

#[test]
fn a_mistake_is_shown_with_its_place_and_a_remedy() {
    let dir = Scratch::new("human");
    dir.write("a.click", "// a slip\nIdle -> q :: Quene(5) -> Discard;\n");
    dir.clickwork().args(["run", "a.click"]).assert().code(1).stdout_eq("").stderr_eq(
        "error: unknown element class 'Quene'
 --> a.click:2:14
  |
2 | Idle -> q :: Quene(5) -> Discard;
  |              ^^^^^
  |
  = help: did you mean 'Queue'?
",
    );
}

#[test]
fn a_run_ends_with_a_table_that_accounts_for_every_packet() {
    let dir = Scratch::new("table");
    let config = "InfiniteSource(LIMIT 100, STOP true) -> c :: Counter -> d :: Discard;";
    for extra in [&[][..], &["--ordered"]] {
        let run = dir.clickwork().args(["run", "--simtime", "--table", "-e", config]).args(extra).assert();
        run.success().stderr_eq(
            "ELEMENT           CLASS           PACKETS  DROPS
InfiniteSource@1  InfiniteSource      100
c                 Counter             100
d                 Discard             100
",
        );
    }
    dir.clickwork().args(["run", "--simtime", "-e", config]).assert().success().stderr_eq("");
}

#[test]
fn a_packet_is_counted_once_in_each_element_pushed_or_pulled() {
    let dir = Scratch::new("table-pull");
    let config = "InfiniteSource(LIMIT 7) -> q :: Queue -> n :: Null -> u :: Unqueue(BURST 1) -> d :: Discard; \
                  InfiniteSource(LIMIT 7, ACTIVE false) -> Discard";
    let run = dir.clickwork().args(["run", "--simtime", "--table", "-e", config]).assert().success();
    run.stderr_eq(
        "ELEMENT           CLASS           PACKETS  DROPS
InfiniteSource@1  InfiniteSource        7
q                 Queue                 7
n                 Null                  7
u                 Unqueue               7
d                 Discard               7
InfiniteSource@6  InfiniteSource        0
Discard@7         Discard               0
",
    );
}

#[test]
fn check_says_what_is_right_and_lists_all_that_is_wrong() {
    let dir = Scratch::new("check");
    let right = dir.clickwork().args(["check", "-e", "Idle -> Queue -> Discard"]).assert();
    right.success().stderr_eq("config: correct, 3 elements, 2 connections\n");
    let wrong =
        dir.clickwork().args(["check", "-e", "Idle -> Queue(x) -> Null(1) -> [2] Tee"]).assert().code(1);
    let stderr = String::from_utf8(wrong.get_output().stderr.clone()).unwrap();
    for part in ["CAPACITY: parse error", "too many arguments", "has no input 2"] {
        assert!(stderr.contains(part), "{part} is missing in\n{stderr}");
    }
}

#[test]
fn check_follows_the_packets_if_it_is_told_to() {
    let dir = Scratch::new("types");
    dir.write(
        "a.click",
        "FromDevice(eth0)\n  -> Queue\n  -> ToDevice(eth1);\nIdle -> CheckIPHeader -> Discard;\n",
    );
    let shown = dir.clickwork().args(["check", "--show-types", "a.click"]).assert().success();
    shown.stdout_eq(
        "FromDevice@1 [0] -> [0] Queue@2: Ethernet at offset 0, no header marked\n\
         Queue@2 [0] -> [0] ToDevice@3: Ethernet at offset 0, no header marked\n\
         Idle@4 [0] -> [0] CheckIPHeader@5: no packets\n\
         CheckIPHeader@5 [0] -> [0] Discard@6: no packets\n",
    );
    dir.write("b.click", "FromDevice(eth0)\n  -> q :: Queue -> Unqueue\n  -> CheckIPHeader -> Discard;\n");
    dir.clickwork().args(["check", "b.click"]).assert().success();
    let wrong = dir.clickwork().args(["check", "--types", "b.click"]).assert().code(1);
    let stderr = String::from_utf8(wrong.get_output().stderr.clone()).unwrap();
    for part in [
        "error: Ethernet frames from FromDevice(eth0) reach CheckIPHeader, which expects IP at offset 0: ",
        "insert Strip(14), or use CheckIPHeader(14)",
        "---- from here: Ethernet at offset 0, no header marked",
        "---- through here",
        "^^^^ expects IP at offset 0",
    ] {
        assert!(stderr.contains(part), "{part} is missing in\n{stderr}");
    }
    let click = dir.tool("click-check").args(["--types", "b.click"]).assert().code(1);
    click.stderr_eq("b.click:3: Ethernet frames from FromDevice(eth0) reach CheckIPHeader, [..]\n");
}

#[test]
fn check_opens_no_file() {
    let dir = Scratch::new("no-file");
    let config = "Idle -> ToDump(out.pcap)";
    dir.clickwork().args(["check", "-e", config]).assert().success();
    assert!(!dir.path("out.pcap").exists());
}

#[test]
fn fmt_works_in_place_and_check_names_what_is_out_of_style() {
    let dir = Scratch::new("fmt");
    dir.write("a.click", "a::Idle->b::Discard // end");
    dir.clickwork().args(["fmt", "--check", "a.click"]).assert().code(1).stdout_eq("a.click\n");
    dir.clickwork().args(["fmt", "a.click"]).assert().success().stdout_eq("");
    assert_eq!(dir.read("a.click"), "a :: Idle -> b :: Discard; // end\n");
    dir.clickwork().args(["fmt", "--check", "a.click"]).assert().success();
    dir.clickwork().arg("fmt").stdin("Idle->Discard").assert().success().stdout_eq("Idle -> Discard;\n");
    dir.write("b.click", "Idle -> ;");
    dir.clickwork().args(["fmt", "b.click"]).assert().code(1);
    assert_eq!(dir.read("b.click"), "Idle -> ;");
}

#[test]
fn elements_are_listed_and_documented() {
    let dir = Scratch::new("manual");
    dir.clickwork().args(["list", "stores", "packets"]).assert().success().stdout_eq(
        "...
  Queue [..] stores packets first in, first out
...
",
    );
    dir.clickwork().args(["list", "zebra"]).assert().code(1);
    dir.clickwork().args(["doc", "Queue"]).assert().success().stdout_eq(
        "NAME
    Queue: stores packets first in, first out

SYNOPSIS
    Queue([CAPACITY])

PORTS
...
    CAPACITY  packets it can hold (unsigned integer; default 1000)
...
",
    );
    let slip = "error: no element class 'Quene': did you mean 'Queue'?\n";
    dir.clickwork().args(["doc", "Quene"]).assert().code(1).stderr_eq(slip);
}

#[test]
fn help_and_completions_know_every_subcommand() {
    let dir = Scratch::new("help");
    let output = |args: &[&str]| {
        let run = dir.clickwork().args(args).assert().success();
        String::from_utf8(run.get_output().stdout.clone()).unwrap()
    };
    let (help, script) = (output(&["--help"]), output(&["completions", "bash"]));
    for command in [
        "run",
        "check",
        "flatten",
        "undead",
        "combine",
        "uncombine",
        "fmt",
        "graph",
        "list",
        "doc",
        "ctl",
        "links",
        "completions",
    ] {
        assert!(help.contains(&format!("\n  {command} ")), "{command}");
        assert!(script.contains(&format!("clickwork,{command})")), "{command}");
        assert!(output(&[command, "--help"]).contains("Usage:"), "{command}");
    }
    assert!(!help.contains("Others:"), "src/overview.rs says which commands stand together: {help}");
}

#[test]
fn nobody_at_a_control_socket_is_an_error_with_a_reason() {
    let dir = Scratch::new("ctl");
    let read = dir.clickwork().args(["ctl", "./none.sock", "read", "list"]).assert();
    read.code(1).stderr_eq("error: ./none.sock: No such file or directory\n");
}

//! The program runs under valgrind, which `bench/instructions.sh` counts with where the processor has no counters. What valgrind
//! says of the machine is not all true: of the kernel's shared object, and of the program's own file.

mod common;

use common::Scratch;
use std::path::Path;
use std::process::Command;

/// What a program prints under valgrind.
fn printed(program: &Path, args: &[&str]) -> String {
    clickwork_oracles::program("valgrind");
    let mut command = Command::new("valgrind");
    let output = command.args(["--tool=none", "-q"]).arg(program).args(args).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

const CONFIG: &str = "InfiniteSource(LIMIT 7, STOP true) -> c :: Counter -> Discard";

fn a_router_runs_and_its_time_is_known() {
    let program = Path::new(env!("CARGO_BIN_EXE_clickwork"));
    let printed = printed(program, &["run", "--time", "-e", CONFIG, "-h", "c.count"]);
    let (time, count) = printed.split_once('\n').unwrap();
    assert!(time.contains("u ") && time.contains("s 0:"), "{time}");
    assert_eq!(count, "7\n");
}

fn a_built_router_finds_itself() {
    let dir = Scratch::new("valgrind");
    // Nothing is compiled of this: no compiler is needed.
    dir.clickwork().args(["build", "-e", "d :: Discard; Idle -> d", "-o", "router"]).assert().success();
    let printed = printed(&dir.path("router"), &["--quit", "-h", "d.class"]);
    assert_eq!(printed, "Discard\n");
}

clickwork_oracles::tests! {
    a_router_runs_and_its_time_is_known,
    a_built_router_finds_itself,
}

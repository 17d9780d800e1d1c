//! A running router that is interrupted: it ends at once and in order.

mod common;

use common::Scratch;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Runs a configuration that prints `here` when its packet comes by and would then run for ever, sends the signal once it
/// has, and returns the exit status and standard output.
fn interrupted(program: &mut Command, signal: Signal) -> (Option<i32>, String) {
    let mut child = program
        .args(["-e", "InfiniteSource(DATA abcd, LIMIT 1) -> Print(here) -> c :: Counter -> ToDump(out.pcap)"])
        .args(["-h", "c.count"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut line = String::new();
    let mut stderr = BufReader::new(child.stderr.take().expect("it is piped"));
    stderr.read_line(&mut line).expect("it prints");
    assert!(line.starts_with("here:"), "{line}");
    kill_process(Pid::from_child(&child), signal).expect("it runs");
    let output = child.wait_with_output().expect("it ends");
    (output.status.code(), String::from_utf8(output.stdout).expect("numbers"))
}

#[test]
fn handlers_are_printed_and_files_flushed() {
    let dir = Scratch::new("interrupt");
    dir.tool("click").arg("--version").assert().success();
    let click = dir.path("bin/click");
    for signal in [Signal::INT, Signal::TERM, Signal::HUP].into_iter().filter(|&signal| !is_ignored(signal)) {
        let (status, stdout) = interrupted(Command::new(&click).current_dir(dir.path("")), signal);
        assert_eq!((status, stdout.as_str()), (Some(0), "1\n"));
        let size = std::fs::metadata(dir.path("out.pcap")).expect("the capture was written").len();
        assert_eq!(size, 24 + 16 + 4, "file header, record header and packet");
        std::fs::remove_file(dir.path("out.pcap")).expect("it is ours");
    }
}

/// Whether this process ignores a signal, and so the programs that it starts: as one started by `nohup` does.
fn is_ignored(signal: Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() >> (signal.as_raw() - 1) & 1 == 1
}

#[test]
fn the_table_is_printed_too() {
    let dir = Scratch::new("interrupt-table");
    let mut program = Command::new(env!("CARGO_BIN_EXE_clickwork"));
    let (status, stdout) =
        interrupted(program.args(["run", "--table"]).current_dir(dir.path("")), Signal::INT);
    assert_eq!((status, stdout.as_str()), (Some(0), "1\n"));
}

#[test]
fn what_is_to_outlive_its_terminal_does() {
    let dir = Scratch::new("interrupt-nohup");
    let mut program = Command::new("sh");
    let run = format!("trap '' HUP; exec {} run --quiet \"$@\"", env!("CARGO_BIN_EXE_clickwork"));
    let mut child = program
        .args(["-c", &run, "sh", "-e", "Script(print \"ready\", wait 0.2s, print \"on\", stop)"])
        .current_dir(dir.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the shell starts");
    let mut stdout = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut line = String::new();
    stdout.read_line(&mut line).expect("it prints");
    kill_process(Pid::from_child(&child), Signal::HUP).expect("it runs");
    stdout.read_line(&mut line).expect("it prints");
    assert_eq!(line, "ready\non\n");
    assert!(child.wait().expect("it ends").success());
}

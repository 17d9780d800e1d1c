//! A running router under control: handlers over a socket, a new configuration in place of the old one, a picture with
//! packet counts.

mod common;

use common::Scratch;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command, Stdio};

/// A router that listens at `control.sock` and has handled one packet, printed as `here`.
struct Running {
    dir: Scratch,
    child: Child,
    stderr: BufReader<ChildStderr>,
}

const CONFIG: &str = "InfiniteSource(LIMIT 1) -> Print(here) -> c :: Counter -> q :: Queue(5) -> u :: Unqueue(ACTIVE false) -> Discard;";

impl Running {
    fn new(name: &str) -> Running {
        let dir = Scratch::new(name);
        let mut child = Command::new(env!("CARGO_BIN_EXE_clickwork"))
            .args(["run", "-R", "-u", "control.sock", "-e", CONFIG])
            .current_dir(dir.path(""))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut stderr = BufReader::new(child.stderr.take().expect("it is piped"));
        let mut line = String::new();
        stderr.read_line(&mut line).expect("it prints");
        assert!(line.starts_with("here:"), "{line}");
        Running { dir, child, stderr }
    }

    fn ctl(&self, args: &[&str]) -> snapbox::cmd::OutputAssert {
        self.dir.clickwork().args(["ctl", "control.sock"]).args(args).assert()
    }

    /// Stops the router; returns what it printed to standard error since.
    fn stop(mut self) -> String {
        self.ctl(&["write", "stop"]).success();
        assert!(self.child.wait().expect("it ends").success());
        let mut rest = String::new();
        self.stderr.read_to_string(&mut rest).expect("text");
        rest
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn handlers_are_read_and_written() {
    let router = Running::new("ctl-handlers");
    router.ctl(&["read", "c.count"]).success().stdout_eq("1\n");
    router.ctl(&["read", "q.length"]).success().stdout_eq("1\n");
    router.ctl(&["write", "q.capacity", "7"]).success().stdout_eq("");
    router.ctl(&["read", "q.capacity"]).success().stdout_eq("7\n");
    router.ctl(&["write", "c.reset"]).success();
    router.ctl(&["read", "c.count"]).success().stdout_eq("0\n");
    router.ctl(&["read", "c.nothing"]).code(1).stderr_eq("error: No handler named 'c.nothing'\n");
    router.ctl(&["read", "x.count"]).code(1).stderr_eq("error: No element named 'x'\n");
    router.stop();
}

#[test]
fn a_bad_configuration_changes_nothing_and_says_why() {
    let router = Running::new("ctl-bad");
    router.dir.write("bad.click", "Idle -> c :: Counter -> q :: Quene -> Discard;");
    let refused = router.ctl(&["write", "hotconfig", "--file", "bad.click"]).code(1);
    let stderr = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
    assert!(stderr.contains("config:1: unknown element class 'Quene'"), "{stderr}");
    router.ctl(&["read", "c.count"]).success().stdout_eq("1\n");
    assert!(router.stop().contains("the old one goes on"));
}

#[test]
fn a_good_configuration_takes_over_what_the_old_one_knew() {
    let router = Running::new("ctl-good");
    router.dir.write(
        "new.click",
        "Idle -> c :: Counter -> q :: Queue(5) -> Unqueue(ACTIVE false) -> Discard; n :: Null; Idle -> n -> Discard",
    );
    router.ctl(&["write", "hotconfig", "--file", "new.click"]).success();
    router.ctl(&["read", "n.class"]).success().stdout_eq("Null\n");
    router.ctl(&["read", "c.count"]).success().stdout_eq("1\n");
    router.ctl(&["read", "q.length"]).success().stdout_eq("1\n");
    assert!(router.stop().contains("new configuration"));
}

#[test]
fn a_picture_of_the_running_router_has_its_counts() {
    let router = Running::new("ctl-graph");
    router.dir.clickwork().args(["graph", "--live", "control.sock", "-o", "now.svg"]).assert().success();
    let svg = router.dir.read("now.svg");
    assert!(svg.contains("class=\"count\"") && svg.contains(">Counter</tspan>"), "{svg}");
    router.stop();
}

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
        Running::with(name, CONFIG)
    }

    fn with(name: &str, config: &str) -> Running {
        let dir = Scratch::new(name);
        let mut child = Command::new(env!("CARGO_BIN_EXE_clickwork"))
            .args(["run", "-R", "-u", "control.sock", "-e", config])
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

const KEY: &str = "000102030405060708090a0b0c0d0e0f10111213";

fn with_keys(more: &str) -> String {
    format!(
        "{CONFIG} ControlSocket(UNIX, read.sock, READONLY true);
         Idle -> IPsecESPEncrypt(0x1001, KEY {KEY}, SRC 1.0.0.1, DST 1.0.0.2) -> Discard;
         Idle -> WepEncap(\\<a1b2c3d4e5>) -> Discard;{more}"
    )
}

#[test]
fn who_may_only_read_gets_a_picture_without_keys() {
    let router = Running::with("ctl-graph-keys", &with_keys(""));
    for socket in ["read.sock", "control.sock"] {
        let graph = router.dir.clickwork().args(["graph", "--live", socket, "-o", "now.svg"]).assert();
        graph.success().stderr_eq("");
        let svg = router.dir.read("now.svg");
        assert!(svg.contains("class=\"count\"") && svg.contains(">IPsecESPEncrypt</tspan>"), "{svg}");
        assert!(
            svg.contains("\u{2022}\u{2022}\u{2022}") && !svg.contains(KEY) && !svg.contains("a1b2c3d4e5"),
            "{svg}"
        );
    }
    // Other tools read what a router says of itself to such a client.
    let flat = router.dir.clickwork().args(["ctl", "read.sock", "read", "flatconfig"]).assert().success();
    router.dir.write("flat.click", &String::from_utf8(flat.get_output().stdout.clone()).unwrap());
    for tool in ["flatten", "xml", "json"] {
        let made = router.dir.clickwork().args([tool, "flat.click"]).assert().success();
        let text = String::from_utf8(made.get_output().stdout.clone()).unwrap();
        assert!(text.contains("\u{2022}\u{2022}\u{2022}") && !text.contains(KEY), "{tool}: {text}");
    }
    router.stop();
}

#[test]
fn messages_do_not_quote_keys() {
    let router = Running::new("ctl-keys-in-messages");
    let keys = with_keys("").replace('\n', " ");
    let mistakes = ["Idle -> x :: Quene -> Discard;", "Idle -> Strip(a lot) -> Discard;", "Idle -> -> ;"];
    // On one line, of which only what is near the mistake is shown, and there is always a key at its border.
    for distance in 0..120 {
        let mistake = mistakes[distance % 3];
        let wrong = format!("Discard; {}{mistake}", " ".repeat(distance));
        let config = keys.replace(CONFIG, "").replacen("Discard;", &wrong, 1);
        router.dir.write("bad.click", &config);
        router.ctl(&["write", "hotconfig", "--file", "bad.click"]).code(1);
    }
    let said = router.stop();
    assert_eq!(said.matches("the old one goes on").count(), 120, "{said}");
    assert!(said.contains("******, SRC") && said.contains("WepEncap("), "{said}");
    for part in KEY.as_bytes().windows(8).chain(b"a1b2c3d4e5".windows(5)) {
        let part = std::str::from_utf8(part).unwrap();
        assert!(!said.contains(part), "{part}: {said}");
    }
}

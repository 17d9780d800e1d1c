//! Compiled routers while they run: code comes in under traffic, handlers change what was compiled, configurations are replaced.

mod common;

use clickwork_elements::capture::reader::Reader;
use common::{Scratch, text};
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

/// Numbered packets (by their IP identification) through a push path, a pull path and a push path.
const NUMBERED: &str = "src :: RatedSource(RATE 2000, LENGTH 20) -> in :: Counter
    -> UDPIPEncap(10.0.0.2, 1000, 10.0.0.3, 2000) -> CheckIPHeader -> p :: Paint(1) -> DecIPTTL -> q :: Queue(10000)
    -> MarkIPHeader -> DecIPTTL -> u :: Unqueue -> CheckIPHeader -> s :: PaintSwitch;
    s [0] -> Discard; s [1] -> CheckLength(2000) -> out :: Counter -> ToDump(out.pcap, ENCAP IP); s [2] -> two :: Counter -> Discard;";

/// A running router that listens at `control.sock`.
struct Live<'a> {
    dir: &'a Scratch,
    socket: String,
    child: Child,
    stderr: BufReader<ChildStderr>,
}

impl<'a> Live<'a> {
    fn start(dir: &'a Scratch, socket: &str, mut command: Command) -> Live<'a> {
        command
            .args(["-R", "-u", socket])
            .current_dir(dir.path(""))
            .env("CLICKWORK_CACHE", dir.path("cache"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let stderr = BufReader::new(child.stderr.take().expect("it is piped"));
        Live { dir, socket: socket.to_string(), child, stderr }
    }

    fn run(dir: &'a Scratch, socket: &str, args: &[&str]) -> Live<'a> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_clickwork"));
        command.arg("run").args(args);
        Live::start(dir, socket, command)
    }

    /// Waits for a message with `part` in it; the message.
    fn wait_for(&mut self, part: &str) -> String {
        let mut line = String::new();
        loop {
            let read = self.stderr.read_line(&mut line).expect("text");
            assert!(read > 0, "the router ended without saying '{part}'");
            if line.contains(part) {
                return line;
            }
            line.clear();
        }
    }

    fn ctl(&self, args: &[&str]) -> snapbox::cmd::OutputAssert {
        self.dir.clickwork().args(["ctl", &self.socket]).args(args).assert().success()
    }

    fn read(&self, handler: &str) -> u64 {
        let output = self.ctl(&["read", handler]).get_output().stdout.clone();
        String::from_utf8(output).expect("text").trim().parse().expect("a number")
    }

    /// Waits until a number is above another one.
    fn wait_above(&self, handler: &str, least: u64) {
        while self.read(handler) <= least {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Ends the source, lets all packets through, and stops the router. Returns how many came in.
    fn drain(mut self) -> u64 {
        self.ctl(&["write", "src.active", "false"]);
        while self.read("q.length") > 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
        let (sent, dropped) = (self.read("in.count"), self.read("q.drops"));
        assert_eq!(dropped, 0);
        self.ctl(&["write", "stop"]);
        assert!(self.child.wait().expect("it ends").success());
        sent
    }
}

impl Drop for Live<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The identifications of the IP packets in a capture.
fn numbers(dir: &Scratch) -> Vec<u16> {
    let mut reader = Reader::open(text(&dir.path("out.pcap"))).expect("the capture is there");
    let mut numbers = Vec::new();
    while let Some(record) = reader.next_record().expect("it is whole") {
        numbers.push(u16::from_be_bytes([record.data[4], record.data[5]]));
    }
    numbers
}

fn the_change_to_compiled_code_loses_and_reorders_nothing() {
    let dir = Scratch::new("live-change");
    let mut router = Live::run(&dir, "a.sock", &["--compiled", "-e", NUMBERED]);
    let note = router.wait_for("elements run compiled");
    assert!(!note.contains(" 0 of"), "{note}");
    let before = router.read("out.count");
    assert!(before > 0, "the interpreted router forwarded meanwhile");
    router.wait_above("out.count", before + 300);
    let sent = router.drain();
    let numbers = numbers(&dir);
    assert_eq!(numbers.len() as u64, sent);
    assert!(numbers.windows(2).all(|pair| pair[1] == pair[0].wrapping_add(1)), "order");
    // What is in the cache is used at once, without a compiler.
    let mut command = Command::new(env!("CARGO_BIN_EXE_clickwork"));
    command.args(["run", "--compiled", "-e", NUMBERED]).env("RUSTC", "/proc/nonexistent");
    let mut again = Live::start(&dir, "b.sock", command);
    again.wait_for("elements run compiled");
    again.drain();
}

/// A network namespace with a cable from `a` to `b`.
struct Namespace(String);

impl Namespace {
    fn new() -> Namespace {
        clickwork_oracles::namespaces();
        let namespace = Namespace(clickwork_oracles::unique("clickwork-compiled"));
        let ip = |args: &[&str]| {
            Command::new("ip").args(args).output().is_ok_and(|output| output.status.success())
        };
        let name = namespace.0.as_str();
        let made = ip(&["netns", "add", name])
            && ip(&["-n", name, "link", "add", "a", "type", "veth", "peer", "name", "b"])
            && ["a", "b"].iter().all(|end| ip(&["-n", name, "link", "set", end, "up"]));
        if !made {
            clickwork_oracles::lacking("no network namespaces here");
        }
        namespace
    }

    fn run(&self, args: &[&str]) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.0, env!("CARGO_BIN_EXE_clickwork"), "run"]).args(args);
        command
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "del", &self.0]).output();
    }
}

fn packets_of_a_device_are_neither_lost_nor_reordered_by_the_change() {
    let namespace = Namespace::new();
    let dir = Scratch::new("live-device");
    let source = "src :: RatedSource(RATE 2000, LENGTH 20) -> in :: Counter -> UDPIPEncap(10.0.0.2, 1000, 10.0.0.3, 2000)
        -> EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:2) -> q :: Queue(10000) -> ToDevice(a)";
    let sender = Live::start(&dir, "a.sock", namespace.run(&["-e", source]));
    while !dir.path("a.sock").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let path = "from :: FromDevice(b, PROMISC true, SNIFFER false) -> c :: Classifier(12/0800, -) -> Strip(14) -> CheckIPHeader -> DecIPTTL
        -> Queue(10000) -> Unqueue -> Paint(1) -> out :: Counter -> ToDump(out.pcap, ENCAP IP); c [1] -> Discard";
    let mut receiver = Live::start(&dir, "b.sock", namespace.run(&["--compiled", "-e", path]));
    receiver.wait_for("elements run compiled");
    let before = receiver.read("out.count");
    receiver.wait_above("out.count", before + 300);
    let sent = sender.drain();
    std::thread::sleep(Duration::from_millis(200));
    // What the kernel had no room for while the machine let the receiver wait.
    let lost = receiver.read("from.kernel_drops");
    receiver.ctl(&["write", "stop"]);
    assert!(receiver.child.wait().expect("it ends").success());
    let numbers = numbers(&dir);
    assert!(before > 0 && numbers.len() as u64 > before + 300);
    let gaps = || numbers.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]).wrapping_sub(1));
    assert!(gaps().all(|gap| gap < 0x8000), "order");
    assert!(gaps().map(u64::from).sum::<u64>() <= lost, "losses");
    assert!(numbers.len() as u64 <= sent);
}

fn two_runs_may_compile_the_same_at_once() {
    let dir = Scratch::new("live-two");
    let config = NUMBERED.replace("ToDump(out.pcap, ENCAP IP)", "Discard");
    let mut runs = ["a.sock", "b.sock"].map(|socket| Live::run(&dir, socket, &["--compiled", "-e", &config]));
    runs.iter_mut().for_each(|run| _ = run.wait_for("elements run compiled"));
    let left: Vec<_> =
        std::fs::read_dir(dir.path("cache")).unwrap().flatten().map(|e| e.file_name()).collect();
    assert_eq!(left.len(), 1, "{left:?}");
    for run in runs {
        assert!(run.drain() > 0);
    }
}

fn a_built_router_follows_handlers_and_new_configurations() {
    let dir = Scratch::new("live-built");
    dir.write("router.click", NUMBERED);
    dir.clickwork()
        .env("CLICKWORK_CACHE", dir.path("cache"))
        .args(["build", "router.click"])
        .assert()
        .success();
    let mut router = Live::start(&dir, "a.sock", Command::new(dir.path("router")));
    let note = router.wait_for("elements run compiled");
    router.wait_above("out.count", 20);
    // A constant of compiled code changes: what it says now counts, and again when it comes back.
    router.ctl(&["write", "p.color", "2"]);
    router.wait_above("two.count", 20);
    router.ctl(&["write", "p.color", "1"]);
    router.wait_above("out.count", router.read("out.count") + 20);
    // The program can be built anew while it runs.
    dir.clickwork()
        .env("CLICKWORK_CACHE", dir.path("cache"))
        .args(["build", "router.click"])
        .assert()
        .success();
    // The same configuration, one with another constant, one that has nothing in common with it.
    let swap = |config: &str| router_swap(&dir, &router, config);
    swap(NUMBERED);
    router.wait_above("out.count", router.read("out.count") + 20);
    swap(&NUMBERED.replace("Paint(1)", "Paint(2)"));
    router.wait_above("two.count", router.read("two.count") + 20);
    swap(
        "src :: RatedSource(RATE 2000) -> in :: Counter -> Strip(4) -> CheckLength(9) -> q :: Queue -> Unqueue -> Discard",
    );
    router.wait_above("in.count", router.read("in.count") + 20);
    assert_eq!(router.wait_for("elements run compiled"), note, "the same code for the same configuration");
    assert_ne!(router.wait_for("elements run compiled"), note, "less where a constant differs");
    assert!(router.wait_for("elements run compiled").contains(" 0 of "), "none for other paths");
    router.drain();
}

fn router_swap(dir: &Scratch, router: &Live<'_>, config: &str) {
    dir.write("new.click", config);
    router.ctl(&["write", "hotconfig", "--file", "new.click"]);
}

clickwork_oracles::tests! {
    the_change_to_compiled_code_loses_and_reorders_nothing,
    packets_of_a_device_are_neither_lost_nor_reordered_by_the_change,
    two_runs_may_compile_the_same_at_once,
    a_built_router_follows_handlers_and_new_configurations,
}

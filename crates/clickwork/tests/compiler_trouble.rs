//! Compiling on the user's machine, where things go wrong: compilers that are none, or are killed, disks that are full, programs
//! that end early, configurations that come too fast. The compilers here are scripts; no Rust is needed.

mod common;

use common::Scratch;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// A folder with a cache and a compiler.
struct Machine(Scratch);

impl Machine {
    fn new(name: &str) -> Machine {
        Machine(Scratch::new(name))
    }

    /// Makes a script the compiler. `$dir` is the folder.
    fn compiler(&self, script: &str) {
        let dir = self.0.path("");
        let text = format!("#!/bin/sh\ndir='{}'\n{script}\n", dir.display());
        clickwork_oracles::script(&self.0.path("rustc"), &text);
    }

    /// One that says its version, and then does as `script` says.
    fn compiler_with_version(&self, script: &str) {
        self.compiler(&format!(
            "case \"$*\" in *-vV*) echo 'rustc 1.999.0 (script)'; exit 0;; esac\n{script}"
        ));
    }

    fn clickwork(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_clickwork"));
        command.args(args).current_dir(self.0.path("")).stdin(Stdio::null());
        command.env("CLICKWORK_CACHE", self.cache()).env("RUSTC", self.0.path("rustc"));
        command.env("NO_COLOR", "1").env_remove("CLICKPATH");
        command
    }

    fn cache(&self) -> PathBuf {
        self.0.path("cache")
    }

    /// What is in the cache.
    fn kept(&self) -> Vec<String> {
        let names = fs::read_dir(self.cache()).unwrap().map(|e| e.unwrap().file_name());
        names.map(|name| name.into_string().unwrap()).collect()
    }

    /// What `clickwork build` says of a router that it cannot compile.
    fn refusal(&self) -> String {
        let output = self.clickwork(&["build", "-e", &strip(1), "-o", "router"]).output().unwrap();
        let said = text(&output);
        assert!(!output.status.success() && !self.0.path("router").exists(), "{said}");
        said
    }

    /// Waits until the compiler has written a file of that name.
    fn wait_for(&self, name: &str) -> String {
        wait_until(name, || self.0.path(name).exists().then(|| self.0.read(name)))
    }
}

fn wait_until<T>(what: &str, mut done: impl FnMut() -> Option<T>) -> T {
    for _ in 0..60_000 {
        if let Some(found) = done() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("waited for {what} in vain");
}

/// A configuration whose code has this number in it.
fn strip(number: u32) -> String {
    format!("RatedSource(RATE 10) -> Strip({number}) -> CheckLength(7777) -> Discard;")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Whether a process does anything any more.
fn lives(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

#[test]
fn what_is_wrong_with_the_machine_is_said_with_a_remedy() {
    let machine = Machine::new("trouble");
    let version = "case \"$*\" in *-vV*) echo 'rustc 1.999.0 (script)'; exit 0;; esac";
    for (script, cause, remedy) in [
        ("exit 1", "is no Rust compiler: asked for its version", "set RUSTC"),
        ("exit 0", "is no Rust compiler: asked for its version", "set RUSTC"),
        (
            "case $* in *-vV*) echo 'rustc 1.60.0 (old)'; exit 0;; esac; exit 1",
            "is rustc 1.60.0, which is too old",
            "rustup update",
        ),
        (
            "echo 'error: rustup could not choose a version, and no default is configured.' >&2; exit 1",
            "no compiler yet",
            "rustup default",
        ),
        (&*format!("{version}\nkill -KILL $$"), "was killed (signal 9)", "add swap space"),
        (&*format!("{version}\nkill -TERM $$"), "was interrupted (signal 15)", ""),
        (&*format!("{version}\nkill -SEGV $$"), "crashed (signal 11)", "try another version"),
        (
            &*format!("{version}\necho 'memory allocation of 99 bytes failed' >&2; kill -ABRT $$"),
            "too little memory",
            "swap",
        ),
        (
            &*format!("{version}\necho 'ld: final link failed: No space left on device' >&2; exit 1"),
            "no space is left",
            "make room",
        ),
        (
            &*format!("{version}\necho 'error: linker `cc` not found' >&2; exit 1"),
            "C compiler, which is missing",
            "install one",
        ),
        (&*format!("{version}\nexit 0"), "wrote no code", ""),
    ] {
        machine.compiler(script);
        let said = machine.refusal();
        assert!(said.contains(cause) && said.contains(remedy), "{script}:\n{said}");
        assert!(!said.contains("please report"), "{script}:\n{said}");
        assert_eq!(machine.kept(), [""; 0], "{script}: nothing is left");
    }
    machine.compiler_with_version("echo 'error[E0425]: cannot find value `x`' >&2; exit 1");
    let bug = machine.refusal();
    assert!(bug.contains("please report this:\nerror[E0425]"), "a bug of ours: {bug}");
    fs::set_permissions(machine.0.path("rustc"), Permissions::from_mode(0o644)).unwrap();
    let said = machine.refusal();
    assert!(said.contains("cannot be run (Permission denied): install Rust"), "{said}");
}

#[test]
fn a_cache_that_others_can_write_is_refused() {
    let machine = Machine::new("open-cache");
    machine.compiler_with_version("echo x >> $dir/started; exit 1");
    fs::create_dir(machine.cache()).unwrap();
    fs::set_permissions(machine.cache(), Permissions::from_mode(0o777)).unwrap();
    let said = machine.refusal();
    assert!(said.contains("cache: others can write to it (its mode is 777)"), "{said}");
    assert!(said.contains("set CLICKWORK_CACHE"), "{said}");
    let config = "InfiniteSource(LIMIT 3, STOP true) -> Strip(2) -> c :: Counter -> Discard";
    let run = machine
        .clickwork(&["run", "--compiled", "--simtime", "-e", config, "-h", "c.count"])
        .output()
        .unwrap();
    assert_eq!(run.stdout, b"3\n");
    assert!(
        text(&run).contains("warning: the router runs interpreted: ") && text(&run).contains("others can")
    );
    fs::set_permissions(machine.cache(), Permissions::from_mode(0o700)).unwrap();
    fs::rename(machine.cache(), machine.0.path("real")).unwrap();
    std::os::unix::fs::symlink("real", machine.cache()).unwrap();
    assert!(machine.refusal().contains("this is a link or a file"));
    assert!(!machine.0.path("started").exists());
}

/// A router that takes new configurations, with a compiler that waits.
struct Live<'a> {
    machine: &'a Machine,
    child: Child,
}

impl<'a> Live<'a> {
    fn start(machine: &'a Machine, config: &str) -> Live<'a> {
        let mut command = machine.clickwork(&["run", "--compiled", "-R", "-u", "sock", "-e", config]);
        let child = command.stdout(Stdio::null()).stderr(fs::File::create(machine.0.path("said")).unwrap());
        Live { machine, child: child.spawn().unwrap() }
    }

    fn swap(&self, config: &str) {
        let done = self.machine.clickwork(&["ctl", "sock", "write", "hotconfig", config]).output().unwrap();
        assert!(done.status.success(), "{}", text(&done));
    }
}

impl Drop for Live<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn configurations_are_compiled_one_at_a_time_and_none_twice() {
    let machine = Machine::new("swaps");
    // Each start leaves the text that is to be compiled, and ends badly when it may.
    machine.compiler_with_version(
        "n=$(ls $dir | grep -c '^start'); cp $TMPDIR/segments.rs $dir/.new; mv $dir/.new $dir/start$n
        while [ ! -e $dir/go ]; do sleep 0.01; done
        echo \"error[E0000]: the text $n\" >&2; exit 1",
    );
    let live = Live::start(&machine, &strip(4100));
    assert!(machine.wait_for("start0").contains("4100"));
    for number in (4101..4130).chain([4130, 4100, 4130]) {
        live.swap(&strip(number));
    }
    assert!(!machine.0.path("start1").exists(), "one at a time");
    machine.0.write("go", "");
    assert!(machine.wait_for("start1").contains("4130"), "the newest next");
    let said = |what: &str| {
        wait_until(what, || {
            let said = machine.0.read("said");
            said.contains(what).then_some(said)
        })
    };
    said("the text 1");
    for number in [4100, 4130] {
        live.swap(&strip(number));
    }
    live.swap(&strip(4200));
    assert!(machine.wait_for("start2").contains("4200"), "what failed is not tried again");
    let said = said("the text 2");
    assert_eq!(said.matches("runs interpreted").count(), 3, "{said}");
    assert!(!machine.0.path("start3").exists());
}

/// Starts a compiler that never ends, by a command; the processes.
fn endless(machine: &Machine, command: &mut Command) -> (Child, Vec<String>) {
    let _ = fs::remove_file(machine.0.path("pids"));
    machine.compiler_with_version("sleep 1000 & echo $$ $! > $dir/.pids; mv $dir/.pids $dir/pids; wait");
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let pids: Vec<String> = machine.wait_for("pids").split_whitespace().map(str::to_string).collect();
    assert!(pids.len() == 2 && pids.iter().all(|pid| lives(pid)), "{pids:?}");
    (child, pids)
}

#[test]
fn the_compiler_ends_with_the_program_however_that_ends() {
    let machine = Machine::new("ends");
    let config = strip(3);
    let run = ["run", "--compiled", "-e", &config];
    let build = ["build", "-e", &config, "-o", "router"];
    for (args, signal) in [
        (run.as_slice(), Signal::INT),
        (&run, Signal::TERM),
        (&run, Signal::KILL),
        (&build, Signal::TERM),
        (&build, Signal::KILL),
    ] {
        let (mut child, pids) = endless(&machine, &mut machine.clickwork(args));
        kill_process(Pid::from_child(&child), signal).unwrap();
        let status = child.wait().unwrap();
        wait_until("the compiler's end", || (!pids.iter().any(|pid| lives(pid))).then_some(()));
        if args == run && signal != Signal::KILL {
            assert!(status.success());
            assert_eq!(machine.kept(), [""; 0], "nothing is left");
        }
    }
    // What was killed leaves a folder, which goes when something else is compiled.
    assert_eq!(machine.kept().len(), 1);
    machine.compiler("exit 1");
    machine.refusal();
    assert_eq!(machine.kept(), [""; 0]);
}

#[test]
fn a_program_that_cannot_be_written_leaves_the_old_one() {
    let machine = Machine::new("full-disk");
    let build = ["build", "-e", "Idle -> Discard", "-o", "router"];
    assert!(machine.clickwork(&build).output().unwrap().status.success());
    let file = machine.0.path("router");
    let old = fs::metadata(&file).unwrap();
    assert_eq!(old.permissions().mode() & 0o111, 0o111);
    // The shell's limit of file sizes is like a disk that is full.
    let limited = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 1000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_clickwork")])
        .args(build)
        .current_dir(machine.0.path(""))
        .output()
        .unwrap();
    assert!(!limited.status.success());
    assert!(text(&limited).starts_with("error: router: File too large"), "{}", text(&limited));
    assert_eq!(fs::metadata(&file).unwrap().len(), old.len());
    assert_eq!(names(&machine.0.path("")), ["router"]);
    assert!(Command::new(&file).arg("--quit").output().unwrap().status.success());
}

fn names(folder: &Path) -> Vec<String> {
    fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
}

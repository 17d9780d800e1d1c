//! A network namespace for each test, so that tests neither see nor change the machine's interfaces.
//!
//! A namespace belongs to the thread that made it and goes away with it, however the test ends.
#![allow(dead_code, reason = "each test program uses a part")]

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Runs `test` on a thread with a network namespace of its own, where that is permitted.
pub fn in_namespace(test: impl FnOnce() + Send) {
    clickwork_oracles::namespaces();
    thread::scope(|scope| {
        let run = scope.spawn(|| match unshare_network() {
            Err(error) => clickwork_oracles::lacking(&format!("no network namespaces here: {error}")),
            Ok(()) => test(),
        });
        if let Err(panic) = run.join() {
            std::panic::resume_unwind(panic);
        }
    });
}

/// Gives the calling thread an empty network namespace.
pub fn unshare_network() -> std::io::Result<()> {
    // SAFETY: affects only what network the calling thread sees.
    match unsafe { libc::unshare(libc::CLONE_NEWNET) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// The number by which `ip link set DEV netns` finds the calling thread's namespace.
pub fn thread_number() -> i32 {
    // SAFETY: gettid cannot fail and takes nothing.
    unsafe { libc::gettid() }
}

/// Runs `ip` with these words, in the calling thread's namespace.
pub fn ip(words: &str) {
    run("ip", words);
}

/// Runs a program in the calling thread's namespace; it must succeed.
pub fn run(program: &str, words: &str) {
    let status = Command::new(program).args(words.split_whitespace()).stdout(Stdio::null()).status();
    assert!(status.as_ref().is_ok_and(|status| status.success()), "{program} {words}: {status:?}");
}

/// A veth pair `v0`-`v1`, up, in the calling thread's namespace, without addresses; no IPv6, which talks by
/// itself.
pub fn veth_pair() {
    run("sysctl", "-qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1");
    ip("link add v0 address 02:00:00:00:00:10 type veth peer name v1 address 02:00:00:00:00:11");
    ip("link set v0 up");
    ip("link set v1 up");
}

/// Repeats `step` until it says true; fails if that takes longer than any slow machine would.
pub fn until(what: &str, mut step: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(300);
    while !step() {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        thread::yield_now();
    }
}

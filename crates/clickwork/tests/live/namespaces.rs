//! Network namespaces for live tests of examples, with what runs in them. Everything goes away in the end.

use std::process::{Child, Command, Stdio};

/// A network namespace by name, deleted in the end.
pub struct Namespace(pub String);

impl Namespace {
    /// A namespace without IPv6, for a test.
    pub fn new(test: &str, name: &str) -> Namespace {
        clickwork_oracles::namespaces();
        let name = clickwork_oracles::unique(&format!("clickwork-{test}-{name}"));
        let made = Command::new("ip").args(["netns", "add", &name]).stderr(Stdio::null()).status();
        if !made.is_ok_and(|status| status.success()) {
            clickwork_oracles::lacking("no network namespaces here");
        }
        let namespace = Namespace(name);
        namespace.run("sysctl", "-qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1");
        namespace
    }

    /// A program to be run in it.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.0, program]);
        command
    }

    /// Runs a program with words as arguments.
    pub fn run(&self, program: &str, words: &str) {
        let done = self.command(program).args(words.split_whitespace()).stdout(Stdio::null()).status();
        assert!(done.is_ok_and(|s| s.success()), "{program} {words}");
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "del", &self.0]).status();
    }
}

/// A program at work, ended in the end.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

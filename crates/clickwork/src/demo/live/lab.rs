//! The namespaces of the live demonstration: two hosts and the router's, joined by veth pairs.
//!
//! All goes away when the [`Lab`] is dropped, whatever has happened.

use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::io::Read;
use std::process::{Child, Command, Stdio};

/// The router's configuration.
const CONFIG: &str = include_str!("../../../../../examples/ip-router-live.click");

/// A namespace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The host that asks.
    Left,
    /// The router.
    Middle,
    /// The host that answers.
    Right,
}

const SIDES: [Side; 3] = [Side::Left, Side::Middle, Side::Right];

/// What `ip` is asked to do inside the namespaces, in order.
const SET_UP: &[(Side, &str)] = &[
    (Side::Left, "link set lo up"),
    (Side::Right, "link set lo up"),
    (Side::Left, "addr add 10.0.0.2/24 dev l0"),
    (Side::Right, "addr add 10.1.0.2/24 dev q0"),
    (Side::Right, "link set q0 mtu 1400"),
    (Side::Middle, "link set r1 mtu 1400"),
    (Side::Left, "link set l0 up"),
    (Side::Middle, "link set r0 up"),
    (Side::Middle, "link set r1 up"),
    (Side::Right, "link set q0 up"),
    (Side::Left, "route add default via 10.0.0.1"),
    (Side::Right, "route add default via 10.1.0.1"),
];

/// The laboratory.
pub struct Lab {
    /// Begins the names of the namespaces, so that several demonstrations can run at a time.
    prefix: String,
    router: Option<Child>,
}

impl Lab {
    /// Makes the namespaces and the links between them.
    ///
    /// # Errors
    /// If that is not permitted, or `ip` is missing.
    pub fn make() -> Result<Lab, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("the live demonstration makes network namespaces, for which it needs root: \
                        try 'sudo clickwork demo --live', or 'clickwork demo' without"
                .to_string());
        }
        let lab = Lab { prefix: format!("clickwork-{}", std::process::id()), router: None };
        for side in SIDES {
            ip(&format!("netns add {}", lab.name(side)))?;
            // IPv6 talks by itself, which would only confuse the counts.
            lab.quietly(side, &["sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1"]);
            lab.quietly(side, &["sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1"]);
        }
        let [left, middle, right] = SIDES.map(|side| lab.name(side));
        ip(&format!("link add l0 netns {left} type veth peer name r0 netns {middle}"))?;
        ip(&format!("link add q0 netns {right} type veth peer name r1 netns {middle}"))?;
        for (side, words) in SET_UP {
            ip(&format!("-n {} {words}", lab.name(*side)))?;
        }
        Ok(lab)
    }

    /// The name of a namespace.
    pub fn name(&self, side: Side) -> String {
        let side = match side {
            Side::Left => "left",
            Side::Middle => "router",
            Side::Right => "right",
        };
        format!("{}-{side}", self.prefix)
    }

    /// The namespace as a file, for a thread to enter.
    ///
    /// # Errors
    /// If it has been removed.
    pub fn open(&self, side: Side) -> Result<File, String> {
        let path = format!("/run/netns/{}", self.name(side));
        File::open(&path).map_err(|e| format!("{path}: {e}"))
    }

    /// A program that is to run in a namespace.
    pub fn command(&self, side: Side, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name(side), program]).stdin(Stdio::null());
        command
    }

    fn quietly(&self, side: Side, words: &[&str]) {
        // Kernels without IPv6 refuse: all the better.
        let _ = self.command(side, words[0]).args(&words[1..]).stderr(Stdio::null()).status();
    }

    /// Starts the router: this program, in the middle.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start_router(&mut self) -> Result<(), String> {
        let program = std::env::current_exe().map_err(|e| format!("cannot find this program: {e}"))?;
        let mut command = self.command(Side::Middle, &program.to_string_lossy());
        command.args(["run", "-e", CONFIG, "DEV0=r0", "ETHER0=r0", "DEV1=r1", "ETHER1=r1", "MTU1=1400"]);
        for handler in ["from0.count", "to0.count", "from1.count", "to1.count"] {
            command.args(["-h", handler]);
        }
        let router = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        self.router = Some(router.map_err(|e| format!("cannot run the router: {e}"))?);
        Ok(())
    }

    /// What the router has to say if it ended by itself, which it should not.
    pub fn router_failure(&mut self) -> Option<String> {
        let ended = self.router.as_mut()?.try_wait().ok()??;
        Some(format!("the router has ended ({ended}): {}", self.stop_router().unwrap_or_else(|e| e)))
    }

    /// Stops the router; gives what it printed.
    ///
    /// # Errors
    /// If it is not there any more.
    pub fn stop_router(&mut self) -> Result<String, String> {
        let mut router = self.router.take().ok_or("the router does not run")?;
        let pid = Pid::from_child(&router);
        // It may have ended already.
        let _ = kill_process(pid, Signal::TERM);
        let mut text = String::new();
        if let Some(mut out) = router.stdout.take() {
            let _ = out.read_to_string(&mut text);
        }
        if let Some(mut messages) = router.stderr.take() {
            let _ = messages.read_to_string(&mut text);
        }
        router.wait().map_err(|e| format!("the router: {e}"))?;
        Ok(text)
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        if self.router.is_some() {
            let _ = self.stop_router();
        }
        for side in SIDES {
            // The links go with the namespaces. One that was never made cannot be removed.
            let _ =
                Command::new("ip").args(["netns", "del", &self.name(side)]).stderr(Stdio::null()).status();
        }
    }
}

/// Runs `ip` with these words.
fn ip(words: &str) -> Result<(), String> {
    let outcome = Command::new("ip").args(words.split_whitespace()).output();
    let outcome =
        outcome.map_err(|e| format!("the live demonstration needs `ip` (package iproute2): {e}"))?;
    match outcome.status.success() {
        true => Ok(()),
        false => Err(format!("`ip {words}` failed: {}", String::from_utf8_lossy(&outcome.stderr).trim())),
    }
}

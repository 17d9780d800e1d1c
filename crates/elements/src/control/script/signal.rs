//! Signals: their names, sending them, and scripts that wait for them.

use super::state::Kind;
use super::words::{parse, shift_word};
use clickwork_router::{Cx, Ready, Router, Value};
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::SigId;
use signal_hook::consts;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::os::unix::net::UnixStream;

const NAMES: &[(&str, i32)] = &[
    ("ABRT", consts::SIGABRT),
    ("ALRM", consts::SIGALRM),
    ("HUP", consts::SIGHUP),
    ("INT", consts::SIGINT),
    ("IO", consts::SIGIO),
    ("KILL", consts::SIGKILL),
    ("PIPE", consts::SIGPIPE),
    ("QUIT", consts::SIGQUIT),
    ("TERM", consts::SIGTERM),
    ("TSTP", consts::SIGTSTP),
    ("USR1", consts::SIGUSR1),
    ("USR2", consts::SIGUSR2),
];

/// A signal's number, given by name or number.
fn number(word: &str) -> Option<i32> {
    let named = NAMES.iter().find(|(name, _)| *name == word).map(|(_, n)| *n);
    named.or_else(|| parse(word)).filter(|n| (0..32).contains(n))
}

impl Kind {
    /// Reads the argument TYPE.
    ///
    /// # Errors
    /// If there is no such type.
    pub fn parse(text: &str) -> Result<Kind, String> {
        let (word, rest) = shift_word(text);
        match word {
            "SIGNAL" => {
                let signals: Option<Vec<i32>> = rest.split_whitespace().map(number).collect();
                let signals = signals.filter(|s| !s.is_empty());
                signals.map(Kind::Signal).ok_or_else(|| "bad signal number".to_string())
            }
            _ if !rest.is_empty() => Err("bad TYPE".to_string()),
            "ACTIVE" => Ok(Kind::Active),
            "PASSIVE" => Ok(Kind::Passive),
            "PACKET" | "PUSH" => Ok(Kind::Packet),
            "PROXY" => Ok(Kind::Proxy),
            "DRIVER" => Ok(Kind::Driver),
            _ => Err("bad TYPE".to_string()),
        }
    }
}

/// The `kill` handler: a signal, then processes.
pub fn kill(text: &str) -> Result<Value, String> {
    let (word, rest) = shift_word(text);
    let signal = number(word).and_then(Signal::from_named_raw).ok_or("bad SIGNO")?;
    for word in rest.split_whitespace() {
        let pid = parse::<i32>(word).filter(|&n| n > 0).and_then(Pid::from_raw).ok_or("bad PID")?;
        kill_process(pid, signal).map_err(|e| format!("kill({word}, {}): {e}", signal.as_raw()))?;
    }
    Ok(Value::default())
}

/// What happens at a signal that no script wants any more: the driver stops, or the signal's usual effect.
pub fn default_action(signal: i32, router: &mut Router) {
    if [consts::SIGINT, consts::SIGTERM].contains(&signal) {
        router.request_stop();
    } else if let Err(e) = signal_hook::low_level::emulate_default_handler(signal) {
        router.log().line(&format!("signal {signal}: {e}"));
    }
}

/// Makes descriptors readable when signals come.
#[derive(Default)]
pub struct SignalWatch {
    caught: Vec<Caught>,
}

struct Caught {
    signal: i32,
    received: UnixStream,
    registration: SigId,
}

impl SignalWatch {
    /// Waits for these signals.
    ///
    /// # Errors
    /// If one of them cannot be caught.
    pub fn new(signals: &[i32], cx: &mut Cx<'_>) -> Result<SignalWatch, String> {
        let mut watch = SignalWatch::default();
        for &signal in signals {
            let cannot = |e: io::Error| format!("cannot wait for signal {signal}: {e}");
            let caught = Caught::new(signal).map_err(cannot)?;
            let ready = Ready { read: true, write: false };
            cx.watch(caught.received.as_fd(), ready).map_err(cannot)?;
            cx.act(|router| router.claim_signal(signal));
            watch.caught.push(caught);
        }
        Ok(watch)
    }

    /// The signal that made a descriptor readable; until it comes again, it is not.
    pub fn take(&mut self, fd: RawFd) -> Option<i32> {
        let caught = self.caught.iter_mut().find(|c| c.received.as_raw_fd() == fd)?;
        let mut bytes = [0; 64];
        let mut any = false;
        while matches!(caught.received.read(&mut bytes), Ok(n) if n > 0) {
            any = true;
        }
        any.then_some(caught.signal)
    }

    /// Waits no longer.
    pub fn end(self, cx: &mut Cx<'_>) {
        for caught in self.caught {
            cx.unwatch(caught.received.as_raw_fd());
            signal_hook::low_level::unregister(caught.registration);
        }
    }
}

impl Caught {
    fn new(signal: i32) -> io::Result<Caught> {
        if consts::FORBIDDEN.contains(&signal) {
            return Err(io::Error::other("the system does not let programs catch it"));
        }
        let (received, sent) = UnixStream::pair()?;
        received.set_nonblocking(true)?;
        let registration = signal_hook::low_level::pipe::register(signal, sent)?;
        Ok(Caught { signal, received, registration })
    }
}

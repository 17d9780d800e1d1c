//! Names and addresses that no other test has: none of this process, of another that runs at the same time, or of one that was
//! killed and whose number this process has now.

use std::io::Write;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// `name` with the number of the process, one that counts, and the nanoseconds of the clock.
pub fn unique(name: &str) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{name}-{}-{}-{:x}", std::process::id(), count(), now.subsec_nanos())
}

/// The path of a temporary file or folder that is not there.
pub fn unused(name: &str) -> PathBuf {
    let path = || std::env::temp_dir().join(unique(name));
    std::iter::repeat_with(path).find(|path| path.symlink_metadata().is_err()).expect("it goes on for ever")
}

/// Writes a script that can be run. Another process writes it: a child of another thread may hold what this one has open until it runs
/// its own program, and what somebody can write to cannot be run (ETXTBSY).
pub fn script(path: &Path, text: &str) {
    let write = "cat > \"$0\" && chmod 755 \"$0\"";
    let mut shell = Command::new("sh");
    let mut writer = shell.args(["-c", write]).arg(path).stdin(Stdio::piped()).spawn().expect("a shell");
    let written = writer.stdin.take().expect("it is piped").write_all(text.as_bytes());
    assert!(written.is_ok() && writer.wait().is_ok_and(|status| status.success()), "{}", path.display());
}

/// An address of the loopback interface (127.0.0.0/8). A port that the kernel has chosen there stays free after it was closed, since
/// nobody else binds to this address.
pub fn loopback() -> Ipv4Addr {
    let [_, _, high, low] = std::process::id().to_be_bytes();
    Ipv4Addr::new(127, high, low, 2 + (count() % 250) as u8)
}

fn count() -> u32 {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    COUNT.fetch_add(1, Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn scripts_can_be_run_at_once() {
        let path = unused("script");
        for number in 0..10 {
            script(&path, &format!("#!/bin/sh\nexit {number}\n"));
            assert_eq!(Command::new(&path).status().unwrap().code(), Some(number));
        }
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn nothing_comes_twice() {
        let names: HashSet<_> = (0..1000).map(|_| unique("x")).collect();
        let paths: HashSet<_> = (0..1000).map(|_| unused("x")).collect();
        let addresses: HashSet<_> = (0..200).map(|_| loopback()).collect();
        assert_eq!((names.len(), paths.len(), addresses.len()), (1000, 1000, 200));
        assert!(addresses.iter().all(|address| std::net::UdpSocket::bind((*address, 0)).is_ok()));
    }
}

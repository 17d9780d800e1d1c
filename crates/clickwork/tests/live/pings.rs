//! Pings that are counted by the kernel. `ping` itself waits for the last answers no longer than two round trips, which a
//! busy machine exceeds: an answer that comes later is not lost.

use crate::namespaces::Namespace;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// How many of `count` pings from a host are answered within two minutes after the last.
pub fn answered(from: &Namespace, count: u64, options: &str, target: &str) -> u64 {
    let before = echo_replies(from);
    let options = format!("-q -c {count} {options} {target}");
    let _ = from.command("ping").args(options.split_whitespace()).stdout(Stdio::null()).status();
    let give_up = Instant::now() + Duration::from_secs(120);
    loop {
        let answered = echo_replies(from) - before;
        if answered >= count || Instant::now() > give_up {
            return answered;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// ICMP echo replies that have arrived at a host (RFC 4293's icmpMsgStatsInPkts for type 0).
fn echo_replies(host: &Namespace) -> u64 {
    let shown = host.command("cat").arg("/proc/net/snmp").output().expect("cat runs");
    let text = String::from_utf8_lossy(&shown.stdout);
    let mut lines = text.lines().filter(|line| line.starts_with("Icmp:"));
    let (names, values) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let mut columns = names.split_whitespace().zip(values.split_whitespace());
    let value = columns.find(|(name, _)| *name == "InEchoReps").map(|(_, value)| value);
    value.and_then(|value| value.parse().ok()).expect("the kernel counts echo replies")
}

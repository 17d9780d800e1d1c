//! What an observer sees on the device, as tshark judges it.

use std::net::Shutdown;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{
    DEVICE, Opener, PATIENCE, Stream, connection, exchange, expect_end, host, in_namespace,
};

const BYTES: u64 = 3 << 20;

/// A capture of everything on the device. Its file goes away with it.
struct Capture {
    dumpcap: Child,
    file: PathBuf,
}

impl Capture {
    fn start(name: &str) -> Capture {
        let file = clickwork_oracles::unused(&format!("prolac-tcp-{name}"));
        let words = ["-i", DEVICE, "-q", "-B", "64", "-P", "-w"];
        let command = Command::new("dumpcap").args(words).arg(&file).stderr(Stdio::null()).spawn();
        let capture = Capture { dumpcap: command.unwrap(), file };
        let end = Instant::now() + PATIENCE;
        // It has written the file's header when it listens.
        while std::fs::metadata(&capture.file).map_or(0, |file| file.len()) == 0 {
            assert!(Instant::now() < end, "dumpcap does not start");
            std::thread::sleep(Duration::from_millis(5));
        }
        capture
    }

    /// What it holds when all is over, and these bytes at least were carried.
    fn finish(&mut self, bytes: u64) -> &Path {
        // Packets reach it a little later than the receiver.
        let end = Instant::now() + PATIENCE;
        while std::fs::metadata(&self.file).map_or(0, |file| file.len()) < bytes {
            assert!(Instant::now() < end, "dumpcap has not seen {bytes} bytes");
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(300));
        rustix::process::kill_process(
            rustix::process::Pid::from_child(&self.dumpcap),
            rustix::process::Signal::INT,
        )
        .unwrap();
        self.dumpcap.wait().unwrap();
        &self.file
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        let _ = self.dumpcap.kill();
        let _ = self.dumpcap.wait();
        let _ = std::fs::remove_file(&self.file);
    }
}

/// The lines that tshark prints of the packets that a filter selects.
fn select(file: &Path, filter: &str) -> Vec<String> {
    let options = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", "-Y", filter];
    let output = Command::new("tshark").arg("-r").arg(file).args(options).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_string).collect()
}

/// What must not be in a capture.
const WRONG: [(&str, &str); 4] = [
    ("malformed", "_ws.malformed"),
    // Linux writes 0xFFFF where the checksum is 0 (`skb_checksum_help`), which sums to the same.
    ("bad checksum", "(tcp.checksum.status == 0 && tcp.checksum != 0xffff) || ip.checksum.status == 0"),
    ("acknowledgment of what was not sent", "tcp.analysis.ack_lost_segment"),
    ("reset", "tcp.flags.reset == 1"),
];

/// What must not be in a capture of a clean path.
const AGAIN: &str = "tcp.analysis.retransmission || tcp.analysis.spurious_retransmission";

/// How often to look at all. When the machine lets one of the ends wait for long, the other rightly sends again; so each time there
/// is less to send, in the end so little that it takes less than a moment.
const TRIES: u32 = 16;

/// Bytes that go each way in a try.
fn bytes(turn: u32) -> u64 {
    (BYTES >> (turn / 2)).max(100_000)
}

fn look(name: &str, opener: Opener, family: usize) {
    clickwork_oracles::program("dumpcap");
    clickwork_oracles::program("tshark");
    in_namespace(|| {
        // With offloads the observer would see packets before checksums are there.
        let host = host(false);
        // A clean path: nothing is lost in the device's queue while we are slow.
        let longer = Command::new("ip").args(["link", "set", DEVICE, "txqueuelen", "20000"]).status();
        assert!(longer.is_ok_and(|status| status.success()));
        for turn in 0..TRIES {
            let bytes = bytes(turn);
            let mut capture = Capture::start(name);
            let (linux, ours) = connection(&host, opener, family);
            let (linux, ours) = exchange(linux, ours, bytes, bytes);
            ours.end(Shutdown::Write).unwrap();
            expect_end(&linux);
            linux.end(Shutdown::Write).unwrap();
            expect_end(&ours);
            let file = capture.finish(2 * bytes);
            let all = select(file, "tcp");
            assert!(all.len() as u64 > 2 * bytes / 1460, "{} packets were captured", all.len());
            WRONG.iter().for_each(|wrong| expect_none(file, wrong));
            let again = select(file, AGAIN);
            assert!(again.is_empty() || turn + 1 < TRIES, "sent again:\n{}", again.join("\n"));
            if again.is_empty() {
                return;
            }
        }
    });
}

fn expect_none(file: &Path, (what, filter): &(&str, &str)) {
    let found = select(file, filter);
    assert!(found.is_empty(), "{what}: {}\n{}", found.len(), found[..found.len().min(20)].join("\n"));
}

pub fn the_capture_of_a_client_is_clean() {
    look("the_capture_of_a_client_is_clean", Opener::Linux, 0);
}

pub fn the_capture_of_a_server_is_clean() {
    look("the_capture_of_a_server_is_clean", Opener::Ours, 0);
}

pub fn the_capture_over_ipv6_is_clean() {
    look("the_capture_over_ipv6_is_clean", Opener::Linux, 1);
}

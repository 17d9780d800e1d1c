//! The far end of a forwarding benchmark.
//!
//! `sink INTERFACE drop` throws away what arrives, before the host's protocols spend time on it. `sink
//! INTERFACE check SECONDS` receives packets of `blast` and prints how many came, how many were missing and
//! how many came out of order.

use clickwork_device::{Frame, PacketReceiver, ReceiveOptions};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::env;
use std::error::Error;
use std::thread;
use std::time::{Duration, Instant};

/// Ethernet, IPv4 and UDP headers, behind which `blast` numbers its packets.
const HEADERS: usize = 14 + 20 + 8;
/// An Ethernet type that nobody uses (IEEE 802 local experiments): nothing is copied to us.
const UNUSED: u16 = 0x88b5;

#[derive(Default)]
struct Arrivals {
    count: u64,
    reordered: u64,
    next: u32,
}

impl Arrivals {
    fn add(&mut self, frame: &Frame<'_>) {
        let is_load = frame.data.get(36..38) == Some(&[0, 9]);
        let Some(number) = frame.data.get(HEADERS..).and_then(<[u8]>::first_chunk).filter(|_| is_load) else {
            return;
        };
        let number = u32::from_be_bytes(*number);
        self.count += 1;
        if number < self.next {
            self.reordered += 1;
        } else {
            self.next = number + 1;
        }
    }
}

fn drop_all(interface: &str) -> Result<(), Box<dyn Error>> {
    let options = ReceiveOptions { sniffer: false, protocol: UNUSED, ..ReceiveOptions::default() };
    let _hidden = PacketReceiver::open(interface, &options)?;
    loop {
        thread::sleep(Duration::from_secs(60));
    }
}

fn check(interface: &str, seconds: f64) -> Result<(), Box<dyn Error>> {
    let options = ReceiveOptions { sniffer: false, ring_bytes: 16 << 20, ..ReceiveOptions::default() };
    let mut receiver = PacketReceiver::open(interface, &options)?;
    let mut arrivals = Arrivals::default();
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < seconds {
        if receiver.receive(256, |frame| arrivals.add(&frame))? == 0 {
            let timeout = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
            let _ = poll(&mut [PollFd::new(&receiver, PollFlags::IN)], Some(&timeout));
        }
    }
    let Arrivals { count, reordered, next } = arrivals;
    let missing = u64::from(next).saturating_sub(count);
    let unread = receiver.counts().ring_full;
    println!(
        "received {count}, missing {missing} (of these not read in time: {unread}), out of order {reordered}"
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [interface, "drop"] => drop_all(interface),
        [interface, "check", seconds] => check(interface, seconds.parse()?),
        _ => Err("usage: sink INTERFACE drop | sink INTERFACE check SECONDS".into()),
    }
}

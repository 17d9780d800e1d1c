//! A bare two-interface forwarder: what arrives at one interface leaves at the other, unchanged. It shows the
//! crate in use, and measures it: no router can be faster.
//!
//! `forward A B [MAC_BEHIND_A MAC_BEHIND_B]`: with addresses, frames get them as their destination, so that
//! hosts on both sides that take this machine for their router accept them.
//!
//! Ends on SIGINT or SIGTERM, like any program that does not ask otherwise.

use clickwork_device::{Fault, Interface, PacketReceiver, PacketSender, ReceiveOptions, Result, Sent, Stop};
use rustix::event::{PollFd, PollFlags, poll};
use std::env;
use std::io::IoSlice;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Frames moved at a time.
const BURST: usize = 64;
/// Bytes for one frame: Ethernet with an MTU of up to 9000 and a VLAN tag, in whole cache lines.
const ROOM: usize = 9024;

/// How long to look for frames before going to sleep. To be woken costs the sender of the frame more than the
/// frame itself, most of all in a virtual machine.
const PATIENCE: Duration = Duration::from_micros(50);

/// One direction: from a receiver, through a buffer, to a sender.
struct Lane {
    from: PacketReceiver,
    to: PacketSender,
    /// Source and destination address that frames leave with.
    rewrite: Option<([u8; 6], [u8; 6])>,
    buffers: Vec<u8>,
    /// Frames in the buffers, by length; the first `sent` have left already.
    lengths: Vec<usize>,
    sent: usize,
}

impl Lane {
    fn open(from: &str, to: &str, destination: Option<[u8; 6]>) -> Result<Lane> {
        let options = ReceiveOptions { promiscuous: true, sniffer: false, ..ReceiveOptions::default() };
        let source = Interface::find(to)?.ethernet;
        Ok(Lane {
            from: PacketReceiver::open(from, &options)?,
            to: PacketSender::open(to)?,
            rewrite: source.zip(destination),
            buffers: vec![0; BURST * ROOM],
            lengths: Vec::with_capacity(BURST),
            sent: 0,
        })
    }

    /// Moves one burst; gives whether there was anything to do.
    fn step(&mut self) -> Result<bool> {
        if self.lengths.is_empty() {
            let (lengths, buffers, rewrite) = (&mut self.lengths, &mut self.buffers, self.rewrite);
            self.from.receive(BURST, |frame| {
                let buffer = &mut buffers[lengths.len() * ROOM..][..ROOM];
                let length = frame.data.len().min(ROOM);
                buffer[..length].copy_from_slice(&frame.data[..length]);
                if let Some((source, destination)) = rewrite {
                    buffer[..6].copy_from_slice(&destination);
                    buffer[6..12].copy_from_slice(&source);
                }
                lengths.push(length);
            })?;
        }
        let busy = !self.lengths.is_empty();
        self.flush()?;
        Ok(busy)
    }

    /// Sends what is in the buffers; what the device has no room for stays.
    fn flush(&mut self) -> Result<()> {
        while self.sent < self.lengths.len() {
            let mut frames = [IoSlice::new(&[]); BURST];
            let left = self.lengths.len() - self.sent;
            for (frame, i) in frames.iter_mut().zip(self.sent..self.lengths.len()) {
                *frame = IoSlice::new(&self.buffers[i * ROOM..][..self.lengths[i]]);
            }
            let Sent { count, stopped } = self.to.send(&frames[..left]);
            self.sent += count;
            match stopped {
                None => {}
                Some(Stop::Full) => return Ok(()),
                Some(Stop::Refused(reason)) => {
                    eprintln!("{reason}");
                    self.sent += 1;
                }
                Some(Stop::Failed(reason)) => return Err(reason),
            }
        }
        self.lengths.clear();
        self.sent = 0;
        Ok(())
    }
}

fn forward(lanes: &mut [Lane; 2]) -> Result<()> {
    let mut last_busy = Instant::now();
    loop {
        let mut busy = false;
        for lane in lanes.iter_mut() {
            match lane.step() {
                Ok(moved) => busy |= moved,
                Err(error) if error.fault() == Fault::Down => eprintln!("{error}"),
                Err(error) => return Err(error),
            }
            lane.from.take_warnings().iter().for_each(|warning| eprintln!("{warning}"));
        }
        if busy {
            last_busy = Instant::now();
        } else if last_busy.elapsed() > PATIENCE {
            wait(lanes);
        }
    }
}

/// Sleeps until a frame arrives.
fn wait(lanes: &[Lane; 2]) {
    let mut ready = [&lanes[0].from, &lanes[1].from].map(|from| PollFd::new(from, PollFlags::IN));
    // An interrupted wait is a short one.
    let _ = poll(&mut ready, None);
}

fn mac(text: &str) -> Option<[u8; 6]> {
    let bytes = text.split(':').map(|byte| u8::from_str_radix(byte, 16).ok()).collect::<Option<Vec<_>>>()?;
    bytes.try_into().ok()
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (a, b, macs) = match arguments.as_slice() {
        [a, b] => (a, b, (None, None)),
        [a, b, mac_a, mac_b] => (a, b, (mac(mac_a), mac(mac_b))),
        _ => {
            eprintln!("usage: forward INTERFACE INTERFACE [MAC MAC]");
            return ExitCode::FAILURE;
        }
    };
    let lanes = Lane::open(a, b, macs.1).and_then(|there| Ok([there, Lane::open(b, a, macs.0)?]));
    match lanes.and_then(|mut lanes| forward(&mut lanes)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("forward: {error}");
            ExitCode::FAILURE
        }
    }
}

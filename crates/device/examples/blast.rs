//! Sends UDP packets through an interface as fast as the kernel takes them: the load of a forwarding benchmark.
//!
//! `blast INTERFACE SOURCE_IP DESTINATION_IP DESTINATION_MAC SECONDS [FRAME_BYTES [PACKETS_PER_SECOND]]`
//!
//! Prints how many it sent. The first four payload bytes number the packets, so that loss and order can be
//! seen.

use clickwork_device::{Interface, PacketSender, Stop};
use std::env;
use std::error::Error;
use std::io::IoSlice;
use std::net::Ipv4Addr;
use std::thread;
use std::time::{Duration, Instant};

const BURST: usize = 64;
const HEADERS: usize = 14 + 20 + 8;

struct Load {
    interface: String,
    template: Vec<u8>,
    seconds: f64,
    per_second: Option<f64>,
}

impl Load {
    fn from_arguments(arguments: &[String]) -> Result<Load, Box<dyn Error>> {
        let [interface, source, destination, mac, seconds, rest @ ..] = arguments else {
            return Err("usage: blast INTERFACE SRC_IP DST_IP DST_MAC SECONDS [FRAME_BYTES [RATE]]".into());
        };
        let length = rest.first().map_or(Ok(60), |text| text.parse())?;
        let own_mac = Interface::find(interface)?.ethernet.ok_or("not an Ethernet interface")?;
        let template = template(own_mac, parse_mac(mac)?, source.parse()?, destination.parse()?, length);
        let per_second = rest.get(1).map(|text| text.parse()).transpose()?;
        Ok(Load { interface: interface.clone(), template, seconds: seconds.parse()?, per_second })
    }

    fn run(&self) -> Result<u64, Box<dyn Error>> {
        let mut sender = PacketSender::open(&self.interface)?;
        let mut frames = vec![self.template.clone(); BURST];
        let start = Instant::now();
        let mut sent: u64 = 0;
        while start.elapsed().as_secs_f64() < self.seconds {
            let burst = self.burst_now(start, sent);
            if burst == 0 {
                thread::sleep(Duration::from_micros(50));
                continue;
            }
            number(&mut frames[..burst], sent as u32);
            let slices: Vec<_> = frames[..burst].iter().map(|frame| IoSlice::new(frame)).collect();
            let outcome = sender.send(&slices);
            sent += outcome.count as u64;
            if let Some(Stop::Failed(reason) | Stop::Refused(reason)) = outcome.stopped {
                return Err(reason.into());
            }
        }
        Ok(sent)
    }

    /// How many packets are due.
    fn burst_now(&self, start: Instant, sent: u64) -> usize {
        let Some(per_second) = self.per_second else { return BURST };
        let due = (start.elapsed().as_secs_f64() * per_second) as u64;
        (due.saturating_sub(sent) as usize).min(BURST)
    }
}

fn number(frames: &mut [Vec<u8>], first: u32) {
    for (frame, i) in frames.iter_mut().zip(0u32..) {
        frame[HEADERS..HEADERS + 4].copy_from_slice(&first.wrapping_add(i).to_be_bytes());
    }
}

/// A UDP packet to the discard port, without UDP checksum.
fn template(from: [u8; 6], to: [u8; 6], source: Ipv4Addr, destination: Ipv4Addr, length: usize) -> Vec<u8> {
    let length = length.max(HEADERS + 4);
    let mut frame = Vec::with_capacity(length);
    frame.extend(to);
    frame.extend(from);
    frame.extend([0x08, 0x00, 0x45, 0]);
    frame.extend(((length - 14) as u16).to_be_bytes());
    frame.extend([0, 0, 0, 0, 64, 17, 0, 0]);
    frame.extend(source.octets());
    frame.extend(destination.octets());
    let sum: u32 = frame[14..34].chunks(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum();
    let checksum = !((sum & 0xffff) + (sum >> 16)) as u16;
    frame[24..26].copy_from_slice(&checksum.to_be_bytes());
    frame.extend([0x10, 0x00, 0, 9]);
    frame.extend(((length - 34) as u16).to_be_bytes());
    frame.resize(length, 0);
    frame
}

fn parse_mac(text: &str) -> Result<[u8; 6], Box<dyn Error>> {
    let bytes = text.split(':').map(|byte| u8::from_str_radix(byte, 16)).collect::<Result<Vec<_>, _>>()?;
    bytes.try_into().map_err(|_| "an Ethernet address has six bytes".into())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    println!("{}", Load::from_arguments(&arguments)?.run()?);
    Ok(())
}

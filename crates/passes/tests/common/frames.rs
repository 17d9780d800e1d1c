//! The packets of differential tests, and the element classes that send and see them.
//!
//! `Frames(SEED n, COUNT n, INTERVAL s, BURST n)` sends frames that its seed decides: good ones of many kinds, and such as
//! should not exist. `Witness` writes down every packet that passes: time, data, annotations. `Arrive` makes packets what
//! they are when they come from a device.

use super::Random;
use clickwork_packet::checksum::checksum;
use clickwork_packet::{Batch, Packet, PacketType};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, Element, Registry, SimpleElement, Verdict};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

/// All element classes, and those of these tests.
pub fn registry() -> Registry {
    let mut registry = clickwork_elements::registry();
    registry.add([&FRAMES, &WITNESS, &ARRIVE]);
    registry
}

static FRAMES: Class = Class {
    ports: "0/1",
    processing: "h/h",
    args: &[
        ArgSpec::keyword("SEED", ArgType::U32, "0", "decides what the frames are"),
        ArgSpec::keyword("COUNT", ArgType::U32, "1", "how many are sent"),
        ArgSpec::keyword("INTERVAL", ArgType::Seconds, "0.01", "time between them"),
        ArgSpec::keyword("BURST", ArgType::U32, "1", "how many at a time"),
    ],
    ..Class::new("Frames", "source", || Box::<Frames>::default())
};

#[derive(Default)]
struct Frames {
    seed: u32,
    count: u32,
    interval: Duration,
    burst: u32,
    random: Option<Random>,
}

impl Element for Frames {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("SEED", &mut self.seed).read("COUNT", &mut self.count).read("BURST", &mut self.burst);
        args.read("INTERVAL", &mut self.interval);
        self.random = Some(Random::new(u64::from(self.seed)));
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        cx.schedule_timer_after(0, self.interval);
        Ok(())
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        let now = self.count.min(self.burst.max(1));
        self.count -= now;
        let Some(random) = &mut self.random else { return };
        let mut batch = Batch::new();
        (0..now).for_each(|_| batch.push(frame(random)));
        cx.emit_batch(0, batch);
        if self.count > 0 {
            cx.schedule_timer_after(0, self.interval);
        }
    }
}

/// A tool takes it for a Print, whose output matters.
static WITNESS: Class = Class::new("Witness", "print", || Box::new(Witness));

struct Witness;

impl SimpleElement for Witness {
    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let mut hash = DefaultHasher::new();
        p.data().hash(&mut hash);
        cx.chatter(&format!(
            "witness {} {}us {} bytes {:016x} paint {} to {} {:?} header {:?}",
            cx.name(),
            // Looking at the clock takes nanoseconds, so that they depend on what else is there.
            cx.steady().micros(),
            p.len(),
            hash.finish(),
            p.paint(),
            p.dst_ip(),
            p.packet_type(),
            p.network_offset()
        ));
        Verdict::PASS
    }
}

static ARRIVE: Class = Class::new("Arrive", "testing", || Box::new(Arrive));

struct Arrive;

impl SimpleElement for Arrive {
    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        let kind = match p.data().get(..6) {
            Some([255, 255, 255, 255, 255, 255]) => PacketType::Broadcast,
            Some([first, ..]) if first % 2 == 1 => PacketType::Multicast,
            _ => PacketType::Host,
        };
        p.clear_annotations();
        p.set_mac_offset(0);
        p.set_packet_type(kind);
        Verdict::PASS
    }
}

/// A frame: often a good one, sometimes damaged, cut off or without any sense.
pub fn frame(random: &mut Random) -> Packet {
    let mut bytes = match random.below(12) {
        0..=4 => ether(0x0800, &ip(random)),
        5 | 6 => ether(0x0806, &arp(random)),
        7 => ether(0x86dd, &[&[0x60, 0, 0, 0, 0, 0, 59, 64][..], &[1; 32]].concat()),
        8 => ether(0x8100, &[&[0, 1, 8, 0][..], &ip(random)].concat()),
        9 => ip(random),
        10 => vec![0; *random.pick(&[&0usize, &1, &13, &14, &33, &60])],
        _ => (0..random.below(200)).map(|_| random.below(256) as u8).collect(),
    };
    if random.below(6) == 0 && !bytes.is_empty() {
        let at = random.below(bytes.len());
        bytes[at] ^= 1 << random.below(8);
    }
    if random.below(8) == 0 {
        bytes.truncate(random.below(bytes.len() + 1));
    }
    if random.below(30) == 0 {
        bytes.resize(1500 + random.below(8000), 0xee);
    }
    let mut p = Packet::with_room(64, &bytes, 32);
    p.set_paint(random.below(3) as u8);
    if random.below(5) == 0 {
        p.set_packet_type(*random.pick(&[&PacketType::Broadcast, &PacketType::OtherHost]));
    }
    p
}

fn ether(ethertype: u16, rest: &[u8]) -> Vec<u8> {
    [&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1][..], &ethertype.to_be_bytes(), rest].concat()
}

fn arp(random: &mut Random) -> Vec<u8> {
    let operation = 1 + random.below(2) as u8;
    [&[0, 1, 8, 0, 6, 4, 0, operation][..], &[2, 0, 0, 0, 0, 1], &[10, 0, 0, 1], &[0; 6], &[10, 0, 0, 2]]
        .concat()
}

/// An IP packet with UDP, TCP, ICMP or something else in it.
fn ip(random: &mut Random) -> Vec<u8> {
    let options: &[u8] = random.pick(&[
        &[][..],
        &[],
        &[],
        &[7, 7, 4, 0, 0, 0, 0, 0],
        &[68, 8, 5, 0, 0, 0, 0, 0],
        &[1, 1, 7, 1],
    ]);
    let payload = 8 + random.below(100);
    let header_len = 20 + options.len();
    let fragment: u16 = *random.pick(&[&0, &0, &0, &0x4000, &0x2000, &17]);
    let ttl = *random.pick(&[&0u8, &1, &2, &64, &255]);
    let protocol = *random.pick(&[&17u8, &17, &6, &1, &89]);
    let mut ip = vec![0x40 | (header_len / 4) as u8, 0];
    ip.extend(((header_len + payload) as u16).to_be_bytes());
    ip.extend([0, random.below(9) as u8]);
    ip.extend(fragment.to_be_bytes());
    ip.extend([ttl, protocol, 0, 0, 10, random.below(3) as u8, 0, 2, 10, random.below(3) as u8, 0, 9]);
    ip.extend(options);
    let sum = checksum(&ip).to_be_bytes();
    ip[10..12].copy_from_slice(&sum);
    ip.extend([random.below(3) as u8, 53, 0, 80]);
    ip.extend((4..payload).map(|n| n as u8));
    ip
}

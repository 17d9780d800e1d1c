//! Packets of all kinds, good, odd and hostile, the same ones at every run. The test of texts compiles this file once more
//! beside them, so it uses only what they may use.

use clickwork_packet::checksum::{Sum, checksum};
use clickwork_packet::{Packet, PacketType, STANDARD_CAPACITY, Timestamp};

/// Numbers that look random (xorshift64*).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.below(256) as u8).collect()
    }
}

/// How to make a packet, as often as wanted.
#[derive(Debug)]
pub struct Recipe {
    bytes: Vec<u8>,
    headroom: usize,
    /// Whether the data end where the buffer does.
    at_end: bool,
    strip: usize,
    shared: bool,
    mac: Option<i32>,
    network: Option<(i32, u32)>,
    packet_type: PacketType,
    annotations: [u8; 48],
}

impl Recipe {
    /// The packet, and who shares its data.
    pub fn make(&self) -> (Packet, Option<Packet>) {
        let (len, mut buffer) = (self.bytes.len(), vec![0xaa; STANDARD_CAPACITY]);
        let start = if self.at_end { buffer.len() - len } else { self.headroom };
        buffer[start..start + len].copy_from_slice(&self.bytes);
        let mut p = Packet::with_room(0, &buffer, 0);
        p.take(buffer.len() - start - len);
        p.pull(start + self.strip.min(len));
        if let Some(offset) = self.mac {
            p.set_mac_offset(offset);
        }
        if let Some((offset, length)) = self.network {
            p.set_network_header(offset, length);
        }
        p.set_packet_type(self.packet_type);
        *p.annotations_mut() = self.annotations;
        p.set_timestamp(Timestamp::from_nanos(77));
        let other = self.shared.then(|| p.clone());
        (p, other)
    }
}

/// Everything that can be seen of a packet, as text; of bytes in front, and of those far behind, a digest.
pub fn look(p: &Packet) -> String {
    let mut whole = p.clone();
    whole.unpull(p.headroom());
    let (front, data) = whole.data().split_at(p.headroom());
    let (head, rest) = data.split_at(data.len().min(64));
    let digest = |bytes: &[u8]| bytes.iter().fold(0u32, |sum, &b| sum.rotate_left(5) ^ u32::from(b));
    format!(
        "{:x} {head:02x?} {:x}, {} bytes from {} of {}, headers {:?} {:?} {:?}, {:?}, {:?}, {:02x?}",
        digest(front),
        digest(rest),
        p.len(),
        p.headroom(),
        p.buffer_len(),
        p.mac_offset(),
        p.network_offset(),
        p.transport_offset(),
        p.packet_type(),
        p.timestamp().nanos(),
        p.annotations(),
    )
}

/// A packet of the series that `random` makes.
pub fn recipe(random: &mut Random) -> Recipe {
    let (mut bytes, mut header) = frame(random);
    damage(&mut bytes, random);
    if random.one_in(3) {
        // As it is behind Strip(14), without bytes left in front.
        bytes.drain(..header.0.min(bytes.len()));
        header.0 = 0;
    }
    let strip = if random.one_in(3) { random.of(&[4, 14, 18, header.0, header.0 + 20, 2000]) } else { 0 };
    let gone = strip.min(bytes.len()) as i32;
    let network = match random.below(8) {
        0..5 => Some((header.0 as i32 - gone, header.1)),
        5 => Some((random.of(&[-20, -1, 1, 14, 38, 1000]), random.of(&[0, 20, 24, 60]))),
        _ => None,
    };
    Recipe {
        headroom: random.of(&[0, 1, 3, 4, 13, 14, 18, 28, 28, 28, 64]),
        at_end: random.one_in(4),
        strip,
        shared: random.one_in(4),
        mac: random.of(&[None, Some(0), Some(-gone), Some(-14)]),
        network,
        packet_type: random.of(&[
            PacketType::Host,
            PacketType::Host,
            PacketType::Broadcast,
            PacketType::Multicast,
            PacketType::OtherHost,
            PacketType::Outgoing,
        ]),
        annotations: annotations(random),
        bytes,
    }
}

/// Mostly zeros, with destinations that routes of the cases hold, and small colours.
fn annotations(random: &mut Random) -> [u8; 48] {
    let mut annotations = [0; 48];
    if random.one_in(2) {
        annotations[..4].copy_from_slice(&address(random));
        annotations[16] = random.below(4) as u8;
    } else if random.one_in(2) {
        annotations[..16].copy_from_slice(&address6(random));
    }
    if random.one_in(8) {
        annotations.copy_from_slice(&random.bytes(48));
    }
    annotations
}

/// Addresses that cases name, their neighbours, and any.
fn address(random: &mut Random) -> [u8; 4] {
    match random.below(3) {
        0 => random.of(&[[0; 4], [255; 4], [10, 0, 0, 255], [224, 0, 0, 5], [10, 0, 0, 1], [1, 0, 0, 1]]),
        1 => {
            let octets = [random.of(&[10, 18, 127]), random.of(&[0, 1, 26]), random.of(&[0, 4, 128, 255])];
            [octets[0], octets[1], octets[2], random.below(256) as u8]
        }
        _ => [random.below(256) as u8, random.below(256) as u8, 0, 1],
    }
}

/// An Ethernet frame; where its network header is and how long that is.
fn frame(random: &mut Random) -> (Vec<u8>, (usize, u32)) {
    let mut bytes =
        random.of(&[[0, 0, 0xc, 0, 0, 1], [0xff; 6], [1, 0, 0x5e, 0, 0, 1], [2, 0, 0, 0, 0, 9]]).to_vec();
    bytes.extend(random.of(&[[0, 0, 0xc, 0, 0, 2], [2, 0, 0, 0, 0, 9]]));
    if random.one_in(4) {
        bytes.extend([0x81, 0, random.of(&[0x20, 0, 0xff]), random.of(&[0, 5, 0xff])]);
    }
    let (ether_type, payload, header) = match random.below(8) {
        0 => ([8, 6], arp(random), 28),
        1 => (random.of(&[[8, 0], [0x86, 0xdd], [0, 46]]), random.bytes(46), 20),
        2 | 3 => ([0x86, 0xdd], ip6(random), 40),
        _ => {
            let ip = ip(random);
            let header = u32::from(ip[0] & 0xF) * 4;
            ([8, 0], ip, header)
        }
    };
    bytes.extend(ether_type);
    let at = bytes.len();
    bytes.extend(payload);
    let padding = random.of(&[0, 0, 1, 18]);
    bytes.resize(bytes.len() + padding, 0xee);
    (bytes, (at, header))
}

fn arp(random: &mut Random) -> Vec<u8> {
    let mut arp = vec![0, 1, 8, 0, 6, 4, 0, random.of(&[1, 2, 3])];
    arp.extend(random.bytes(20));
    arp
}

/// An IPv4 packet whose checksums are right.
fn ip(random: &mut Random) -> Vec<u8> {
    let options: &[u8] = random.of(&[
        &[],
        &[],
        &[],
        &[],
        &[1, 1, 1, 0],
        &[7, 7, 4, 0, 0, 0, 0, 0],
        &[131, 7, 4, 10, 0, 0, 1, 0],
    ]);
    let (source, destination) = (address(random), address(random));
    let protocol = random.of(&[6, 17, 17, 1, 50]);
    let fragment: [u8; 2] = random.of(&[[0, 0], [0, 0], [0, 0], [0x40, 0], [0x20, 0], [0, 5]]);
    let payload = match protocol {
        6 => tcp(random, source, destination),
        17 => udp(random, source, destination),
        1 => icmp(random),
        _ => random.bytes(8),
    };
    let ihl = 20 + options.len();
    let len = (ihl + payload.len()) as u16;
    let mut ip = vec![0x40 | (ihl / 4) as u8, random.of(&[0, 0x10, 3])];
    ip.extend(len.to_be_bytes());
    ip.extend([0, 9, fragment[0], fragment[1], random.of(&[0, 1, 2, 64, 255]), protocol, 0, 0]);
    ip.extend(source.iter().chain(&destination).chain(options));
    let sum = checksum(&ip).to_be_bytes();
    ip[10..12].copy_from_slice(&sum);
    ip.extend(payload);
    ip
}

/// An IPv6 packet, perhaps with an extension header.
fn ip6(random: &mut Random) -> Vec<u8> {
    let mut payload = match random.below(4) {
        0 => vec![17, 0, 1, 4, 0, 0, 0, 0],
        _ => vec![],
    };
    payload.extend(random.bytes(8));
    payload.extend(some_payload(random));
    let next_header = if payload[0] == 17 { 60 } else { random.of(&[6, 17, 58]) };
    let mut ip = vec![0x60 | random.below(16) as u8, random.below(256) as u8, 0, 9];
    ip.extend((payload.len() as u16).to_be_bytes());
    ip.extend([next_header, random.of(&[0, 1, 2, 64, 255])]);
    (0..2).for_each(|_| ip.extend(address6(random)));
    ip.extend(payload);
    ip
}

/// IPv6 addresses that cases name, their neighbours, and any.
fn address6(random: &mut Random) -> [u8; 16] {
    let mut address = match random.below(4) {
        0 => [0; 16],
        1 => [0xff; 16],
        _ => {
            let mut address = [0; 16];
            address[..5].copy_from_slice(&[0x20, 0x01, 0x0d, 0xb8, random.below(3) as u8]);
            address
        }
    };
    address[15] = random.of(&[address[0], 1, 2, 0xff]);
    address
}

fn some_payload(random: &mut Random) -> Vec<u8> {
    let len = random.of(&[0, 1, 4, 18, 18, 18, 18, 18, 60, 1480]);
    random.bytes(len)
}

fn udp(random: &mut Random, source: [u8; 4], destination: [u8; 4]) -> Vec<u8> {
    let payload = some_payload(random);
    let mut udp = vec![0, 53, 4, 0];
    udp.extend((8 + payload.len() as u16).to_be_bytes());
    udp.extend([0, 0]);
    udp.extend(payload);
    if !random.one_in(4) {
        let sum = pseudo(source, destination, 17, &udp);
        udp[6..8].copy_from_slice(&sum.to_be_bytes());
    }
    udp
}

fn tcp(random: &mut Random, source: [u8; 4], destination: [u8; 4]) -> Vec<u8> {
    let mut tcp = vec![0, 80, 4, 0, 0, 0, 0, 1, 0, 0, 0, 2];
    let options = random.of(&[0, 0, 1]);
    tcp.extend([0x50 + 0x10 * options as u8, random.of(&[2, 16, 24]), 32, 0, 0, 0, 0, 0]);
    tcp.extend([2, 4, 5, 0xb4].iter().take(4 * options));
    tcp.extend(some_payload(random));
    let sum = pseudo(source, destination, 6, &tcp);
    tcp[16..18].copy_from_slice(&sum.to_be_bytes());
    tcp
}

fn icmp(random: &mut Random) -> Vec<u8> {
    let mut icmp = vec![random.of(&[0, 8, 3, 5, 13, 11]), 0, 0, 0];
    icmp.extend(some_payload(random));
    let sum = checksum(&icmp);
    icmp[2..4].copy_from_slice(&sum.to_be_bytes());
    icmp
}

fn pseudo(source: [u8; 4], destination: [u8; 4], protocol: u8, bytes: &[u8]) -> u16 {
    let sum = Sum::new().bytes(&source).bytes(&destination).word(u16::from(protocol));
    sum.word(bytes.len() as u16).bytes(bytes).finish()
}

/// Most packets stay good; the others lose their end, or get a wrong byte.
fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    match random.below(6) {
        0 => bytes.truncate(random.below(60)),
        1 if !bytes.is_empty() => {
            let at = random.below(bytes.len().min(60));
            bytes[at] = random.below(256) as u8;
        }
        _ => {}
    }
}

//! Cycles of protocol processing per packet of smoltcp: two interfaces in one process send each other 4 bytes, to and fro.
//! Counted is the time in `Interface::poll` and in the sockets' calls, without that for carrying packets.

use std::arch::x86_64::_rdtsc;
use std::collections::VecDeque;

use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Checksum, ChecksumCapabilities, Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp;
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};

/// A wire without a device: packets wait in queues.
struct Wire {
    incoming: VecDeque<Vec<u8>>,
    outgoing: VecDeque<Vec<u8>>,
    free: Vec<Vec<u8>>,
    checksums: bool,
}

struct Received(Vec<u8>);
struct Sent<'a>(&'a mut VecDeque<Vec<u8>>, &'a mut Vec<Vec<u8>>);

impl RxToken for Received {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(&self.0)
    }
}

impl TxToken for Sent<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, f: F) -> R {
        let mut packet = self.1.pop().unwrap_or_default();
        packet.resize(length, 0);
        let result = f(&mut packet);
        self.0.push_back(packet);
        result
    }
}

impl Device for Wire {
    type RxToken<'a> = Received;
    type TxToken<'a> = Sent<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Received, Sent<'_>)> {
        Some((Received(self.incoming.pop_front()?), Sent(&mut self.outgoing, &mut self.free)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Sent<'_>> {
        Some(Sent(&mut self.outgoing, &mut self.free))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = 1500;
        capabilities.checksum = ChecksumCapabilities::default();
        if !self.checksums {
            capabilities.checksum.tcp = Checksum::None;
            capabilities.checksum.ipv4 = Checksum::None;
        }
        capabilities
    }
}

struct Side {
    interface: Interface,
    wire: Wire,
    sockets: SocketSet<'static>,
    socket: SocketHandle,
}

impl Side {
    fn new(address: [u8; 4], checksums: bool) -> Side {
        let mut wire = Wire { incoming: VecDeque::new(), outgoing: VecDeque::new(), free: Vec::new(), checksums };
        let mut interface = Interface::new(Config::new(HardwareAddress::Ip), &mut wire, Instant::ZERO);
        let [a, b, c, d] = address;
        interface.update_ip_addrs(|list| list.push(IpCidr::new(IpAddress::v4(a, b, c, d), 24)).expect("room"));
        let mut sockets = SocketSet::new(vec![]);
        let buffer = || tcp::SocketBuffer::new(vec![0; 65536]);
        let mut socket = tcp::Socket::new(buffer(), buffer());
        socket.set_congestion_control(tcp::CongestionControl::Cubic);
        let socket = sockets.add(socket);
        Side { interface, wire, sockets, socket }
    }

    fn poll(&mut self, now: Instant) {
        self.interface.poll(now, &mut self.wire, &mut self.sockets);
    }

    fn socket(&mut self) -> &mut tcp::Socket<'static> {
        self.sockets.get_mut(self.socket)
    }
}

fn carry(from: &mut Side, to: &mut Side) -> u64 {
    let count = from.wire.outgoing.len() as u64;
    while let Some(packet) = from.wire.outgoing.pop_front() {
        to.wire.incoming.push_back(packet);
    }
    count
}

fn cycles() -> u64 {
    // SAFETY: every x86-64 processor has the instruction.
    unsafe { _rdtsc() }
}

/// Cycles inside, and packets.
fn round_trips(count: u64, a: &mut Side, b: &mut Side, now: &mut i64) -> (u64, u64) {
    let (mut inside, mut packets) = (0, 0);
    let mut buffer = [0; 4];
    let mut timed = |work: &mut dyn FnMut()| {
        let began = cycles();
        work();
        inside += cycles() - began;
    };
    for _ in 0..count {
        timed(&mut || assert_eq!(a.socket().send_slice(b"ping"), Ok(4)));
        let mut done = false;
        while !done {
            *now += 5;
            let at = Instant::from_micros(*now);
            timed(&mut || a.poll(at));
            packets += carry(a, b);
            timed(&mut || b.poll(at));
            timed(&mut || {
                if b.socket().can_recv() && b.socket().recv_slice(&mut buffer).is_ok() {
                    let _ = b.socket().send_slice(&buffer);
                }
            });
            timed(&mut || b.poll(at));
            packets += carry(b, a);
            timed(&mut || a.poll(at));
            timed(&mut || {
                if a.socket().can_recv() {
                    done = a.socket().recv_slice(&mut buffer).is_ok();
                }
            });
        }
    }
    (inside, packets)
}

fn main() {
    let checksums = std::env::args().nth(1).as_deref() != Some("no-checksums");
    let (mut a, mut b) = (Side::new([10, 0, 0, 1], checksums), Side::new([10, 0, 0, 2], checksums));
    b.socket().listen(7).expect("listens");
    let Side { interface, sockets, socket, .. } = &mut a;
    let connecting = sockets.get_mut::<tcp::Socket<'_>>(*socket);
    connecting.connect(interface.context(), (IpAddress::v4(10, 0, 0, 2), 7), 4000).expect("connects");
    let mut now = 1000;
    while !a.socket().may_send() || !b.socket().may_send() {
        now += 1000;
        let at = Instant::from_micros(now);
        a.poll(at);
        carry(&mut a, &mut b);
        b.poll(at);
        carry(&mut b, &mut a);
    }
    round_trips(20_000, &mut a, &mut b, &mut now);
    let best = (0..9).map(|_| round_trips(20_000, &mut a, &mut b, &mut now));
    let (inside, packets) = best.min_by_key(|(inside, packets)| inside / packets).expect("nine runs");
    println!("{} cycles a packet, {:.2} packets a round trip", inside / packets, packets as f64 / 20_000.0);
}

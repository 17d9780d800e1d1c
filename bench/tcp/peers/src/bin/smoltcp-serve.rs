//! smoltcp with the three services on a TUN device that is already set up: `smoltcp-serve DEVICE ADDRESS`.
//!
//! It gets from the device what the others get: packets of up to 64 KiB whose checksums need not be looked at, checksums
//! of its own completed by the kernel. With `plain` as a third word it reads and writes bare packets.

#[path = "../tun.rs"]
mod tun;

use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Checksum, Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};
use std::rc::Rc;

const BUFFER: usize = 4 << 20;
/// Connections at a time of each service.
const EACH: usize = 2;

struct Tun {
    file: Rc<tun::Tun>,
    buffer: Vec<u8>,
}

struct Rx<'a>(&'a [u8]);
struct Tx(Rc<tun::Tun>);

impl RxToken for Rx<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(self.0)
    }
}

impl TxToken for Tx {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, f: F) -> R {
        let mut buffer = [0; tun::HEADER + 2048];
        let packet = &mut buffer[..tun::HEADER + length];
        let result = f(&mut packet[tun::HEADER..]);
        self.0.write(packet);
        result
    }
}

impl Device for Tun {
    type RxToken<'a> = Rx<'a>;
    type TxToken<'a> = Tx;

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = 1500;
        capabilities.checksum.tcp = if self.file.plain { Checksum::Both } else { Checksum::None };
        capabilities
    }

    fn receive(&mut self, _: Instant) -> Option<(Rx<'_>, Tx)> {
        let length = self.file.read(&mut self.buffer)?;
        Some((Rx(&self.buffer[tun::HEADER..length]), Tx(self.file.clone())))
    }

    fn transmit(&mut self, _: Instant) -> Option<Tx> {
        Some(Tx(self.file.clone()))
    }
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let plain = words.get(3).is_some_and(|word| word == "plain");
    let mut device =
        Tun { file: Rc::new(tun::Tun::open(&words[1], plain)), buffer: vec![0; tun::HEADER + (64 << 10)] };
    let mut config = Config::new(HardwareAddress::Ip);
    config.random_seed = 1;
    let mut interface = Interface::new(config, &mut device, Instant::now());
    let address: IpAddress = words[2].parse().expect("an address");
    interface.update_ip_addrs(|list| list.push(IpCidr::new(address, 24)).expect("room"));
    // All else goes to the host at the other end.
    if let IpAddress::Ipv4(address) = address {
        let [a, b, c, _] = address.octets();
        interface.routes_mut().add_default_ipv4_route([a, b, c, 1].into()).expect("room");
    }
    let mut sockets = SocketSet::new(Vec::new());
    let services: Vec<(SocketHandle, u16)> = [7, 9, 19]
        .into_iter()
        .flat_map(|port| [port; EACH])
        .map(|port| (sockets.add(socket()), port))
        .collect();
    let text = vec![b'x'; 64 << 10];
    loop {
        interface.poll(Instant::now(), &mut device, &mut sockets);
        let mut again = false;
        for &(handle, port) in &services {
            again |= serve(sockets.get_mut(handle), port, &text);
        }
        if !again {
            let delay = interface.poll_delay(Instant::now(), &sockets);
            device.file.wait(delay.map(|delay| delay.total_micros()));
        }
    }
}

fn socket() -> Socket<'static> {
    let buffer = || SocketBuffer::new(vec![0; BUFFER]);
    let mut socket = Socket::new(buffer(), buffer());
    socket.set_congestion_control(CongestionControl::Cubic);
    socket.set_nagle_enabled(false);
    socket
}

/// Does what a connection wants done. Tells whether there is something to send.
fn serve(socket: &mut Socket<'_>, port: u16, text: &[u8]) -> bool {
    if !socket.is_open() {
        socket.listen(port).expect("to listen");
    }
    let before = socket.send_queue();
    match port {
        7 if socket.can_recv() && socket.can_send() => {
            let mut data = [0; 4096];
            let count = socket.recv_slice(&mut data).expect("text");
            socket.send_slice(&data[..count]).expect("room");
        }
        9 => {
            while socket.can_recv() {
                socket.recv(|data| (data.len(), ())).expect("text");
            }
        }
        19 => while socket.can_send() && socket.send_slice(text).is_ok_and(|count| count > 0) {},
        _ => {}
    }
    if !socket.may_recv() && socket.may_send() && port != 19 {
        socket.close();
        return true;
    }
    socket.send_queue() > before
}

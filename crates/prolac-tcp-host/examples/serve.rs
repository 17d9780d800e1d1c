//! Echo (RFC 862), discard (RFC 863) and chargen (RFC 864) on a TUN device, by one thread.
//!
//! `serve DEVICE ADDRESS... [plain] [spin=MICROSECONDS]`, where the device exists and has an address of its own, or will be
//! made. With `plain` checksums and segmentation are ours. As long as packets follow each other within `spin` (30 if not
//! given), it does not sleep. Try it:
//!
//! ```text
//! cargo run --release -p clickwork-prolac-tcp-host --example serve -- tcp0 10.9.0.2 &
//! ip addr add 10.9.0.1/24 dev tcp0; nc 10.9.0.2 7
//! ```
//!
//! What is echoed is not copied by us: a packet of text is read, and written again when there is room. Read first:
//! `src/host.rs`.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::ops::ControlFlow;
use std::time::Duration;

use clickwork_device::{TunnelKind, TunnelOptions};
use clickwork_packet::Packet;
use clickwork_prolac_tcp::{Config, ConnectionId, Error, Event, ListenerId, Options, TcpStack};
use clickwork_prolac_tcp_host::{Host, Tun};
use hashbrown::HashMap;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Service {
    Echo,
    Discard,
    Chargen,
}

const SERVICES: [(u16, Service); 3] = [(7, Service::Echo), (9, Service::Discard), (19, Service::Chargen)];
/// What chargen writes at a time.
const CHUNK: usize = 64 << 10;

struct Server {
    listeners: Vec<(ListenerId, Service)>,
    connections: HashMap<ConnectionId, Connection, foldhash::fast::RandomState>,
    pattern: Vec<u8>,
}

struct Connection {
    service: Service,
    /// Of the text to be echoed, what there was no room for.
    waiting: Option<Packet>,
}

impl Server {
    fn listen(stack: &mut TcpStack) -> Result<Server, Box<dyn std::error::Error>> {
        let options = Options { no_delay: true, reuse_address: true, ..Options::default() };
        let listeners = SERVICES.map(|(port, service)| {
            let address = SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), port);
            stack.listen(address, 1024, &options).map(|listener| (listener, service))
        });
        let listeners = listeners.into_iter().collect::<Result<_, _>>()?;
        Ok(Server { listeners, connections: HashMap::default(), pattern: pattern() })
    }

    fn handle(&mut self, stack: &mut TcpStack, now: u64, event: Event) {
        match event {
            Event::Accepted(listener) => self.accept(stack, now, listener),
            Event::Readable(id) | Event::Writable(id) => self.serve(stack, now, id),
            Event::Closed(id) => drop(self.connections.remove(&id)),
            Event::Connected(_) | Event::Error(_) | Event::Urgent(_) => {}
        }
    }

    fn accept(&mut self, stack: &mut TcpStack, now: u64, listener: ListenerId) {
        let service = self.listeners.iter().find(|(id, _)| *id == listener).map(|(_, service)| *service);
        while let (Some(service), Ok(id)) = (service, stack.accept(listener)) {
            self.connections.insert(id, Connection { service, waiting: None });
            self.serve(stack, now, id);
        }
    }

    fn serve(&mut self, stack: &mut TcpStack, now: u64, id: ConnectionId) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let at_end = match connection.service {
            Service::Echo => connection.echo(stack, now, id),
            Service::Discard => discard(stack, now, id),
            Service::Chargen => chargen(stack, now, id, &self.pattern),
        };
        if at_end {
            self.connections.remove(&id);
            stack.close(now, id);
        }
    }
}

impl Connection {
    /// Tells whether all is over.
    fn echo(&mut self, stack: &mut TcpStack, now: u64, id: ConnectionId) -> bool {
        loop {
            let packet = match self.waiting.take() {
                Some(packet) => packet,
                None => match stack.read_packet(now, id) {
                    Ok(Some(packet)) => packet,
                    Ok(None) => return true,
                    Err(error) => return error != Error::WOULD_BLOCK,
                },
            };
            self.waiting = rest(packet, stack, now, id);
            if self.waiting.is_some() {
                return false;
            }
        }
    }
}

/// Writes a packet of text; gives back what there was no room for.
fn rest(mut packet: Packet, stack: &mut TcpStack, now: u64, id: ConnectionId) -> Option<Packet> {
    while !packet.is_empty() {
        match stack.write(now, id, packet.data()) {
            Ok(count) => packet.pull(count),
            Err(_) => return Some(packet),
        }
    }
    None
}

/// Tells whether all is over.
fn discard(stack: &mut TcpStack, now: u64, id: ConnectionId) -> bool {
    loop {
        match stack.read_packet(now, id) {
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(error) => return error != Error::WOULD_BLOCK,
        }
    }
}

/// Tells whether all is over.
fn chargen(stack: &mut TcpStack, now: u64, id: ConnectionId, pattern: &[u8]) -> bool {
    loop {
        match stack.write(now, id, pattern) {
            Ok(_) => {}
            Err(error) => return error != Error::WOULD_BLOCK,
        }
    }
}

/// Lines of 72 of the 95 printable characters, each beginning one later (RFC 864); 95 lines and then again.
fn pattern() -> Vec<u8> {
    let line = |first: usize| (first..first + 72).map(|at| b' ' + (at % 95) as u8).chain(*b"\r\n");
    (0..CHUNK / 74 / 95 * 95).flat_map(line).collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some((device, words)) = words.split_first() else {
        return Err("usage: serve DEVICE ADDRESS... [plain] [spin=MICROSECONDS]".into());
    };
    let mut stack = TcpStack::new(Config::default());
    let (mut offload, mut spin) = (true, 30);
    for word in words {
        match word.strip_prefix("spin=") {
            Some(number) => spin = number.parse()?,
            None if word == "plain" => offload = false,
            None => stack.add_address(word.parse::<IpAddr>()?),
        }
    }
    let options = TunnelOptions { name: device.clone(), ..TunnelOptions::new(TunnelKind::Tun) };
    let mut host = Host::new(stack, Tun::open(&options, offload)?);
    host.set_spin(Duration::from_micros(spin));
    let mut server = Server::listen(host.stack())?;
    host.run(|stack, now, event| {
        server.handle(stack, now, event);
        ControlFlow::Continue(())
    })?;
    Ok(())
}

//! Two stacks that send each other everything, in simulated time.

use std::net::{IpAddr, SocketAddr};

use clickwork_prolac_tcp::{
    Config, ConnectionId, Error, Event, ListenerId, Offload, Options, Received, State, TcpStack, Transmit,
};

/// Microseconds that a packet takes.
pub const DELAY: u64 = 1000;

/// The first port is 80 everywhere.
pub const PORT: u16 = 80;

/// Looks at a packet, to the server or from it, and says whether it gets through.
type Watch = Box<dyn FnMut(bool, &Transmit) -> bool>;

/// Two stacks and what is on its way between them.
pub struct Pair {
    pub now: u64,
    pub client: TcpStack,
    pub server: TcpStack,
    pub client_address: IpAddr,
    pub server_address: IpAddr,
    /// What arrives when, and whether at the server.
    wire: std::collections::VecDeque<(u64, bool, Transmit)>,
    pub watch: Watch,
}

pub fn addresses(six: bool) -> (IpAddr, IpAddr) {
    if six {
        ("fd00::1".parse().unwrap(), "fd00::2".parse().unwrap())
    } else {
        ("10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap())
    }
}

impl Pair {
    pub fn new(six: bool) -> Pair {
        Pair::with(six, Config::default(), Offload::default())
    }

    pub fn with(six: bool, config: Config, offload: Offload) -> Pair {
        let (client_address, server_address) = addresses(six);
        let stack = |address, seed| {
            let mut stack = TcpStack::new(config);
            stack.seed(seed);
            stack.add_address(address);
            stack.set_offload(offload);
            stack
        };
        Pair {
            now: 1_000_000,
            client: stack(client_address, 1),
            server: stack(server_address, 2),
            client_address,
            server_address,
            wire: Default::default(),
            watch: Box::new(|_, _| true),
        }
    }

    pub fn server_end(&self) -> SocketAddr {
        SocketAddr::new(self.server_address, PORT)
    }

    /// Takes what the stacks send.
    fn collect(&mut self) {
        loop {
            let (packet, to_server) = match self.client.next_transmit() {
                Some(packet) => (packet, true),
                None => match self.server.next_transmit() {
                    Some(packet) => (packet, false),
                    None => return,
                },
            };
            if (self.watch)(to_server, &packet) {
                self.wire.push_back((self.now + DELAY, to_server, packet));
            }
        }
    }

    /// The next thing that happens; false if nothing will until `until`.
    pub fn step(&mut self, until: u64) -> bool {
        self.collect();
        let arrival = self.wire.front().map(|packet| packet.0);
        let timers = [self.client.deadline(), self.server.deadline()];
        let next = timers.into_iter().flatten().chain(arrival).min().unwrap_or(u64::MAX);
        if next > until {
            self.now = until.max(self.now);
            return false;
        }
        self.now = self.now.max(next);
        while self.wire.front().is_some_and(|packet| packet.0 <= self.now) {
            let (_, to_server, packet) = self.wire.pop_front().unwrap();
            let received =
                Received { checksum_verified: packet.checksum_partial, segment_size: packet.segment_size };
            let stack = if to_server { &mut self.server } else { &mut self.client };
            stack.receive(self.now, packet.into_packet(), received);
        }
        self.client.advance(self.now);
        self.server.advance(self.now);
        true
    }

    /// Lets so many microseconds pass.
    pub fn run(&mut self, time: u64) {
        let until = self.now + time;
        while self.step(until) {}
    }

    pub fn listen(&mut self) -> ListenerId {
        self.server.listen(self.server_end(), 16, &Options::default()).unwrap()
    }

    pub fn connect(&mut self) -> ConnectionId {
        self.client.connect(self.now, None, self.server_end(), &Options::default()).unwrap()
    }

    /// A connection, seen from both ends.
    pub fn connected(&mut self) -> (ConnectionId, ConnectionId) {
        let listener = self.listen();
        let client = self.connect();
        self.run(10 * DELAY);
        let server = self.server.accept(listener).unwrap();
        assert_eq!(self.client.state(client), Ok(State::Established));
        assert_eq!(self.server.state(server), Ok(State::Established));
        (client, server)
    }

    /// Sends `client_text` one way and `server_text` the other at once, and returns what arrived.
    pub fn exchange(
        &mut self,
        (client, server): (ConnectionId, ConnectionId),
        client_text: &[u8],
        server_text: &[u8],
    ) -> (Vec<u8>, Vec<u8>) {
        let (mut to_server, mut to_client) = (Vec::new(), Vec::new());
        let (mut from_client, mut from_server) = (client_text, server_text);
        let end = self.now + 600_000_000;
        while to_server.len() < client_text.len() || to_client.len() < server_text.len() {
            write_some(&mut self.client, self.now, client, &mut from_client);
            write_some(&mut self.server, self.now, server, &mut from_server);
            read_all(&mut self.client, self.now, client, &mut to_client);
            read_all(&mut self.server, self.now, server, &mut to_server);
            let goes_on = self.step(end);
            assert!(
                goes_on,
                "stalled after {} of {} and {} of {} bytes\n{:?} {:#?}\n{:?} {:#?}",
                to_server.len(),
                client_text.len(),
                to_client.len(),
                server_text.len(),
                self.client.state(client),
                self.client.status(self.now, client),
                self.server.state(server),
                self.server.status(self.now, server),
            );
        }
        (to_server, to_client)
    }
}

pub fn write_some(stack: &mut TcpStack, now: u64, id: ConnectionId, text: &mut &[u8]) {
    while !text.is_empty() {
        match stack.write(now, id, &text[..text.len().min(10_007)]) {
            Ok(n) => *text = &text[n..],
            Err(Error::WOULD_BLOCK) => return,
            Err(error) => panic!("write: {error}"),
        }
    }
}

/// Reads what there is; true at the end.
pub fn read_all(stack: &mut TcpStack, now: u64, id: ConnectionId, to: &mut Vec<u8>) -> bool {
    let mut buffer = [0; 4099];
    loop {
        match stack.read(now, id, &mut buffer) {
            Ok(0) => return true,
            Ok(n) => to.extend_from_slice(&buffer[..n]),
            Err(Error::WOULD_BLOCK) => return false,
            Err(error) => panic!("read: {error}"),
        }
    }
}

/// All events that are there.
pub fn events(stack: &mut TcpStack) -> Vec<Event> {
    std::iter::from_fn(|| stack.next_event()).collect()
}

/// Bytes that tell where they belong.
pub fn text(length: usize) -> Vec<u8> {
    (0..length as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

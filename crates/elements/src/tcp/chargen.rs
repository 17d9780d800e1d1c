//! TCPChargenServer and TCPChargenClient: the character generator protocol, RFC 864.

use super::client::{self, Errand, Findings};
use super::pattern;
use super::server::{self, BACKLOG_ARG, LOCAL, STACK, Service};
use super::sessions::{Arrived, Io, Session, Step};
use clickwork_prolac_tcp::Error;
use clickwork_router::Class;
use clickwork_router::args::{ArgSpec, ArgType, Args};

/// The class facts of TCPChargenServer.
pub static SERVER: Class = Class {
    help: "sends text without end to TCP connections",
    manual: "Serves the character generator protocol, RFC 864, by the stack STACK, a ProlacTCP element: every connection to PORT \
             is sent lines of 72 characters, as fast as it takes them, until it ends. What it sends is thrown away. \
             Clients that have had enough break off; that is no error.",
    example: "a :: ProlacTCP(10.0.0.1) -> b :: ProlacTCP(10.0.0.2) -> a; TCPChargenServer(b); \
              TCPChargenClient(a, 10.0.0.2, LENGTH 5000)",
    args: &[
        STACK,
        ArgSpec::positional("PORT", ArgType::TcpPort, "19", "the port at which it waits"),
        LOCAL,
        BACKLOG_ARG,
    ],
    ..server::class::<Chargen>("TCPChargenServer")
};

/// The class facts of TCPChargenClient.
pub static CLIENT: Class = Class {
    help: "receives text over TCP and checks it",
    manual: "Connects to a server of the character generator protocol (RFC 864) by the stack STACK, a ProlacTCP element, reads \
             LENGTH bytes and checks each, then closes. The handler rtt tells how long the connections took until they \
             were there, rate how fast they were.",
    example: "a :: ProlacTCP(10.0.0.1) -> b :: ProlacTCP(10.0.0.2) -> a; TCPChargenServer(b); \
              TCPChargenClient(a, 10.0.0.2, LENGTH 100000, STOP true)",
    args: &CLIENT_ARGS,
    ..client::class::<Receive>("TCPChargenClient")
};

const CLIENT_ARGS: [ArgSpec; client::count(1)] =
    client::arguments("19", [ArgSpec::keyword("LENGTH", ArgType::U64, "1000000", "bytes of a connection")]);

/// The server's service.
#[derive(Default)]
pub struct Chargen;

impl Service for Chargen {
    type Session = Generating;

    fn open(&mut self) -> Generating {
        Generating::default()
    }
}

/// A connection to which text is sent.
#[derive(Default)]
pub struct Generating {
    sent: u64,
}

impl Generating {
    fn step(&mut self, io: &mut Io<'_>) -> Result<Step, Error> {
        loop {
            match io.read()? {
                Arrived::Nothing => break,
                Arrived::End => return Ok(Step::Done),
                Arrived::Text if io.is_spent() => return Ok(Step::Again),
                Arrived::Text => {}
            }
        }
        while !io.is_spent() {
            let n = io.write(pattern::piece(self.sent, pattern::PIECE))?;
            if n == 0 {
                return Ok(Step::Wait);
            }
            self.sent += n as u64;
        }
        Ok(Step::Again)
    }
}

impl Session for Generating {
    fn turn(&mut self, io: &mut Io<'_>) -> Result<Step, Error> {
        match self.step(io) {
            Err(Error::RESET | Error::BROKEN_PIPE) => Ok(Step::Done),
            step => step,
        }
    }
}

/// The client's errand.
pub struct Receive {
    length: u64,
}

impl Default for Receive {
    fn default() -> Receive {
        Receive { length: 1_000_000 }
    }
}

impl Errand for Receive {
    type Session = Receiving;

    const SPEAKS_FIRST: bool = false;

    fn configure(&mut self, args: &mut Args) {
        args.read("LENGTH", &mut self.length);
    }

    fn open(&mut self, now: u64) -> Receiving {
        Receiving { length: self.length, began: now, ..Receiving::default() }
    }

    fn ended(&mut self, session: Receiving, findings: &mut Findings) {
        session.connected.into_iter().for_each(|at| findings.time(at - session.began));
        findings.verified += session.received;
        findings.mismatches += u64::from(session.mismatch);
        findings.checksum = session.checksum.finalize();
    }
}

/// A connection that receives.
#[derive(Default)]
pub struct Receiving {
    length: u64,
    received: u64,
    began: u64,
    connected: Option<u64>,
    checksum: crc32fast::Hasher,
    mismatch: bool,
}

impl Receiving {
    fn take(&mut self, text: &[u8]) -> Result<(), Error> {
        let wanted = usize::try_from(self.length - self.received).unwrap_or(usize::MAX);
        let text = &text[..text.len().min(wanted)];
        if !pattern::is_at(self.received, text) {
            self.mismatch = true;
            return Err(Error::PROTOCOL);
        }
        self.checksum.update(text);
        self.received += text.len() as u64;
        Ok(())
    }
}

impl Session for Receiving {
    fn turn(&mut self, io: &mut Io<'_>) -> Result<Step, Error> {
        self.connected.get_or_insert(io.now());
        while self.received < self.length {
            match io.read()? {
                Arrived::Nothing => return Ok(Step::Wait),
                Arrived::End => return Err(Error::ABORTED),
                Arrived::Text => self.take(io.text())?,
            }
            if io.is_spent() {
                return Ok(Step::Again);
            }
        }
        Ok(Step::Done)
    }
}

//! TCPDiscardServer and TCPDiscardClient: the discard protocol, RFC 863.

use super::client::{self, Errand, Findings};
use super::pattern;
use super::server::{self, BACKLOG_ARG, LOCAL, STACK, Server, Service};
use super::sessions::{Arrived, Io, Session, Step};
use clickwork_prolac_tcp::Error;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Handler, read_handler};

/// The class facts of TCPDiscardServer.
pub static SERVER: Class = Class {
    help: "throws away what TCP connections bring",
    manual: "Serves the discard protocol, RFC 863, by the stack STACK, a ProlacTCP element: what a connection to PORT sends is \
             read and thrown away, until it ends it. With CHECKSUM the handler checksum tells the CRC-32 of all that the \
             last connection that ended had sent; TCPDiscardClient tells the same.",
    example: "a :: ProlacTCP(10.0.0.1) -> b :: ProlacTCP(10.0.0.2) -> a; s :: TCPDiscardServer(b, CHECKSUM true); \
              TCPDiscardClient(a, 10.0.0.2, LENGTH 5000)",
    args: &[
        STACK,
        ArgSpec::positional("PORT", ArgType::TcpPort, "9", "the port at which it waits"),
        LOCAL,
        BACKLOG_ARG,
        ArgSpec::keyword("CHECKSUM", ArgType::Bool, "false", "whether a checksum is computed"),
    ],
    handlers: &SERVER_HANDLERS,
    ..server::class::<Discard>("TCPDiscardServer")
};

const SERVER_HANDLERS: [Handler; server::HANDLERS + 1] = server::handlers_and::<Discard>(read_handler!(
    "checksum",
    "CRC-32 of the text of the last connection",
    |e: &mut Server<Discard>, _| format!("{:08x}", e.service.checksum)
));

/// The class facts of TCPDiscardClient.
pub static CLIENT: Class = Class {
    help: "sends text over TCP to a server that throws it away",
    manual: "Connects to a discard server (RFC 863) by the stack STACK, a ProlacTCP element, sends LENGTH bytes and closes. It \
             has succeeded when the server, which has read all then, closes too. The handler rtt tells how long the \
             connections took until they were there, rate how fast they were.",
    example: "a :: ProlacTCP(10.0.0.1) -> b :: ProlacTCP(10.0.0.2) -> a; TCPDiscardServer(b); \
              TCPDiscardClient(a, 10.0.0.2, LENGTH 100000, STOP true)",
    args: &CLIENT_ARGS,
    ..client::class::<Send>("TCPDiscardClient")
};

const CLIENT_ARGS: [ArgSpec; client::count(1)] =
    client::arguments("9", [ArgSpec::keyword("LENGTH", ArgType::U64, "1000000", "bytes of a connection")]);

/// The server's service.
#[derive(Default)]
pub struct Discard {
    computes: bool,
    checksum: u32,
}

impl Service for Discard {
    type Session = Discarding;

    fn configure(&mut self, args: &mut Args) {
        args.read("CHECKSUM", &mut self.computes);
    }

    fn open(&mut self) -> Discarding {
        Discarding { checksum: self.computes.then(crc32fast::Hasher::default) }
    }

    fn ended(&mut self, session: Discarding) {
        if let Some(checksum) = session.checksum {
            self.checksum = checksum.finalize();
        }
    }
}

/// A connection whose text is thrown away.
pub struct Discarding {
    checksum: Option<crc32fast::Hasher>,
}

impl Session for Discarding {
    fn turn(&mut self, io: &mut Io<'_>) -> Result<Step, Error> {
        while !io.is_spent() {
            match io.read()? {
                Arrived::Nothing => return Ok(Step::Wait),
                Arrived::End => return Ok(Step::Done),
                Arrived::Text => self.checksum.iter_mut().for_each(|sum| sum.update(io.text())),
            }
        }
        Ok(Step::Again)
    }
}

/// The client's errand.
pub struct Send {
    length: u64,
}

impl Default for Send {
    fn default() -> Send {
        Send { length: 1_000_000 }
    }
}

impl Errand for Send {
    type Session = Sending;

    const SPEAKS_FIRST: bool = true;

    fn configure(&mut self, args: &mut Args) {
        args.read("LENGTH", &mut self.length);
    }

    fn open(&mut self, now: u64) -> Sending {
        Sending { length: self.length, began: now, ..Sending::default() }
    }

    fn ended(&mut self, session: Sending, findings: &mut Findings) {
        session.connected.into_iter().for_each(|at| findings.time(at - session.began));
        findings.checksum = session.checksum.finalize();
    }
}

/// A connection that sends.
#[derive(Default)]
pub struct Sending {
    length: u64,
    sent: u64,
    began: u64,
    connected: Option<u64>,
    checksum: crc32fast::Hasher,
    shut: bool,
}

impl Sending {
    /// Whether all is sent.
    fn send(&mut self, io: &mut Io<'_>) -> Result<bool, Error> {
        while self.sent < self.length && !io.is_spent() {
            let left = usize::try_from(self.length - self.sent).unwrap_or(pattern::PIECE);
            let piece = pattern::piece(self.sent, left);
            let n = io.write(piece)?;
            if n == 0 {
                return Ok(false);
            }
            self.checksum.update(&piece[..n]);
            self.sent += n as u64;
        }
        Ok(self.sent == self.length)
    }
}

impl Session for Sending {
    fn turn(&mut self, io: &mut Io<'_>) -> Result<Step, Error> {
        let all_sent = self.send(io)?;
        if !io.is_connected() {
            return Ok(Step::Wait);
        }
        self.connected.get_or_insert(io.now());
        if all_sent && !std::mem::replace(&mut self.shut, true) {
            io.shutdown()?;
        }
        while !io.is_spent() {
            match io.read()? {
                Arrived::Nothing => return Ok(Step::Wait),
                Arrived::End if self.shut => return Ok(Step::Done),
                Arrived::End => return Err(Error::ABORTED),
                Arrived::Text => {}
            }
        }
        Ok(Step::Again)
    }
}

//! TCPEchoServer and TCPEchoClient: the echo protocol, RFC 862.

use super::client::{self, Errand, Findings};
use super::held::Held;
use super::pattern;
use super::server::{self, BACKLOG_ARG, LOCAL, STACK, Service};
use super::sessions::{Arrived, Io, Session, Step};
use clickwork_prolac_tcp::Error;
use clickwork_router::Class;
use clickwork_router::args::{ArgSpec, ArgType, Args};

/// The class facts of TCPEchoServer.
pub static SERVER: Class = Class {
    help: "sends back what TCP connections bring",
    manual: "Serves the echo protocol, RFC 862, by the stack STACK, a ProlacTCP element: every connection to PORT gets back \
             what it sends, until it ends it. It reads no faster than the peer takes the echo.",
    example: "a :: ProlacTCP(10.0.0.1) -> b :: ProlacTCP(10.0.0.2) -> a; TCPEchoServer(b); TCPEchoClient(a, 10.0.0.2)",
    args: &[
        STACK,
        ArgSpec::positional("PORT", ArgType::TcpPort, "7", "the port at which it waits"),
        LOCAL,
        BACKLOG_ARG,
    ],
    ..server::class::<Echo>("TCPEchoServer")
};

/// The class facts of TCPEchoClient.
pub static CLIENT: Class = Class {
    help: "sends text over TCP and checks the echo",
    manual: "Connects to an echo server (RFC 862) by the stack STACK, a ProlacTCP element, sends COUNT messages of LENGTH \
             bytes, each when the echo of the one before is complete, and checks every byte that comes back. Then it \
             closes, and has succeeded when the server does so too.\n\n\
             The handler rtt tells how long messages took until their echoes were there: least, average and greatest.",
    example: "a :: ProlacTCP(10.0.0.1) -> b :: ProlacTCP(10.0.0.2) -> a; TCPEchoServer(b); \
              c :: TCPEchoClient(a, 10.0.0.2, LENGTH 100, COUNT 3, STOP true); DriverManager(wait_stop, print c.rtt)",
    args: &CLIENT_ARGS,
    ..client::class::<Speak>("TCPEchoClient")
};

const CLIENT_ARGS: [ArgSpec; client::count(2)] = client::arguments(
    "7",
    [
        ArgSpec::keyword("LENGTH", ArgType::U64, "64", "bytes of a message"),
        ArgSpec::keyword("COUNT", ArgType::U64, "1", "messages of a connection"),
    ],
);

/// The server's service.
#[derive(Default)]
pub struct Echo;

impl Service for Echo {
    type Session = Echoing;

    fn open(&mut self) -> Echoing {
        Echoing::default()
    }
}

/// A connection whose text is sent back.
#[derive(Default)]
pub struct Echoing {
    held: Held,
}

impl Session for Echoing {
    fn turn(&mut self, io: &mut Io<'_>) -> Result<Step, Error> {
        loop {
            if !self.held.is_empty() {
                let n = io.write(self.held.rest())?;
                self.held.took(n);
                if !self.held.is_empty() {
                    return Ok(Step::Wait);
                }
            }
            if io.is_spent() {
                return Ok(Step::Again);
            }
            match io.read()? {
                Arrived::Nothing => return Ok(Step::Wait),
                Arrived::End => return Ok(Step::Done),
                Arrived::Text => {
                    let n = io.write_back()?;
                    self.held.keep(&io.text()[n..]);
                }
            }
        }
    }
}

/// The client's errand.
pub struct Speak {
    length: u64,
    count: u64,
}

impl Default for Speak {
    fn default() -> Speak {
        Speak { length: 64, count: 1 }
    }
}

impl Errand for Speak {
    type Session = Speaking;

    const SPEAKS_FIRST: bool = true;

    fn configure(&mut self, args: &mut Args) {
        args.read("LENGTH", &mut self.length).read("COUNT", &mut self.count);
        if self.length == 0 {
            args.error_in("LENGTH", "must be at least 1");
        }
    }

    fn open(&mut self, _: u64) -> Speaking {
        Speaking { length: self.length, count: self.count, ..Speaking::default() }
    }

    fn ended(&mut self, session: Speaking, findings: &mut Findings) {
        session.times.iter().for_each(|&time| findings.time(time));
        findings.verified += session.echoed;
        findings.mismatches += u64::from(session.mismatch);
        findings.checksum = session.checksum.finalize();
    }
}

/// A connection that speaks and listens to its echo. Both are counted from the connection's beginning.
#[derive(Default)]
pub struct Speaking {
    length: u64,
    count: u64,
    /// Messages whose echo is complete.
    complete: u64,
    /// When the present message was begun.
    began: Option<u64>,
    sent: u64,
    echoed: u64,
    times: Vec<u64>,
    mismatch: bool,
    checksum: crc32fast::Hasher,
    shut: bool,
}

impl Speaking {
    fn speak(&mut self, io: &mut Io<'_>) -> Result<(), Error> {
        if self.complete == self.count {
            if !std::mem::replace(&mut self.shut, true) {
                io.shutdown()?;
            }
            return Ok(());
        }
        let end = self.length.saturating_mul(self.complete + 1);
        self.began.get_or_insert(io.now());
        while self.sent < end && !io.is_spent() {
            let piece = pattern::piece(self.sent, usize::try_from(end - self.sent).unwrap_or(pattern::PIECE));
            let n = io.write(piece)?;
            self.sent += n as u64;
            if n == 0 {
                break;
            }
        }
        Ok(())
    }

    fn hear(&mut self, text: &[u8], now: u64) -> Result<(), Error> {
        if self.echoed + text.len() as u64 > self.sent || !pattern::is_at(self.echoed, text) {
            self.mismatch = true;
            return Err(Error::PROTOCOL);
        }
        self.checksum.update(text);
        self.echoed += text.len() as u64;
        if self.echoed == self.length.saturating_mul(self.complete + 1) {
            self.complete += 1;
            self.times.extend(self.began.take().map(|began| now - began));
        }
        Ok(())
    }
}

impl Session for Speaking {
    fn turn(&mut self, io: &mut Io<'_>) -> Result<Step, Error> {
        loop {
            self.speak(io)?;
            if !io.is_connected() {
                return Ok(Step::Wait);
            }
            if io.is_spent() {
                return Ok(Step::Again);
            }
            match io.read()? {
                Arrived::Nothing => return Ok(Step::Wait),
                Arrived::End if self.complete < self.count => return Err(Error::ABORTED),
                Arrived::End => return Ok(Step::Done),
                Arrived::Text => self.hear(io.text(), io.now())?,
            }
        }
    }
}

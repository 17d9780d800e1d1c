//! A connection in the manner of [`std::net::TcpStream`].

use std::fmt;
use std::io::{self, IoSlice, Read, Write};
use std::net::{Shutdown, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use clickwork_packet::Packet;
use clickwork_prolac_tcp::abi::{Status, option};
use clickwork_prolac_tcp::{ConnectionId, Error, Options, State, TcpStack};

use crate::connection::{Connection, Patience};
use crate::engine::{Direction, Key};
use crate::shared::SharedHost;

/// A connection. It is closed when it and all its clones are dropped.
#[derive(Clone)]
pub struct TcpStream(pub(crate) Arc<Connection>);

impl TcpStream {
    /// Connects to one of the addresses, and waits for it.
    ///
    /// # Errors
    /// The last address's, in the manner of Linux.
    pub fn connect(host: &SharedHost, addresses: impl ToSocketAddrs) -> io::Result<TcpStream> {
        let mut last = io::Error::new(io::ErrorKind::InvalidInput, "no address to connect to");
        for address in addresses.to_socket_addrs()? {
            match TcpStream::connect_with(host, None, address, &Options::default(), Patience::Forever) {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Connects, but waits no longer than `limit`.
    ///
    /// # Errors
    /// [`io::ErrorKind::TimedOut`] then; what Linux says otherwise.
    pub fn connect_timeout(
        host: &SharedHost,
        address: &SocketAddr,
        limit: Duration,
    ) -> io::Result<TcpStream> {
        if limit == Duration::ZERO {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        TcpStream::connect_with(host, None, *address, &Options::default(), Patience::Limit(limit)).map_err(
            |error| match error.kind() {
                io::ErrorKind::WouldBlock => io::ErrorKind::TimedOut.into(),
                _ => error,
            },
        )
    }

    /// Connects from a certain address (port 0: any) with certain options.
    ///
    /// # Errors
    /// What Linux says.
    pub fn connect_from(
        host: &SharedHost,
        local: Option<SocketAddr>,
        address: SocketAddr,
        options: &Options,
    ) -> io::Result<TcpStream> {
        TcpStream::connect_with(host, local, address, options, Patience::Forever)
    }

    fn connect_with(
        host: &SharedHost,
        local: Option<SocketAddr>,
        address: SocketAddr,
        options: &Options,
        patience: Patience,
    ) -> io::Result<TcpStream> {
        let stream = TcpStream::begin_connect(host, local, address, options)?;
        let id = stream.id();
        stream.0.wait_with(Direction::Out, patience, |stack, _| connected(stack, id))?;
        Ok(stream)
    }

    /// Sends the SYN.
    pub(crate) fn begin_connect(
        host: &SharedHost,
        local: Option<SocketAddr>,
        address: SocketAddr,
        options: &Options,
    ) -> io::Result<TcpStream> {
        let id = host.call(|stack, now| stack.connect(now, local, address, options));
        Ok(TcpStream::new(host, id?))
    }

    pub(crate) fn new(host: &SharedHost, id: ConnectionId) -> TcpStream {
        TcpStream(Arc::new(Connection::new(host.clone(), Key::Connection(id))))
    }

    /// Its number in the stack.
    pub fn id(&self) -> ConnectionId {
        self.0.id()
    }

    /// Another handle of the same connection.
    ///
    /// # Errors
    /// None; it is as std's.
    pub fn try_clone(&self) -> io::Result<TcpStream> {
        Ok(self.clone())
    }

    /// The other end's address.
    ///
    /// # Errors
    /// If it is not connected any more.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.0.call(|stack, _| stack.peer_addr(self.id()))
    }

    /// Our address.
    ///
    /// # Errors
    /// If it is not connected any more.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.call(|stack, _| stack.local_addr(self.id()))
    }

    /// Ends one direction or both. The other end's later text is thrown away if reading is ended.
    ///
    /// # Errors
    /// If it is not connected any more.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        if how != Shutdown::Write {
            self.0.end_reading();
        }
        if how == Shutdown::Read {
            return Ok(());
        }
        self.0.call(|stack, now| stack.shutdown(now, self.id()))
    }

    /// Whether calls return at once, with [`io::ErrorKind::WouldBlock`] if there is nothing for them.
    ///
    /// # Errors
    /// None; it is as std's.
    pub fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.0.set_nonblocking(nonblocking);
        Ok(())
    }

    /// How long a read waits.
    ///
    /// # Errors
    /// If it is zero.
    pub fn set_read_timeout(&self, limit: Option<Duration>) -> io::Result<()> {
        self.0.set_limit(Direction::In, limit)
    }

    /// How long a read waits.
    ///
    /// # Errors
    /// None; it is as std's.
    pub fn read_timeout(&self) -> io::Result<Option<Duration>> {
        Ok(self.0.limit(Direction::In))
    }

    /// How long a write waits.
    ///
    /// # Errors
    /// If it is zero.
    pub fn set_write_timeout(&self, limit: Option<Duration>) -> io::Result<()> {
        self.0.set_limit(Direction::Out, limit)
    }

    /// How long a write waits.
    ///
    /// # Errors
    /// None; it is as std's.
    pub fn write_timeout(&self) -> io::Result<Option<Duration>> {
        Ok(self.0.limit(Direction::Out))
    }

    /// Whether Nagle's algorithm is off.
    ///
    /// # Errors
    /// If it is not connected any more.
    pub fn set_nodelay(&self, no_delay: bool) -> io::Result<()> {
        self.set_option(option::NO_DELAY, no_delay.into())
    }

    /// Sets one of [`option`].
    ///
    /// # Errors
    /// What Linux says.
    pub fn set_option(&self, which: u32, value: u32) -> io::Result<()> {
        self.0.call(|stack, now| stack.set_option(now, self.id(), which, value))
    }

    /// The error that was not told yet, if there is one.
    ///
    /// # Errors
    /// If it is not connected any more.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        let error = self.0.call(|stack, _| stack.take_error(self.id()))?;
        Ok(error.map(io::Error::from))
    }

    /// How the connection is: what `TCP_INFO` of Linux tells, and more.
    ///
    /// # Errors
    /// If it is not connected any more.
    pub fn status(&self) -> io::Result<Status> {
        self.0.call(|stack, now| stack.status(now, self.id()))
    }

    /// Reads without taking away.
    ///
    /// # Errors
    /// As [`Read::read`].
    pub fn peek(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read_with(|stack, _| stack.peek(self.id(), buffer))
    }

    /// The next piece of text as it came, without a copy; none at the end.
    ///
    /// # Errors
    /// As [`Read::read`].
    pub fn read_packet(&self) -> io::Result<Option<Packet>> {
        self.0.read_with(|stack, now| stack.read_packet(now, self.id()))
    }

    /// Writes text of which the last byte is urgent.
    ///
    /// # Errors
    /// As [`Write::write`].
    pub fn write_urgent(&self, text: &[u8]) -> io::Result<usize> {
        self.0.wait_for(Direction::Out, |stack, now| stack.write_urgent(now, self.id(), text))
    }
}

/// Whether the connection has come about: "not now", or why it did not.
pub(crate) fn connected(stack: &mut TcpStack, id: ConnectionId) -> Result<(), Error> {
    match stack.state(id)? {
        State::SynSent | State::SynReceived => Err(Error::WOULD_BLOCK),
        State::Closed => Err(stack.take_error(id)?.unwrap_or(Error::RESET)),
        _ => Ok(()),
    }
}

impl Read for &TcpStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read_with(|stack, now| stack.read(now, self.id(), buffer))
    }
}

impl Write for &TcpStream {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.wait_for(Direction::Out, |stack, now| stack.write(now, self.id(), text))
    }

    fn write_vectored(&mut self, texts: &[IoSlice<'_>]) -> io::Result<usize> {
        self.0.wait_for(Direction::Out, |stack, now| stack.write_vectored(now, self.id(), texts))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for TcpStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self).read(buffer)
    }
}

impl Write for TcpStream {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        (&*self).write(text)
    }

    fn write_vectored(&mut self, texts: &[IoSlice<'_>]) -> io::Result<usize> {
        (&*self).write_vectored(texts)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Debug for TcpStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [local, peer] = [self.local_addr(), self.peer_addr()].map(Result::ok);
        f.debug_struct("TcpStream").field("local", &local).field("peer", &peer).finish()
    }
}

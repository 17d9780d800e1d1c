//! A listener in the manner of [`std::net::TcpListener`].

use std::fmt;
use std::io;
use std::iter::FusedIterator;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use clickwork_prolac_tcp::{ListenerId, Options};

use crate::connection::Connection;
use crate::engine::{Direction, Key};
use crate::shared::SharedHost;
use crate::stream::TcpStream;

/// How many connections may wait, as std has it.
const BACKLOG: u32 = 128;

/// Waits for connections. Clones are the same listener; it ends with the last of them.
#[derive(Clone)]
pub struct TcpListener {
    connection: Arc<Connection>,
    local: SocketAddr,
}

impl TcpListener {
    /// Listens at the first of the addresses that is free.
    ///
    /// # Errors
    /// The last address's, in the manner of Linux.
    pub fn bind(host: &SharedHost, addresses: impl ToSocketAddrs) -> io::Result<TcpListener> {
        let options = Options { reuse_address: true, ..Options::default() };
        let mut last = io::Error::new(io::ErrorKind::InvalidInput, "no address to listen at");
        for address in addresses.to_socket_addrs()? {
            match TcpListener::bind_with(host, address, BACKLOG, &options) {
                Ok(listener) => return Ok(listener),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Listens with certain options, which its connections get too.
    ///
    /// # Errors
    /// What Linux says.
    pub fn bind_with(
        host: &SharedHost,
        address: SocketAddr,
        backlog: u32,
        options: &Options,
    ) -> io::Result<TcpListener> {
        let listener = host.call(|stack, _| {
            let id = stack.listen(address, backlog, options)?;
            Ok::<_, clickwork_prolac_tcp::Error>((id, stack.listener_addr(id)?))
        });
        let (id, local) = listener?;
        let connection = Arc::new(Connection::new(host.clone(), Key::Listener(id)));
        Ok(TcpListener { connection, local })
    }

    fn id(&self) -> ListenerId {
        match self.connection.key {
            Key::Listener(id) => id,
            Key::Connection(_) => unreachable!("listeners are made of listeners"),
        }
    }

    /// Where it listens.
    ///
    /// # Errors
    /// None; it is as std's.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.local)
    }

    /// Another handle of the same listener.
    ///
    /// # Errors
    /// None; it is as std's.
    pub fn try_clone(&self) -> io::Result<TcpListener> {
        Ok(self.clone())
    }

    /// The next connection, and whose it is.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if there is none and it does not wait.
    pub fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let listener = self.id();
        let (id, peer) = self.connection.wait_for(Direction::In, |stack, _| {
            let id = stack.accept(listener)?;
            Ok((id, stack.peer_addr(id)))
        })?;
        let stream = TcpStream::new(&self.connection.host, id);
        Ok((stream, peer?))
    }

    /// All connections as they come.
    pub fn incoming(&self) -> Incoming<'_> {
        Incoming { listener: self }
    }

    /// Whether [`accept`](Self::accept) returns at once.
    ///
    /// # Errors
    /// None; it is as std's.
    pub fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.connection.set_nonblocking(nonblocking);
        Ok(())
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn poll_accept(
        &self,
        waker: &std::task::Waker,
    ) -> std::task::Poll<io::Result<(TcpStream, SocketAddr)>> {
        let (listener, host) = (self.id(), &self.connection.host);
        let accepted = self.connection.poll_for(Direction::In, waker, |stack, _| {
            let id = stack.accept(listener)?;
            Ok((id, stack.peer_addr(id)))
        });
        accepted.map_ok(|(id, peer)| (TcpStream::new(host, id), peer)).map(|accepted| {
            let (stream, peer) = accepted?;
            Ok((stream, peer?))
        })
    }
}

/// See [`TcpListener::incoming`].
#[derive(Debug)]
pub struct Incoming<'a> {
    listener: &'a TcpListener,
}

impl Iterator for Incoming<'_> {
    type Item = io::Result<TcpStream>;

    fn next(&mut self) -> Option<io::Result<TcpStream>> {
        Some(self.listener.accept().map(|(stream, _)| stream))
    }
}

impl FusedIterator for Incoming<'_> {}

impl fmt::Debug for TcpListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TcpListener").field("local", &self.local).finish()
    }
}

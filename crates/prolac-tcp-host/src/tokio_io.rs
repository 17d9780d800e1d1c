//! Connections and listeners with tokio's traits. They belong to no runtime: the host's thread wakes whatever polls them.
//!
//! Read first: `stream.rs`, whose calls these are, without their waiting.

use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::net::{Shutdown, SocketAddr, ToSocketAddrs};
use std::pin::Pin;
use std::task::{Context, Poll};

use clickwork_prolac_tcp::Options;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::engine::Direction;
use crate::shared::SharedHost;
use crate::stream::{TcpStream, connected};

/// A connection for tasks.
#[derive(Clone, Debug)]
pub struct AsyncTcpStream(TcpStream);

/// A listener for tasks.
#[derive(Clone, Debug)]
pub struct AsyncTcpListener(crate::listener::TcpListener);

impl AsyncTcpStream {
    /// Connects, and waits for it.
    ///
    /// # Errors
    /// What Linux says.
    pub async fn connect(host: &SharedHost, address: SocketAddr) -> io::Result<AsyncTcpStream> {
        let stream = TcpStream::begin_connect(host, None, address, &Options::default())?;
        let id = stream.id();
        poll_fn(|context| {
            stream.0.poll_for(Direction::Out, context.waker(), |stack, _| connected(stack, id))
        })
        .await?;
        Ok(AsyncTcpStream(stream))
    }

    /// The same connection for threads.
    pub fn get_ref(&self) -> &TcpStream {
        &self.0
    }

    /// The same connection for threads.
    pub fn into_inner(self) -> TcpStream {
        self.0
    }
}

impl From<TcpStream> for AsyncTcpStream {
    fn from(stream: TcpStream) -> AsyncTcpStream {
        AsyncTcpStream(stream)
    }
}

impl AsyncTcpListener {
    /// Listens at the first of the addresses that is free.
    ///
    /// # Errors
    /// The last address's, in the manner of Linux.
    pub fn bind(host: &SharedHost, addresses: impl ToSocketAddrs) -> io::Result<AsyncTcpListener> {
        crate::listener::TcpListener::bind(host, addresses).map(AsyncTcpListener)
    }

    /// The next connection, and whose it is.
    ///
    /// # Errors
    /// If the device is gone.
    pub async fn accept(&self) -> io::Result<(AsyncTcpStream, SocketAddr)> {
        let (stream, peer) = poll_fn(|context| self.0.poll_accept(context.waker())).await?;
        Ok((AsyncTcpStream(stream), peer))
    }

    /// The same listener for threads.
    pub fn get_ref(&self) -> &crate::listener::TcpListener {
        &self.0
    }
}

impl AsyncRead for AsyncTcpStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let (connection, id) = (&self.0.0, self.0.id());
        let into = buffer.initialize_unfilled();
        let read =
            connection.poll_for(Direction::In, context.waker(), |stack, now| stack.read(now, id, into));
        read.map_ok(|count| buffer.advance(count))
    }
}

impl AsyncWrite for AsyncTcpStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, text: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(context, &[IoSlice::new(text)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        texts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let (connection, id) = (&self.0.0, self.0.id());
        let step = |stack: &mut clickwork_prolac_tcp::TcpStack, now| stack.write_vectored(now, id, texts);
        connection.poll_for(Direction::Out, context.waker(), step)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.0.shutdown(Shutdown::Write))
    }
}

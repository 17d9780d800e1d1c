//! The two kinds of ends that a pair may have: a connection of a stack, and a stream socket of the host. Both never wait.

use super::super::seat::Seat;
use clickwork_prolac_tcp::{ConnectionId, Error};
use clickwork_router::Ready;
use rustix::io::Errno;
use rustix::net::sockopt::{set_socket_linger, socket_error};
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

/// Where one of two streams that are joined ends.
#[derive(Debug)]
pub enum End {
    /// A connection of the stack on this side.
    Tcp(ConnectionId),
    /// A socket of the host, and what it is watched for.
    Host(OwnedFd, Ready),
}

/// An error of the host is one of Linux, as those of the stack are.
pub fn host_error(error: Errno) -> Error {
    Error(error.raw_os_error())
}

/// What has to do with a stack that there must be one for: an end in a stack has a seat there.
fn seat(seat: Option<&Seat>) -> Result<&Seat, Error> {
    seat.ok_or(Error::NOT_CONNECTED)
}

/// Nothing instead of the errors that say that a call would have to wait.
fn ready(outcome: Result<usize, Errno>) -> Result<Option<usize>, Error> {
    match outcome {
        Ok(n) => Ok(Some(n)),
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        Err(error) => Err(host_error(error)),
    }
}

impl End {
    /// Whether a connection that was being made is there: asked when something has happened.
    ///
    /// # Errors
    /// Why there will be none.
    pub fn is_connected(&self) -> Result<bool, Error> {
        match self {
            // The stack says so itself.
            End::Tcp(_) => Ok(false),
            End::Host(socket, _) => {
                socket_error(socket).and_then(|outcome| outcome).map_err(host_error)?;
                Ok(rustix::net::getpeername(socket).is_ok())
            }
        }
    }

    /// Reads: the number of bytes, 0 at the end, none if there is nothing now.
    ///
    /// # Errors
    /// Why there will be none.
    pub fn read(&self, side: Option<&Seat>, now: u64, buffer: &mut [u8]) -> Result<Option<usize>, Error> {
        match self {
            End::Tcp(id) => seat(side)?.read(now, *id, buffer),
            End::Host(socket, _) => ready(recv(socket, buffer, RecvFlags::DONTWAIT).map(|(n, _)| n)),
        }
    }

    /// Writes as much as there is room for.
    ///
    /// # Errors
    /// Why none can be written any more.
    pub fn write(&self, side: Option<&Seat>, now: u64, data: &[u8]) -> Result<usize, Error> {
        match self {
            End::Tcp(id) => seat(side)?.write(now, *id, data),
            End::Host(socket, _) => {
                let sent = send(socket, data, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
                ready(sent).map(Option::unwrap_or_default)
            }
        }
    }

    /// Ends what is sent there.
    ///
    /// # Errors
    /// If the connection is no more.
    pub fn shutdown(&self, side: Option<&Seat>, now: u64) -> Result<(), Error> {
        match self {
            End::Tcp(id) => seat(side)?.shutdown(now, *id),
            End::Host(socket, _) => shutdown(socket, Shutdown::Write).map_err(host_error),
        }
    }

    /// Why a connection is no more.
    pub fn failure(&self, side: Option<&Seat>) -> Error {
        let error = match (self, side) {
            (End::Tcp(id), Some(seat)) => seat.error(*id),
            _ => None,
        };
        error.unwrap_or(Error::ABORTED)
    }

    /// Leaves in good order.
    pub fn close(self, side: Option<&Seat>, now: u64) {
        if let (End::Tcp(id), Some(seat)) = (self, side)
            && seat.has(id)
        {
            seat.close(now, id);
        }
    }

    /// Breaks off, so that the peer notices.
    pub fn abort(self, side: Option<&Seat>, now: u64) {
        match (self, side) {
            (End::Tcp(id), Some(seat)) if seat.has(id) => seat.abort(now, id),
            (End::Host(socket, _), _) => {
                // A reset instead of an end; streams that are not TCP have none, and just end.
                let _ = set_socket_linger(socket.as_fd(), Some(Duration::ZERO));
            }
            (End::Tcp(_), _) => {}
        }
    }
}

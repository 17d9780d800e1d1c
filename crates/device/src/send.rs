//! Sending through an interface: whole frames, in batches, one system call each.
//!
//! Nothing is lost silently: the caller learns how many frames the kernel took, and why it stopped. The
//! queueing discipline is bypassed, because the router has queues of its own.

use crate::error::{DeviceError, Fault, Result};
use crate::interface::{Interface, lost};
use crate::sys::socket::{self, SEND_BATCH};
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Bytes that may be on their way through the device.
const SEND_BUFFER: i32 = 4 << 20;

/// The sending side of an interface.
pub struct PacketSender {
    socket: OwnedFd,
    name: String,
    index: u32,
}

/// What became of a list of frames: the first `count` are sent; the one after them is why we stopped.
#[derive(Debug)]
pub struct Sent {
    /// Frames that the kernel took.
    pub count: usize,
    /// Why the next frame was not sent; `None` if all were.
    pub stopped: Option<Stop>,
}

/// Why a frame was not sent.
#[derive(Debug)]
pub enum Stop {
    /// The device has no room now. Keep the frames and try again: when the descriptor is writable, or after a
    /// short while.
    Full,
    /// This frame cannot be sent (longer than the MTU, shorter than a header), by the reason given. Drop it,
    /// go on with the next.
    Refused(DeviceError),
    /// The device is down or gone.
    Failed(DeviceError),
}

impl PacketSender {
    /// Prepares to send through the interface `name`.
    pub fn open(name: &str) -> Result<PacketSender> {
        let fail = |action| move |error: io::Error| DeviceError::system(name, action, &error);
        let interface = Interface::find(name)?;
        let socket = socket::packet_socket().map_err(fail("open a packet socket"))?;
        let fd = socket.as_fd();
        // Kernels without it queue a little more: not worth refusing to work.
        let _ = socket::set_int(fd, libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, 1);
        socket::set_int(fd, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, SEND_BUFFER)
            .or_else(|_| socket::set_int(fd, libc::SOL_SOCKET, libc::SO_SNDBUF, SEND_BUFFER))
            .map_err(fail("set up the packet socket"))?;
        // Protocol 0: this socket receives nothing.
        socket::bind(fd, interface.index, 0).map_err(fail("bind the packet socket"))?;
        Ok(PacketSender { socket, name: name.to_string(), index: interface.index })
    }

    /// Sends frames in order, without waiting, until all are sent or one is not.
    pub fn send(&mut self, frames: &[IoSlice<'_>]) -> Sent {
        let mut count = 0;
        while count < frames.len() {
            match socket::send_many(self.socket.as_fd(), &frames[count..]) {
                Ok(taken) => count += taken,
                Err(error) => {
                    let stopped = Some(self.reason(&error, &frames[count]));
                    return Sent { count, stopped };
                }
            }
        }
        Sent { count, stopped: None }
    }

    fn reason(&self, error: &io::Error, frame: &[u8]) -> Stop {
        match error.raw_os_error() {
            Some(libc::EAGAIN | libc::ENOBUFS | libc::EINTR | libc::ENOMEM) => Stop::Full,
            Some(libc::EMSGSIZE) => {
                let mtu = Interface::find(&self.name).map(|interface| interface.mtu).unwrap_or(0);
                Stop::Refused(self.refused(format!("{} bytes are too long for MTU {mtu}", frame.len())))
            }
            Some(libc::EINVAL) => {
                Stop::Refused(self.refused(format!("{} bytes are not a whole frame", frame.len())))
            }
            Some(libc::ENETDOWN | libc::ENXIO | libc::ENODEV) => {
                Stop::Failed(lost(self.socket.as_fd(), &self.name, self.index, "send"))
            }
            _ => Stop::Failed(DeviceError::system(&self.name, "send", error)),
        }
    }

    fn refused(&self, reason: String) -> DeviceError {
        DeviceError::new(&self.name, "send a packet", Fault::Other, reason)
    }

    /// The most frames that one system call sends: batches of this many are the cheapest.
    pub const fn batch() -> usize {
        SEND_BATCH
    }
}

impl AsFd for PacketSender {
    /// Writable when there is room again after [`Stop::Full`].
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

//! Arguments that the elements of this family share: the form of packets received, and the sizes of the system's buffers.

use clickwork_packet::{DEFAULT_HEADROOM, Packet, anno};
use clickwork_router::Cx;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use rustix::io::Errno;
use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_send_buffer_size};
use std::os::fd::BorrowedFd;

/// Longest packet.
const MAX_SNAPLEN: u32 = 65535;
const MAX_HEADROOM: u32 = 65535;

/// The argument SNAPLEN.
pub const SNAPLEN: ArgSpec = ArgSpec::keyword(
    "SNAPLEN",
    ArgType::IntRange { min: 1, max: MAX_SNAPLEN as i64 },
    "2048",
    "longest part of a packet that is received",
);
/// The argument HEADROOM.
pub const HEADROOM: ArgSpec = ArgSpec::keyword(
    "HEADROOM",
    ArgType::IntRange { min: 0, max: MAX_HEADROOM as i64 },
    "28",
    "free bytes before the packet",
);
/// The argument TIMESTAMP.
pub const TIMESTAMP: ArgSpec =
    ArgSpec::keyword("TIMESTAMP", ArgType::Bool, "true", "whether packets are stamped with the time");
/// The argument RCVBUF.
pub const RCVBUF: ArgSpec =
    ArgSpec::keyword("RCVBUF", ArgType::U32, "", "bytes of the system's receive buffer");
/// The argument SNDBUF.
pub const SNDBUF: ArgSpec = ArgSpec::keyword("SNDBUF", ArgType::U32, "", "bytes of the system's send buffer");

/// What packets are received like.
#[derive(Debug)]
pub struct Form {
    /// Longest part that is received.
    pub snaplen: usize,
    headroom: usize,
    timestamp: bool,
}

impl Default for Form {
    fn default() -> Form {
        Form { snaplen: 2048, headroom: DEFAULT_HEADROOM, timestamp: true }
    }
}

impl Form {
    /// Reads SNAPLEN and HEADROOM, and TIMESTAMP if the class has it.
    pub fn configure(&mut self, args: &mut Args, has_timestamp: bool) {
        let mut bounded = |name: &str, slot: &mut usize, range: std::ops::RangeInclusive<u32>| {
            let Some(n) = args.get::<u32>(name) else { return };
            *slot = n as usize;
            if !range.contains(&n) {
                args.error_in(name, format!("{name} out of range"));
            }
        };
        bounded("SNAPLEN", &mut self.snaplen, 1..=MAX_SNAPLEN);
        bounded("HEADROOM", &mut self.headroom, 0..=MAX_HEADROOM);
        if has_timestamp {
            args.read("TIMESTAMP", &mut self.timestamp);
        }
    }

    /// The packet of what was received: `length` bytes, of which `data` is the beginning.
    pub fn packet(&self, data: &[u8], length: usize, cx: &Cx<'_>) -> Packet {
        let mut p = Packet::with_room(self.headroom, data, 0);
        if length > data.len() {
            p.set_anno_u32(anno::EXTRA_LENGTH, (length - data.len()) as u32);
        }
        if self.timestamp {
            p.set_timestamp(cx.now());
        }
        p
    }
}

/// The sizes of the system's buffers.
#[derive(Debug, Default)]
pub struct Buffers {
    receive: Option<u32>,
    send: Option<u32>,
}

impl Buffers {
    /// Reads RCVBUF and SNDBUF.
    pub fn configure(&mut self, args: &mut Args) {
        (self.receive, self.send) = (args.get("RCVBUF"), args.get("SNDBUF"));
    }

    /// Sets them.
    ///
    /// # Errors
    /// What the system says, and about what.
    pub fn set(&self, socket: BorrowedFd<'_>) -> Result<(), (&'static str, Errno)> {
        if let Some(n) = self.send {
            set_socket_send_buffer_size(socket, n as usize).map_err(|e| ("setsockopt(SO_SNDBUF)", e))?;
        }
        if let Some(n) = self.receive {
            set_socket_recv_buffer_size(socket, n as usize).map_err(|e| ("setsockopt(SO_RCVBUF)", e))?;
        }
        Ok(())
    }
}

/// `call: what the system says`.
pub fn failure((call, error): (&'static str, Errno)) -> String {
    format!("{call}: {}", message(error))
}

/// What the system says.
pub fn message(error: Errno) -> String {
    crate::capture::error::system_message(&error.into())
}

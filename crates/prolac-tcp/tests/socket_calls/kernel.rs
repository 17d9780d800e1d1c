//! The kernel's sockets, on its loopback.

use std::io::Error;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use clickwork_prolac_tcp::sockets::RawAddress;

use super::api::{Api, Outcome};

/// The kernel; closes what the test has left open.
pub struct Kernel {
    open: Vec<i32>,
    patience: Duration,
}

/// Whether there is a loopback to use.
pub fn available() -> Result<(), String> {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    if !release.starts_with("6.18") {
        return Err(format!("the tables are of Linux 6.18, this is {release}"));
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").map_err(|e| format!("no loopback: {e}"))?;
    let address = listener.local_addr().map_err(|e| e.to_string())?;
    std::net::TcpStream::connect(address).map_err(|e| format!("no loopback: {e}"))?;
    std::net::TcpListener::bind("[::1]:0").map_err(|e| format!("no IPv6 loopback: {e}"))?;
    Ok(())
}

fn outcome(result: i64) -> Outcome {
    if result < 0 { Err(Error::last_os_error().raw_os_error().unwrap_or(0)) } else { Ok(result) }
}

impl Kernel {
    pub fn new() -> Kernel {
        Kernel { open: Vec::new(), patience: Duration::from_micros(500) }
    }

    /// For busy machines: each turn waits twice as long.
    pub fn patient(turn: u32) -> Kernel {
        Kernel { open: Vec::new(), patience: Duration::from_millis(1 << turn) }
    }

    fn opened(&mut self, result: i64) -> Outcome {
        let fd = outcome(result)?;
        self.open.push(fd as i32);
        Ok(fd)
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        for fd in self.open.drain(..) {
            // SAFETY: a descriptor that this opened.
            unsafe { libc::close(fd) };
        }
    }
}

// SAFETY of all calls below: pointers lead to memory of ours, of the length that goes with them.
impl Api for Kernel {
    fn socket(&mut self, domain: i32, kind: i32, protocol: i32) -> Outcome {
        // SAFETY: no pointers.
        let fd = unsafe { libc::socket(domain, kind | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC, protocol) };
        self.opened(fd.into())
    }

    fn bind(&mut self, fd: i32, address: SocketAddr) -> Outcome {
        let raw = RawAddress::from(address);
        let bytes = raw.as_bytes();
        // SAFETY: see above.
        outcome(unsafe { libc::bind(fd, bytes.as_ptr().cast(), bytes.len() as u32) }.into())
    }

    fn listen(&mut self, fd: i32, backlog: i32) -> Outcome {
        // SAFETY: no pointers.
        outcome(unsafe { libc::listen(fd, backlog) }.into())
    }

    fn accept(&mut self, fd: i32) -> Outcome {
        let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: null pointers are allowed.
        let fd = unsafe { libc::accept4(fd, std::ptr::null_mut(), std::ptr::null_mut(), flags) };
        self.opened(fd.into())
    }

    fn connect(&mut self, fd: i32, raw: &[u8]) -> Outcome {
        // SAFETY: see above.
        outcome(unsafe { libc::connect(fd, raw.as_ptr().cast(), raw.len() as u32) }.into())
    }

    fn receive(&mut self, fd: i32, length: usize, flags: i32) -> Outcome {
        let mut buffer = vec![0u8; length];
        // SAFETY: see above.
        outcome(unsafe { libc::recv(fd, buffer.as_mut_ptr().cast(), length, flags) } as i64)
    }

    fn send(&mut self, fd: i32, length: usize, flags: i32) -> Outcome {
        let data = vec![0u8; length];
        // SAFETY: see above.
        outcome(unsafe { libc::send(fd, data.as_ptr().cast(), length, flags | libc::MSG_NOSIGNAL) } as i64)
    }

    fn shutdown(&mut self, fd: i32, how: i32) -> Outcome {
        // SAFETY: no pointers.
        outcome(unsafe { libc::shutdown(fd, how) }.into())
    }

    fn close(&mut self, fd: i32) -> Outcome {
        if !self.open.contains(&fd) {
            // Another test may have it by now.
            return Err(libc::EBADF);
        }
        self.open.retain(|open| *open != fd);
        // SAFETY: a descriptor that this opened.
        outcome(unsafe { libc::close(fd) }.into())
    }

    fn poll(&mut self, fd: i32) -> Outcome {
        let mut entry = libc::pollfd { fd, events: 0x7fff, revents: 0 };
        // SAFETY: see above.
        outcome(unsafe { libc::poll(&mut entry, 1, 0) }.into())?;
        Ok(entry.revents.into())
    }

    fn set(&mut self, fd: i32, level: i32, name: i32, value: &[u8]) -> Outcome {
        // SAFETY: see above.
        outcome(
            unsafe { libc::setsockopt(fd, level, name, value.as_ptr().cast(), value.len() as u32) }.into(),
        )
    }

    fn get(&mut self, fd: i32, level: i32, name: i32, length: usize) -> Result<Vec<u8>, i32> {
        let mut buffer = vec![0u8; length];
        let mut length = length as u32;
        // SAFETY: see above.
        let result = unsafe { libc::getsockopt(fd, level, name, buffer.as_mut_ptr().cast(), &mut length) };
        outcome(result.into())?;
        buffer.truncate(length as usize);
        Ok(buffer)
    }

    fn ioctl(&mut self, fd: i32, request: u64) -> Outcome {
        let mut value = 1i32;
        // SAFETY: the requests of the test take a pointer to an int.
        outcome(unsafe { libc::ioctl(fd, request as _, &raw mut value) }.into())?;
        Ok(value.into())
    }

    fn fcntl(&mut self, fd: i32, command: i32, argument: i32) -> Outcome {
        // SAFETY: no pointers.
        outcome(unsafe { libc::fcntl(fd, command, argument) }.into())
    }

    fn local(&mut self, fd: i32) -> Result<SocketAddr, i32> {
        let mut raw = [0u8; 28];
        let mut length = 28;
        // SAFETY: see above.
        outcome(unsafe { libc::getsockname(fd, raw.as_mut_ptr().cast(), &mut length) }.into())?;
        let port = u16::from_be_bytes([raw[2], raw[3]]);
        Ok(match length {
            16 => SocketAddr::new(IpAddr::from(<[u8; 4]>::try_from(&raw[4..8]).unwrap()), port),
            _ => SocketAddr::new(IpAddr::from(<[u8; 16]>::try_from(&raw[8..24]).unwrap()), port),
        })
    }

    fn peer(&mut self, fd: i32) -> Outcome {
        let mut raw = [0u8; 28];
        let mut length = 28;
        // SAFETY: see above.
        outcome(unsafe { libc::getpeername(fd, raw.as_mut_ptr().cast(), &mut length) }.into()).map(|_| 0)
    }

    fn settle(&mut self) {
        std::thread::sleep(self.patience);
    }
}

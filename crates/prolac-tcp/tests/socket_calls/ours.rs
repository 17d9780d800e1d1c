//! Our sockets, on a stack that hears itself.

use std::io::IoSlice;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use clickwork_prolac_tcp::sockets::linux::*;
use clickwork_prolac_tcp::sockets::{Errno, Limits, PollFd, Progress, RawAddress, Refusal, Sockets};
use clickwork_prolac_tcp::{Config, Received, TcpStack};

use super::api::{Api, Outcome};

pub struct Ours {
    sockets: Sockets,
    now: u64,
}

fn refused(refusal: Refusal) -> i32 {
    match refusal {
        Refusal::Error(errno) => errno.0,
        Refusal::Wait(wait) => panic!("a socket that does not block wants to wait: {wait:?}"),
    }
}

fn plain(errno: Errno) -> i32 {
    errno.0
}

impl Ours {
    pub fn new() -> Ours {
        // The sizes of Linux since 6.16.
        let config = Config { receive_buffer_max: 32 << 20, ..Config::default() };
        let mut stack = TcpStack::new(config);
        stack.seed(7);
        stack.add_address(IpAddr::V4(Ipv4Addr::LOCALHOST));
        stack.add_address(IpAddr::V6(Ipv6Addr::LOCALHOST));
        let mut sockets = Sockets::new(stack);
        sockets.set_limits(Limits {
            send_buffer_max: 4 << 20,
            receive_buffer_max: 4 << 20,
            ..Limits::default()
        });
        Ours { sockets, now: 1_000_000 }
    }
}

impl Api for Ours {
    fn socket(&mut self, domain: i32, kind: i32, protocol: i32) -> Outcome {
        self.sockets.socket(domain, kind | SOCK_NONBLOCK, protocol).map(i64::from).map_err(plain)
    }

    fn bind(&mut self, fd: i32, address: SocketAddr) -> Outcome {
        self.sockets.bind(fd, RawAddress::from(address).as_bytes()).map(|()| 0).map_err(plain)
    }

    fn listen(&mut self, fd: i32, backlog: i32) -> Outcome {
        self.sockets.listen(fd, backlog).map(|()| 0).map_err(plain)
    }

    fn accept(&mut self, fd: i32) -> Outcome {
        let accepted = self.sockets.accept(self.now, fd, SOCK_NONBLOCK, &mut Progress::default());
        accepted.map(|(fd, _)| i64::from(fd)).map_err(refused)
    }

    fn connect(&mut self, fd: i32, raw: &[u8]) -> Outcome {
        let connected = self.sockets.connect(self.now, fd, raw, &mut Progress::default());
        connected.map(|()| 0).map_err(refused)
    }

    fn receive(&mut self, fd: i32, length: usize, flags: i32) -> Outcome {
        let mut buffer = vec![0; length];
        let received = self.sockets.receive(self.now, fd, &mut buffer, flags, &mut Progress::default());
        received.map(|length| length as i64).map_err(refused)
    }

    fn send(&mut self, fd: i32, length: usize, flags: i32) -> Outcome {
        let data = vec![0; length];
        let parts = [IoSlice::new(&data)];
        let sent = self.sockets.send_to(self.now, fd, &parts, flags, None, &mut Progress::default());
        sent.map(|length| length as i64).map_err(refused)
    }

    fn shutdown(&mut self, fd: i32, how: i32) -> Outcome {
        self.sockets.shutdown(self.now, fd, how).map(|()| 0).map_err(plain)
    }

    fn close(&mut self, fd: i32) -> Outcome {
        self.sockets.close(self.now, fd, &mut Progress::default()).map(|()| 0).map_err(refused)
    }

    fn poll(&mut self, fd: i32) -> Outcome {
        let mut entries = [PollFd { fd, events: 0x7fff, revents: 0 }];
        let polled = self.sockets.poll(self.now, &mut entries, 0, &mut Progress::default());
        polled.map(|_| entries[0].revents.into()).map_err(refused)
    }

    fn set(&mut self, fd: i32, level: i32, name: i32, value: &[u8]) -> Outcome {
        self.sockets.set_option(self.now, fd, level, name, value).map(|()| 0).map_err(plain)
    }

    fn get(&mut self, fd: i32, level: i32, name: i32, length: usize) -> Result<Vec<u8>, i32> {
        let mut buffer = vec![0; length];
        let length = self.sockets.get_option(self.now, fd, level, name, &mut buffer).map_err(plain)?;
        buffer.truncate(length);
        Ok(buffer)
    }

    fn ioctl(&mut self, fd: i32, request: u64) -> Outcome {
        self.sockets.ioctl(self.now, fd, request, 1).map(i64::from).map_err(plain)
    }

    fn fcntl(&mut self, fd: i32, command: i32, argument: i32) -> Outcome {
        self.sockets.fcntl(fd, command, argument).map(i64::from).map_err(plain)
    }

    fn local(&mut self, fd: i32) -> Result<SocketAddr, i32> {
        let raw = self.sockets.local_address(fd).map_err(plain)?;
        let bytes = raw.as_bytes();
        let port = u16::from_be_bytes([bytes[2], bytes[3]]);
        Ok(match bytes.len() {
            16 => SocketAddr::new(IpAddr::from(<[u8; 4]>::try_from(&bytes[4..8]).unwrap()), port),
            _ => SocketAddr::new(IpAddr::from(<[u8; 16]>::try_from(&bytes[8..24]).unwrap()), port),
        })
    }

    fn peer(&mut self, fd: i32) -> Outcome {
        self.sockets.peer_address(fd).map(|_| 0).map_err(plain)
    }

    fn settle(&mut self) {
        let received = Received { checksum_verified: false, segment_size: 0 };
        while let Some(transmit) = self.sockets.stack_mut().next_transmit() {
            self.now += 10;
            let packet = transmit.into_packet();
            self.sockets.stack_mut().receive(self.now, packet, received);
        }
        while self.sockets.next_change().is_some() {}
    }
}

//! A network namespace for each test, with a TUN device in it: this machine's TCP at one end, ours at the other.
//!
//! A namespace belongs to the thread that made it and those it starts, and goes away with them, however the test ends.
#![allow(dead_code, reason = "each test program uses a part")]

use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use clickwork_prolac_tcp_host::{Settings, SharedHost, TcpListener, TcpStream};

/// Our addresses and the machine's, on the device.
pub const OURS: [&str; 2] = ["10.9.0.2", "fd00:9::2"];
pub const LINUX: [&str; 2] = ["10.9.0.1", "fd00:9::1"];
pub const DEVICE: &str = "tcp0";

/// How long anything may take before it counts as hanging.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// Runs `test` on a thread with a network namespace of its own, where that is permitted.
pub fn in_namespace(test: impl FnOnce() + Send) {
    clickwork_oracles::namespaces();
    thread::scope(|scope| {
        let run = scope.spawn(|| match unshare_network() {
            Err(error) => clickwork_oracles::lacking(&format!("no network namespaces here: {error}")),
            Ok(()) => test(),
        });
        if let Err(panic) = run.join() {
            std::panic::resume_unwind(panic);
        }
    });
}

/// Gives the calling thread an empty network namespace.
fn unshare_network() -> io::Result<()> {
    // SAFETY: affects only what network the calling thread sees.
    match unsafe { libc::unshare(libc::CLONE_NEWNET) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Our host on the device, in the calling thread's namespace.
pub fn host(offload: bool) -> SharedHost {
    settings(offload).start().unwrap()
}

/// Of [`host`].
pub fn settings(offload: bool) -> Settings {
    let settings = Settings::new(DEVICE, &format!("{}/24", OURS[0])).unwrap();
    let settings = settings.and_address(&format!("{}/64", OURS[1])).unwrap();
    Settings { offload, ..settings }
}

pub fn at(address: &str, port: u16) -> SocketAddr {
    SocketAddr::new(address.parse::<IpAddr>().unwrap(), port)
}

/// What Linux's streams and ours have in common.
pub trait Stream: Send + Sync + 'static {
    fn receive(&self, buffer: &mut [u8]) -> io::Result<usize>;
    fn send(&self, text: &[u8]) -> io::Result<()>;
    fn end(&self, how: Shutdown) -> io::Result<()>;
    fn be_impatient(&self);
}

macro_rules! stream {
    ($name:ty) => {
        impl Stream for $name {
            fn receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
                let mut stream = self;
                stream.read(buffer)
            }
            fn send(&self, text: &[u8]) -> io::Result<()> {
                let mut stream = self;
                stream.write_all(text)
            }
            fn end(&self, how: Shutdown) -> io::Result<()> {
                self.shutdown(how)
            }
            fn be_impatient(&self) {
                self.set_read_timeout(Some(PATIENCE)).unwrap();
                self.set_write_timeout(Some(PATIENCE)).unwrap();
            }
        }
    };
}

stream!(std::net::TcpStream);
stream!(TcpStream);

/// Who opens a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opener {
    Linux,
    Ours,
}

/// A connection: Linux's end and ours. `family` 0 is IPv4, 1 IPv6.
pub fn connection(host: &SharedHost, opener: Opener, family: usize) -> (std::net::TcpStream, TcpStream) {
    let (linux, ours) = match opener {
        Opener::Linux => {
            let listener = TcpListener::bind(host, at(OURS[family], 0)).unwrap();
            let address = listener.local_addr().unwrap();
            let linux = std::net::TcpStream::connect_timeout(&address, PATIENCE).unwrap();
            let (ours, peer) = listener.accept().unwrap();
            assert_eq!(peer, linux.local_addr().unwrap());
            (linux, ours)
        }
        Opener::Ours => {
            let listener = std::net::TcpListener::bind(at(LINUX[family], 0)).unwrap();
            let address = listener.local_addr().unwrap();
            let ours = TcpStream::connect_timeout(host, &address, PATIENCE).unwrap();
            let (linux, peer) = listener.accept().unwrap();
            assert_eq!(peer, ours.local_addr().unwrap());
            (linux, ours)
        }
    };
    linux.be_impatient();
    ours.be_impatient();
    (linux, ours)
}

/// Text in which every place is known: a block of random bytes again and again, whose length divides no other.
pub struct Text(Vec<u8>);

const BLOCK: usize = 1_000_003;

impl Text {
    pub fn new(seed: u64) -> Arc<Text> {
        let mut state = seed | 1;
        let next = |_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        };
        Arc::new(Text((0..BLOCK).map(next).collect()))
    }

    /// Up to the end of the block.
    fn at(&self, place: u64) -> &[u8] {
        &self.0[(place % BLOCK as u64) as usize..]
    }

    /// Sends `length` bytes of it.
    pub fn send(&self, stream: &impl Stream, length: u64) {
        let mut place = 0;
        while place < length {
            let piece = self.at(place);
            // Pieces of all sizes.
            let size = (1 + place * 7919 % 200_000).min(length - place).min(piece.len() as u64);
            stream.send(&piece[..size as usize]).unwrap();
            place += size;
        }
    }

    /// Receives `length` bytes of it, and fails if one is another.
    pub fn receive(&self, stream: &impl Stream, length: u64) {
        let mut buffer = vec![0; 100_000];
        let mut place = 0;
        while place < length {
            let most = (buffer.len() as u64).min(length - place) as usize;
            let count = stream.receive(&mut buffer[..most]).unwrap();
            assert!(count > 0, "it ended after {place} of {length} bytes");
            let mut got = &buffer[..count];
            while !got.is_empty() {
                let piece = self.at(place);
                let size = piece.len().min(got.len());
                assert!(got[..size] == piece[..size], "a wrong byte from {place} to {}", place + size as u64);
                got = &got[size..];
                place += size as u64;
            }
        }
    }
}

/// Both ends send and receive at once, `length` bytes each way.
pub fn exchange<A: Stream, B: Stream>(a: A, b: B, there: u64, back: u64) -> (A, B) {
    let texts = [Text::new(1), Text::new(2)];
    let (a, b) = (Arc::new(a), Arc::new(b));
    thread::scope(|scope| {
        scope.spawn(|| texts[0].send(&*a, there));
        scope.spawn(|| texts[0].receive(&*b, there));
        scope.spawn(|| texts[1].send(&*b, back));
        scope.spawn(|| texts[1].receive(&*a, back));
    });
    let last = "the threads have ended";
    (Arc::into_inner(a).expect(last), Arc::into_inner(b).expect(last))
}

/// It is at its end.
pub fn expect_end(stream: &impl Stream) {
    assert_eq!(stream.receive(&mut [0; 10]).unwrap(), 0);
}

//! Streams joined: proxies in simulated time, and sockets of the host, whose ends are here.

use crate::testing::Harness;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

const STACKS: &str = "a :: ProlacTCP(10.0.0.1) -> b :: ProlacTCP(10.0.0.2) -> a;";
/// Keeps simulated time going while the host has something to do.
const CLOCK: &str = "Script(TYPE ACTIVE, wait 1ms, loop);";

/// A folder of its own for a test's sockets, removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = clickwork_oracles::unused(&format!("clickwork-relay-{name}"));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn file(&self) -> String {
        self.0.join("socket").to_str().unwrap().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// An address of the host at which nobody listens.
fn free_address() -> SocketAddr {
    TcpListener::bind((clickwork_oracles::loopback(), 0)).unwrap().local_addr().unwrap()
}

/// Runs the router, and `step` between its turns, until that gives something.
fn until<T>(t: &mut Harness, mut step: impl FnMut(&mut Harness) -> Option<T>) -> T {
    let give_up = Instant::now() + Duration::from_secs(300);
    loop {
        t.run_for(Duration::from_millis(2));
        if let Some(result) = step(t) {
            return result;
        }
        assert!(Instant::now() < give_up, "{}{}", t.read("r.last_error"), t.printed());
    }
}

/// Reads what there is; true at the end.
fn drain(from: &mut impl Read, into: &mut Vec<u8>) -> bool {
    let mut buffer = [0; 65_536];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return true,
            Ok(n) => into.extend_from_slice(&buffer[..n]),
            Err(e) if e.kind() == ErrorKind::WouldBlock => return false,
            Err(e) => panic!("{e}"),
        }
    }
}

#[test]
fn a_proxy_carries_data_and_half_closes_both_ways() {
    let stacks = format!("{STACKS} c :: ProlacTCP(10.0.1.1) -> d :: ProlacTCP(10.0.1.2) -> c;");
    for (server, client, port) in
        [("TCPEchoServer(d)", "TCPEchoClient", 7), ("TCPDiscardServer(d)", "TCPDiscardClient", 9)]
    {
        let config = format!(
            "{stacks} {server}; r :: TCPProxy(b, {port}, c, 10.0.1.2, {port}); \
             k :: {client}(a, 10.0.0.2, LENGTH 300000, PARALLEL 3, STOP true)"
        );
        for mut t in [Harness::new(&config), Harness::batched(&config)] {
            t.run_for(Duration::from_secs(50));
            assert_eq!(
                (t.read("k.done"), t.read("k.errors")),
                ("3".into(), "0".into()),
                "{}",
                t.read("k.last_error")
            );
            assert_eq!((t.read("r.bytes_to"), t.read("r.connections")), ("900000".into(), "0".into()));
            assert_eq!((t.read("r.done"), t.read("r.errors")), ("3".into(), "0".into()));
        }
    }
}

#[test]
fn a_proxy_without_a_server_breaks_connections_off() {
    let config = format!(
        "{STACKS} r :: TCPProxy(b, 7, a, 10.0.0.2, 99); k :: TCPEchoClient(a, 10.0.0.2, LENGTH 10, STOP true)"
    );
    let mut t = Harness::new(&config);
    t.run_for(Duration::from_secs(5));
    assert_eq!((t.read("r.errors"), t.read("r.last_error")), ("1".into(), "connection refused".into()));
    assert_eq!((t.read("k.errors"), t.read("k.last_error")), ("1".into(), "connection reset by peer".into()));
}

#[test]
fn a_client_of_the_router_reaches_a_unix_server_of_the_host() {
    let folder = Folder::new("unix");
    let server = UnixListener::bind(folder.file()).unwrap();
    server.set_nonblocking(true).unwrap();
    let mut t = Harness::new(&format!(
        "{STACKS} {CLOCK} r :: TCPToSocket(b, 80, UNIX, {}); k :: TCPDiscardClient(a, 10.0.0.2, 80, LENGTH 200000)",
        folder.file()
    ));
    let mut accepted = until(&mut t, |_| server.accept().ok()).0;
    accepted.set_nonblocking(true).unwrap();
    let mut text = Vec::new();
    until(&mut t, |_| drain(&mut accepted, &mut text).then_some(()));
    assert_eq!(text.len(), 200_000);
    // The other direction is open still.
    assert_eq!(t.read("k.finished"), "false");
    accepted.shutdown(Shutdown::Write).unwrap();
    until(&mut t, |t| (t.read("k.finished") == "true").then_some(()));
    assert_eq!(
        (t.read("k.done"), t.read("r.done"), t.read("r.connections")),
        ("1".into(), "1".into(), "0".into())
    );
    assert_eq!(format!("{:08x}", crc32fast::hash(&text)), t.read("k.checksum"));
}

#[test]
fn a_server_that_does_not_read_is_not_written_to_without_end() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let mut t = Harness::new(&format!(
        "{STACKS} {CLOCK} r :: TCPToSocket(b, 80, TCP, 127.0.0.1, {port}); \
         k :: TCPDiscardClient(a, 10.0.0.2, 80, LENGTH 50000000)"
    ));
    let mut accepted = until(&mut t, |_| server.accept().ok()).0;
    accepted.set_nonblocking(true).unwrap();
    t.run_for(Duration::from_secs(2));
    let waiting: u64 = t.read("r.bytes_to").parse().unwrap();
    let sent: u64 = t.read("k.bytes_out").parse().unwrap();
    assert!(waiting < sent && sent < 40_000_000, "{waiting} and {sent}");
    let mut text = Vec::new();
    until(&mut t, |_| drain(&mut accepted, &mut text).then_some(()));
    drop(accepted);
    until(&mut t, |t| (t.read("k.finished") == "true").then_some(()));
    assert_eq!((text.len(), t.read("k.done")), (50_000_000, "1".into()));
    assert_eq!(format!("{:08x}", crc32fast::hash(&text)), t.read("k.checksum"));
}

#[test]
fn without_a_server_on_the_host_connections_are_broken_off() {
    let free = free_address();
    let folder = Folder::new("none");
    for to in [format!("TCP, {}, {}", free.ip(), free.port()), format!("UNIX, {}", folder.file())] {
        let mut t = Harness::new(&format!(
            "{STACKS} {CLOCK} r :: TCPToSocket(b, 80, {to}); k :: TCPEchoClient(a, 10.0.0.2, 80)"
        ));
        until(&mut t, |t| (t.read("k.finished") == "true").then_some(()));
        assert_eq!(
            (t.read("k.errors"), t.read("k.last_error")),
            ("1".into(), "connection reset by peer".into())
        );
        assert_eq!((t.read("r.errors"), t.read("r.connections")), ("1".into(), "0".into()));
    }
}

#[test]
fn a_client_of_the_host_reaches_a_server_of_the_router() {
    let folder = Folder::new("from");
    let config = |name: &str| {
        format!("{STACKS} {CLOCK} TCPEchoServer(b); r :: SocketToTCP(a, 10.0.0.2, 7, UNIX, {name})")
    };
    let mut t = Harness::new(&config(&folder.file()));
    t.run_for(Duration::from_millis(2));
    let mut client = UnixStream::connect(folder.file()).unwrap();
    client.set_nonblocking(true).unwrap();
    let sent: Vec<u8> = (0..100_000u32).map(|n| (n % 251) as u8).collect();
    let (mut written, mut echo) = (0, Vec::new());
    until(&mut t, |_| {
        if written < sent.len() {
            match client.write(&sent[written..]) {
                Ok(n) => written += n,
                Err(e) => assert_eq!(e.kind(), ErrorKind::WouldBlock),
            }
            if written == sent.len() {
                client.shutdown(Shutdown::Write).unwrap();
            }
        }
        drain(&mut client, &mut echo).then_some(())
    });
    assert!(echo == sent, "{} bytes", echo.len());
    t.run_for(Duration::from_millis(20));
    assert_eq!((t.read("r.done"), t.read("r.connections")), ("1".into(), "0".into()));
    t.router.cleanup();
    assert!(!std::path::Path::new(&folder.file()).exists(), "the file goes with the router");
    // A file that was left behind is no obstacle.
    drop(UnixListener::bind(folder.file()).unwrap());
    drop(Harness::new(&config(&folder.file())));
}

#[test]
fn an_echo_that_nobody_reads_is_held_back_and_complete_when_it_is_read() {
    let folder = Folder::new("held");
    let mut t = Harness::new(&format!(
        "{STACKS} {CLOCK} s :: TCPEchoServer(b); r :: SocketToTCP(a, 10.0.0.2, 7, UNIX, {})",
        folder.file()
    ));
    t.run_for(Duration::from_millis(2));
    let mut client = UnixStream::connect(folder.file()).unwrap();
    client.set_nonblocking(true).unwrap();
    let byte = |n: u64| (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8;
    // All buffers on the way there and back fill up.
    let (mut sent, mut stalled) = (0, 0);
    until(&mut t, |_| {
        let piece: Vec<u8> = (sent..sent + 50_000).map(byte).collect();
        match client.write(&piece) {
            Ok(n) => (sent, stalled) = (sent + n as u64, 0),
            Err(_) => stalled += 1,
        }
        (stalled > 50).then_some(())
    });
    let held: u64 = t.read("s.bytes_in").parse().unwrap();
    assert!(held < sent && sent < 60_000_000, "{held} of {sent}");
    client.shutdown(Shutdown::Write).unwrap();
    let mut echo = Vec::new();
    until(&mut t, |_| drain(&mut client, &mut echo).then_some(()));
    assert_eq!(echo.len() as u64, sent);
    assert!(echo.iter().zip(0..).all(|(&b, n)| b == byte(n)));
}

#[test]
fn a_reset_of_the_router_is_an_end_on_the_host() {
    let free = free_address();
    let mut t = Harness::new(&format!(
        "{STACKS} {CLOCK} s :: TCPChargenServer(b); r :: SocketToTCP(a, 10.0.0.2, 19, TCP, {}, {})",
        free.ip(),
        free.port()
    ));
    t.run_for(Duration::from_millis(2));
    let mut client = TcpStream::connect(free).unwrap();
    client.set_nonblocking(true).unwrap();
    let mut text = Vec::new();
    until(&mut t, |_| {
        let mut buffer = [0; 1000];
        let n = client.read(&mut buffer).unwrap_or(0);
        text.extend_from_slice(&buffer[..n]);
        (text.len() > 5000).then_some(())
    });
    t.write("s.abort").unwrap();
    let error = until(&mut t, |_| {
        let mut buffer = [0; 65_536];
        loop {
            match client.read(&mut buffer) {
                Ok(0) => return Some("end".to_string()),
                Ok(_) => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => return None,
                Err(e) => return Some(e.kind().to_string()),
            }
        }
    });
    assert_eq!(error, "connection reset");
    assert_eq!((t.read("r.errors"), t.read("r.last_error")), ("1".into(), "connection reset by peer".into()));
}

#[test]
fn joined_streams_outlive_a_new_configuration() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = server.local_addr().unwrap().port();
    let free = free_address();
    let config = format!(
        "{STACKS} {CLOCK} r :: TCPToSocket(b, 80, TCP, 127.0.0.1, {to}); TCPEchoServer(b); \
         from :: SocketToTCP(a, 10.0.0.2, 7, TCP, {}, {}); \
         k :: TCPDiscardClient(a, 10.0.0.2, 80, LENGTH 20000000)",
        free.ip(),
        free.port()
    );
    let mut old = Harness::new(&config);
    let mut accepted = until(&mut old, |_| server.accept().ok()).0;
    accepted.set_nonblocking(true).unwrap();
    let mut talking = TcpStream::connect(free).unwrap();
    talking.set_nonblocking(true).unwrap();
    talking.write_all(b"before").unwrap();
    let mut heard = Vec::new();
    until(&mut old, |_| (drain(&mut talking, &mut heard) || heard == b"before").then_some(()));

    let mut new = Harness::new(&config);
    // This one waits to be accepted while one router replaces the other.
    let mut waiting = TcpStream::connect(free).unwrap();
    new.router.take_over(old.router);
    let mut text = Vec::new();
    until(&mut new, |_| drain(&mut accepted, &mut text).then_some(()));
    drop(accepted);
    until(&mut new, |t| (t.read("k.finished") == "true").then_some(()));
    assert_eq!((text.len(), new.read("k.done"), new.read("r.done")), (20_000_000, "1".into(), "1".into()));
    assert_eq!(format!("{:08x}", crc32fast::hash(&text)), new.read("k.checksum"));

    talking.write_all(b" and after").unwrap();
    until(&mut new, |_| (drain(&mut talking, &mut heard) || heard.len() == 16).then_some(()));
    assert_eq!(heard, b"before and after");
    waiting.set_nonblocking(true).unwrap();
    waiting.write_all(b"waited").unwrap();
    heard.clear();
    until(&mut new, |_| (drain(&mut waiting, &mut heard) || heard.len() == 6).then_some(()));
    assert_eq!(heard, b"waited");
}

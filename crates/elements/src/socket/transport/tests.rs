//! Sockets over loopback and Unix paths, with the standard library's as their peers.

use crate::testing::Harness;
use clickwork_packet::{Batch, Packet, anno};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Keeps the simulated clock going, so that the router never waits for ever.
const TICK: &str = "Script(TYPE ACTIVE, wait 1ms, loop);";

pub fn harness(config: &str) -> Harness {
    Harness::new(&format!("{TICK} {config}"))
}

/// Runs the router until `done` gives something, for five minutes at most.
pub fn until<T>(t: &mut Harness, what: &str, mut done: impl FnMut(&mut Harness) -> Option<T>) -> T {
    let give_up = Instant::now() + Duration::from_secs(300);
    loop {
        t.run_for(Duration::from_millis(2));
        if let Some(value) = done(t) {
            return value;
        }
        assert!(Instant::now() < give_up, "{what} in time; {}", t.printed());
        std::thread::sleep(Duration::from_micros(200));
    }
}

pub fn push(t: &mut Harness, packets: &[&[u8]]) {
    let element = t.router.find("s").unwrap();
    for p in packets {
        t.router.push(clickwork_router::Endpoint { element, port: 0 }, Batch::one(Packet::new(p)));
    }
}

fn port(t: &mut Harness) -> u16 {
    t.read("x.port").parse().expect("a port")
}

/// A path of a test's own, which goes with the value.
pub struct TempPath(pub PathBuf);

impl TempPath {
    pub fn new(name: &str) -> TempPath {
        let path = clickwork_oracles::unused(&format!("clickwork-{name}"));
        let _ = std::fs::remove_file(&path);
        TempPath(path)
    }
}

impl Drop for TempPath {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn udp() -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

fn datagram(socket: &UdpSocket) -> Vec<u8> {
    let mut buffer = [0; 70000];
    loop {
        match socket.recv(&mut buffer) {
            // By a signal that another test sends to the process.
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            received => return buffer[..received.unwrap()].to_vec(),
        }
    }
}

#[test]
fn a_udp_client_sends_and_receives_datagrams() {
    let (peer, address) = udp();
    for input in ["Queue ->", ""] {
        let mut t = harness(&format!(
            "s :: Source -> {input} x :: Socket(UDP, 127.0.0.1, {}, CLIENT true, SNAPLEN 4) -> k :: Sink",
            address.port()
        ));
        push(&mut t, &[b"one", b"", b"three"]);
        t.run_for(Duration::from_millis(5));
        assert_eq!([datagram(&peer), datagram(&peer), datagram(&peer)], [&b"one"[..], b"", b"three"]);
        assert_eq!(t.read("x.count"), "3");
        peer.send_to(b"answer", ("127.0.0.1", port(&mut t))).unwrap();
        let p = until(&mut t, "the answer", |t| t.take("k").pop());
        assert_eq!((p.data(), p.anno_u32(anno::EXTRA_LENGTH), p.headroom()), (&b"answ"[..], 2, 28));
        assert!(!p.timestamp().is_zero());
    }
}

#[test]
fn a_udp_server_answers_who_spoke_last() {
    let mut t =
        harness("s :: Source -> x :: Socket(udp, 127.0.0.1, 0, TIMESTAMP false, HEADROOM 60) -> k :: Sink");
    push(&mut t, &[b"to nobody"]);
    assert_eq!(t.read("x.drop_reasons"), "1\tnot connected\n");
    for text in [&b"first"[..], b"second"] {
        let (peer, _) = udp();
        peer.send_to(text, ("127.0.0.1", port(&mut t))).unwrap();
        let p = until(&mut t, "a datagram", |t| t.take("k").pop());
        assert_eq!((p.data(), p.headroom(), p.timestamp().is_zero()), (text, 60, true));
        push(&mut t, &[text]);
        assert_eq!(datagram(&peer), text);
    }
}

#[test]
fn a_udp_client_without_address_uses_the_annotation() {
    let (peer, address) = udp();
    let mut t = harness(&format!(
        "s :: Source -> SetIPAddress(127.0.0.1) -> x :: Socket(UDP, 0.0.0.0, {}, CLIENT true)",
        address.port()
    ));
    push(&mut t, &[b"hello"]);
    assert_eq!(datagram(&peer), b"hello");
}

#[test]
fn what_cannot_be_a_datagram_is_dropped_and_the_rest_goes_on() {
    let (peer, address) = udp();
    let mut t =
        harness(&format!("s :: Source -> Queue -> x :: ToSocket(UDP, 127.0.0.1, {})", address.port()));
    push(&mut t, &[&[0; 65535], b"short"]);
    t.run_for(Duration::from_millis(5));
    assert_eq!(datagram(&peer), b"short");
    assert_eq!(t.read("x.drop_reasons"), "1\ttoo long for a datagram\n");
}

#[test]
fn tables_say_who_is_served() {
    for (tables, served) in [
        ("DENY all", false),
        ("DENY all, ALLOW local", true),
        ("DENY other", true),
        ("ALLOW other", true),
        ("ALLOW other, DENY local", false),
    ] {
        let mut t = harness(&format!(
            "all :: RadixIPLookup(0.0.0.0/0 0); local :: RadixIPLookup(127.0.0.0/8 0); other :: DirectIPLookup(10.0.0.0/8 0);
             Idle -> all -> Discard; Idle -> local -> Discard; Idle -> other -> Discard;
             x :: FromSocket(UDP, 127.0.0.1, 0, VERBOSE true, {tables}) -> k :: Sink"
        ));
        let (peer, address) = udp();
        peer.send_to(b"?", ("127.0.0.1", port(&mut t))).unwrap();
        let taken = until(&mut t, "a verdict", |t| {
            let taken = !t.take("k").is_empty();
            (taken || !t.read("x.drop_reasons").is_empty()).then_some(taken)
        });
        assert_eq!(taken, served, "{tables}");
        let denied = format!("x :: FromSocket: dropped datagram from {address}\n");
        assert_eq!(t.printed(), if served { "" } else { &denied });
    }
}

/// What a stream brings until there are `n` bytes.
fn bytes_of(t: &mut Harness, stream: &mut impl Read, n: usize) -> Vec<u8> {
    let mut all = Vec::new();
    let mut buffer = vec![0; 1 << 16];
    until(t, "bytes", |_| {
        match stream.read(&mut buffer) {
            Ok(0) => panic!("the stream ends after {} bytes", all.len()),
            Ok(n) => all.extend_from_slice(&buffer[..n]),
            Err(e) => assert_eq!(e.kind(), ErrorKind::WouldBlock),
        }
        (all.len() >= n).then_some(())
    });
    all
}

#[test]
fn a_tcp_server_serves_one_client_after_the_other() {
    let mut t = harness("s :: Source -> x :: Socket(TCP, 127.0.0.1, 0, VERBOSE true) -> k :: Sink");
    let to = ("127.0.0.1", port(&mut t));
    let mut first = TcpStream::connect(to).unwrap();
    let mut second = TcpStream::connect(to).unwrap();
    second.set_nonblocking(true).unwrap();
    second.write_all(b"later").unwrap();
    first.write_all(b"hello").unwrap();
    first.set_nonblocking(true).unwrap();
    assert_eq!(until(&mut t, "data", |t| t.take("k").pop()).data(), b"hello");
    push(&mut t, &[b"good ", b"day"]);
    assert_eq!(bytes_of(&mut t, &mut first, 8), b"good day");
    let address = first.local_addr().unwrap();
    drop(first);
    assert_eq!(until(&mut t, "data of the next", |t| t.take("k").pop()).data(), b"later");
    let said = t.printed();
    let numbers = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "");
    assert!(said.contains(&format!("from {address}\n")), "{said}");
    assert!(
        numbers(&said).starts_with("x :: Socket: listening for connections on ...: ()\nx :: Socket: opened connection  from ...:\nx :: Socket: closed connection \nx :: Socket: opened connection"),
        "{said}"
    );
}

#[test]
fn all_of_a_long_stream_arrives_however_slowly_it_is_read() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut t = harness(&format!(
        "InfiniteSource(LENGTH 1999, LIMIT 3000) -> Queue(10000) -> x :: Socket(TCP, 127.0.0.1, {}, SNDBUF 5000)",
        listener.local_addr().unwrap().port()
    ));
    let (mut stream, _) = listener.accept().unwrap();
    stream.set_nonblocking(true).unwrap();
    t.run_for(Duration::from_millis(20));
    let early: u32 = t.read("x.count").parse().unwrap();
    assert!(early < 3000);
    assert_eq!(bytes_of(&mut t, &mut stream, 1999 * 3000).len(), 1999 * 3000);
    assert_eq!((t.read("x.count"), t.read("x.drop_reasons")), ("3000".into(), String::new()));
}

#[test]
fn pushed_packets_wait_up_to_a_limit() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut t = harness(&format!("s :: Source -> x :: Socket(TCP, 127.0.0.1, {port}, SNDBUF 5000)"));
    let (mut stream, _) = listener.accept().unwrap();
    stream.set_nonblocking(true).unwrap();
    for _ in 0..20_000 {
        push(&mut t, &[&[b'x'; 1000]]);
    }
    let drops = t.read("x.drop_reasons");
    let dropped: usize = drops.strip_suffix("\tsocket is full\n").expect("drops").parse().unwrap();
    let left = 20_000 - dropped;
    assert_eq!(bytes_of(&mut t, &mut stream, left * 1000).len(), left * 1000);
    assert_eq!(t.read("x.count"), left.to_string());
}

#[test]
fn a_tcp_client_connects_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut t = harness(&format!(
        "s :: Source -> x :: Socket(TCP, 127.0.0.1, {}, CLIENT true, VERBOSE true) -> k :: Sink",
        address.port()
    ));
    assert!(t.printed().contains(&format!(" to {address}\n")));
    drop(listener.accept().unwrap());
    until(&mut t, "the end", |t| (t.read("x.connected") == "false").then_some(()));
    push(&mut t, &[b"lost"]);
    assert_eq!(t.read("x.drop_reasons"), "1\tnot connected\n");
    let (mut again, _) = until(&mut t, "another connection", |t| {
        t.run_for(Duration::from_millis(500));
        listener.set_nonblocking(true).unwrap();
        listener.accept().ok()
    });
    again.write_all(b"welcome").unwrap();
    assert_eq!(until(&mut t, "data", |t| t.take("k").pop()).data(), b"welcome");
    drop((again, listener));
    t.run_for(Duration::from_secs(5));
    let said = t.printed();
    assert_eq!(said.matches("connect: Connection refused; tried again each second").count(), 1, "{said}");
}

#[test]
fn unix_streams_and_datagrams() {
    let (path, own) = (TempPath::new("stream"), TempPath::new("own"));
    let listener = UnixListener::bind(&path.0).unwrap();
    let mut t =
        harness(&format!("s :: Source -> x :: Socket(UNIX, {}, CLIENT true) -> k :: Sink", path.0.display()));
    let (mut stream, _) = listener.accept().unwrap();
    stream.write_all(b"abc").unwrap();
    assert_eq!(until(&mut t, "data", |t| t.take("k").pop()).data(), b"abc");
    push(&mut t, &[b"def"]);
    stream.set_nonblocking(true).unwrap();
    assert_eq!(bytes_of(&mut t, &mut stream, 3), b"def");

    let path = TempPath::new("datagram");
    let mut t = harness(&format!("x :: FromSocket(UNIX_DGRAM, {}) -> k :: Sink", path.0.display()));
    let mut client = harness(&format!(
        "s :: Source -> x :: Socket(UNIX_DGRAM, {}, {}) -> Discard",
        path.0.display(),
        own.0.display()
    ));
    assert!(path.0.exists() && own.0.exists());
    push(&mut client, &[b"xyz"]);
    assert_eq!(until(&mut t, "data", |t| t.take("k").pop()).data(), b"xyz");
    t.router.cleanup();
    client.router.cleanup();
    assert!(!path.0.exists() && !own.0.exists());
    push(&mut client, &[b"?"]);
}

#[test]
fn a_datagram_to_nobody_is_dropped_and_somebody_may_come() {
    let path = TempPath::new("nobody");
    let mut t = harness(&format!("s :: Source -> Queue -> x :: ToSocket(UNIX_DGRAM, {})", path.0.display()));
    push(&mut t, &[b"early"]);
    t.run_for(Duration::from_millis(5));
    assert_eq!(t.read("x.drop_reasons"), "1\tnobody listens\n");
    let peer = UnixDatagram::bind(&path.0).unwrap();
    push(&mut t, &[b"now"]);
    t.run_for(Duration::from_millis(5));
    let mut buffer = [0; 10];
    assert_eq!(peer.recv(&mut buffer).unwrap(), 3);
}

#[test]
fn a_server_takes_pulled_packets_only_when_somebody_is_there() {
    let path = TempPath::new("server");
    let mut t =
        harness(&format!("s :: Source -> q :: Queue -> x :: Socket(UNIX, {}) -> Discard", path.0.display()));
    push(&mut t, &[b"kept"]);
    t.run_for(Duration::from_millis(5));
    assert_eq!(t.read("q.length"), "1");
    let mut client = UnixStream::connect(&path.0).unwrap();
    client.set_nonblocking(true).unwrap();
    assert_eq!(bytes_of(&mut t, &mut client, 4), b"kept");
}

#[test]
fn mistakes_are_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let free = { TcpListener::bind((clickwork_oracles::loopback(), 0)).unwrap().local_addr().unwrap() };
    let long = "x".repeat(200);
    for (args, message) in [
        ("SCTP, 1.2.3.4, 5", "unknown socket type `SCTP'"),
        ("TCP", "ADDR: required argument missing"),
        ("UDP, 1.2.3.4", "PORT: required argument missing"),
        ("UNIX", "FILENAME: required argument missing"),
        ("UNIX, /tmp/a, /tmp/b, 1.2.3.4", "too many arguments"),
        (&format!("UNIX, /{long}"), "remote filename '/xxx"),
        (&format!("UNIX, /a, /{long}"), "local filename '/xxx"),
        ("UDP, 1.2.3.4, 5, SNAPLEN 0", "SNAPLEN out of range"),
        ("UDP, 1.2.3.4, 5, ALLOW d", "d is not an IPRouteTable"),
        ("UDP, 1.2.3.4, 5, DENY nobody", "DENY: does not name an element"),
        ("UDP, 1.2.3.4, x", "PORT: "),
        (&format!("TCP, 127.0.0.1, {}", taken.local_addr().unwrap().port()), "bind: Address already in use"),
        (&format!("TCP, {}, {}, CLIENT true", free.ip(), free.port()), "connect: Connection refused"),
        ("UDP, 192.0.2.1, 5", "bind: Cannot assign requested address"),
    ] {
        let e = Harness::errors(&format!("Socket({args}) -> d :: Discard"));
        assert!(e.contains(message), "{args}: {e}");
    }
}

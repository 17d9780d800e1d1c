//! Sockets on a stack that hears itself: what the table of calls and states (`socket_calls`) does not show. Blocking calls,
//! their waits and how far they have come; timeouts; ports; options that reach the wire.

use std::io::{IoSlice, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use clickwork_prolac_tcp::sockets::linux::*;
use clickwork_prolac_tcp::sockets::{Errno, Fd, Limits, Progress, RawAddress, Refusal, Sockets, Wait};
use clickwork_prolac_tcp::{Config, Received, TcpStack};

const SECOND: u64 = 1_000_000;

struct Host {
    sockets: Sockets,
    now: u64,
    /// Types of service of the packets that were sent.
    classes: Vec<u8>,
}

impl Host {
    fn new() -> Host {
        let mut stack = TcpStack::new(Config::default());
        stack.seed(3);
        stack.add_address(IpAddr::V4(Ipv4Addr::LOCALHOST));
        Host { sockets: Sockets::new(stack), now: SECOND, classes: Vec::new() }
    }

    fn socket(&mut self, flags: i32) -> Fd {
        self.sockets.socket(AF_INET, SOCK_STREAM | flags, 0).unwrap()
    }

    fn listener(&mut self) -> (Fd, SocketAddr) {
        let fd = self.socket(0);
        self.sockets
            .bind(fd, RawAddress::from("127.0.0.1:0".parse::<SocketAddr>().unwrap()).as_bytes())
            .unwrap();
        self.sockets.listen(fd, 5).unwrap();
        let raw = self.sockets.local_address(fd).unwrap();
        let port = u16::from_be_bytes([raw.as_bytes()[2], raw.as_bytes()[3]]);
        (fd, SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port))
    }

    fn connect(&mut self, fd: Fd, to: SocketAddr, progress: &mut Progress) -> Result<(), Refusal> {
        self.sockets.connect(self.now, fd, RawAddress::from(to).as_bytes(), progress)
    }

    fn pair(&mut self) -> (Fd, Fd) {
        let (listener, address) = self.listener();
        let fd = self.socket(0);
        let mut progress = Progress::default();
        waits(self.connect(fd, address, &mut progress));
        self.settle();
        self.connect(fd, address, &mut progress).unwrap();
        let (peer, _) = self.sockets.accept(self.now, listener, 0, &mut Progress::default()).unwrap();
        self.sockets.close(self.now, listener, &mut Progress::default()).unwrap();
        (fd, peer)
    }

    fn settle(&mut self) {
        while let Some(transmit) = self.sockets.stack_mut().next_transmit() {
            self.now += 10;
            let packet = transmit.into_packet();
            self.classes.push(packet.data()[1]);
            self.sockets.stack_mut().receive(self.now, packet, Received::default());
        }
        while self.sockets.next_change().is_some() {}
    }

    /// Lets time pass, with all timers.
    fn pass(&mut self, microseconds: u64) {
        let end = self.now + microseconds;
        self.settle();
        while let Some(next) = self.sockets.stack().deadline().filter(|next| *next <= end) {
            self.now = self.now.max(next);
            self.sockets.stack_mut().advance(self.now);
            self.settle();
        }
        self.now = end;
    }
}

fn waits<T: std::fmt::Debug>(result: Result<T, Refusal>) -> Wait {
    match result {
        Err(Refusal::Wait(wait)) => wait,
        other => panic!("it does not wait: {other:?}"),
    }
}

fn fails<T: std::fmt::Debug>(result: Result<T, Refusal>) -> Errno {
    match result {
        Err(Refusal::Error(errno)) => errno,
        other => panic!("it does not fail: {other:?}"),
    }
}

#[test]
fn a_blocking_write_comes_to_its_end_in_steps() {
    let mut host = Host::new();
    let (fd, peer) = host.pair();
    host.sockets.set_option(host.now, fd, SOL_SOCKET, SO_SNDBUF, &10_000i32.to_ne_bytes()).unwrap();
    let text: Vec<u8> = (0..300_000u32).map(|n| (n / 7) as u8).collect();
    let (mut progress, mut got, mut steps) = (Progress::default(), Vec::new(), 0);
    let written = loop {
        match host.sockets.send(host.now, fd, &text, 0, &mut progress) {
            Err(Refusal::Wait(wait)) => assert_eq!((wait.fd, wait.events), (fd, POLLOUT)),
            other => break other,
        }
        steps += 1;
        host.pass(SECOND / 2);
        let mut buffer = [0; 50_000];
        let count = host.sockets.receive(host.now, peer, &mut buffer, 0, &mut Progress::default());
        got.extend_from_slice(&buffer[..count.unwrap_or(0)]);
        host.settle();
    };
    assert_eq!(written, Ok(text.len()));
    assert!(steps > 5, "the buffer is small");
    while got.len() < text.len() {
        host.pass(SECOND / 2);
        let mut buffer = [0; 50_000];
        let count = host.sockets.receive(host.now, peer, &mut buffer, 0, &mut Progress::default()).unwrap();
        got.extend_from_slice(&buffer[..count]);
    }
    assert!(got == text, "every byte once, and in order");
}

#[test]
fn waits_end_at_their_deadlines() {
    let mut host = Host::new();
    let (fd, _) = host.pair();
    let half = [0i64.to_ne_bytes(), 500_000i64.to_ne_bytes()].concat();
    host.sockets.set_option(host.now, fd, SOL_SOCKET, SO_RCVTIMEO, &half).unwrap();
    let (mut progress, begin) = (Progress::default(), host.now);
    let mut buffer = [0; 10];
    let wait = waits(host.sockets.receive(host.now, fd, &mut buffer, 0, &mut progress));
    assert_eq!(wait, Wait { fd, events: POLLIN, deadline: Some(begin + SECOND / 2) });
    // Woken for nothing: the deadline stays.
    host.pass(SECOND / 4);
    let wait = waits(host.sockets.receive(host.now, fd, &mut buffer, 0, &mut progress));
    assert_eq!(wait.deadline, Some(begin + SECOND / 2));
    host.pass(SECOND / 4);
    assert_eq!(fails(host.sockets.receive(host.now, fd, &mut buffer, 0, &mut progress)), Errno::AGAIN);
}

#[test]
fn connect_gives_up_when_it_was_told_to() {
    let mut host = Host::new();
    let fd = host.socket(0);
    let half = [0i64.to_ne_bytes(), 500_000i64.to_ne_bytes()].concat();
    host.sockets.set_option(host.now, fd, SOL_SOCKET, SO_SNDTIMEO, &half).unwrap();
    let mut progress = Progress::default();
    // Nobody answers: this packet is not delivered.
    waits(host.connect(fd, "127.0.0.1:9".parse().unwrap(), &mut progress));
    assert!(host.sockets.stack_mut().next_transmit().is_some());
    host.now += SECOND / 2;
    assert_eq!(fails(host.connect(fd, "127.0.0.1:9".parse().unwrap(), &mut progress)), Errno::INPROGRESS);
    // Another call finds it under way.
    let other = &mut Progress::default();
    let wait = waits(host.connect(fd, "127.0.0.1:9".parse().unwrap(), other));
    assert_eq!(wait.events, POLLOUT);
}

#[test]
fn msg_waitall_waits_for_all_and_keeps_what_came() {
    let mut host = Host::new();
    let (fd, peer) = host.pair();
    let (mut progress, mut one, mut two) = (Progress::default(), [0u8; 4], [0u8; 4]);
    for step in [&b"abc"[..], b"de", b"fgh"] {
        let mut parts = [IoSliceMut::new(&mut one), IoSliceMut::new(&mut two)];
        waits(host.sockets.receive_message(host.now, fd, &mut parts, MSG_WAITALL, &mut progress));
        host.sockets.send(host.now, peer, step, 0, &mut Progress::default()).unwrap();
        host.pass(SECOND);
    }
    let mut parts = [IoSliceMut::new(&mut one), IoSliceMut::new(&mut two)];
    let received = host.sockets.receive_message(host.now, fd, &mut parts, MSG_WAITALL, &mut progress);
    assert_eq!(received.unwrap().length, 8);
    assert_eq!([one, two].concat(), b"abcdefgh");
}

#[test]
fn an_end_in_the_middle_gives_what_there_was() {
    let mut host = Host::new();
    let (fd, peer) = host.pair();
    host.sockets.send(host.now, peer, b"half", 0, &mut Progress::default()).unwrap();
    host.sockets.close(host.now, peer, &mut Progress::default()).unwrap();
    host.pass(SECOND);
    let mut buffer = [0; 100];
    let received = host.sockets.receive(host.now, fd, &mut buffer, MSG_WAITALL, &mut Progress::default());
    assert_eq!(received, Ok(4));
    assert_eq!(host.sockets.receive(host.now, fd, &mut buffer, MSG_WAITALL, &mut Progress::default()), Ok(0));
}

#[test]
fn a_lingering_close_waits_for_the_peer() {
    let mut host = Host::new();
    let (fd, peer) = host.pair();
    let linger = [1i32.to_ne_bytes(), 5i32.to_ne_bytes()].concat();
    host.sockets.set_option(host.now, fd, SOL_SOCKET, SO_LINGER, &linger).unwrap();
    let mut progress = Progress::default();
    let wait = waits(host.sockets.close(host.now, fd, &mut progress));
    assert_eq!(wait.deadline, Some(host.now + 5 * SECOND));
    host.pass(SECOND);
    assert_eq!(host.sockets.close(host.now, fd, &mut progress), Ok(()));
    assert_eq!(fails(host.sockets.close(host.now, fd, &mut Progress::default())), Errno::BADF);
    let mut byte = [0];
    assert_eq!(host.sockets.receive(host.now, peer, &mut byte, 0, &mut Progress::default()), Ok(0));
}

#[test]
fn a_connection_holds_its_port_when_its_socket_is_gone() {
    let mut host = Host::new();
    let (listener, address) = host.listener();
    let client = host.socket(SOCK_NONBLOCK);
    assert_eq!(fails(host.connect(client, address, &mut Progress::default())), Errno::INPROGRESS);
    host.settle();
    let (server, _) = host.sockets.accept(host.now, listener, 0, &mut Progress::default()).unwrap();
    for fd in [listener, server] {
        host.sockets.close(host.now, fd, &mut Progress::default()).unwrap();
    }
    host.settle();
    let raw = RawAddress::from(address);
    let fd = host.socket(0);
    assert_eq!(host.sockets.bind(fd, raw.as_bytes()), Err(Errno::ADDRINUSE), "FIN-WAIT-2");
    host.sockets.close(host.now, client, &mut Progress::default()).unwrap();
    host.pass(200 * SECOND);
    assert_eq!(host.sockets.bind(fd, raw.as_bytes()), Ok(()), "after TIME-WAIT");
}

#[test]
fn the_traffic_class_reaches_the_wire() {
    let mut host = Host::new();
    let (fd, peer) = host.pair();
    host.settle();
    host.classes.clear();
    host.sockets.set_option(host.now, fd, IPPROTO_IP, IP_TOS, &0x2fi32.to_ne_bytes()).unwrap();
    host.sockets.send(host.now, fd, b"x", 0, &mut Progress::default()).unwrap();
    host.pass(SECOND);
    assert_eq!(host.classes, [0x2c, 0], "ours without the bits of ECN; the peer's acknowledgment");
    let _ = peer;
}

#[test]
fn what_is_not_sent_can_be_limited() {
    let mut host = Host::new();
    let (fd, _) = host.pair();
    host.sockets.fcntl(fd, F_SETFL, O_NONBLOCK).unwrap();
    host.sockets.set_option(host.now, fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &20_000i32.to_ne_bytes()).unwrap();
    let mut total = 0;
    while let Ok(count) = host.sockets.send(host.now, fd, &[0; 1000], 0, &mut Progress::default()) {
        total += count;
    }
    // The initial window is on its way, and as much as allowed waits.
    assert!((20_000..60_000).contains(&total), "{total}");
    assert_eq!(host.sockets.readiness(fd).unwrap() & POLLOUT, 0);
    host.pass(SECOND);
    assert_eq!(host.sockets.readiness(fd).unwrap() & POLLOUT, POLLOUT);
}

#[test]
fn tcp_inq_tells_what_is_left() {
    let mut host = Host::new();
    let (fd, peer) = host.pair();
    host.sockets.set_option(host.now, fd, IPPROTO_TCP, TCP_INQ, &1i32.to_ne_bytes()).unwrap();
    let parts = [IoSlice::new(b"abc"), IoSlice::new(b"defgh")];
    host.sockets.send_to(host.now, peer, &parts, 0, None, &mut Progress::default()).unwrap();
    host.pass(SECOND);
    let mut buffer = [0; 5];
    let mut parts = [IoSliceMut::new(&mut buffer)];
    let received =
        host.sockets.receive_message(host.now, fd, &mut parts, 0, &mut Progress::default()).unwrap();
    assert_eq!((received.length, received.inquire), (5, Some(3)));
}

/// The end of the stream counts as one, so that its reader goes on.
#[test]
fn tcp_inq_tells_of_the_end() {
    let mut host = Host::new();
    let (fd, peer) = host.pair();
    host.sockets.set_option(host.now, fd, IPPROTO_TCP, TCP_INQ, &1i32.to_ne_bytes()).unwrap();
    host.sockets.send(host.now, peer, b"abc", 0, &mut Progress::default()).unwrap();
    host.sockets.close(host.now, peer, &mut Progress::default()).unwrap();
    host.pass(SECOND);
    let left = [2, 1, 1].map(|length| {
        let mut buffer = vec![0; length];
        let mut parts = [IoSliceMut::new(&mut buffer)];
        host.sockets.receive_message(host.now, fd, &mut parts, 0, &mut Progress::default()).unwrap().inquire
    });
    assert_eq!(left, [Some(2), Some(1), Some(1)]);
}

/// Writes with MSG_ZEROCOPY are told of on the error queue, several at once, and only if they were asked for.
#[test]
fn zero_copy_writes_are_told_of() {
    let mut host = Host::new();
    let (fd, _) = host.pair();
    let read_errors = |host: &mut Host| {
        let result =
            host.sockets.receive_message(host.now, fd, &mut [], MSG_ERRQUEUE, &mut Progress::default());
        result.map(|received| received.completed.map(|completed| (completed.first, completed.last)))
    };
    let write = |host: &mut Host, flags| {
        host.sockets.send(host.now, fd, b"text", flags, &mut Progress::default()).unwrap();
    };
    write(&mut host, MSG_ZEROCOPY);
    assert!(read_errors(&mut host).is_err(), "it was not asked for");
    host.sockets.set_option(host.now, fd, SOL_SOCKET, SO_ZEROCOPY, &1i32.to_ne_bytes()).unwrap();
    write(&mut host, 0);
    assert_eq!(host.sockets.readiness(fd).unwrap() & POLLERR, 0);
    write(&mut host, MSG_ZEROCOPY);
    write(&mut host, MSG_ZEROCOPY);
    assert_ne!(host.sockets.readiness(fd).unwrap() & POLLERR, 0);
    assert_eq!(read_errors(&mut host), Ok(Some((0, 1))));
    write(&mut host, MSG_ZEROCOPY);
    assert_eq!(read_errors(&mut host), Ok(Some((2, 2))));
    assert!(read_errors(&mut host).is_err());
    assert_eq!(host.sockets.readiness(fd).unwrap() & POLLERR, 0);
}

/// What we have no timestamps for is refused, so that nobody waits for them.
#[test]
fn timestamping_is_refused() {
    const SO_TIMESTAMPING: [i32; 2] = [37, 65];
    let mut host = Host::new();
    let fd = host.socket(0);
    for name in SO_TIMESTAMPING {
        let set = host.sockets.set_option(host.now, fd, SOL_SOCKET, name, &1i32.to_ne_bytes());
        assert_eq!(set, Err(Errno::NOPROTOOPT));
    }
}

#[test]
fn descriptors_are_reused_lowest_first_and_limited() {
    let mut host = Host::new();
    host.sockets.set_limits(Limits { files: 4, ..Limits::default() });
    let fds: Vec<Fd> = (0..4).map(|_| host.socket(0)).collect();
    assert_eq!(fds, [3, 4, 5, 6]);
    assert_eq!(host.sockets.socket(AF_INET, SOCK_STREAM, 0), Err(Errno::MFILE));
    for fd in [5, 4] {
        host.sockets.close(host.now, fd, &mut Progress::default()).unwrap();
    }
    assert_eq!([host.socket(0), host.socket(0)], [4, 5]);
    host.sockets.close_all(host.now);
    assert_eq!(host.sockets.descriptors().count(), 0);
}

#[test]
fn nothing_is_left_of_many_connections() {
    let mut host = Host::new();
    let (listener, address) = host.listener();
    for _ in 0..300 {
        let fd = host.socket(SOCK_NONBLOCK);
        assert_eq!(fails(host.connect(fd, address, &mut Progress::default())), Errno::INPROGRESS);
        host.settle();
        let (peer, _) = host.sockets.accept(host.now, listener, 0, &mut Progress::default()).unwrap();
        for fd in [fd, peer] {
            host.sockets.close(host.now, fd, &mut Progress::default()).unwrap();
        }
        host.settle();
    }
    host.pass(200 * SECOND);
    assert_eq!(host.sockets.stack().connections().count(), 0);
    assert_eq!(host.sockets.stack().segments_in_use(), 0);
    assert_eq!(host.sockets.descriptors().count(), 1);
}

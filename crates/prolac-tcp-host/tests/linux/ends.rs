//! Connections end in every order, are refused, are reset, and calls after that say what Linux says.

use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use clickwork_prolac_tcp_host::{SharedHost, TcpListener, TcpStream};

use crate::support::{LINUX, OURS, Opener, PATIENCE, Stream, at, connection, expect_end, host, in_namespace};

/// Runs `test` with connections opened by either side, over either family.
fn on_connections(test: impl Fn(&SharedHost, std::net::TcpStream, TcpStream) + Send + Sync) {
    in_namespace(|| {
        let host = host(true);
        for (opener, family) in [(Opener::Linux, 0), (Opener::Ours, 0), (Opener::Linux, 1), (Opener::Ours, 1)]
        {
            let (linux, ours) = connection(&host, opener, family);
            test(&host, linux, ours);
        }
    });
}

/// Repeats `step` until it says true.
fn until(what: &str, mut step: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !step() {
        assert!(Instant::now() < end, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn kind<T: std::fmt::Debug>(result: io::Result<T>) -> ErrorKind {
    result.expect_err("it should fail").kind()
}

/// Lets Linux end a connection with a reset.
fn reset(linux: std::net::TcpStream) {
    let linger = libc::linger { l_onoff: 1, l_linger: 0 };
    // SAFETY: the pointer and length are those of `linger`, which lives during the call.
    let set = unsafe {
        let size = size_of::<libc::linger>() as libc::socklen_t;
        libc::setsockopt(
            linux.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_LINGER,
            (&raw const linger).cast(),
            size,
        )
    };
    assert_eq!(set, 0);
}

pub fn linux_closes_first() {
    on_connections(|_, linux, ours| {
        linux.send(b"last words").unwrap();
        linux.end(Shutdown::Write).unwrap();
        let mut text = String::new();
        (&ours).read_to_string(&mut text).unwrap();
        assert_eq!(text, "last words");
        // Half closed: the other direction still works.
        ours.send(b"and mine").unwrap();
        drop(ours);
        let mut text = String::new();
        (&linux).read_to_string(&mut text).unwrap();
        assert_eq!(text, "and mine");
    });
}

pub fn we_close_first() {
    on_connections(|_, linux, ours| {
        ours.send(b"last words").unwrap();
        ours.end(Shutdown::Write).unwrap();
        assert_eq!(ours.send(b"more").map_err(|e| e.kind()), Err(ErrorKind::BrokenPipe));
        let mut text = String::new();
        (&linux).read_to_string(&mut text).unwrap();
        assert_eq!(text, "last words");
        linux.send(b"and mine").unwrap();
        drop(linux);
        let mut text = String::new();
        (&ours).read_to_string(&mut text).unwrap();
        assert_eq!(text, "and mine");
    });
}

pub fn both_close_at_once() {
    on_connections(|_, linux, ours| {
        std::thread::scope(|scope| {
            scope.spawn(|| linux.end(Shutdown::Write).unwrap());
            scope.spawn(|| ours.end(Shutdown::Write).unwrap());
        });
        expect_end(&linux);
        expect_end(&ours);
    });
}

pub fn a_stream_that_is_dropped_still_sends_what_was_written() {
    on_connections(|_, linux, ours| {
        let text = vec![7; 100_000];
        ours.send(&text).unwrap();
        drop(ours);
        let mut got = Vec::new();
        (&linux).read_to_end(&mut got).unwrap();
        assert!(got == text, "{} bytes", got.len());
    });
}

pub fn a_host_that_is_dropped_still_sends_what_was_written() {
    in_namespace(|| {
        let host = host(true);
        let (linux, ours) = connection(&host, Opener::Ours, 0);
        let text = vec![7; 100_000];
        ours.send(&text).unwrap();
        let reader = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            let mut got = Vec::new();
            (&linux).read_to_end(&mut got).map(|_| got)
        });
        drop((ours, host));
        assert!(reader.join().unwrap().unwrap() == text);
    });
}

pub fn linux_resets() {
    on_connections(|_, linux, ours| {
        reset(linux);
        assert_eq!(kind((&ours).read(&mut [0; 10])), ErrorKind::ConnectionReset);
        // Told once; then it is the end.
        expect_end(&ours);
        assert_eq!(kind((&ours).write(b"x")), ErrorKind::BrokenPipe);
    });
}

pub fn we_reset() {
    on_connections(|host, linux, ours| {
        let id = ours.id();
        host.with_stack(|stack, now| stack.abort(now, id));
        assert_eq!(kind((&linux).read(&mut [0; 10])), ErrorKind::ConnectionReset);
    });
}

pub fn text_that_nobody_read_makes_a_close_a_reset() {
    on_connections(|_, linux, ours| {
        linux.send(b"unread").unwrap();
        until("the text arrives", || ours.peek(&mut [0; 10]).unwrap() == 6);
        drop(ours);
        assert_eq!(kind((&linux).read(&mut [0; 10])), ErrorKind::ConnectionReset);
    });
}

pub fn nobody_listens() {
    in_namespace(|| {
        let host = host(true);
        for family in [0, 1] {
            assert_eq!(kind(TcpStream::connect(&host, at(LINUX[family], 9))), ErrorKind::ConnectionRefused);
            assert_eq!(kind(std::net::TcpStream::connect(at(OURS[family], 9))), ErrorKind::ConnectionRefused);
        }
    });
}

pub fn nobody_answers() {
    in_namespace(|| {
        let host = host(true);
        let limit = Duration::from_millis(50);
        // Nobody has this address, and Linux, which does not forward, says nothing.
        let result = TcpStream::connect_timeout(&host, &at("10.9.0.77", 9), limit);
        assert_eq!(kind(result), ErrorKind::TimedOut);
        let left = host.with_stack(|stack, _| stack.connections().count());
        assert_eq!(left, 0, "the attempt is given up");
    });
}

pub fn calls_that_must_not_wait_do_not() {
    on_connections(|host, linux, ours| {
        ours.set_nonblocking(true).unwrap();
        assert_eq!(kind((&ours).read(&mut [0; 10])), ErrorKind::WouldBlock);
        let text = vec![0; 1 << 20];
        let mut written = 0;
        let error = loop {
            match (&ours).write(&text) {
                Ok(count) => written += count,
                Err(error) => break error,
            }
            assert!(written < 1 << 30);
        };
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        drop(linux);
        let listener = TcpListener::bind(host, at(OURS[0], 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        assert_eq!(kind(listener.accept()), ErrorKind::WouldBlock);
    });
}

pub fn reads_wait_no_longer_than_they_should() {
    on_connections(|_, linux, ours| {
        ours.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        let begin = Instant::now();
        assert_eq!(kind((&ours).read(&mut [0; 10])), ErrorKind::WouldBlock);
        assert!(begin.elapsed() >= Duration::from_millis(20));
        assert_eq!(ours.read_timeout().unwrap(), Some(Duration::from_millis(20)));
        assert!(ours.set_read_timeout(Some(Duration::ZERO)).is_err());
        linux.send(b"x").unwrap();
        ours.set_read_timeout(None).unwrap();
        assert_eq!((&ours).read(&mut [0; 10]).unwrap(), 1);
    });
}

pub fn a_reader_is_woken_when_its_stream_stops_reading() {
    on_connections(|_, _linux, ours| {
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| (&ours).read(&mut [0; 10]).unwrap());
            std::thread::sleep(Duration::from_millis(5));
            ours.shutdown(Shutdown::Read).unwrap();
            assert_eq!(reader.join().unwrap(), 0);
        });
    });
}

pub fn a_look_takes_nothing_away() {
    on_connections(|_, linux, ours| {
        linux.send(b"text").unwrap();
        let mut buffer = [0; 10];
        assert_eq!(ours.peek(&mut buffer).unwrap(), 4);
        let mut other = ours.try_clone().unwrap();
        drop(ours);
        assert_eq!(other.read(&mut buffer).unwrap(), 4);
        assert_eq!(&buffer[..4], b"text");
        linux.send(b"packet").unwrap();
        assert_eq!(other.read_packet().unwrap().unwrap().data(), b"packet");
        assert!(other.take_error().unwrap().is_none());
    });
}

pub fn connections_are_taken_as_they_come() {
    in_namespace(|| {
        let host = host(true);
        let listener = TcpListener::bind(&host, at(OURS[0], 80)).unwrap();
        assert_eq!(kind(TcpListener::bind(&host, at(OURS[0], 80))), ErrorKind::AddrInUse);
        let clients: Vec<_> =
            (0..10).map(|_| std::net::TcpStream::connect(at(OURS[0], 80)).unwrap()).collect();
        for (client, stream) in clients.iter().zip(listener.incoming()) {
            let stream = stream.unwrap();
            assert_eq!(stream.peer_addr().unwrap(), client.local_addr().unwrap());
            assert_eq!(stream.local_addr().unwrap(), at(OURS[0], 80));
        }
        drop(listener);
        let refused = std::net::TcpStream::connect(at(OURS[0], 80));
        assert_eq!(kind(refused), ErrorKind::ConnectionRefused);
    });
}

//! What happens to the device happens to its connections: it comes and goes, is set up, is taken away.

mod support;

use std::io::{ErrorKind, Read};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use clickwork_prolac_tcp_host::{Settings, TcpListener, TcpStream};
use support::{
    LINUX, OURS, Opener, PATIENCE, Stream, Text, at, connection, expect_end, host, in_namespace, settings,
};

const BYTES: u64 = 20 << 20;

fn ip(words: &str) {
    let done = Command::new("ip").args(words.split_whitespace()).status();
    assert!(done.is_ok_and(|status| status.success()), "ip {words}");
}

fn a_device_that_is_down_for_a_while_delays_but_loses_nothing() {
    in_namespace(|| {
        let host = host(true);
        // Over IPv4: Linux takes IPv6 addresses away with the device.
        let (linux, ours) = connection(&host, Opener::Linux, 0);
        let text = Text::new(5);
        thread::scope(|scope| {
            scope.spawn(|| text.send(&ours, BYTES));
            scope.spawn(|| {
                for _ in 0..3 {
                    thread::sleep(Duration::from_millis(3));
                    ip("link set tcp0 down");
                    thread::sleep(Duration::from_millis(3));
                    ip("link set tcp0 up");
                }
            });
            text.receive(&linux, BYTES);
        });
        drop(ours);
        expect_end(&linux);
    });
}

fn what_is_lost_after_a_long_silence_is_sent_again_although_nobody_calls() {
    in_namespace(|| {
        // IPv6 talks by itself, which would wake the thread.
        let quiet = ["-qw", "net.ipv6.conf.all.disable_ipv6=1", "net.ipv6.conf.default.disable_ipv6=1"];
        assert!(Command::new("sysctl").args(quiet).status().is_ok_and(|status| status.success()));
        let host = Settings::new("tcp0", "10.9.0.2/24").unwrap().start().unwrap();
        let (linux, ours) = connection(&host, Opener::Linux, 0);
        // Until no timer runs, and the host's thread sleeps for ever.
        until("no timer runs", || host.with_stack(|stack, _| stack.deadline().is_none()));
        thread::sleep(Duration::from_millis(300));
        // What is for nobody is dropped. (A device that goes down would wake the thread.)
        ip("addr del 10.9.0.1/24 dev tcp0");
        ours.send(b"x").unwrap();
        ip("addr add 10.9.0.1/24 dev tcp0");
        linux.set_read_timeout(Some(PATIENCE)).unwrap();
        assert_eq!(linux.receive(&mut [0; 10]).unwrap(), 1);
    });
}

fn until(what: &str, mut step: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !step() {
        assert!(Instant::now() < end, "waited in vain: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

fn when_the_device_is_gone_nobody_waits_any_longer() {
    in_namespace(|| {
        ip("tuntap add tcp0 mode tun vnet_hdr");
        let host = host(true);
        let (_linux, ours) = connection(&host, Opener::Ours, 0);
        let listener = TcpListener::bind(&host, at(OURS[0], 80)).unwrap();
        thread::scope(|scope| {
            let reader = scope.spawn(|| (&ours).read(&mut [0; 10]));
            let taker = scope.spawn(|| listener.accept());
            thread::sleep(Duration::from_millis(10));
            ip("link del tcp0");
            assert_eq!(reader.join().unwrap().unwrap_err().kind(), ErrorKind::NetworkDown);
            assert_eq!(taker.join().unwrap().unwrap_err().kind(), ErrorKind::NetworkDown);
        });
        let begin = Instant::now();
        drop((ours, listener, host));
        assert!(begin.elapsed() < Duration::from_secs(5), "there is nothing to wait for");
    });
}

fn a_device_that_was_set_up_keeps_its_addresses_and_its_mtu() {
    in_namespace(|| {
        ip("tuntap add tcp0 mode tun vnet_hdr");
        ip("addr add 10.9.0.7/24 dev tcp0");
        ip("link set tcp0 mtu 1000");
        // IPv4 only: the other wants 1280.
        let host = Settings::new("tcp0", "10.9.0.2/24").unwrap().start().unwrap();
        let listener = std::net::TcpListener::bind("10.9.0.7:0").unwrap();
        let ours = TcpStream::connect(&host, listener.local_addr().unwrap()).unwrap();
        ours.be_impatient();
        // The segments fit: 1000 less IP and TCP headers with timestamps.
        assert_eq!(ours.status().unwrap().send_mss, 1000 - 40 - 12);
        let linux = listener.accept().unwrap().0;
        linux.be_impatient();
        support::exchange(linux, ours, 100_000, 100_000);
    });
}

fn a_device_can_have_any_mtu() {
    in_namespace(|| {
        for (number, (mtu, offload)) in [(1280, false), (9000, false), (65_535, true)].into_iter().enumerate()
        {
            let settings = Settings { mtu: Some(mtu), ..settings(offload) };
            let host = settings.start().unwrap();
            let (linux, ours) = connection(&host, Opener::Ours, number % 2);
            let (linux, ours) = support::exchange(linux, ours, 1_000_000, 1_000_000);
            drop(ours);
            expect_end(&linux);
        }
    });
}

fn what_is_no_tcp_is_dropped_and_counted() {
    in_namespace(|| {
        let host = host(true);
        let socket = std::net::UdpSocket::bind(at(LINUX[0], 0)).unwrap();
        socket.send_to(b"not for us", at(OURS[0], 53)).unwrap();
        let (linux, ours) = connection(&host, Opener::Linux, 0);
        support::exchange(linux, ours, 1000, 1000);
        assert!(host.with_stack(|stack, _| stack.counters().drops.protocol) >= 1);
    });
}

fn there_must_be_a_device() {
    let error = Settings::new("a/b", "10.9.0.2/24").unwrap().start().err().expect("no such name");
    assert!(error.to_string().contains("a/b") || error.kind() == ErrorKind::PermissionDenied, "{error}");
}

clickwork_oracles::tests! {
    a_device_that_is_down_for_a_while_delays_but_loses_nothing,
    what_is_lost_after_a_long_silence_is_sent_again_although_nobody_calls,
    when_the_device_is_gone_nobody_waits_any_longer,
    a_device_that_was_set_up_keeps_its_addresses_and_its_mtu,
    a_device_can_have_any_mtu,
    what_is_no_tcp_is_dropped_and_counted,
    there_must_be_a_device,
}

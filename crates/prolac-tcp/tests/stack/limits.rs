//! What a stack may take at most, and that it gives everything back.

use crate::pair::{DELAY, Pair, events};
use clickwork_packet::Packet;
use clickwork_prolac_tcp::{Config, Error, Event, Limits, Options, Received, State, TcpStack};
use etherparse::PacketBuilder;

#[test]
fn connections_beyond_the_limit_are_refused() {
    let mut pair = Pair::new(false);
    pair.client.set_limits(Limits { connections: 2, ..Limits::default() });
    let (first, _) = (pair.connect(), pair.connect());
    let third = pair.client.connect(pair.now, None, pair.server_end(), &Options::default());
    assert_eq!(third, Err(Error::NO_BUFFERS));
    pair.client.abort(pair.now, first);
    pair.connect();
}

#[test]
fn a_flood_of_connections_takes_bounded_memory() {
    let mut server = TcpStack::new(Config { syn_cookies: 0, ..Config::default() });
    server.listen("10.0.0.2:80".parse().unwrap(), 16, &Options::default()).unwrap();
    for n in 0..100_000u32 {
        let mut syn = Vec::new();
        let [_, a, b, c] = n.to_be_bytes();
        let builder = PacketBuilder::ipv4([11, a, b, c], [10, 0, 0, 2], 9).tcp(5000, 80, n, 65535).syn();
        builder.write(&mut syn, &[]).unwrap();
        server.receive(u64::from(n), Packet::new(&syn), Received::default());
        while server.next_transmit().is_some() {}
    }
    let live = server.connections().count();
    assert!(live < 100 && server.memory() < 200_000, "{}", server.memory());
    assert_eq!(server.counters().drops.backlog, 100_000 - live as u64);
    assert_eq!(events(&mut server), []);
    // They give up after their retransmissions.
    while let Some(time) = server.deadline().filter(|&time| time < 1_000_000_000) {
        server.advance(time);
    }
    assert_eq!((server.connections().count(), server.segments_in_use()), (0, 0));
}

#[test]
fn during_a_flood_real_clients_are_still_served() {
    let mut pair = Pair::new(false);
    let listener = pair.listen();
    for n in 0..20_000u32 {
        let [_, a, b, c] = n.to_be_bytes();
        let mut syn = Vec::new();
        let builder = PacketBuilder::ipv4([11, a, b, c], [10, 0, 0, 2], 9).tcp(5000, 80, n, 65535).syn();
        builder.write(&mut syn, &[]).unwrap();
        pair.server.receive(pair.now, Packet::new(&syn), Received::default());
        while pair.server.next_transmit().is_some() {}
    }
    let before = pair.server.connections().count();
    let client = pair.connect();
    pair.client.write(pair.now, client, b"hello").unwrap();
    pair.run(10 * DELAY);
    assert_eq!(pair.client.state(client), Ok(State::Established));
    let server = pair.server.accept(listener).unwrap();
    pair.run(1000 * DELAY);
    assert_eq!(pair.server.peer_addr(server), pair.client.local_addr(client));
    let mut buffer = [0; 9];
    assert_eq!(pair.server.read(pair.now, server, &mut buffer), Ok(5));
    assert!(before < 100);
}

#[test]
fn of_too_many_in_time_wait_the_oldest_are_forgotten() {
    let mut pair = Pair::new(false);
    pair.client.set_limits(Limits { time_wait: 3, ..Limits::default() });
    let listener = pair.listen();
    let (remote, options) = (pair.server_end(), Options::default());
    let mut closed = 0;
    for n in 0..10 {
        let local = std::net::SocketAddr::new(pair.client_address, 5000 + n);
        let client = pair.client.connect(pair.now, Some(local), remote, &options).unwrap();
        pair.run(5 * DELAY);
        let server = pair.server.accept(listener).unwrap();
        pair.client.close(pair.now, client);
        pair.run(5 * DELAY);
        pair.server.close(pair.now, server);
        pair.run(5 * DELAY);
        closed += events(&mut pair.client).iter().filter(|e| matches!(e, Event::Closed(_))).count();
    }
    assert_eq!((pair.client.connections().count(), closed), (3, 7));
    assert!(pair.client.connections().all(|id| pair.client.state(id) == Ok(State::TimeWait)));
    assert_eq!(pair.client.counters().activity.time_wait_overflow, 7);
    // Nothing is left of those that were forgotten.
    for port in [5000, 5006, 5007] {
        let local = std::net::SocketAddr::new(pair.client_address, port);
        let again = pair.client.connect(pair.now, Some(local), remote, &options);
        assert_eq!(again.is_ok(), port < 5007);
    }
    pair.run(5 * DELAY);
    pair.run(60_000_000);
    assert_eq!(pair.client.connections().count(), 2);
}

#[test]
fn a_backlog_counts_those_only_who_wait() {
    let mut pair = Pair::new(false);
    let listener = pair.server.listen(pair.server_end(), 2, &Options::default()).unwrap();
    for _ in 0..10 {
        pair.connect();
        pair.run(5 * DELAY);
        pair.server.accept(listener).unwrap();
    }
    // Linux takes one more than the backlog says; the others' SYNs find no place.
    let waiting: Vec<_> = (0..6).map(|_| pair.connect()).collect();
    pair.run(5 * DELAY);
    let waiting = waiting.iter().filter(|&&id| pair.client.state(id) == Ok(State::Established)).count();
    assert!((2..=3).contains(&pair.server.acceptable(listener).unwrap()), "{waiting}");
}

#[test]
fn without_segments_calls_fail_and_nothing_breaks() {
    for most in 0..12 {
        let mut pair = Pair::new(false);
        let (client, server) = pair.connected();
        pair.client.set_limits(Limits { segments: most, ..Limits::default() });
        let sent = match pair.client.write(pair.now, client, &[7; 20_000]) {
            Ok(n) => n,
            Err(error) => {
                assert_eq!((error, most), (Error::NO_BUFFERS, 0));
                0
            }
        };
        assert!(most == 0 || sent > 0);
        pair.run(1_000 * DELAY);
        // An acknowledgment needs a segment to come in.
        pair.client.set_limits(Limits::default());
        pair.run(10_000 * DELAY);
        assert_eq!(pair.server.readable(server), Ok(sent));
        assert_eq!(pair.client.queued(client), Ok(0));
        pair.client.close(pair.now, client);
        pair.run(10 * DELAY);
    }
}

#[test]
fn a_stack_can_go_with_all_its_connections_and_to_another_thread() {
    let mut pair = Pair::new(false);
    let (client, _) = pair.connected();
    pair.client.write(pair.now, client, &[1; 50_000]).unwrap();
    pair.run(DELAY);
    let (mut moved, now) = (pair.client, pair.now);
    let handle = std::thread::spawn(move || {
        moved.write(now, client, b"more").unwrap();
        moved.connections().count()
    });
    assert_eq!(handle.join().unwrap(), 1);
}

#[test]
#[cfg_attr(feature = "unpooled", ignore = "there are no pools")]
fn text_that_comes_byte_by_byte_takes_little_more_than_its_segments() {
    let mut pair = Pair::new(false);
    let (client, server) = pair.connected();
    pair.client.set_option(pair.now, client, clickwork_prolac_tcp::abi::option::NO_DELAY, 1).unwrap();
    let before = pair.server.memory();
    let there = crate::pair::text(10_000);
    for byte in &there {
        pair.client.write(pair.now, client, &[*byte]).unwrap();
        while let Some(packet) = pair.client.next_transmit() {
            // As a device hands them over.
            let received = Packet::with_room(0, packet.into_packet().data(), 60_000);
            pair.server.receive(pair.now, received, Received::default());
        }
        while let Some(packet) = pair.server.next_transmit() {
            pair.client.receive(pair.now, packet.into_packet(), Received::default());
        }
    }
    assert_eq!(pair.server.readable(server), Ok(10_000));
    let each = (pair.server.memory() - before) / 10_000;
    assert!(each < 350, "{each} bytes for each byte of text");
    let mut got = Vec::new();
    crate::pair::read_all(&mut pair.server, pair.now, server, &mut got);
    assert!(got == there);
    assert_eq!(pair.server.segments_in_use(), 0);
}

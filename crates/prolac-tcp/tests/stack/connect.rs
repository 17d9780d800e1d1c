//! Beginning and ending connections.

use crate::pair::{DELAY, Pair, events, read_all};
use clickwork_prolac_tcp::{Error, Event, Options, State};

#[test]
fn a_connection_is_made_and_closed_from_either_end() {
    for six in [false, true] {
        for server_first in [false, true] {
            let mut pair = Pair::new(six);
            let (client, server) = pair.connected();
            assert_eq!(events(&mut pair.client), [Event::Connected(client)]);
            assert_eq!(pair.server.peer_addr(server), pair.client.local_addr(client));
            assert_eq!(pair.server.local_addr(server).unwrap(), pair.server_end());
            if server_first {
                pair.server.close(pair.now, server)
            } else {
                pair.client.close(pair.now, client)
            }
            pair.run(10 * DELAY);
            let (stack, other) = match server_first {
                true => (&mut pair.client, client),
                false => (&mut pair.server, server),
            };
            assert_eq!(stack.state(other), Ok(State::CloseWait));
            assert!(read_all(stack, pair.now, other, &mut Vec::new()));
            stack.close(pair.now, other);
            pair.run(61_000_000);
            assert_eq!(pair.client.state(client), Err(Error::NOT_CONNECTED));
            assert_eq!(pair.server.state(server), Err(Error::NOT_CONNECTED));
            assert_eq!(pair.client.connections().count() + pair.server.connections().count(), 0);
            assert_eq!(pair.client.segments_in_use() + pair.server.segments_in_use(), 0);
            assert!(events(&mut pair.client).contains(&Event::Closed(client)));
            assert!(events(&mut pair.server).contains(&Event::Closed(server)));
        }
    }
}

#[test]
fn nobody_listens() {
    for six in [false, true] {
        let mut pair = Pair::new(six);
        let client = pair.connect();
        pair.run(10 * DELAY);
        assert_eq!(pair.client.state(client), Ok(State::Closed));
        assert_eq!(events(&mut pair.client), [Event::Closed(client)]);
        assert_eq!(pair.client.take_error(client), Ok(Some(Error::REFUSED)));
        assert_eq!(pair.server.counters().activity.resets_out, 1);
        pair.client.close(pair.now, client);
        assert_eq!(pair.client.connections().count(), 0);
        assert_eq!(events(&mut pair.client), []);
    }
}

#[test]
fn an_id_dies_with_its_connection() {
    let mut pair = Pair::new(false);
    let (client, _) = pair.connected();
    pair.client.abort(pair.now, client);
    let again = pair.connect();
    assert_ne!(client, again);
    assert_eq!(pair.client.write(pair.now, client, b"x"), Err(Error::NOT_CONNECTED));
    assert_eq!(pair.client.read(pair.now, client, &mut [0]), Err(Error::NOT_CONNECTED));
    assert_eq!(pair.client.status(pair.now, client).map(|_| ()), Err(Error::NOT_CONNECTED));
    assert_eq!(pair.client.shutdown(pair.now, client), Err(Error::NOT_CONNECTED));
    pair.client.close(pair.now, client);
    assert_eq!(pair.client.state(again), Ok(State::SynSent));
}

#[test]
fn a_reset_reaches_the_other_end_and_its_reader() {
    let mut pair = Pair::new(false);
    let (client, server) = pair.connected();
    events(&mut pair.server);
    pair.client.abort(pair.now, client);
    pair.run(5 * DELAY);
    assert_eq!(events(&mut pair.server), [Event::Closed(server)]);
    assert_eq!(pair.server.read(pair.now, server, &mut [0; 9]), Err(Error::RESET));
    assert_eq!(pair.server.read(pair.now, server, &mut [0; 9]), Ok(0));
    assert_eq!(pair.server.write(pair.now, server, b"x"), Err(Error::BROKEN_PIPE));
    pair.server.close(pair.now, server);
    assert_eq!(pair.server.connections().count(), 0);
}

#[test]
fn a_listener_that_closes_takes_with_it_who_waits() {
    let mut pair = Pair::new(true);
    let listener = pair.listen();
    let (first, second) = (pair.connect(), pair.connect());
    pair.run(5 * DELAY);
    assert_eq!(pair.server.acceptable(listener), Ok(2));
    let accepted = pair.server.accept(listener).unwrap();
    pair.server.close_listener(pair.now, listener);
    assert_eq!(pair.server.accept(listener), Err(Error::INVALID));
    pair.run(5 * DELAY);
    assert_eq!(pair.server.state(accepted), Ok(State::Established));
    let states = [first, second].map(|id| pair.client.state(id).unwrap());
    assert_eq!(states.iter().filter(|&&s| s == State::Closed).count(), 1);
    assert_eq!(pair.server.connections().count(), 1);
    assert_eq!(pair.server.segments_in_use(), 0);
}

#[test]
fn a_listener_on_any_address_takes_both_families() {
    let mut pair = Pair::new(false);
    pair.server.add_address("fd00::2".parse().unwrap());
    pair.client.add_address("fd00::1".parse().unwrap());
    let options = Options::default();
    let listener = pair.server.listen("[::]:80".parse().unwrap(), 5, &options).unwrap();
    assert_eq!(pair.server.listen("0.0.0.0:80".parse().unwrap(), 5, &options), Err(Error::ADDRESS_IN_USE));
    for remote in ["10.0.0.2:80", "[fd00::2]:80", "[::ffff:10.0.0.2]:80"] {
        pair.client.connect(pair.now, None, remote.parse().unwrap(), &options).unwrap();
    }
    pair.run(5 * DELAY);
    assert_eq!(pair.server.acceptable(listener), Ok(3));
    let six_only = Options { v6only: true, ..Options::default() };
    pair.server.listen("[::]:81".parse().unwrap(), 5, &six_only).unwrap();
    pair.server.listen("0.0.0.0:81".parse().unwrap(), 5, &options).unwrap();
}

#[test]
fn ports_and_addresses_that_are_taken_or_impossible() {
    let mut pair = Pair::new(false);
    let (client, _) = pair.connected();
    let (now, remote, options) = (pair.now, pair.server_end(), Options::default());
    let local = pair.client.local_addr(client).unwrap();
    let mut connect = |local: Option<&str>, remote: &str| {
        let local = local.map(|l| l.parse().unwrap());
        pair.client.connect(now, local, remote.parse().unwrap(), &options).map(|_| ())
    };
    assert_eq!(connect(Some(&local.to_string()), &remote.to_string()), Err(Error::ADDRESS_NOT_AVAILABLE));
    assert_eq!(connect(Some(&local.to_string()), "10.0.0.3:80"), Err(Error::ADDRESS_IN_USE));
    assert_eq!(connect(Some("10.0.0.9:0"), "10.0.0.3:80"), Err(Error::ADDRESS_NOT_AVAILABLE));
    assert_eq!(connect(Some("[fd00::1]:0"), "10.0.0.3:80"), Err(Error::FAMILY));
    assert_eq!(connect(None, "[fd00::1]:80"), Err(Error::ADDRESS_NOT_AVAILABLE));
    assert_eq!(connect(None, "224.0.0.1:80"), Err(Error::NETWORK_UNREACHABLE));
    assert_eq!(connect(None, "0.0.0.0:80"), Err(Error::NETWORK_UNREACHABLE));
    assert_eq!(connect(None, "10.0.0.3:0"), Err(Error::ADDRESS_NOT_AVAILABLE));
    assert_eq!(pair.client.listen(local, 1, &options), Err(Error::ADDRESS_IN_USE));
    let elsewhere = "10.0.0.9:80".parse().unwrap();
    assert_eq!(pair.client.listen(elsewhere, 1, &options), Err(Error::ADDRESS_NOT_AVAILABLE));
    let free = pair.client.listen("0.0.0.0:0".parse().unwrap(), 1, &options).unwrap();
    assert!(pair.client.listener_addr(free).unwrap().port() >= 32768);
}

#[test]
fn ephemeral_ports_are_all_used_and_then_none_is_left() {
    let mut pair = Pair::new(false);
    let mut ports: Vec<u16> = (0..28232)
        .map(|_| {
            let id = pair.connect();
            pair.client.local_addr(id).unwrap().port()
        })
        .collect();
    ports.sort_unstable();
    assert!(ports.is_sorted_by(|a, b| a < b) && ports[0] == 32768 && ports[28231] == 60999);
    let full = pair.client.connect(pair.now, None, pair.server_end(), &Options::default());
    assert_eq!(full, Err(Error::ADDRESS_NOT_AVAILABLE));
    let other = "10.0.0.3:80".parse().unwrap();
    assert!(pair.client.connect(pair.now, None, other, &Options::default()).is_ok());
}

#[test]
fn a_new_connection_takes_the_place_of_one_in_time_wait() {
    let mut pair = Pair::new(false);
    let listener = pair.listen();
    let local = Some("10.0.0.1:5000".parse().unwrap());
    let remote = pair.server_end();
    let client = pair.client.connect(pair.now, local, remote, &Options::default()).unwrap();
    pair.run(5 * DELAY);
    let server = pair.server.accept(listener).unwrap();
    pair.server.close(pair.now, server);
    pair.run(5 * DELAY);
    pair.client.close(pair.now, client);
    pair.run(5 * DELAY);
    assert_eq!(pair.server.state(server), Ok(State::TimeWait));
    assert_eq!(pair.client.connections().count(), 0);
    pair.run(2_000_000);
    let again = pair.client.connect(pair.now, local, remote, &Options::default()).unwrap();
    pair.run(5 * DELAY);
    assert_eq!(pair.client.state(again), Ok(State::Established));
    assert_eq!(pair.server.counters().activity.time_wait_reused, 1);
    assert!(pair.server.accept(listener).is_ok());
    assert_eq!(pair.server.connections().count(), 1);
}

//! Urgent data as Linux's users see it: out of band by default, a mark that reads stop at.

use crate::pair::{DELAY, Pair, events};
use clickwork_prolac_tcp::{Error, Event, abi::option};

#[test]
fn the_urgent_byte_is_read_apart_from_the_stream() {
    let mut pair = Pair::new(false);
    let (client, server) = pair.connected();
    assert_eq!(pair.server.read_urgent(pair.now, server), Err(Error::INVALID));
    pair.client.write(pair.now, client, b"before").unwrap();
    pair.client.write_urgent(pair.now, client, b"ne!").unwrap();
    pair.client.write(pair.now, client, b"after").unwrap();
    events(&mut pair.server);
    pair.run(300 * DELAY);
    assert!(events(&mut pair.server).contains(&Event::Urgent(server)));
    assert_eq!(pair.server.read_urgent(pair.now, server), Ok(b'!'));
    assert_eq!(pair.server.read_urgent(pair.now, server), Err(Error::INVALID));
    let mut buffer = [0; 100];
    assert_eq!(pair.server.read(pair.now, server, &mut buffer[..3]), Ok(3));
    assert_eq!(pair.server.at_mark(server), Ok(false));
    assert_eq!(pair.server.read(pair.now, server, &mut buffer[3..]), Ok(5));
    assert_eq!((&buffer[..8], pair.server.at_mark(server)), (&b"beforene"[..], Ok(true)));
    assert_eq!(pair.server.read(pair.now, server, &mut buffer), Ok(5));
    assert_eq!(&buffer[..5], b"after");
    assert_eq!(pair.server.read_urgent(pair.now, server), Err(Error::INVALID));
    assert_eq!(pair.server.read(pair.now, server, &mut buffer), Err(Error::WOULD_BLOCK));
}

#[test]
fn the_urgent_byte_may_be_part_of_the_stream() {
    let mut pair = Pair::new(false);
    let (client, server) = pair.connected();
    pair.server.set_option(pair.now, server, option::OUT_OF_BAND_INLINE, 1).unwrap();
    pair.client.write_urgent(pair.now, client, b"ab").unwrap();
    pair.run(10 * DELAY);
    assert_eq!(pair.server.read_urgent(pair.now, server), Err(Error::INVALID));
    let mut buffer = [0; 9];
    assert_eq!(pair.server.read(pair.now, server, &mut buffer), Ok(2));
    assert_eq!(&buffer[..2], b"ab");
}

#[test]
fn an_urgent_byte_that_is_announced_may_be_on_its_way() {
    let mut pair = Pair::new(false);
    let (client, server) = pair.connected();
    let whole = crate::pair::text(2_000);
    pair.client.write_urgent(pair.now, client, &whole).unwrap();
    let (first, second) = (pair.client.next_transmit().unwrap(), pair.client.next_transmit().unwrap());
    pair.server.receive(pair.now, second.into_packet(), Default::default());
    assert_eq!(pair.server.readable(server), Ok(0));
    assert_eq!(pair.server.read_urgent(pair.now, server), Err(Error::WOULD_BLOCK));
    pair.server.receive(pair.now, first.into_packet(), Default::default());
    assert_eq!(pair.server.read_urgent(pair.now, server), Ok(whole[1_999]));
}

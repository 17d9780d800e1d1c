//! RFC 9293 §3.7.4, §3.8.6.2.1 and §3.9.1.2: how text becomes segments.

use crate::support::*;

/// SHLD-28.
#[test]
fn segments_are_full() {
    let mut t = Peer::established();
    t.write(3500);
    t.expect(". 1(1000)");
    t.expect(". 1001(1000)");
    t.expect(". 2001(1000)");
    t.expect("P. 3001(500)");
}

/// SHLD-28: what was written in pieces, too.
#[test]
fn writes_are_joined() {
    let mut t = Peer::established();
    t.inject(". 1 ack 1 win 0");
    for length in [1500, 700, 1, 799, 1000] {
        t.write(length);
    }
    t.inject(". 1 ack 1 win 8000");
    assert_eq!(t.pieces(), (0..4).map(|n| (1 + n * 1000, 1000)).collect::<Vec<_>>());
}

/// MUST-60, MUST-61: nothing is kept back without end, and the last segment says PSH.
#[test]
fn push_at_the_end() {
    let mut t = Peer::established();
    t.write(10);
    t.expect("P. 1(10)");
    t.write(10);
    t.inject(". 1 ack 11");
    t.expect_within(0..SECOND, "P. 11(10)");
}

/// SHLD-27: of writes that go in one segment there is one PSH.
#[test]
fn push_of_joined_writes() {
    let mut t = Peer::established();
    t.write(10);
    t.expect("P. 1(10)");
    for _ in 0..5 {
        t.write(100);
    }
    t.inject(". 1 ack 11");
    t.expect("P. 11(500)");
    t.nothing();
}

/// SHLD-7: Nagle, as Linux has it: one small segment at a time.
#[test]
fn nagle() {
    let mut t = Peer::established();
    t.write(100);
    t.expect("P. 1(100)");
    t.write(100);
    t.nothing();
    t.write(1000);
    t.expect(". 101(1000)");
    t.inject(". 1 ack 101");
    t.expect("P. 1101(100)");
}

/// A FIN waits for nothing, nor does the text before it.
#[test]
fn nagle_ends_with_the_fin() {
    let mut t = Peer::established();
    t.write(100);
    t.expect("P. 1(100)");
    t.write(100);
    t.nothing();
    t.shutdown();
    t.expect("FP. 101(100)");
}

/// MUST-17.
#[test]
fn nagle_can_be_switched_off() {
    let mut t = Peer::established();
    t.set(option::NO_DELAY, 1);
    for n in 0..8 {
        t.write(100);
        t.expect(&format!("P. {}(100)", 1 + n * 100));
    }
}

/// Switching it off sends what waits.
#[test]
fn switching_nagle_off_sends() {
    let mut t = Peer::established();
    t.write(100);
    t.expect("P. 1(100)");
    t.write(100);
    t.nothing();
    t.set(option::NO_DELAY, 1);
    t.expect("P. 101(100)");
}

/// TCP_CORK keeps small segments back, for 200 ms in Linux.
#[test]
fn cork() {
    let mut t = Peer::established();
    t.set(option::CORK, 1);
    t.write(100);
    t.nothing();
    t.write(1000);
    t.expect(". 1(1000)");
    t.set(option::CORK, 0);
    t.expect("P. 1001(100)");
}

/// MUST-38: a window that opens by a little is not used at once.
#[test]
fn silly_window_is_avoided() {
    let mut t = Peer::established();
    t.inject(". 1 ack 1 win 1000");
    t.write(5000);
    t.expect(". 1(1000)");
    t.inject(". 1 ack 1001 win 10");
    t.nothing();
    t.inject(". 1 ack 1001 win 400");
    t.nothing();
    t.inject(". 1 ack 1001 win 1000");
    t.expect(". 1001(1000)");
}

/// §3.8.6.2.1 (3): half of the largest window is enough, so that small receivers get something.
#[test]
fn small_receivers() {
    let mut t = Peer::new();
    t.listen(1);
    t.inject("S 0 win 400 <mss 1000>");
    t.expect("S. 0 ack 1");
    t.inject(". 1 ack 1 win 400");
    t.accept();
    t.write(1000);
    let first = t.next().expect("text");
    assert!((200..=400).contains(&first.text.len()), "{}", t.story());
}

/// MUST-49.
#[test]
fn time_to_live() {
    let mut t = Peer::new();
    let [first, second] = in_ip_header(&mut t, &Options::default(), 8, |_, _| ());
    assert_eq!((first, second), (64, 64));
    let options = Options { hop_limit: Some(7), ..Options::default() };
    let set = |t: &mut Peer, id| t.stack.set_hop_limit(id, 99).expect("a connection");
    assert_eq!(in_ip_header(&mut Peer::new(), &options, 8, set), [7, 99]);
}

/// MUST-48, SHLD-21, SHLD-22.
#[test]
fn diffserv() {
    let options = Options { traffic_class: 0xb8, ..Options::default() };
    let set = |t: &mut Peer, id| t.stack.set_traffic_class(id, 0x28).expect("a connection");
    assert_eq!(in_ip_header(&mut Peer::new(), &options, 1, set), [0xb8, 0x28]);
}

/// A byte of the IP header of a SYN, and of its repetition after something was done.
fn in_ip_header(
    t: &mut Peer,
    options: &Options,
    at: usize,
    done: impl FnOnce(&mut Peer, clickwork_prolac_tcp::ConnectionId),
) -> [u8; 2] {
    let id = t.stack.connect(t.now, Some(t.local), t.remote, options).expect("an active open");
    let first = t.stack.next_transmit().expect("a SYN").into_packet().data()[at];
    done(t, id);
    t.stack.advance(t.now + SECOND);
    [first, t.stack.next_transmit().expect("it again").into_packet().data()[at]]
}

/// Never more than the window, never less than what it allows.
#[test]
fn window_is_filled() {
    let mut t = Peer::established();
    t.inject(". 1 ack 1 win 2500");
    t.write(5000);
    t.expect(". 1(1000)");
    t.expect(". 1001(1000)");
    let rest: usize = t.all().iter().map(|s| s.text.len()).sum();
    assert!(rest <= 500);
}

//! RFC 4987 §3.6: SYN cookies.

use crate::support::*;

fn always() -> Peer {
    let mut t = Peer::with(|config| config.syn_cookies = 2);
    t.listen(16);
    t
}

/// No memory for a SYN, a connection for the acknowledgment.
#[test]
fn handshake() {
    let mut t = always();
    t.inject("S 0 <mss 1460>");
    t.expect("S. 0 ack 1");
    assert_eq!(t.stack.connections().count(), 0);
    t.inject(". 1 ack 1");
    t.accept();
    t.is(state::ESTABLISHED);
    t.inject("P. 1(100)");
    assert_eq!(t.read_all(), 100);
    t.write(100);
    t.inject(". n");
    t.is(state::ESTABLISHED);
}

/// The first text may come with the acknowledgment.
#[test]
fn handshake_with_text() {
    let mut t = always();
    t.inject("S 0 <mss 1460>");
    t.expect("S. 0 ack 1");
    t.inject("P. 1(100) ack 1");
    t.accept();
    assert_eq!(t.read_all(), 100);
}

/// Guesses open nothing.
#[test]
fn guesses() {
    let mut t = always();
    t.inject("S 0 <mss 1460>");
    t.expect("S. 0 ack 1");
    for ack in [0, 2, 3, 1000, 1 << 24, -1, -(1 << 24)] {
        t.inject(&format!(". 1 ack {ack}"));
        t.expect(&format!("R {ack}"));
    }
    t.inject(". 2 ack 1");
    t.all();
    assert_eq!(t.stack.connections().count(), 0);
}

/// An old one is worth nothing.
#[test]
fn expires() {
    let mut t = always();
    t.inject("S 0 <mss 1460>");
    t.expect("S. 0 ack 1");
    t.pass(600 * SECOND);
    t.inject(". 1 ack 1");
    t.all();
    assert_eq!(t.stack.connections().count(), 0);
}

/// The peer's MSS is remembered, rounded down.
#[test]
fn mss() {
    for (offered, least) in [(1460, 1300), (1000, 500), (536, 500)] {
        let mut t = always();
        t.inject(&format!("S 0 <mss {offered}>"));
        t.expect("S. 0 ack 1");
        t.inject(". 1 ack 1");
        t.accept();
        t.write(5000);
        let length = t.next().expect("text").text.len();
        assert!((least..=offered).contains(&length), "{length} of {offered}");
    }
}

/// Linux's way: options live on in the timestamp.
#[test]
fn options_in_timestamps() {
    let mut t = always();
    t.inject("S 0 <mss 1460,sackOK,ts 7 0,ws 9>");
    t.expect("S. 0 ack 1 <mss 1460,sackOK,ts * 7,ws *>");
    t.inject(". 1 ack 1 win 100 <ts 8 @>");
    t.accept();
    assert_eq!(t.status().send_window, 100 << 9);
    t.inject(". 2(10) <ts 9 @>");
    t.expect(". 1 ack 1 <ts * *,sack 2-12>");
}

/// Without timestamps nothing is promised that would be forgotten.
#[test]
fn no_options_without_timestamps() {
    let mut t = always();
    t.inject("S 0 <mss 1460,sackOK,ws 9>");
    t.expect("S. 0 ack 1 <mss 1460>");
    t.inject(". 1 ack 1 win 100");
    t.accept();
    assert_eq!(t.status().send_window, 100);
}

/// Nor congestion notification, which has a bit there, too.
#[test]
fn congestion_notification_in_timestamps() {
    const HAS_ECN: u8 = 8;
    let mut t = always();
    t.inject("SEW 0 <mss 1460>");
    t.expect("S. 0 ack 1 <mss 1460>");
    let mut t = always();
    t.inject("SEW 0 <mss 1460,ts 7 0>");
    t.expect("S.E 0 ack 1 <mss 1460,ts * 7>");
    t.inject(". 1 ack 1 <ts 8 @>");
    t.accept();
    assert_ne!(t.status().options & HAS_ECN, 0);
}

/// By default only when the queue is full; and then everyone is served.
#[test]
fn when_the_queue_is_full() {
    let mut t = Peer::new();
    t.listen(4);
    for port in 10_000..10_500 {
        t.remote.set_port(port);
        t.inject("S 0 <mss 1460>");
    }
    assert_eq!(t.all().len(), 500, "each gets an answer");
    assert!(t.stack.connections().count() <= 10, "{}", t.stack.connections().count());
    t.remote.set_port(20_000);
    t.stack_side = Default::default();
    t.inject("S 0 <mss 1460>");
    t.expect("S. 0 ack 1");
    t.inject(". 1 ack 1");
    t.accept();
    t.inject("P. 1(10)");
    assert_eq!(t.read_all(), 10);
}

/// Switched off: who does not fit is not answered.
#[test]
fn switched_off() {
    let mut t = Peer::with(|config| config.syn_cookies = 0);
    t.listen(4);
    for port in 10_000..10_500 {
        t.remote.set_port(port);
        t.inject("S 0 <mss 1460>");
    }
    assert!(t.all().len() <= 20);
}

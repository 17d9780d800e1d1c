//! RFC 7413: TCP fast open.

use crate::support::options::Base;
use crate::support::*;

const CLIENT: u32 = 1;
const SERVER: u32 = 2;

fn options() -> Options {
    Options { fast_open: true, ..Options::default() }
}

fn server() -> Peer {
    let mut t = Peer::with(|config| config.fast_open = CLIENT | SERVER);
    t.listen_with(16, &options());
    t
}

/// The cookie of a SYN-ACK.
fn cookie(t: &mut Peer) -> String {
    let answer = t.next().expect("a SYN-ACK");
    let words = answer.option_words(Base::default());
    words.into_iter().find(|option| option.starts_with("cookie ")).expect("a cookie")
}

/// A server that has given a cookie to a client, and the cookie.
fn known() -> (Peer, String) {
    let mut t = server();
    t.inject("S 0 <mss 1000,cookie >");
    let cookie = cookie(&mut t);
    t.inject("R 1");
    t.all();
    t.remote.set_port(5001);
    t.stack_side = Default::default();
    t.peer_side.next = t.peer_side.first;
    (t, cookie)
}

/// §4.1.2, §3: who asks gets a cookie of 4 to 16 bytes, an even number.
#[test]
fn cookie_on_request() {
    let (_, cookie) = known();
    let bytes = (cookie.len() - "cookie ".len()) / 2;
    assert!((4..=16).contains(&bytes) && bytes.is_multiple_of(2), "{cookie}");
}

/// §4.1.2: other clients have other cookies.
#[test]
fn cookie_of_an_address() {
    let (mut t, first) = known();
    t.remote = "192.0.2.3:5000".parse().expect("an address");
    t.inject("S 0 <mss 1000,cookie >");
    assert_ne!(cookie(&mut t), first);
}

/// §4.2.2: with a good cookie the text is there before the handshake ends, and the SYN-ACK acknowledges it.
#[test]
fn text_in_syn() {
    let (mut t, cookie) = known();
    t.inject(&format!("S 0(100) <mss 1000,{cookie}>"));
    t.expect("S. 0 ack 101");
    t.accept();
    assert_eq!(t.read_all(), 100);
    t.inject(". 101 ack 1");
    t.is(state::ESTABLISHED);
}

/// §4.2.2: the server may answer at once.
#[test]
fn answer_before_the_handshake_ends() {
    let (mut t, cookie) = known();
    t.inject(&format!("S 0(100) <mss 1000,{cookie}>"));
    t.expect("S. 0 ack 101");
    t.accept();
    t.read_all();
    t.all();
    t.write(500);
    t.expect("P. 1(500) ack 101");
}

/// §4.2.2: with a bad one it is an ordinary SYN; the text is not acknowledged, and a good cookie comes back.
#[test]
fn bad_cookie() {
    let (mut t, good) = known();
    t.inject("S 0(100) <mss 1000,cookie 0102030405060708>");
    let answer = t.expect("S. 0 ack 1 <mss 1460,...>");
    let words = answer.option_words(Base::default());
    assert!(words.contains(&good), "{words:?}");
    assert!(t.stack.accept(t.listener.expect("a listener")).is_err());
    t.peer_side.next = t.peer_side.first.wrapping_add(1);
    t.inject("P. 1(100) ack 1");
    t.accept();
    assert_eq!(t.read_all(), 100);
}

/// §4.1.1: cookies of lengths that cannot be are ignored.
#[test]
fn cookie_of_wrong_length() {
    for wrong in ["0102", "010203", "0102030405", "0102030405060708090a0b0c0d0e0f101112"] {
        let (mut t, _) = known();
        t.inject(&format!("S 0(100) <mss 1000,cookie {wrong}>"));
        t.expect("S. 0 ack 1");
    }
}

/// Only if the server wants it.
#[test]
fn not_asked_for() {
    let mut t = Peer::new();
    t.listen(16);
    t.inject("S 0(100) <mss 1000,cookie >");
    t.expect("S. 0 ack 1 <mss 1460>");
}

/// §5.1: not more connections without a handshake than the server allows.
#[test]
fn pending_are_limited() {
    let mut t = Peer::with(|config| config.fast_open = CLIENT | SERVER);
    t.listen_with(4, &options());
    t.inject("S 0 <mss 1000,cookie >");
    let cookie = cookie(&mut t);
    t.inject("R 1");
    let mut open = 0;
    for port in 6000..6100 {
        t.remote.set_port(port);
        t.inject(&format!("S 0(100) <mss 1000,{cookie}>"));
        open += t.all().iter().filter(|s| s.acknowledgment == t.peer_side.first.wrapping_add(101)).count();
    }
    assert!(open <= 10, "{open}");
}

/// §4.1.3: the client asks for a cookie.
#[test]
fn client_asks() {
    let mut t = Peer::new();
    t.connect_with(&options());
    if t.status().data_segments_out == 0 {
        t.try_write(100).ok();
    }
    let syn = t.next().expect("a SYN");
    assert!(syn.option_words(Base::default()).contains(&"cookie".to_owned()), "{}", t.story());
}

/// §4.2.1: and uses it the next time, with text in the SYN.
#[test]
fn client_uses_its_cookie() {
    let mut t = client_with_cookie();
    t.connect_with(&options());
    t.try_write(100).ok();
    let syn = t.next().expect("a SYN");
    assert!(
        syn.option_words(Base::default()).contains(&"cookie 0102030405060708".to_owned()),
        "{}",
        t.story()
    );
    assert_eq!(syn.text.len(), 100);
    t.inject("S. 0 ack 101 <mss 1000>");
    t.is(state::ESTABLISHED);
    assert_eq!(t.status().unacked, 0);
}

/// §4.2.1: text that was not acknowledged is sent again.
#[test]
fn client_repeats_what_was_refused() {
    let mut t = client_with_cookie();
    t.connect_with(&options());
    t.try_write(100).ok();
    t.next().expect("a SYN");
    t.inject("S. 0 ack 1 <mss 1000>");
    t.pass(SECOND);
    assert!(t.pieces().contains(&(1, 100)), "{}", t.story());
}

/// A client that has been given a cookie.
fn client_with_cookie() -> Peer {
    let mut t = Peer::new();
    t.connect_with(&options());
    t.try_write(100).ok();
    t.all();
    t.inject("S. 0 ack 1 <mss 1000,cookie 0102030405060708>");
    t.abort();
    t.all();
    t.id = None;
    t.local.set_port(81);
    t.forget_text();
    t.peer_side.next = t.peer_side.first;
    t
}

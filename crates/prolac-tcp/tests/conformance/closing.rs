//! RFC 9293 §3.6: closing.

use crate::support::errno::*;
use crate::support::states::to;
use crate::support::*;

/// MUST-12: aborted and closed differ for the user.
#[test]
fn user_knows_an_abort() {
    let mut t = Peer::established();
    t.inject("R n");
    assert_eq!(t.error(), ECONNRESET);
    let mut t = Peer::established();
    t.inject("F. n");
    assert_eq!(t.try_read(1).ok(), Some(0));
    assert_eq!(t.error(), 0);
}

/// SHLD-3: text that no one will read is answered with a reset.
#[test]
fn unread_text_resets() {
    let mut t = Peer::established();
    t.inject("P. 1(100)");
    t.all();
    t.close();
    t.expect("R. 1");
    t.is(state::CLOSED);
}

/// SHLD-3: the same for text that comes later.
#[test]
fn later_text_resets() {
    let mut t = Peer::established();
    t.close();
    t.expect("F. 1 ack 1");
    t.inject(". 1 ack 2");
    t.inject("P. 1(100) ack 2");
    t.expect("R 2");
    t.is(state::CLOSED);
}

/// MUST-13.
#[test]
fn time_wait_lasts() {
    let mut t = to::time_wait();
    t.pass(59 * SECOND);
    t.is(state::TIME_WAIT);
    t.pass(2 * SECOND);
    t.is(state::CLOSED);
}

/// Both at once.
#[test]
fn simultaneous() {
    let mut t = to::closing();
    t.inject(". 2 ack 2");
    t.is(state::TIME_WAIT);
    t.quiet(61 * SECOND);
    t.is(state::CLOSED);
}

/// §3.6: half closed, text still comes.
#[test]
fn half() {
    let mut t = to::fin_wait_2();
    for n in 0..20 {
        t.inject("P. n(500)");
        assert_eq!(t.read_all(), 500, "{n}");
    }
    t.inject("F. n");
    t.is(state::TIME_WAIT);
}

/// The other half: the peer is done, we are not.
#[test]
fn other_half() {
    let mut t = to::close_wait();
    t.write(3000);
    t.pass(SECOND);
    t.inject(". 2 ack 3001");
    t.all();
    t.shutdown();
    t.expect("F. 3001 ack 2");
    t.inject(". 2 ack 3002");
    t.is(state::CLOSED);
    t.close();
    assert_eq!(t.stack.connections().count(), 0);
}

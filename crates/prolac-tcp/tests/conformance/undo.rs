//! RFC 3522 and RFC 4015 (Eifel), RFC 3708 (D-SACK): a reduction of the congestion window for nothing is taken back.

use crate::support::*;

/// Ten segments on their way, with selective acknowledgments and timestamps; the first timestamp.
fn ten() -> (Peer, u32) {
    let mut t = Peer::with(|config| config.congestion_control = 0);
    t.listen(16);
    t.inject("S 0 <mss 1012,sackOK,ts 1000 0>");
    t.expect("S. 0 ack 1");
    t.pass(100 * MS);
    t.inject(". 1 ack 1 <ts 1000 @>");
    t.accept();
    t.default_options = vec!["ts 1000 @".into()];
    t.fill();
    let sent = t.all();
    assert_eq!(sent.len(), 10);
    t.pass(100 * MS);
    (t, sent[0].timestamp().expect("a timestamp"))
}

/// RFC 3708 §3: the peer reports as come twice all that was sent again.
#[test]
fn by_d_sack() {
    let (mut t, stamp) = ten();
    t.inject(&format!(". n ack 1 <sack 1001-4001,ts 1001 {stamp}>"));
    let first = t.next().expect("a repetition");
    assert_eq!(first.sequence, t.stack_side.first.wrapping_add(1));
    assert_eq!(t.status().send_threshold, 5);
    t.pass(50 * MS);
    t.inject(". n ack 4001");
    t.inject(". n ack 4001 <sack 1-1001,ts 1001 @>");
    let status = t.status();
    assert!(
        status.send_threshold > 5 && status.congestion_window >= 10,
        "{} {}",
        status.send_threshold,
        status.congestion_window
    );
}

/// RFC 3522 §3.2: the acknowledgment echoes what was sent before the repetition.
#[test]
fn by_timestamp() {
    let (mut t, stamp) = ten();
    t.inject(&format!(". n ack 1 <sack 1001-4001,ts 1001 {stamp}>"));
    t.all();
    assert_eq!(t.status().send_threshold, 5);
    t.pass(MS);
    t.inject(&format!(". n ack 10001 <ts 1001 {stamp}>"));
    let status = t.status();
    assert!(
        status.send_threshold > 5 && status.congestion_window >= 10,
        "{} {}",
        status.send_threshold,
        status.congestion_window
    );
}

/// RFC 4015 §3: the same after a timeout.
#[test]
fn of_a_timeout() {
    let (mut t, stamp) = ten();
    t.pass(2 * SECOND);
    t.all();
    assert!(t.status().congestion_window <= 2, "{}", t.status().congestion_window);
    t.inject(&format!(". n ack 10001 <ts 1001 {stamp}>"));
    let status = t.status();
    assert!(status.congestion_window >= 10, "{}\n{}", status.congestion_window, t.story());
}

/// RFC 3522 §3.2: not if the repetition was what arrived.
#[test]
fn not_of_a_loss() {
    let (mut t, stamp) = ten();
    t.inject(&format!(". n ack 1 <sack 1001-4001,ts 1001 {stamp}>"));
    t.all();
    t.pass(100 * MS);
    t.inject(". n ack 10001");
    assert_eq!(t.status().send_threshold, 5);
}

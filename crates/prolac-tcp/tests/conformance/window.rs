//! RFC 9293 §3.8.6: windows that are large, that shrink, and that close; probes of closed ones.

use crate::arrives_sequence::zero_window;
use crate::support::errno::*;
use crate::support::*;

/// MUST-1.
#[test]
fn above_32767() {
    let mut t = Peer::established();
    t.inject(". 1 ack 1 win 65535");
    assert_eq!(t.status().send_window, 65535);
    let mut sent = 0;
    t.write(65535);
    while sent < 65535 {
        let all = t.all();
        assert!(!all.is_empty(), "{sent}\n{}", t.story());
        sent += all.iter().map(|s| s.text.len()).sum::<usize>();
        t.inject(&format!(". 1 win {}", 65535 - sent));
    }
    t.quiet(10 * MS);
}

/// REC-1, and RFC 7323 §2.3.
#[test]
fn above_65535() {
    let mut t = Peer::established_with(|_| (), "<mss 1000,ws 10>");
    t.inject(". 1 ack 1 win 60000");
    assert_eq!(t.status().send_window, 60000 << 10);
}

/// SHLD-15.
#[test]
fn shrunk_stops_new_text() {
    let mut t = Peer::established();
    t.inject(". 1 ack 1 win 2000");
    t.write(2000);
    t.all();
    t.inject(". 1 ack 1 win 500");
    t.write(1000);
    t.nothing();
}

/// SHLD-16, MUST-34: what was sent is sent again as far as the window allows, or further (MAY-7), and is not forgotten.
#[test]
fn shrunk_repeats_old_text() {
    let mut t = Peer::established();
    t.inject(". 1 ack 1 win 3000");
    t.write(3000);
    assert_eq!(t.all().len(), 3);
    t.inject(". 1 ack 1 win 1000");
    t.expect_within(100 * MS..3 * SECOND, ". 1(1000)");
    t.nothing();
    t.inject(". 1 ack 1001 win 2000");
    t.pass(SECOND);
    t.all();
    t.inject(". 1 ack 3001 win 2000");
    t.quiet(100 * SECOND);
    assert_eq!(t.status().unacked, 0);
}

/// SHLD-17.
#[test]
fn shrunk_does_not_end_the_connection() {
    let mut t = Peer::established();
    t.inject(". 1 ack 1 win 2000");
    t.write(2000);
    t.all();
    for _ in 0..200 {
        t.inject(". 1 ack 1 win 0");
        t.pass(30 * SECOND);
    }
    t.is(state::ESTABLISHED);
    t.inject(". 1 ack 2001 win 2000");
    t.all();
    t.write(10);
    t.expect("P. 2001(10)");
}

/// MUST-36, SHLD-29.
#[test]
fn closed_is_probed() {
    let mut t = closed();
    let rto = u64::from(t.status().rto);
    let start = t.now;
    t.run_until_sent();
    assert!((rto * 9 / 10..=rto * 11 / 10).contains(&(t.now - start)), "{} and {rto}", t.now - start);
    let probe = t.next().expect("a probe");
    let place = probe.sequence.wrapping_sub(t.stack_side.first);
    assert!(place == 0 && probe.text.is_empty() || place == 1 && probe.text.len() == 1, "{}", t.story());
}

/// SHLD-30.
#[test]
fn probes_back_off() {
    let mut t = closed();
    let mut times = vec![t.now];
    for _ in 0..6 {
        t.run_until_sent();
        times.push(t.next().expect("a probe").time);
        t.inject(". 1 ack 1 win 0");
    }
    let gaps: Vec<_> = times.windows(2).map(|w| w[1] - w[0]).collect();
    assert!(gaps.windows(2).all(|w| w[1] >= w[0] * 3 / 2), "{gaps:?}");
}

/// MUST-35, MUST-37: as long as probes are answered.
#[test]
fn stays_closed_for_ever() {
    let mut t = closed();
    for _ in 0..100 {
        t.run_until_sent();
        t.next().expect("a probe");
        t.inject(". 1 ack 1 win 0");
    }
    t.is(state::ESTABLISHED);
    t.inject(". 1 ack 1 win 1000");
    t.expect("P. 1(500)");
}

/// A probe's answer opens the window: text follows.
#[test]
fn opens_again() {
    let mut t = closed();
    t.run_until_sent();
    t.next().expect("a probe");
    t.inject(". 1 ack 1 win 5000");
    t.expect("P. 1(500) ack 1");
}

/// No one answers probes.
#[test]
fn closed_and_gone() {
    let mut t = closed();
    t.pass(4000 * SECOND);
    t.is(state::CLOSED);
    assert_eq!(t.error(), ETIMEDOUT);
}

/// MUST-66.
#[test]
fn ours_closed_takes_reset() {
    let mut t = zero_window();
    t.inject("R n");
    t.is(state::CLOSED);
}

/// MUST-66.
#[test]
fn ours_closed_takes_urgent() {
    let mut t = zero_window();
    t.reported(|_| true);
    t.inject("U. n urg 10");
    assert!(t.reported(|e| matches!(e, Event::Urgent(_))));
}

/// §3.8.6.1: probes of our closed window are answered.
#[test]
fn ours_closed_answers_probes() {
    let mut t = zero_window();
    t.inject(". n-1");
    t.expect(". 1 ack n win 0");
    t.pass(SECOND);
    t.inject(". n(1)");
    t.expect(". 1 win 0");
}

/// MUST-39: it opens by a segment or half the buffer, not by a byte.
#[test]
fn ours_opens_in_steps() {
    let mut t = zero_window();
    t.try_read(100).expect("text");
    t.quiet(10 * SECOND);
    t.inject(". n-1");
    t.expect(". 1 ack n win 0");
    t.read_all();
    let update = t.next().expect("a window update");
    assert!(update.window >= 1000, "{}", update.window);
}

/// The user timeout counts the time that the window is closed, as in Linux.
#[test]
fn closed_longer_than_the_user_timeout() {
    let mut t = Peer::established();
    t.set(option::USER_TIMEOUT, 20_000);
    t.inject(". 1 ack 1 win 0");
    t.write(500);
    for _ in 0..20 {
        t.run_until_sent();
        t.all();
        t.inject(". 1 ack 1 win 0");
    }
    t.pass(30 * SECOND);
    t.is(state::CLOSED);
    assert_eq!(t.error(), ETIMEDOUT);
}

/// What is read makes room for more than there was at first.
#[test]
fn ours_grows() {
    let mut t = Peer::established_with(|_| (), "<mss 1000,ws 0>");
    let scale = t.status().receive_scale;
    let mut offered = 0;
    for _ in 0..1000 {
        t.inject_all(&[". n(1000)", "P. n(1000)"]);
        t.read_all();
        t.pass(MS);
        offered = u32::from(t.last_window()) << scale;
    }
    assert!(offered > 65_535, "{offered}");
}

fn closed() -> Peer {
    let mut t = Peer::established();
    t.inject(". 1 ack 1 win 0");
    t.write(500);
    t.nothing();
    t
}

//! What no RFC asks for, and Linux does all the same: when acknowledgments are quick, how windows are announced and grow, how
//! often probes search for the size of the path.

use crate::support::*;

/// Linux's `TCP_ATO_MIN`.
const LEAST_DELAY: u64 = 40 * MS;

/// The first sixteen acknowledgments do not wait; then they do.
#[test]
fn quick_at_the_beginning() {
    let mut t = Peer::established();
    for n in 0..16 {
        t.inject("P. n(10)");
        t.expect(". 1 ack n");
        assert_eq!(t.read_all(), 10, "{n}");
    }
    t.inject("P. n(10)");
    t.nothing();
    t.expect_within(1..=LEAST_DELAY, ". 1 ack n");
}

/// Who answers is in a conversation, where answers carry the acknowledgments; one that fails to come ends that.
#[test]
fn ping_pong() {
    let mut t = Peer::established();
    t.inject("P. n(10)");
    t.expect(". 1 ack n");
    t.read_all();
    t.write(10);
    t.expect("P. 1(10) ack n");
    t.inject("P. n(10) ack 11");
    t.nothing();
    t.expect_within(LEAST_DELAY..=LEAST_DELAY, ". 11 ack n");
    t.inject("P. n(10) ack 11");
    t.expect(". 11 ack n");
}

/// A FIN's acknowledgment waits for ours.
#[test]
fn fin_waits() {
    let mut t = Peer::established();
    t.inject("P. n(10)");
    t.expect(". 1 ack n");
    t.read_all();
    t.inject("F. n");
    t.nothing();
    t.pass(10 * MS);
    t.shutdown();
    t.expect("F. 1 ack n");
    t.nothing();
}

/// The user can have it either way.
#[test]
fn quick_ack_option() {
    let mut t = Peer::established();
    t.set(option::QUICK_ACK, 0);
    t.inject("P. n(10)");
    t.nothing();
    t.set(option::QUICK_ACK, 1);
    t.read_all();
    t.expect(". 1 ack n");
}

/// The first windows of Linux: 64240, then one segment of the buffer is kept back.
#[test]
fn first_windows() {
    let mut t = Peer::new();
    t.connect();
    assert_eq!(t.expect("S 0").window, 64240);
    t.inject("S. 0 ack 1 <mss 1460,sackOK,ts 1 @,ws 7>");
    t.default_options = vec!["ts 1 @".into()];
    assert_eq!(t.expect(". 1 ack 1").window, 502);
    t.inject("P. n(1000)");
    assert_eq!(t.expect(". 1 ack 1001").window, 501);
}

/// A peer that fills the window each round trip, and a user who reads at once: the window at the end.
fn window_after(rounds: usize, change: impl FnOnce(&mut Peer)) -> u32 {
    let mut t = Peer::established_with(|_| (), "<mss 1460,ws 7>");
    change(&mut t);
    let mut window = 64240;
    for _ in 0..rounds {
        let mut left = window;
        while left >= 1460 {
            t.inject(". n(1460)");
            left -= 1460;
            t.read_all();
        }
        t.pass(50 * MS);
        let last = t.all().pop().expect("acknowledgments");
        window = u32::from(last.window) << t.status().receive_scale;
    }
    window
}

/// The receive buffer grows to its limit, half of which is for text.
#[test]
fn receive_buffer_grows() {
    let grown = window_after(12, |_| ());
    assert!((2_900_000..=3_145_728 + 128).contains(&grown), "{grown}");
}

/// Not if the user has set it.
#[test]
fn receive_buffer_stays() {
    let same = window_after(12, |t| t.set(option::RECEIVE_BUFFER, 131_072));
    assert!(same <= 65_536 + 128, "{same}");
}

/// Repeated at most twice a second: answers to what takes no sequence space and lies outside of the window.
#[test]
fn answers_to_strays_are_few() {
    let mut t = Peer::established();
    for _ in 0..100 {
        t.inject(". n-100000");
        t.pass(MS);
    }
    assert_eq!(t.all().len(), 1);
    t.pass(SECOND);
    t.inject(". n-100000");
    assert_eq!(t.all().len(), 1);
}

/// Probes come near to what the path carries: eight bytes.
#[test]
fn search_ends_at_the_path() {
    let mut t = Peer::established_with(|config| config.path_mtu = 4, "<mss 1460>");
    let (mtu, mut next, mut largest) = (1400, 1, 0);
    let mut held = std::collections::BTreeMap::new();
    for _ in 0..100 {
        t.try_write(16384).ok();
        t.run_until_sent();
        for (place, length) in t.pieces() {
            if length + 40 <= mtu {
                largest = largest.max(length);
                held.insert(place, length as u32);
            }
        }
        while let Some((&place, &length)) = held.iter().find(|&(&p, &l)| p <= next && p + l > next) {
            next = place + length;
        }
        t.pass(10 * MS);
        t.inject(&format!(". n ack {next}"));
    }
    assert!((mtu - 8..=mtu).contains(&(largest + 40)), "{largest}");
    assert_eq!(t.status().send_mss as usize, largest);
}

/// A listener that waits for text: it hears of nobody before.
#[test]
fn accepting_is_deferred_until_text() {
    let mut t = Peer::new();
    t.listen_with(4, &Options { defer_accept: Some(2), ..Options::default() });
    t.inject("S 0 <mss 1000>");
    t.expect("S. 0 ack 1");
    t.inject(". 1 ack 1");
    assert!(t.stack.accept(t.listener.expect("a listener")).is_err());
    t.quiet(SECOND / 2);
    t.inject("P. 1(10) ack 1");
    t.accept();
    assert_eq!(t.read_all(), 10);
    t.is(state::ESTABLISHED);
}

/// It does not wait for ever: when the time is over the SYN-ACK asks once more, and its acknowledgment is enough.
#[test]
fn accepting_is_deferred_for_a_while() {
    let mut t = Peer::new();
    t.listen_with(4, &Options { defer_accept: Some(2), ..Options::default() });
    t.inject("S 0 <mss 1000>");
    t.expect("S. 0 ack 1");
    t.inject(". 1 ack 1");
    t.expect_within(3 * SECOND..=3 * SECOND, "S. 0 ack 1");
    t.inject(". 1 ack 1");
    t.accept();
    t.is(state::ESTABLISHED);
}

/// A FIN, too, is something that the user should hear of.
#[test]
fn accepting_is_not_deferred_at_the_end() {
    let mut t = Peer::new();
    t.listen_with(4, &Options { defer_accept: Some(2), ..Options::default() });
    t.inject("S 0 <mss 1000>");
    t.inject("F. 1 ack 1");
    t.accept();
    t.is(state::CLOSE_WAIT);
}

/// After the first ten segments no more goes than the rate allows, two segments at a time.
#[test]
fn pacing() {
    let mut t = Peer::established();
    t.set(option::PACING_RATE, 100_000);
    t.write(30_000);
    assert_eq!(t.pieces().iter().map(|piece| piece.1).sum::<usize>(), 10_000);
    t.inject(". 1 ack n");
    let start = t.now;
    let mut sent = t.pieces().iter().map(|piece| piece.1).sum::<usize>();
    while sent < 20_000 {
        t.run_until_sent();
        sent += t.pieces().iter().map(|piece| piece.1).sum::<usize>();
        let least = (t.now - start) as usize / 10;
        assert!(sent <= least + 4000 && sent + 4000 >= least, "{sent} after {}", t.now - start);
    }
}

/// What TCP_INFO counts besides what other tests look at.
#[test]
fn status_counts() {
    let mut t = Peer::established();
    t.inject("P. 101(100)");
    t.inject("P. 301(100)");
    t.write(1000);
    t.pass(1500 * MS);
    let status = t.status();
    assert_eq!((status.early_segments, status.timeouts, status.timeout_recoveries), (2, 3, 1));
    assert!(status.timeout_time >= 1200 && status.busy_time == 1_500_000, "{status:?}");
    t.inject(". 1 ack 1001 win 0");
    t.write(1000);
    t.pass(100 * MS);
    let status = t.status();
    assert_eq!((status.busy_time, status.window_limited_time), (1_500_000, 100_000));
    assert_eq!(status.delivery_rate, 1000 * SECOND / (1500 * MS));
}

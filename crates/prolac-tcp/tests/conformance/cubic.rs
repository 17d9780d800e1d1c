//! RFC 9438: CUBIC.

use crate::support::*;

/// A connection that always has text to send, over a path with a constant round trip.
struct Transfer {
    t: Peer,
    round_trip: u64,
    /// What is in the network.
    sent: Vec<(u32, usize)>,
}

impl Transfer {
    /// In slow start, with a large window.
    fn new(round_trip: u64) -> Transfer {
        let mut t = Peer::with(|config| config.congestion_control = 1);
        t.listen(1);
        t.inject("S 0 <mss 1000,sackOK,ws 10>");
        t.expect("S. 0 ack 1");
        t.pass(round_trip);
        t.inject(". 1 ack 1");
        t.accept();
        t.fill();
        let sent = t.pieces();
        Transfer { t, round_trip, sent }
    }

    /// Round trips with an acknowledgment for each segment; the congestion windows after each.
    fn rounds(&mut self, count: usize) -> Vec<u32> {
        (0..count).map(|_| self.round()).collect()
    }

    fn round(&mut self) -> u32 {
        self.t.pass(self.round_trip);
        let acknowledged = std::mem::take(&mut self.sent);
        self.sent = self.t.acknowledge_each(&acknowledged);
        self.t.fill();
        self.sent.extend(self.t.pieces());
        self.t.status().congestion_window
    }

    /// The first of what is in the network is lost, the rest arrives. The window before, and the threshold.
    fn lose_one(&mut self) -> (u32, u32) {
        let t = &mut self.t;
        t.pass(self.round_trip);
        let before = t.status().congestion_window;
        let (first, missing) = self.sent[0];
        let mut again = Vec::new();
        for (place, length) in self.sent.drain(1..) {
            t.inject(&format!(". n ack {first} <sack {}-{}>", first + missing as u32, place + length as u32));
            again.extend(t.pieces());
        }
        let threshold = t.status().send_threshold;
        t.pass(self.round_trip);
        // What was sent before the repetition arrives before it.
        let repetition = again.iter().position(|p| p.0 == first).expect("a repetition");
        let later = again.split_off(repetition + 1);
        t.inject(&format!(". n ack {}", later[0].0));
        self.sent = later.into_iter().chain(t.pieces()).collect();
        (before, threshold)
    }
}

/// §4.6: to 0.7 of the window, not to half.
#[test]
fn decrease() {
    let mut transfer = Transfer::new(100 * MS);
    transfer.rounds(3);
    let (before, threshold) = transfer.lose_one();
    let share = f64::from(threshold) / f64::from(before);
    assert!((0.68..=0.72).contains(&share), "{threshold} of {before}");
}

/// §4.6: for a mark as for a loss.
#[test]
fn decrease_by_mark() {
    let mut t = Peer::with(|config| (config.ecn, config.congestion_control) = (1, 1));
    t.listen(1);
    t.inject("SEW 0 <mss 1000>");
    t.expect("S.E 0 ack 1");
    t.inject(". 1 ack 1");
    t.accept();
    t.fill();
    assert_eq!(t.pieces().len(), 10);
    t.inject(".E 1 ack 1001");
    assert_eq!(t.status().send_threshold, 7);
}

/// §4.2, §4.4, §4.5: concave up to the old window, a plateau there, then faster and faster, but never by more than half.
#[test]
fn shape() {
    let mut transfer = Transfer::new(300 * MS);
    transfer.rounds(4);
    let (before, _) = transfer.lose_one();
    let windows = transfer.rounds(50);
    let growth = |from: usize| windows[from + 4] - windows[from];
    let reached = windows.iter().position(|&w| w >= before).expect("the old window is reached");
    assert!(windows.windows(2).all(|w| w[1] <= w[0] * 3 / 2 + 1), "{windows:?}");
    assert!(growth(0) > 2 * growth(reached - 2), "concave: {windows:?}");
    assert!(growth(windows.len() - 5) > 2 * growth(reached), "convex: {windows:?}");
}

/// §4.1: K = cbrt((W_max - cwnd) / C) seconds to the old window, C is 0.4.
#[test]
fn time_to_the_old_window() {
    let mut transfer = Transfer::new(300 * MS);
    transfer.rounds(4);
    let (before, threshold) = transfer.lose_one();
    let expected = (f64::from(before - threshold) / 0.4).cbrt();
    let windows = transfer.rounds(60);
    let first = |found: &dyn Fn(u32) -> bool| windows.iter().position(|&w| found(w)).expect("the old window");
    // The middle of the plateau.
    let reached = (first(&|w| w >= before) + first(&|w| w > before)) as f64 / 2.0 * 0.3;
    assert!(
        (0.75 * expected..=1.25 * expected).contains(&reached),
        "{reached} s, K is {expected} s: {windows:?}"
    );
}

/// §4.7: a second loss below the old window gives room to others: the plateau is at 0.85 of it.
#[test]
fn fast_convergence() {
    let mut transfer = Transfer::new(300 * MS);
    transfer.rounds(4);
    transfer.lose_one();
    transfer.rounds(2);
    let (second, _) = transfer.lose_one();
    let windows = transfer.rounds(40);
    let near = |w: f64| windows.iter().filter(|&&other| (f64::from(other) - w).abs() <= 0.03 * w).count();
    let (plateau, second) = (near(0.85 * f64::from(second)), near(f64::from(second)));
    assert!(
        plateau >= 6 && plateau > 2 * second,
        "{plateau} rounds there, {second} at the window: {windows:?}"
    );
}

/// §4.8: a timeout: one segment, and slow start to 0.7 of what it was.
#[test]
fn timeout() {
    let mut transfer = Transfer::new(100 * MS);
    let before = *transfer.rounds(3).last().expect("a window");
    transfer.t.pass(10 * SECOND);
    let status = transfer.t.status();
    assert_eq!(status.congestion_window, 1, "{}", transfer.t.story());
    let share = f64::from(status.send_threshold) / f64::from(before);
    assert!((0.65..=0.75).contains(&share), "{} of {before}", status.send_threshold);
}

/// §4.10: slow start as before, until the first loss.
#[test]
fn slow_start() {
    let windows = Transfer::new(100 * MS).rounds(3);
    assert!(windows[0] >= 18 && windows[2] >= 60, "{windows:?}");
}

/// §4.3: with short round trips it is not slower than Reno.
#[test]
fn as_fast_as_reno() {
    let mut transfer = Transfer::new(MS);
    transfer.rounds(1);
    let (_, threshold) = transfer.lose_one();
    let windows = transfer.rounds(20);
    // Alpha is 3 (1 - 0.7) / (1 + 0.7) = 0.53 segments a round trip below the old window.
    assert!(*windows.last().expect("a window") >= threshold + 6, "{threshold}: {windows:?}");
}

/// §4.8 and RFC 5681 §3.1: what came before a timeout does not shape what comes after it.
#[test]
fn forgets_at_a_timeout() {
    let mut transfer = Transfer::new(300 * MS);
    transfer.rounds(4);
    transfer.t.pass(10 * SECOND);
    transfer.t.all();
    let end = transfer.t.stack_side.next.wrapping_sub(transfer.t.stack_side.first);
    transfer.t.inject(&format!(". n ack {end}"));
    transfer.sent = transfer.t.pieces();
    let threshold = transfer.t.status().send_threshold;
    let windows = transfer.rounds(30);
    assert!(windows.iter().any(|&w| w > threshold + 20), "{threshold}: {windows:?}");
}

/// §5.8: time in which nothing was sent does not count.
#[test]
fn idle_time_does_not_count() {
    let mut transfer = Transfer::new(300 * MS);
    transfer.rounds(4);
    let (before, _) = transfer.lose_one();
    transfer.rounds(4);
    let t = &mut transfer.t;
    while t.status().unacked > 0 || t.status().unsent > 0 {
        t.pass(300 * MS);
        t.inject(". n");
    }
    t.all();
    t.pass(30 * SECOND);
    t.fill();
    transfer.sent = t.pieces();
    let windows = transfer.rounds(12);
    assert!(windows.iter().all(|&w| w <= before + 5), "{before}: {windows:?}");
}

/// §5.8: no growth by what is not used.
#[test]
fn unused_window_does_not_grow() {
    let mut t = Peer::established_with(|config| config.congestion_control = 1, "<mss 1000,sackOK,ws 10>");
    for _ in 0..100 {
        t.write(1000);
        t.pass(100 * MS);
        let sent = t.pieces();
        t.acknowledge_each(&sent);
    }
    assert!(t.status().congestion_window <= 12, "{}", t.status().congestion_window);
}

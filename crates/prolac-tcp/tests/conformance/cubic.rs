//! RFC 9438: CUBIC.

use crate::support::*;

/// Round trips of 100 ms, one acknowledgment a segment; the windows of each, in segments.
fn rounds(t: &mut Peer, sent: &mut Vec<(u32, usize)>, count: usize) -> Vec<u32> {
    let mut windows = Vec::new();
    for _ in 0..count {
        t.pass(100 * MS);
        let acknowledged = std::mem::take(sent);
        *sent = t.acknowledge_each(&acknowledged);
        t.fill();
        sent.extend(t.pieces());
        windows.push(t.status().congestion_window);
    }
    windows
}

/// A connection with a large window, in slow start, that writes as much as it can.
fn busy() -> (Peer, Vec<(u32, usize)>) {
    let mut t = Peer::established_with(|config| config.congestion_control = 1, "<mss 1000,sackOK,ws 10>");
    t.inject(". 1 ack 1");
    t.fill();
    let sent = t.pieces();
    (t, sent)
}

/// The first of what is outstanding is lost, the rest arrives.
fn lose_one(t: &mut Peer, sent: &mut Vec<(u32, usize)>) -> (u32, u32) {
    let before = t.status().congestion_window;
    let first = sent[0].0;
    let mut again = Vec::new();
    for (place, length) in sent.drain(1..) {
        t.inject(&format!(". n ack {first} <sack {}-{}>", first + 1000, place + length as u32));
        again.extend(t.pieces());
    }
    let threshold = t.status().send_threshold;
    let end = again.iter().map(|p| p.0).filter(|&p| p > first).min().unwrap_or(0);
    let end = if end == 0 { t.stack_side.next.wrapping_sub(t.stack_side.first) } else { end };
    t.inject(&format!(". n ack {end}"));
    *sent = again.into_iter().filter(|p| p.0 >= end).chain(t.pieces()).collect();
    (before, threshold)
}

/// §4.6: to 0.7 of the window, not to half.
#[test]
fn decrease() {
    let (mut t, mut sent) = busy();
    rounds(&mut t, &mut sent, 3);
    let (before, threshold) = lose_one(&mut t, &mut sent);
    let share = f64::from(threshold) / f64::from(before);
    assert!((0.65..=0.75).contains(&share), "{threshold} of {before}");
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

/// §4.2: concave up to the old window, a plateau there, then faster and faster.
#[test]
fn shape() {
    let (mut t, mut sent) = busy();
    rounds(&mut t, &mut sent, 3);
    let (before, _) = lose_one(&mut t, &mut sent);
    let windows = rounds(&mut t, &mut sent, 150);
    let reached = windows.iter().position(|&w| w >= before).expect("the old window is reached");
    assert!((10..=80).contains(&reached), "{reached} rounds to {before}: {windows:?}");
    let last = *windows.last().expect("windows");
    assert!(
        windows.windows(2).all(|w| w[1] <= w[0] * 3 / 2 + 1),
        "more than half in a round trip: {windows:?}"
    );
    assert!(last > before * 3 / 2, "{windows:?}");
    let (growth_late, growth_plateau) =
        (last - windows[windows.len() - 10], windows[reached] - windows[reached.saturating_sub(5)]);
    assert!(growth_late > growth_plateau, "{windows:?}");
}

/// §4.1: K = cbrt((W_max - cwnd) / C) seconds to the old window.
#[test]
fn time_to_the_old_window() {
    let (mut t, mut sent) = busy();
    rounds(&mut t, &mut sent, 4);
    let (before, threshold) = lose_one(&mut t, &mut sent);
    let expected = (f64::from(before - threshold) / 0.4).cbrt();
    let windows = rounds(&mut t, &mut sent, 150);
    let reached = windows.iter().position(|&w| w + 1 >= before).expect("the old window") as f64 / 10.0;
    assert!(
        (0.5 * expected..=1.5 * expected + 0.5).contains(&reached),
        "{reached} s, K is {expected} s: {windows:?}"
    );
}

/// §4.7: a second loss below the old window gives room to others.
#[test]
fn fast_convergence() {
    let (mut t, mut sent) = busy();
    rounds(&mut t, &mut sent, 3);
    lose_one(&mut t, &mut sent);
    rounds(&mut t, &mut sent, 3);
    let (second, _) = lose_one(&mut t, &mut sent);
    let windows = rounds(&mut t, &mut sent, 60);
    // W_max is 0.85 of the second window: the plateau is below it.
    let plateau = f64::from(second) * 0.85;
    let near = windows.iter().filter(|&&w| (f64::from(w) - plateau).abs() <= plateau * 0.06 + 1.0).count();
    assert!(near >= 8, "{near} rounds near {plateau}: {windows:?}");
}

/// §4.8: a timeout: one segment, and slow start to 0.7 of what it was.
#[test]
fn timeout() {
    let (mut t, mut sent) = busy();
    let before = *rounds(&mut t, &mut sent, 3).last().expect("a window");
    t.pass(10 * SECOND);
    let status = t.status();
    assert_eq!(status.congestion_window, 1, "{}", t.story());
    let share = f64::from(status.send_threshold) / f64::from(before);
    assert!((0.6..=0.8).contains(&share), "{} of {before}", status.send_threshold);
}

/// §4.10: slow start as before (or HyStart++), until the first loss.
#[test]
fn slow_start() {
    let (mut t, mut sent) = busy();
    let windows = rounds(&mut t, &mut sent, 3);
    assert!(windows[0] >= 18 && windows[2] >= 60, "{windows:?}");
}

/// §4.3: with short round trips it is not slower than Reno.
#[test]
fn as_fast_as_reno() {
    let (mut t, mut sent) = busy();
    rounds(&mut t, &mut sent, 1);
    let (_, threshold) = lose_one(&mut t, &mut sent);
    let mut windows = vec![];
    for _ in 0..20 {
        t.pass(MS);
        let acknowledged = std::mem::take(&mut sent);
        sent = t.acknowledge_each(&acknowledged);
        t.fill();
        sent.extend(t.pieces());
        windows.push(t.status().congestion_window);
    }
    // Alpha is 3 (1 - 0.7) / (1 + 0.7) = 0.53 segments a round trip below the old window.
    assert!(*windows.last().expect("a window") >= threshold + 6, "{threshold}: {windows:?}");
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

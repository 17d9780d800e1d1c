//! RFC 3168 §6.1: explicit congestion notification.

use crate::support::notation::SYN;
use crate::support::*;

const ECE: u8 = 64;
const CWR: u8 = 128;

fn ecn() -> Peer {
    let mut t = Peer::with(|config| {
        config.ecn = 1;
        config.congestion_control = 0;
    });
    t.listen(1);
    t.inject("SEW 0 <mss 1000>");
    t.expect("S.E 0 ack 1");
    t.inject(". 1 ack 1");
    t.accept();
    t
}

/// §6.1.1: the client asks with ECE and CWR.
#[test]
fn client_asks() {
    let mut t = Peer::with(|config| config.ecn = 1);
    t.connect();
    t.expect("SEW 0 not-ect");
    t.inject("S.E 0 ack 1 <mss 1000>");
    t.expect(". 1 ack 1 not-ect");
    t.write(100);
    t.expect("P. 1(100) ect0");
}

/// §6.1.1: a server that does not want it is not pressed.
#[test]
fn server_refuses() {
    let mut t = Peer::with(|config| config.ecn = 1);
    t.connect();
    t.expect("SEW 0");
    t.inject("S. 0 ack 1 <mss 1000>");
    t.expect(". 1 ack 1");
    t.write(100);
    t.expect("P. 1(100) not-ect");
}

/// §6.1.1: both bits in a SYN-ACK are not an agreement.
#[test]
fn reflected_bits() {
    let mut t = Peer::with(|config| config.ecn = 1);
    t.connect();
    t.expect("SEW 0");
    t.inject("S.EW 0 ack 1 <mss 1000>");
    t.expect(". 1 ack 1");
    t.write(100);
    t.expect("P. 1(100) not-ect");
}

/// §6.1.1: the server agrees with ECE alone; as Linux also by default.
#[test]
fn server_agrees() {
    ecn();
    let mut t = Peer::new();
    t.listen(1);
    t.inject("SEW 0 <mss 1000>");
    t.expect("S.E 0 ack 1 not-ect");
}

/// §6.1.1: a SYN that is marked is no honest request: someone on the way has written the field.
#[test]
fn marked_syn() {
    for field in ["ect0", "ect1", "ce"] {
        let mut t = Peer::with(|config| config.ecn = 1);
        t.listen(1);
        t.inject(&format!("SEW 0 {field} <mss 1000>"));
        t.expect("S. 0 ack 1");
    }
}

/// §6.1.1: no one asked.
#[test]
fn server_is_not_asked() {
    let mut t = Peer::with(|config| config.ecn = 1);
    t.listen(1);
    t.inject("S 0 <mss 1000>");
    t.expect("S. 0 ack 1 not-ect");
    let mut t = Peer::with(|config| config.ecn = 0);
    t.listen(1);
    t.inject("SEW 0 <mss 1000>");
    t.expect("S. 0 ack 1");
}

/// §6.1.1.1: a SYN that is lost is repeated without, so that broken routers let it through.
#[test]
fn repeated_syn_does_not_ask() {
    let mut t = Peer::with(|config| config.ecn = 1);
    t.connect();
    t.expect("SEW 0");
    t.pass(10 * SECOND);
    let again = t.all();
    assert!(again.len() >= 3 && again.iter().all(|s| s.flags == SYN), "{}", t.story());
}

/// §6.1.2, §6.1.4, §6.1.5: ECT on new text, not on acknowledgments, repetitions or probes.
#[test]
fn where_ect_is() {
    let mut t = ecn();
    t.write(100);
    t.expect("P. 1(100) ect0");
    t.expect_within(0..3 * SECOND, "P. 1(100) not-ect");
    t.inject(". 1");
    t.inject("P. 1(10)");
    t.expect_ack(". n ack 11 not-ect");
    t.inject(". n win 0");
    t.write(100);
    t.run_until_sent();
    assert_eq!(t.next().map(|s| s.ecn), Some(0));
}

/// §6.1.3: CE is told in every acknowledgment until CWR comes.
#[test]
fn ece_until_cwr() {
    let mut t = ecn();
    t.inject("P. n(100) ce");
    t.expect_ack(".E 1 ack n");
    t.inject("P. n(100) ect0");
    t.expect_ack(".E 1 ack n");
    t.inject("PW. n(100) ect0");
    t.expect_ack(". 1 ack n");
}

/// §6.1.3: CE in the segment with CWR begins anew.
#[test]
fn ce_with_cwr() {
    let mut t = ecn();
    t.inject("P. n(100) ce");
    t.expect_ack(".E 1 ack n");
    t.inject("PW. n(100) ce");
    t.expect_ack(".E 1 ack n");
}

/// §6.1.2: ECE halves the window as a loss does, and CWR says so on the next new text.
#[test]
fn ece_halves_the_window() {
    let mut t = ecn();
    t.write(60_000);
    assert_eq!(t.pieces().len(), 10);
    t.inject(".E n ack 1001");
    assert_eq!(t.status().send_threshold, 5);
    let mut flags = t.all();
    for n in 2..=10 {
        t.inject(&format!(". n ack {}", n * 1000 + 1));
        flags.extend(t.all());
    }
    assert!(t.status().congestion_window <= 6, "{}", t.status().congestion_window);
    let with: Vec<_> = flags.iter().map(|s| s.has(CWR)).collect();
    assert_eq!(with.iter().filter(|&&cwr| cwr).count(), 1, "{with:?}");
    assert!(with[0], "{with:?}");
}

/// §6.1.2: once a window of data.
#[test]
fn once_a_round_trip() {
    let mut t = ecn();
    t.write(60_000);
    t.pieces();
    for n in 1..=9 {
        t.inject(&format!(".E n ack {}", n * 1000 + 1));
    }
    assert_eq!(t.status().send_threshold, 5);
}

/// §6.1.2: ECE of someone who did not agree does nothing.
#[test]
fn ece_without_agreement() {
    let mut t = Peer::established_with(|config| config.congestion_control = 0, "<mss 1000>");
    t.write(60_000);
    t.pieces();
    t.inject(".E n ack 1001");
    assert_eq!(t.status().congestion_window, 11);
}

/// §6.1.3: nor does CE without agreement.
#[test]
fn ce_without_agreement() {
    let mut t = Peer::established();
    t.inject("P. n(100) ce");
    let ack = t.expect_ack(". 1 ack n");
    assert!(!ack.has(ECE));
}

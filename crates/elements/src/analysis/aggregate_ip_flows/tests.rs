//! AggregateIPFlows through configurations.

use super::super::samples::{at, tcp, tcp_sample, udp};
use crate::ip::samples::ip;
use crate::testing::Harness;
use clickwork_packet::{Packet, anno};

const A: (&str, u16) = ("10.0.0.1", 1000);
const B: (&str, u16) = ("10.0.0.2", 80);

const FIN: u8 = 0x11;
const SYN: u8 = 2;
const ACK: u8 = 0x10;

fn flows(args: &str) -> Harness {
    Harness::new(&format!("s :: Source -> f :: AggregateIPFlows({args}) -> k :: Sink; f [1] -> bad :: Sink"))
}

/// Aggregate and paint of what has come out.
fn marks(t: &mut Harness) -> Vec<(u32, u8)> {
    t.take("k").iter().map(|p| (p.anno_u32(anno::AGGREGATE), p.paint())).collect()
}

#[test]
fn flows_are_numbered_and_directions_painted() {
    let mut t = flows("");
    let other = ("10.0.0.1", 1001);
    t.push(
        "s",
        0,
        [udp(B, A, 1), udp(A, B, 2), tcp(A, B, ACK, 3), udp(other, B, 4), tcp(B, A, ACK, 5), udp(B, A, 6)],
    );
    assert_eq!(marks(&mut t), [(1, 0), (1, 1), (2, 0), (3, 0), (2, 1), (1, 0)]);
    assert_eq!(t.read("f.flows"), "3");
    t.write("f.clear").unwrap();
    t.push("s", 0, [udp(A, B, 7)]);
    assert_eq!(marks(&mut t), [(4, 0)]);
}

#[test]
fn hosts_may_talk_to_themselves() {
    let mut t = flows("");
    let (x, y) = (("1.1.1.1", 5), ("1.1.1.1", 6));
    t.push("s", 0, [udp(y, x, 1), udp(x, y, 2), udp(y, x, 3)]);
    assert_eq!(marks(&mut t), [(1, 0), (1, 1), (1, 0)]);
}

#[test]
fn silent_and_closed_flows_are_over() {
    let mut t = flows("UDP_TIMEOUT 2s, TCP_TIMEOUT 10, TCP_DONE_TIMEOUT 3");
    t.push("s", 0, [udp(A, B, 1000), udp(A, B, 3900), udp(B, A, 6000)]);
    assert_eq!(marks(&mut t), [(1, 0), (1, 0), (2, 0)], "2 seconds are not more than 2, 3 are");
    t.push(
        "s",
        0,
        [tcp(A, B, ACK, 10_000), tcp(A, B, ACK, 20_000), tcp(A, B, FIN, 20_000), tcp(B, A, FIN, 20_000)],
    );
    t.push("s", 0, [tcp(A, B, ACK, 23_000), tcp(A, B, ACK, 27_000)]);
    assert_eq!(marks(&mut t), [(3, 0), (3, 0), (3, 0), (3, 1), (3, 0), (4, 0)]);
    // A reset closes both directions, and a SYN begins a new flow at once.
    t.push("s", 0, [tcp(B, A, 4, 27_000), tcp(B, A, SYN, 27_000)]);
    assert_eq!(marks(&mut t), [(4, 1), (5, 0)]);
}

#[test]
fn flows_that_are_over_are_forgotten() {
    let mut t = flows("UDP_TIMEOUT 5, REAP 10");
    t.push("s", 0, (0..50u16).map(|n| udp(("1.2.3.4", n), B, 1000)));
    assert_eq!(t.read("f.flows"), "50");
    t.push("s", 0, [udp(A, B, 30_000)]);
    assert_eq!(t.read("f.flows"), "1");
}

#[test]
fn others_leave_by_the_second_output() {
    let mut t = flows("");
    let short = at(&ip("1.1.1.1", "2.2.2.2").payload(17, &[0, 1, 0]), 1);
    let icmp = at(&ip("1.1.1.1", "2.2.2.2").payload(1, &[3; 40]), 1);
    let nowhere = udp(("0.0.0.0", 1), ("0.0.0.0", 2), 1);
    t.push("s", 0, [short, icmp, nowhere, Packet::new(&[0x45; 40])]);
    assert_eq!((t.take("k").len(), t.take("bad").len()), (0, 4));
    assert!(t.printed().contains("f :: AggregateIPFlows: warning: packet received without timestamp"));
}

#[test]
fn icmp_errors_belong_to_the_flow_they_are_about() {
    let mut t = flows("ICMP true");
    let error = |about: Packet| {
        let mut payload = vec![3, 1, 0, 0, 0, 0, 0, 0];
        payload.extend(&about.data()[..28]);
        at(&ip("9.9.9.9", "10.0.0.1").payload(1, &payload), 2)
    };
    let echo = at(&ip("9.9.9.9", "10.0.0.1").payload(1, &[8; 40]), 2);
    t.push("s", 0, [udp(A, B, 1), error(udp(A, B, 1)), error(udp(B, A, 1)), echo]);
    assert_eq!(marks(&mut t), [(1, 0), (1, 2), (1, 3)]);
    assert_eq!(t.take("bad").len(), 1);
}

/// The two parts of a fragmented packet; the first has the ports.
fn fragments(millis: i64) -> [Packet; 2] {
    let whole = tcp_sample(A, B, ACK);
    [whole.clone().fragment(0x2000), whole.fragment(3)].map(|part| {
        let mut p = at(&part, millis);
        p.data_mut()[5] = 77;
        p
    })
}

#[test]
fn fragments_wait_for_their_ports() {
    let mut t = flows("");
    let [first, second] = fragments(1000);
    t.push("s", 0, [second, tcp(A, B, ACK, 1001)]);
    assert!(marks(&mut t).is_empty(), "all packets of the two hosts wait");
    t.push("s", 0, [udp(A, B, 1001), first]);
    assert_eq!(marks(&mut t), [(2, 0)], "those of another protocol do not");
    let mut late = tcp(B, A, ACK, 32_000);
    late.data_mut()[5] = 78;
    t.push("s", 0, [late]);
    assert_eq!(marks(&mut t), [(1, 0), (1, 0), (1, 0), (1, 1)]);
}

#[test]
fn fragments_without_ports_are_dropped_in_time() {
    let mut t = flows("FRAGMENT_TIMEOUT 5");
    let [_, second] = fragments(1000);
    t.push("s", 0, [second, tcp(A, B, ACK, 20_000)]);
    assert_eq!(marks(&mut t), [(1, 0)]);
    let [first, _] = fragments(21_000);
    t.push("s", 0, [first]);
    t.write("f.clear").unwrap();
    assert_eq!(marks(&mut t), [(1, 0)]);
}

#[test]
fn without_fragments_later_ones_are_refused() {
    let config = "s :: Source -> Queue -> f :: AggregateIPFlows -> k :: Sink; f [1] -> bad :: Sink";
    for mut t in [flows("FRAGMENTS false"), Harness::new(config)] {
        t.push("s", 0, fragments(1000));
        assert_eq!((t.take("k").len(), t.take("bad").len()), (1, 1));
    }
    let e = Harness::errors("Source -> Queue -> AggregateIPFlows(FRAGMENTS true) -> Sink");
    assert!(e.contains("'FRAGMENTS true' is incompatible with pull"), "{e}");
}

#[test]
fn floods_cannot_grow_the_tables() {
    let mut t = flows("CAPACITY 100");
    t.push("s", 0, (0..1000u16).map(|n| udp(("1.2.3.4", n), B, 1000)));
    assert_eq!((t.take("k").len(), t.take("bad").len()), (100, 900));
    let late =
        |n: u32| at(&tcp_sample((&format!("1.2.{}.{}", n >> 8, n & 255), 1), B, ACK).fragment(3), 1000);
    t.push("s", 0, (0..6000).map(late));
    assert_eq!(t.take("bad").len(), 6000 - 4096);
}

#[test]
fn all_flows_are_told_in_the_trace_file() {
    let name = clickwork_oracles::unused("clickwork-flows");
    let mut t = flows(&format!("TRACEINFO {}, UDP_TIMEOUT 1", name.display()));
    t.push("s", 0, [udp(B, A, 1000), udp(A, B, 1250), udp(A, B, 9000), tcp(A, B, ACK, 9001)]);
    t.router.cleanup();
    let xml = std::fs::read_to_string(&name).unwrap();
    std::fs::remove_file(&name).unwrap();
    let flow = |head: &str, forward, back| {
        format!(
            "<flow {head}'>\n  <stream dir='0' packets='{forward}' /><stream dir='1' packets='{back}' />\n</flow>\n"
        )
    };
    let expected = [
        "<?xml version='1.0' standalone='yes'?>\n<trace>\n".to_owned(),
        flow(
            "aggregate='1' src='10.0.0.2' sport='80' dst='10.0.0.1' dport='1000' begin='1.000000000' duration='0.250000000",
            1,
            1,
        ),
        flow(
            "aggregate='3' src='10.0.0.1' sport='1000' dst='10.0.0.2' dport='80' begin='9.001000000' duration='0.000000000",
            1,
            0,
        ),
        flow(
            "aggregate='2' src='10.0.0.1' sport='1000' dst='10.0.0.2' dport='80' begin='9.000000000' duration='0.000000000",
            2,
            1,
        ),
        "</trace>\n".to_owned(),
    ];
    assert_eq!(xml, expected.concat());
}

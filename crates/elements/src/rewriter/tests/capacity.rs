//! What happens when the table is full.

use super::*;
use std::time::Duration;

const SERVER: End = ("9.9.9.9", 80);

fn from(host: u8) -> Packet {
    udp((&format!("10.0.0.{host}"), 1), SERVER, b"").packet()
}

/// The hosts that have mappings.
fn hosts(t: &mut Harness) -> Vec<u8> {
    let table = t.read("rw.table");
    let hosts = table.lines().filter_map(|l| l.strip_prefix("(10.0.0.")?.split(',').next()?.parse().ok());
    let mut hosts: Vec<u8> = hosts.collect();
    hosts.sort_unstable();
    hosts
}

#[test]
fn guaranteed_flows_stay_and_new_ones_are_refused() {
    let mut t = Harness::new(&with_two("UDPRewriter(keep 0 1, drop, CAPACITY 3, GUARANTEE 26)"));
    t.push("in", 0, (1..=5).map(from));
    assert_eq!((hosts(&mut t), t.read("rw.mapping_failures")), (vec![1, 2, 3], "2".into()));
    assert_eq!(t.read("rw.drop_reasons"), "2\ttable full\n");
    // Ten seconds pass with each push. After 26, those without packets since give way.
    t.push("in", 0, [from(1)]);
    t.run_for(Duration::from_secs(6));
    t.push("in", 0, [from(6), from(7), from(8)]);
    assert_eq!((hosts(&mut t), t.read("rw.mapping_failures")), (vec![1, 6, 7], "3".into()));
}

#[test]
fn without_guarantee_the_flow_that_would_end_next_gives_way() {
    let mut t = Harness::new(&with_two("UDPRewriter(keep 0 1, drop, CAPACITY 3, GUARANTEE 0)"));
    for host in [1, 2, 3, 1, 4, 2, 5] {
        t.push("in", 0, [from(host)]);
    }
    // 4 pushed out 2, which pushed out 3; 5 pushed out 1.
    assert_eq!((hosts(&mut t), t.read("rw.mapping_failures")), (vec![2, 4, 5], "0".into()));
    t.write("rw.capacity 1").unwrap();
    assert_eq!((hosts(&mut t), t.read("rw.capacity")), (vec![5], "1".into()));
    assert!(t.write("rw.capacity lots").unwrap_err().contains("CAPACITY"));
    assert!(t.write("rw.capacity").unwrap_err().contains("CAPACITY"));
    t.write("rw.capacity 2").unwrap();
    t.push("in", 0, [from(1), from(2)]);
    assert_eq!(hosts(&mut t).len(), 2);
}

#[test]
fn flows_of_the_same_moment_give_way_in_the_order_of_clicks_heap() {
    let mut t = Harness::new(&with_two("UDPRewriter(keep 0 1, drop, CAPACITY 4, GUARANTEE 0)"));
    // The one on top goes, the last takes its place and stays there, as all are equal: 1, 5, 6, 7, ... go.
    t.push("in", 0, (1..=8).map(from));
    assert_eq!((hosts(&mut t), t.take("a").len()), (vec![2, 3, 4, 8], 8));
}

#[test]
fn rewriters_can_share_a_capacity() {
    // The chain is the same whatever the order of the elements.
    for order in [
        "u :: UDPRewriter(keep 0 0, CAPACITY t); t :: TCPRewriter(keep 0 0, MAPPING_CAPACITY i); \
                   i :: IPAddrRewriter(keep 0 0, CAPACITY 3);",
        "i :: IPAddrRewriter(keep 0 0, CAPACITY 3); t :: TCPRewriter(keep 0 0, MAPPING_CAPACITY i); \
                   u :: UDPRewriter(keep 0 0, CAPACITY t);",
    ] {
        let mut t = Harness::new(&format!(
            "{order} su :: Source -> u -> k :: Sink; st :: Source -> t -> k; si :: Source -> i -> k"
        ));
        t.push("su", 0, [from(1), from(2)]);
        t.push("si", 0, [from(1)]);
        t.push("st", 0, [tcp(("10.0.0.1", 1), SERVER, flag::SYN, b"").packet()]);
        // By now those of the first two have lost their guarantee, after 20 seconds of pushing.
        assert_eq!(
            (t.read("u.nmappings"), t.read("t.nmappings"), t.read("i.nmappings")),
            ("1".into(), "1".into(), "1".into())
        );
        assert!(["u", "t", "i"].iter().all(|e| t.read(&format!("{e}.size")) == "3"));
        t.write("t.clear").unwrap();
        assert_eq!((t.read("u.nmappings"), t.read("i.size")), ("0".into(), "0".into()));
    }
}

#[test]
fn a_capacity_of_nothing_lets_nothing_begin() {
    for capacity in ["0", "-5"] {
        let mut t = Harness::new(&with_two(&format!("IPRewriter(keep 0 1, drop, CAPACITY {capacity})")));
        t.push("in", 0, [from(1), from(1)]);
        assert_eq!((t.take("a").len(), t.read("rw.size")), (0, "0".into()));
    }
}

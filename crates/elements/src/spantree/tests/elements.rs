//! Networks of switches inside one router: each with its Suppressors, joined by cables that can be cut.

use super::super::bpdu::{Bpdu, frame};
use super::{address, id, says};
use crate::testing::Harness;
use clickwork_packet::{Packet, Timestamp};
use std::time::Duration;

/// A switch with `ports` ports, of which the last is for a host.
fn switch(name: &str, number: usize, ports: usize) -> String {
    let mut text = format!(
        "{name} :: {{ st :: EtherSpanTree({}, before, behind, sw, BRIDGE_PRIORITY 32768); before, behind :: Suppressor; \
         sw :: EtherSwitch;",
        address(number)
    );
    for p in 0..ports {
        text += &format!(
            "input [{p}] -> c{p} :: Classifier(14/4242, -) -> [{p}] st [{p}] -> q{p} :: Queue -> [{p}] output; \
             c{p} [1] -> [{p}] before [{p}] -> [{p}] sw [{p}] -> [{p}] behind [{p}] -> q{p}; "
        );
    }
    text + "};\n"
}

/// A cable between ports of two switches, which takes a millisecond and can be cut, and counts.
fn cable(name: &str, a: (&str, usize), b: (&str, usize)) -> String {
    let ((a, m), (b, n)) = (a, b);
    let way = |from: &str, m: usize, to: &str, n: usize, side: usize| {
        format!(
            "{from} [{m}] -> Unqueue -> [{side}] {name} [{side}] -> {name}{side} :: Counter -> Queue \
             -> LinkUnqueue(1ms, 1Gbps) -> [{n}] {to};\n"
        )
    };
    format!("{name} :: Suppressor;\n") + &way(a, m, b, n, 0) + &way(b, n, a, m, 1)
}

/// A host at a switch's port.
fn host(name: &str, at: &str, port: usize) -> String {
    format!("{name} :: Source -> [{port}] {at}; {at} [{port}] -> Unqueue -> {name}_got :: Sink;\n")
}

fn ring() -> Harness {
    let switches: String = ["a", "b", "c"].iter().zip(1..).map(|(name, n)| switch(name, n, 3)).collect();
    let cables =
        cable("ab", ("a", 0), ("b", 0)) + &cable("bc", ("b", 1), ("c", 0)) + &cable("ca", ("c", 1), ("a", 1));
    let hosts: String = ["a", "b", "c"].iter().map(|s| host(&format!("h{s}"), s, 2)).collect();
    Harness::new(&(switches + &cables + &hosts))
}

fn mesh() -> Harness {
    let names = ["a", "b", "c", "d"];
    let mut text: String = names.iter().zip(1..).map(|(name, n)| switch(name, n, 4)).collect();
    let mut used = [0; 4];
    for i in 0..4 {
        for j in 0..i {
            text += &cable(&format!("{}{}", names[j], names[i]), (names[j], used[j]), (names[i], used[i]));
            (used[i], used[j]) = (used[i] + 1, used[j] + 1);
        }
    }
    text += &names.map(|s| host(&format!("h{s}"), s, 3)).concat();
    Harness::new(&text)
}

fn run(t: &mut Harness, seconds: u64) {
    t.run_for(Duration::from_secs(seconds));
}

fn frame_between(to: u8, from: u8, now: Timestamp) -> Packet {
    let address = |n| [2, 1, 0, 0, 0, n];
    let to = if to == 0xFF { [0xFF; 6] } else { address(to) };
    let mut p = Packet::new(&[&to[..], &address(from), b"\x08\x00 a frame that is long enough"].concat());
    p.set_timestamp(now);
    p
}

fn send(t: &mut Harness, host: &str, p: Packet) {
    let element = t.router.find(host).unwrap();
    t.router.push(clickwork_router::Endpoint { element, port: 0 }, clickwork_packet::Batch::one(p));
}

/// Sends a broadcast from each host in turn: how many each of the hosts gets, itself included.
fn broadcasts(t: &mut Harness, hosts: &[&str]) -> Vec<Vec<usize>> {
    let mut got = Vec::new();
    for (n, from) in hosts.iter().enumerate() {
        send(t, from, frame_between(0xFF, n as u8, Timestamp::new(1, 0)));
        t.run_for(Duration::from_millis(500));
        got.push(
            hosts
                .iter()
                .map(|to| t.take(&format!("{to}_got")).iter().filter(|p| p.data()[0] == 0xFF).count())
                .collect(),
        );
    }
    got
}

fn everybody_else(hosts: usize) -> Vec<Vec<usize>> {
    (0..hosts).map(|from| (0..hosts).map(|to| usize::from(to != from)).collect()).collect()
}

const RING: [&str; 3] = ["ha", "hb", "hc"];

#[test]
fn a_ring_carries_each_broadcast_once_and_mends_a_cut() {
    let mut t = ring();
    run(&mut t, 10);
    assert_eq!(broadcasts(&mut t, &RING), vec![vec![0; 3]; 3], "nothing passes while ports listen");
    run(&mut t, 25);
    assert_eq!(broadcasts(&mut t, &RING), everybody_else(3));
    assert_eq!([t.read("b/st.root_port"), t.read("c/st.root_port")], ["0", "1"]);
    assert_eq!([t.read("c/st.state0"), t.read("c/st.role0")], ["blocking", "blocked"]);
    t.write("ab.active0 false").unwrap();
    t.write("ab.active1 false").unwrap();
    run(&mut t, 20 + 2 * 15 + 1);
    assert_eq!(broadcasts(&mut t, &RING), everybody_else(3));
    assert_eq!([t.read("b/st.root_port"), t.read("b/st.root_cost")], ["1", "8"]);
}

#[test]
fn a_mesh_of_four_becomes_a_tree() {
    let hosts = ["ha", "hb", "hc", "hd"];
    let mut t = mesh();
    run(&mut t, 35);
    assert_eq!(broadcasts(&mut t, &hosts), everybody_else(4));
    for cable in ["ab", "ac"] {
        t.write(&format!("{cable}.active0 false")).unwrap();
        t.write(&format!("{cable}.active1 false")).unwrap();
    }
    run(&mut t, 51);
    assert_eq!(broadcasts(&mut t, &hosts), everybody_else(4));
}

/// A station that is now reached the other way is found again while the topology changes, not after five minutes.
#[test]
fn a_change_makes_switches_forget() {
    let mut t = ring();
    run(&mut t, 80);
    let now = |t: &Harness| t.router.clock().now();
    // Host A is known everywhere, by the links from the root.
    let hello = frame_between(0xFF, 0, now(&t));
    send(&mut t, "ha", hello);
    run(&mut t, 1);
    assert!(t.read("b/sw.table").contains("02-01-00-00-00-00 0"), "{}", t.read("b/sw.table"));
    t.write("ab.active0 false").unwrap();
    t.write("ab.active1 false").unwrap();
    run(&mut t, 53);
    t.take("ha_got");
    let (to_a, from_b) = (frame_between(0, 1, now(&t)), now(&t));
    send(&mut t, "hb", to_a);
    run(&mut t, 1);
    let arrived = t.take("ha_got").iter().filter(|p| p.data()[0] == 2).count();
    assert_eq!(arrived, 1, "sent at {from_b}: {}", t.read("b/st.dump"));
}

#[test]
fn a_learning_port_teaches_the_switch_and_passes_nothing() {
    let mut t = ring();
    run(&mut t, 20);
    assert_eq!(t.read("a/st.state2"), "learning");
    assert_eq!(broadcasts(&mut t, &RING), vec![vec![0; 3]; 3]);
    assert_eq!(t.read("a/sw.table"), "02-01-00-00-00-00 2\n");
    assert_eq!(t.read("a/sw.drop_reasons"), "1\tport is learning\n");
}

/// The switch alone, with two ports.
const ALONE: &str = "st :: EtherSpanTree(2:0:0:0:0:1, before, behind, swARGUMENTS); before, behind :: Suppressor; \
     sw :: EtherSwitch; a :: Source -> [0] st; b :: Source -> [1] st; st [0] -> ka :: Sink; st [1] -> kb :: Sink; \
     Idle -> before -> sw -> behind -> Discard; Idle -> [1] before [1] -> [1] sw [1] -> [1] behind [1] -> Discard;";

fn alone(arguments: &str) -> Harness {
    Harness::new(&ALONE.replace("ARGUMENTS", arguments))
}

fn pushed(t: &mut Harness, message: &[u8]) {
    let element = t.router.find("st").unwrap();
    t.router.push(
        clickwork_router::Endpoint { element, port: 0 },
        clickwork_packet::Batch::one(Packet::new(message)),
    );
    t.run_for(Duration::from_millis(100));
}

#[test]
fn messages_are_printed_as_click_prints_them() {
    let mut t = alone(", PATH_COST 7");
    run(&mut t, 1);
    let nothing = " ffffffffffffffff:0000: tc  ffff -> ffffffffffffffff  m/h/d: 14/2/f\n";
    let own = " dead020000000001:0000: tc  0 -> dead020000000001  m/h/d: 14/2/f\n";
    assert_eq!(t.read("st.msgs"), [nothing, nothing, own].concat());
    pushed(&mut t, &frame(address(9), &Bpdu::Config(says(id(0x0100, 9), 3, id(0x8000, 8), 0x8004))));
    let heard = "  8000020000000008:8004: tc  3 ->  100020000000009  m/h/d: 14/2/f\n";
    assert_eq!(t.read("st.msgs"), [&heard[1..], nothing, &heard[1..].replace("  3 ->", "  a ->")].concat());
    assert_eq!(
        t.read("st.dump").lines().take(3).collect::<Vec<_>>(),
        [
            "bridge dead.020000000001",
            "root 0100.020000000009, cost 10, root port 0",
            "max age 20, hello 2, forward delay 15"
        ]
    );
}

#[test]
fn changes_of_state_are_told_in_clicks_words() {
    let mut t = alone("");
    run(&mut t, 31);
    let lines = t.printed();
    let expected: Vec<_> = (0..3)
        .flat_map(|s| (0..2).map(move |p| format!("Changing port {p} from {s} to {}", s + 1)))
        .collect();
    assert_eq!(lines.lines().collect::<Vec<_>>(), expected);
    t.write("st.enabled1 false").unwrap();
    assert_eq!([t.read("before.active0"), t.read("before.active1")], ["true", "false"]);
    assert_eq!(t.printed(), "Changing port 1 from 3 to -1\n");
}

#[test]
fn what_is_no_message_is_counted() {
    let mut t = alone("");
    run(&mut t, 1);
    let good = frame(address(9), &Bpdu::Config(says(id(0xFFFF, 9), 3, id(0xFFFF, 8), 1)));
    let mut rapid = good.clone();
    rapid[20] = 2;
    for wrong in [&good[..10], &good[..30], &rapid, &[0; 60]] {
        pushed(&mut t, wrong);
    }
    pushed(&mut t, &good);
    let reasons = t.read("st.drop_reasons");
    for reason in [
        "frame too short",
        "frame shorter than it says",
        "unknown BPDU type",
        "not to the bridge group address",
    ] {
        assert!(reasons.contains(&format!("1\t{reason}\n")), "{reasons}");
    }
    assert_eq!(t.read("st.root_port"), "-1");
}

#[test]
fn handlers_manage_the_bridge() {
    let mut t = alone(", BRIDGE_PRIORITY 4096, PATH_COST 5 6, PORT_PRIORITY 16 32");
    run(&mut t, 1);
    assert_eq!(
        [t.read("st.path_cost1"), t.read("st.port_priority1"), t.read("st.bridge_priority")],
        ["6", "32", "4096"]
    );
    for call in ["bridge_priority 8192", "path_cost1 9", "port_priority0 48", "enabled0 false"] {
        t.write(&format!("st.{call}")).unwrap();
    }
    assert_eq!(
        [t.read("st.path_cost1"), t.read("st.port_priority0"), t.read("st.bridge_id")],
        ["9", "48", "2000.020000000001"]
    );
    assert_eq!(
        [t.read("st.state0"), t.read("st.enabled0"), t.read("st.enabled1")],
        ["disabled", "false", "true"]
    );
    for wrong in ["bridge_priority x", "path_cost1 0", "port_priority0 17", "enabled0 maybe"] {
        assert!(t.write(&format!("st.{wrong}")).is_err(), "{wrong}");
    }
    assert_eq!(t.read("st.topology_change"), "false");
}

#[test]
fn what_a_script_sets_at_the_start_holds() {
    let mut t =
        Harness::new(&format!("{} Script(write st.bridge_priority 5)", ALONE.replace("ARGUMENTS", "")));
    run(&mut t, 31);
    assert_eq!([t.read("st.bridge_priority"), t.read("st.state0")], ["5", "forwarding"]);
}

#[test]
fn arguments_are_checked() {
    let config = |arguments: &str| {
        format!(
            "st :: EtherSpanTree({arguments}); before, behind :: Suppressor; sw :: EtherSwitch; q :: Queue; Idle -> q -> Discard; \
             Idle -> st -> Discard; Idle -> [1] st [1] -> Discard; \
             Idle -> before -> sw -> behind -> Discard; Idle -> [1] before [1] -> [1] sw [1] -> [1] behind [1] -> Discard"
        )
    };
    let right = "2:0:0:0:0:1, before, behind, sw";
    Harness::new(&config(&format!("{right}, HELLO_TIME 1, MAX_AGE 6, FORWARD_DELAY 4")));
    for (arguments, complaint) in [
        ("2:0:0:0:0:1, nobody, behind, sw", "INPUT_SUPPRESSOR: does not name an element"),
        ("2:0:0:0:0:1, before, q, sw", "OUTPUT_SUPPRESSOR: element type mismatch, expected Suppressor"),
        ("2:0:0:0:0:1, before, behind, q", "SWITCH: element type mismatch, expected EtherSwitch"),
        (&format!("{right}, HELLO_TIME 0.5"), "HELLO_TIME: must be between 1 and 10 seconds"),
        (&format!("{right}, MAX_AGE 41"), "MAX_AGE: must be between 6 and 40 seconds"),
        (&format!("{right}, FORWARD_DELAY 31"), "FORWARD_DELAY: must be between 4 and 30 seconds"),
        (&format!("{right}, FORWARD_DELAY 10"), "FORWARD_DELAY: too short"),
        (&format!("{right}, HELLO_TIME 10"), "HELLO_TIME: too long"),
        (&format!("{right}, PATH_COST 1 2 3"), "PATH_COST: expected one number, or 2, one for each port"),
        (&format!("{right}, PATH_COST 0"), "PATH_COST: number out of range"),
        (&format!("{right}, PORT_PRIORITY 100"), "PORT_PRIORITY: number out of range"),
    ] {
        let said = Harness::errors(&config(arguments));
        assert!(said.contains(complaint), "{arguments}: {said}");
    }
    let uneven = config(right).replace("Idle -> [1] st [1] -> Discard", "");
    let said = Harness::errors(&uneven);
    assert!(said.contains("'before' has 2 ports, the spanning tree has 1"), "{said}");
}

/// A replaced configuration goes on forwarding: the tree is not forgotten.
#[test]
fn a_hot_swap_keeps_the_tree() {
    let (mut old, mut new) = (alone(""), alone(""));
    run(&mut old, 31);
    assert_eq!(new.read("behind.active1"), "false");
    new.router.take_over(old.router);
    assert_eq!([new.read("st.state0"), new.read("behind.active1")], ["forwarding", "true"]);
    let (mut old, mut other) = (alone(""), alone(", BRIDGE_PRIORITY 1"));
    run(&mut old, 31);
    other.router.take_over(old.router);
    assert_eq!([other.read("behind.active0"), other.read("behind.active1")], ["false", "false"]);
}

/// Numbers have the forms that numbers have everywhere.
#[test]
fn costs_and_priorities_may_be_hexadecimal() {
    let mut t = Harness::new(
        "st :: EtherSpanTree(2:0:0:0:0:1, before, behind, sw, BRIDGE_PRIORITY 0x8000, PATH_COST 0x10, \
         PORT_PRIORITY 0x10 040); before, behind :: Suppressor; sw :: EtherSwitch; \
         Idle -> before -> sw -> behind -> Discard; Idle -> [1] before [1] -> [1] sw [1] -> [1] behind [1] -> Discard; \
         Idle -> st -> Discard; Idle -> [1] st [1] -> Discard",
    );
    t.write("st.path_cost1 0x20").unwrap();
    t.write("st.port_priority0 0x30").unwrap();
    assert_eq!([t.read("st.path_cost0"), t.read("st.path_cost1")], ["16", "32"]);
    assert_eq!([t.read("st.port_priority0"), t.read("st.port_priority1")], ["48", "32"]);
    assert!(t.write("st.port_priority0 0x31").is_err());
}

//! What each class does to header marks and annotations.
//!
//! A packet with all of them set and one with none go through an element; what comes out is written as a line and compared
//! with `cases.txt`, whose lines were checked against what Click's elements of these names do. Where ours mark a header
//! that Click's leave unmarked (neighbour discovery, protocol translation), the line has the mark.
#![allow(missing_docs)]

use clickwork_elements::testing::Harness;
use clickwork_packet::{Packet, PacketType, Timestamp};
use std::time::Duration;

mod packets;

const CASES: &str = include_str!("cases.txt");

#[test]
fn marks_and_annotations_are_as_in_click() {
    let written: Vec<String> = cases().map(|case| case.written()).collect();
    let expected: Vec<&str> = CASES.lines().filter(|line| is_case(line)).collect();
    let differences = written.iter().zip(&expected).filter(|(written, expected)| written != *expected);
    let report: String = differences.map(|(w, e)| format!("expected {e}\n     got {w}\n")).collect();
    assert!(report.is_empty(), "{report}");
}

fn is_case(line: &str) -> bool {
    !line.is_empty() && !line.starts_with('#')
}

/// A line of the file: `ELEMENT | KIND | OUTCOMES`.
struct Case {
    /// The element, or a connection of elements, perhaps with an input before it: `[1] ELEMENT`.
    element: &'static str,
    /// The kind of packet that it gets; `-` if it makes packets itself.
    kind: &'static str,
}

fn cases() -> impl Iterator<Item = Case> {
    CASES.lines().filter(|line| is_case(line)).map(|line| {
        let mut fields = line.split(" | ");
        let mut field = || fields.next().expect("a field");
        Case { element: field(), kind: field() }
    })
}

impl Case {
    /// The line as it should stand in the file.
    fn written(&self) -> String {
        let Case { element, kind } = self;
        let outcomes = match packets::of_kind(kind) {
            None => self.treats(None),
            Some((data, marks)) => {
                let outcome = |p| self.treats(Some(p));
                format!("{} | {}", outcome(marked(&data, marks)), outcome(plain(&data)))
            }
        };
        format!("{element} | {kind} | {outcomes}").trim_end().to_string()
    }

    /// What comes out of each output when the element gets the packet, or runs for a while.
    fn treats(&self, p: Option<Packet>) -> String {
        let before = p.clone().unwrap_or_else(|| plain(&[]));
        let (mut router, outputs) = self.router();
        match p {
            Some(p) => router.push("s", 0, [p]),
            None => drop(router.run_for(Duration::from_millis(3500))),
        }
        let lines = (0..outputs).flat_map(|output| {
            let came = router.take(&format!("k{output}"));
            came.iter().map(|p| format!("[{output}] {}", line(&before, p))).collect::<Vec<_>>()
        });
        lines.collect::<Vec<_>>().join("; ")
    }

    /// A router around the element with as many outputs as it takes.
    fn router(&self) -> (Harness, usize) {
        let tried = (1..6).rev().map(|outputs| (self.config(outputs), outputs));
        let quiet = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let mut built =
            tried.filter_map(|(c, n)| Some((std::panic::catch_unwind(|| Harness::new(&c)).ok()?, n)));
        let first = built.next();
        std::panic::set_hook(quiet);
        first.unwrap_or_else(|| panic!("{}:\n{}", self.element, Harness::errors(&self.config(1))))
    }

    fn config(&self, outputs: usize) -> String {
        let (input, element) = match self.element.strip_prefix("[1] ") {
            Some(element) => (1, element),
            None => (0, self.element),
        };
        let takes_two = ["ARPQuerier", "IP6NDSolicitor", "EtherSwitch", "ListenEtherSwitch"];
        let other = takes_two.iter().any(|class| element.split('(').next() == Some(class));
        let mut config = match element.split_once(" -> ") {
            Some((first, last)) => format!("f :: {first} -> e :: {last}; s :: Source -> f; "),
            None if self.kind == "-" => format!("e :: {element}; "),
            None => format!("e :: {element}; s :: Source -> [{input}] e; "),
        };
        if other {
            config += &format!("Idle -> [{}] e; ", 1 - input);
        }
        (0..outputs).for_each(|o| config += &format!("e [{o}] -> k{o} :: Sink; "));
        config
    }
}

/// A packet with every annotation set, and marks at these offsets.
fn marked(data: &[u8], [mac, network, transport]: [i32; 3]) -> Packet {
    let mut p = plain(data);
    p.set_mac_offset(mac);
    p.set_network_header(network, 0);
    p.set_transport_offset(transport);
    p.annotations_mut().iter_mut().zip(0x80..).for_each(|(byte, value)| *byte = value);
    p.set_timestamp(Timestamp::new(5, 5));
    p.set_packet_type(PacketType::Outgoing);
    p
}

/// A packet without marks and annotations.
fn plain(data: &[u8]) -> Packet {
    Packet::with_room(64, data, 0)
}

/// Marks and what changed of the annotations: `MAC/NETWORK/TRANSPORT`, runs of bytes, the timestamp, the packet type.
fn line(before: &Packet, p: &Packet) -> String {
    let offset = |offset: Option<i32>| offset.map_or("-".to_string(), |o| o.to_string());
    let [mac, network, transport] = [p.mac_offset(), p.network_offset(), p.transport_offset()].map(offset);
    let annotations = changed(before.annotations(), p.annotations());
    let mut line = format!("{mac}/{network}/{transport}{annotations}");
    if p.timestamp() != before.timestamp() {
        line += &format!(" time {}", p.timestamp());
    }
    if p.packet_type() != before.packet_type() {
        line += &format!(" type {:?}", p.packet_type());
    }
    line
}

/// Runs of bytes that changed, in hexadecimal.
fn changed(old: &[u8], new: &[u8]) -> String {
    if old != new && new.iter().all(|byte| *byte == 0) {
        return " cleared".to_string();
    }
    let (mut text, mut at) = (String::new(), 0);
    while let Some(first) = (at..new.len()).find(|&i| old[i] != new[i]) {
        at = (first..new.len()).find(|&i| old[i] == new[i]).unwrap_or(new.len());
        let run: String = new[first..at].iter().map(|byte| format!("{byte:02x}")).collect();
        text += &format!(" {first}:{run}");
    }
    text
}

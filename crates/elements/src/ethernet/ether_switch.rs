//! EtherSwitch: a learning Ethernet bridge (IEEE 802.1D §7).

use clickwork_packet::addr::EtherAddress;
use clickwork_packet::headers::{EthernetHeader, Header};
use clickwork_packet::{Batch, Packet, Timestamp};
use clickwork_router::args::{ArgSpec, ArgType, Args, SecondsIn};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, read_handler, write_handler};
use std::collections::HashMap;
use std::fmt::Write;
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "forwards Ethernet frames as a learning switch does",
    manual: "Input and output of one number belong to the same network. The switch learns from each frame's source address \
             where that station is, and sends a frame to the network of its destination; frames to groups and to stations \
             it does not know go to all networks but their own. What it learnt is forgotten TIMEOUT seconds after the \
             station's last frame, by the frames' timestamps; with TIMEOUT 0 it learns nothing.",
    example: "InfiniteSource(LIMIT 3, STOP true) -> s :: EtherSwitch -> Discard; Idle -> [1] s [1] -> Discard",
    ports: "2-/=",
    processing: "h/h",
    flow: "#/[^#]",
    packets: "ether/ether",
    args: &[ArgSpec::keyword(
        "TIMEOUT",
        ArgType::Seconds,
        "300",
        "seconds after which a station is forgotten",
    )],
    handlers: &[
        read_handler!("table", "the known stations and their networks", |e: &mut EtherSwitch, _| e.table()),
        read_handler!("timeout", "seconds after which a station is forgotten", |e: &mut EtherSwitch, _| e
            .timeout)
        .and_write(write_handler!("", "", |e: &mut EtherSwitch, text, cx| e.set_timeout(text, cx))),
    ],
    ..Class::new("EtherSwitch", "ethernet", || {
        Box::new(EtherSwitch { stations: HashMap::new(), timeout: 300 })
    })
};

struct EtherSwitch {
    stations: HashMap<EtherAddress, Station>,
    /// In seconds.
    timeout: u32,
}

/// Where a station is.
struct Station {
    port: usize,
    /// The timestamp of its last frame.
    seen: Timestamp,
}

impl EtherSwitch {
    fn table(&self) -> String {
        let mut stations: Vec<_> = self.stations.iter().map(|(address, s)| (address, s.port)).collect();
        stations.sort_unstable();
        let mut text = String::new();
        for (address, port) in stations {
            // A String takes any text.
            let _ = writeln!(text, "{address} {port}");
        }
        text
    }

    fn set_timeout(&mut self, text: &str, cx: &Cx<'_>) -> Result<(), String> {
        use clickwork_router::args::ArgParser;
        let timeout = SecondsIn(0).parse(text.trim(), &cx.names());
        self.timeout = timeout.map_err(|_| "expected timeout (integer)")?;
        Ok(())
    }

    /// Learns from a frame and says where it goes; `None` for everywhere.
    fn output(&mut self, header: &EthernetHeader, from: usize, now: Timestamp) -> Option<usize> {
        if self.timeout == 0 {
            return None;
        }
        self.stations.insert(header.source, Station { port: from, seen: now });
        if header.destination.is_multicast() {
            return None;
        }
        let station = self.stations.get(&header.destination)?;
        if now < station.seen + Duration::from_secs(self.timeout.into()) {
            return Some(station.port);
        }
        self.stations.remove(&header.destination);
        None
    }

    fn forward(&mut self, from: usize, p: Packet, cx: &mut Cx<'_>) {
        let Some(header) = EthernetHeader::peek(p.data()) else { return cx.drop(p, "frame too short") };
        match self.output(header, from, p.timestamp()) {
            None => flood(from, p, cx),
            Some(to) if to == from => cx.drop(p, "already in its network"),
            Some(to) => cx.emit(to, p),
        }
    }
}

/// Sends a frame to all outputs but one, from the last to the first as Click does.
fn flood(from: usize, p: Packet, cx: &mut Cx<'_>) {
    let last = usize::from(from == 0);
    (last + 1..cx.outputs()).rev().filter(|&to| to != from).for_each(|to| cx.emit(to, p.clone()));
    cx.emit(last, p);
}

impl Element for EtherSwitch {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read_with("TIMEOUT", SecondsIn(0), &mut self.timeout);
    }

    fn push(&mut self, port: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        for p in batch.take() {
            self.forward(port, p, cx);
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, cx: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<EtherSwitch>(old) {
            self.stations = std::mem::take(&mut old.stations);
            self.stations.retain(|_, station| station.port < cx.outputs());
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::{Packet, Timestamp};

    #[test]
    fn a_flood_begins_at_the_last_output() {
        for (from, expected) in [("a", "d3\nd2\nd1\n"), ("b", "d3\nd2\nd0\n"), ("d", "d2\nd1\nd0\n")] {
            let mut t = Harness::new(
                "s :: EtherSwitch; a :: Source -> [0] s [0] -> Print(d0, 0) -> k :: Sink; b :: Source -> [1] s [1] -> Print(d1, 0) -> k; \
                 Idle -> [2] s [2] -> Print(d2, 0) -> k; d :: Source -> [3] s [3] -> Print(d3, 0) -> k",
            );
            t.push(from, 0, [Packet::new(&[0xFF; 20])]);
            assert_eq!(t.printed().replace(":   20", ""), expected);
        }
    }

    const CONFIG: &str = "s :: EtherSwitch(TIMEOUT 10); Idle -> [0] s [0] -> a :: Sink; Idle -> [1] s [1] -> b :: Sink; \
                          Idle -> [2] s [2] -> c :: Sink";

    fn frame(to: u8, from: u8, at: u32) -> Packet {
        let mut p = Packet::new(&[&[to; 6][..], &[from; 6], b"\x08\x00"].concat());
        p.set_timestamp(Timestamp::new(i64::from(at), 0));
        p
    }

    /// How many frames each network got.
    fn got(t: &mut Harness) -> [usize; 3] {
        ["a", "b", "c"].map(|sink| t.take(sink).len())
    }

    #[test]
    fn it_learns_where_stations_are() {
        let mut t = Harness::new(CONFIG);
        t.push("s", 0, [frame(4, 2, 1)]);
        assert_eq!(got(&mut t), [0, 1, 1]);
        t.push("s", 2, [frame(2, 4, 1)]);
        assert_eq!(got(&mut t), [1, 0, 0]);
        t.push("s", 0, [frame(4, 2, 2), frame(2, 6, 2)]);
        assert_eq!(got(&mut t), [0, 0, 1]);
        assert_eq!(t.read("s.table"), "02-02-02-02-02-02 0\n04-04-04-04-04-04 2\n06-06-06-06-06-06 0\n");
    }

    #[test]
    fn groups_and_forgotten_stations_get_flooded() {
        let mut t = Harness::new(CONFIG);
        t.push("s", 0, [frame(255, 2, 1)]);
        t.push("s", 1, [frame(2, 4, 10)]);
        assert_eq!(got(&mut t), [1, 1, 1]);
        t.push("s", 2, [frame(2, 6, 11)]);
        assert_eq!(got(&mut t), [1, 1, 0]);
        t.push("s", 2, [Packet::new(b"short")]);
        assert_eq!(t.read("s.drop_reasons"), "1\tframe too short\n");
    }

    #[test]
    fn without_a_timeout_it_learns_nothing() {
        let mut t = Harness::new(CONFIG);
        t.write("s.timeout 0").unwrap();
        t.push("s", 0, [frame(4, 2, 1)]);
        t.push("s", 1, [frame(2, 4, 1)]);
        assert_eq!(
            (got(&mut t), t.read("s.table"), t.read("s.timeout")),
            ([1, 1, 2], String::new(), "0".into())
        );
        assert!(t.write("s.timeout x").is_err());
    }
}

//! EtherSwitch: a learning Ethernet bridge (IEEE 802.1D §7).

use super::stations::Stations;
use super::switch_control::SwitchControl;
use crate::ages::Ages;
use clickwork_packet::addr::EtherAddress;
use clickwork_packet::headers::{EthernetHeader, Header};
use clickwork_packet::{BATCH_SIZE, Batch, Packet, Timestamp};
use clickwork_router::args::{ArgParser, ArgSpec, ArgType, Args, SecondsIn};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, Handler, read_handler, write_handler};
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "forwards Ethernet frames as a learning switch does",
    manual: "Input and output of one number belong to the same network. The switch learns from each frame's source address \
             where that station is, and sends a frame to the network of its destination; frames to groups and to stations \
             it does not know go to all networks but their own. What it learnt is forgotten TIMEOUT seconds after the \
             station's last frame, by the frames' timestamps; with TIMEOUT 0 it learns nothing. It knows at most CAPACITY \
             stations. When there are more, it learns a further one only in place of one that it would have forgotten, \
             and sends frames to the others everywhere; so a flood of forged addresses costs neither memory nor \
             stations.\n\n\
             An EtherSpanTree that names the switch makes it forget sooner while the topology changes, and keeps it from \
             forwarding frames of ports that are still learning.",
    example: "InfiniteSource(LIMIT 3, STOP true) -> s :: EtherSwitch -> Discard; Idle -> [1] s [1] -> Discard",
    ports: "2-/=",
    args: ARGS,
    handlers: HANDLERS,
    ..class("EtherSwitch", || Box::new(EtherSwitch::new(false)))
};

/// The facts that both classes of switches have in common.
pub(super) const fn class(name: &'static str, make: fn() -> Box<dyn Element>) -> Class {
    Class { processing: "h/h", flow: "#/[^#]", packets: "ether/ether", ..Class::new(name, "ethernet", make) }
}

/// The arguments of both.
pub(super) const ARGS: &[ArgSpec] = &[
    ArgSpec::keyword("TIMEOUT", ArgType::Seconds, "300", "seconds after which a station is forgotten"),
    ArgSpec::keyword(
        "CAPACITY",
        ArgType::IntRange { min: 1, max: 1 << 24 },
        "131072",
        "how many stations it knows at most",
    ),
];

/// The handlers of both.
pub(super) const HANDLERS: &[Handler] = &[
    read_handler!("table", "the known stations and their networks", |e: &mut EtherSwitch, _| e.table()),
    read_handler!("count", "how many stations it knows", |e: &mut EtherSwitch, _| e.stations.len()),
    read_handler!("refused", "how often a station found the table full", |e: &mut EtherSwitch, _| e
        .stations
        .refused()),
    read_handler!("timeout", "seconds after which a station is forgotten", |e: &mut EtherSwitch, _| e
        .timeout)
    .and_write(write_handler!("", "", |e: &mut EtherSwitch, text, cx| e.set_timeout(text, cx))),
];

/// A switch, perhaps with a listener.
pub(super) struct EtherSwitch {
    stations: Stations,
    ages: Ages,
    /// In seconds.
    timeout: u32,
    control: Arc<SwitchControl>,
    /// Whether the last output gets a copy of everything.
    listener: bool,
}

impl EtherSwitch {
    pub(super) fn new(listener: bool) -> EtherSwitch {
        let timeout = 300;
        EtherSwitch {
            stations: Stations::new(Duration::from_secs(timeout.into())),
            ages: Ages::default(),
            timeout,
            control: Arc::default(),
            listener,
        }
    }

    fn table(&self) -> String {
        let mut text = String::new();
        for (address, port) in self.stations.list() {
            // A String takes any text.
            let _ = writeln!(text, "{address} {port}");
        }
        text
    }

    fn set_timeout(&mut self, text: &str, cx: &Cx<'_>) -> Result<(), String> {
        let timeout = SecondsIn(0).parse(text.trim(), &cx.names());
        self.use_timeout(timeout.map_err(|_| "expected timeout (integer)")?);
        Ok(())
    }

    fn use_timeout(&mut self, seconds: u32) {
        self.timeout = seconds;
        self.stations.set_ageing(Duration::from_secs(seconds.into()));
    }

    /// Where the frame at hand goes, that came from network `from`. `last` is what was decided for the frame before it, which
    /// holds for all between the same stations at the same time.
    fn decide(&mut self, p: &Packet, from: usize, last: &mut Option<Decision>) -> Way {
        let Some(header) = EthernetHeader::peek(p.data()) else { return Way::Nowhere("frame too short") };
        let (source, destination, now) = (header.source, header.destination, p.timestamp());
        match last {
            Some(d) if d.source == source && d.destination == destination && d.now == now => d.way,
            _ => {
                let way = self.way(source, destination, from, self.ages.steady_time(now));
                *last = Some(Decision { source, destination, now, way });
                way
            }
        }
    }

    /// Learns from a frame and says where it goes.
    fn way(&mut self, source: EtherAddress, destination: EtherAddress, from: usize, now: Timestamp) -> Way {
        let mut to = None;
        if self.timeout != 0 {
            self.stations.learn(source, from, now);
            to = (!destination.is_multicast()).then(|| self.stations.find(destination, now)).flatten();
        }
        match to {
            _ if self.control.is_learn_only(from) => Way::Nowhere("port is learning"),
            None => Way::Everywhere,
            Some(to) if to != from => Way::To(to),
            Some(_) if self.listener => Way::Listener,
            Some(_) => Way::Nowhere("already in its network"),
        }
    }

    fn forward(&self, from: usize, way: Way, p: Packet, cx: &mut Cx<'_>) {
        match way {
            Way::Nowhere(reason) => cx.drop(p, reason),
            Way::Everywhere => flood(from, p, cx),
            Way::Listener => cx.emit(cx.outputs() - 1, p),
            Way::To(to) => {
                if self.listener {
                    cx.emit(cx.outputs() - 1, p.clone());
                }
                cx.emit(to, p);
            }
        }
    }
}

/// Where a frame goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    To(usize),
    Everywhere,
    /// To the listener alone.
    Listener,
    Nowhere(&'static str),
}

/// What was decided for a frame.
struct Decision {
    source: EtherAddress,
    destination: EtherAddress,
    now: Timestamp,
    way: Way,
}

/// Sends a frame to all outputs but one, from the last to the first as Click does.
fn flood(from: usize, p: Packet, cx: &mut Cx<'_>) {
    let last = usize::from(from == 0);
    (last + 1..cx.outputs()).rev().filter(|&to| to != from).for_each(|to| cx.emit(to, p.clone()));
    cx.emit(last, p);
}

impl Element for EtherSwitch {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let mut timeout = self.timeout;
        args.read_with("TIMEOUT", SecondsIn(0), &mut timeout);
        self.use_timeout(timeout);
        if let Some(capacity) = args.get::<u32>("CAPACITY") {
            self.stations.set_capacity(capacity as usize);
        }
        self.control = Arc::new(SwitchControl::new(cx.inputs()));
        cx.export(Arc::clone(&self.control));
    }

    fn push(&mut self, port: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        if let Some(first) = batch.iter().next() {
            self.ages.glance(first.timestamp(), cx.recent(), cx.router().clock());
            let now = self.ages.steady_time(first.timestamp());
            self.stations.set_short_ageing(self.control.short_ageing(), now);
        }
        let mut last = None;
        let mut ways = [Way::Everywhere; BATCH_SIZE];
        for (p, way) in batch.iter().zip(&mut ways) {
            *way = self.decide(p, port, &mut last);
        }
        match ways[0] {
            Way::To(to) if !self.listener && ways[..batch.len()].iter().all(|&way| way == ways[0]) => {
                cx.emit_batch(to, batch.take());
            }
            _ => batch.take().into_iter().zip(ways).for_each(|(p, way)| self.forward(port, way, p, cx)),
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, cx: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<EtherSwitch>(old) {
            self.stations.take(&mut old.stations, cx.inputs());
            self.ages = old.ages;
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

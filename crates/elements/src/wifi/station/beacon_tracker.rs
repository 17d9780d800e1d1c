//! BeaconTracker: how many of a network's beacons are heard.

use super::super::frame::subtype;
use super::super::management::{management_frame, number};
use super::super::params::{DEBUG, Partner, complain, debug_handler, line};
use super::super::wireless_info::{self, SharedNetwork};
use crate::ages::Ages;
use clickwork_packet::{Packet, Timestamp};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, SimpleElement, Verdict, read_handler, write_handler};
use std::collections::VecDeque;
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "tells how many of a network's beacons are heard",
    manual: "Lets beacons and probe responses of the network of the WirelessInfo pass and drops everything else. The handler \
             stats gives the beacons, by their timestamp annotations, of the last TRACK beacon intervals in percent of TRACK.",
    example: "wi :: WirelessInfo(SSID home, BSSID 2:0:0:0:0:1, CHANNEL 3); rates :: AvailableRates(DEFAULT 2 4 \
              11 22); Idle -> BeaconSource(WIRELESS_INFO wi, RT rates) -> b :: BeaconTracker(WIRELESS_INFO wi, \
              TRACK 20) -> Discard; Script(wait 1s, print b.stats, stop)",
    args: &[
        DEBUG,
        ArgSpec::keyword("WIRELESS_INFO", ArgType::Element, "", "a WirelessInfo"),
        ArgSpec::keyword("TRACK", ArgType::I32, "10", "beacon intervals that are looked at"),
    ],
    handlers: &[
        debug_handler!(BeaconTracker),
        read_handler!("scan", "nothing, as in Click", |_: &mut BeaconTracker, _| String::new()),
        read_handler!("stats", "beacons heard, in percent", |e: &mut BeaconTracker, cx| line(
            e.percent(cx.steady())
        )),
        read_handler!("track", "beacon intervals that are looked at", |e: &mut BeaconTracker, _| line(
            e.track
        )),
        read_handler!("beacon_interval", "milliseconds between beacons", |e: &mut BeaconTracker, _| line(
            e.interval
        )),
        write_handler!("reset", "begins anew", |e: &mut BeaconTracker, _, cx| e.reset(cx.steady()))
            .flags("b"),
    ],
    ..Class::new("BeaconTracker", "wifi/station", || Box::<BeaconTracker>::default())
};

/// Beacons that are remembered at most, whatever the timestamps say.
const LIMIT: usize = 16_384;

struct BeaconTracker {
    debug: bool,
    network: Partner<SharedNetwork>,
    track: i32,
    interval: u16,
    start: Timestamp,
    /// When beacons came, in steady time.
    heard: VecDeque<Timestamp>,
    ages: Ages,
}

impl Default for BeaconTracker {
    fn default() -> BeaconTracker {
        BeaconTracker {
            debug: false,
            network: Partner::default(),
            track: 10,
            interval: 0,
            start: Timestamp::ZERO,
            heard: VecDeque::new(),
            ages: Ages::default(),
        }
    }
}

impl BeaconTracker {
    fn reset(&mut self, now: Timestamp) {
        self.start = now;
        self.heard.clear();
    }

    fn trim(&mut self, now: Timestamp) {
        let span = u64::from(self.track.max(0).unsigned_abs()) * u64::from(self.interval);
        let earliest = now - Duration::from_millis(span);
        while self.heard.front().is_some_and(|time| *time < earliest) || self.heard.len() > LIMIT {
            self.heard.pop_front();
        }
    }

    /// What is expected is, as in Click, TRACK beacons, or fewer in the first milliseconds.
    fn percent(&mut self, now: Timestamp) -> i64 {
        self.trim(now);
        let elapsed = i64::try_from(now.since(self.start).as_millis()).unwrap_or(i64::MAX);
        let expected = elapsed.min(i64::from(self.track));
        if expected == 0 { 0 } else { self.heard.len() as i64 * 100 / expected }
    }

    fn track(&mut self, p: &Packet, cx: &Cx<'_>) -> Result<(), &'static str> {
        let (header, body) = management_frame(p, cx)?;
        let kind = header.subtype();
        if !matches!(kind, subtype::BEACON | subtype::PROBE_RESPONSE) {
            complain(cx, "packets of another subtype", format_args!("received subtype {kind} packet"));
            return Err("not a beacon");
        }
        if self.network.get().is_none_or(|network| network.lock().bssid != header.address3) {
            return Err("of another network");
        }
        self.interval = number(body, 8);
        self.ages.look(cx.router().clock());
        self.heard.push_back(self.ages.steady_time(p.timestamp()));
        self.trim(cx.steady());
        Ok(())
    }
}

impl SimpleElement for BeaconTracker {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        args.read("DEBUG", &mut self.debug).read("TRACK", &mut self.track);
        self.network.configure(args, "WIRELESS_INFO", &wireless_info::CLASS, cx);
        self.reset(cx.steady());
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.network.initialize(cx);
        Ok(())
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        match self.track(p, cx) {
            Ok(()) => Verdict::PASS,
            Err(reason) => Verdict::Drop(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::samples;
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use std::time::Duration;

    /// An access point, a link that loses a share of frames, and a tracker.
    fn tracker(loss: &str) -> Harness {
        Harness::new(&format!(
            "wi :: WirelessInfo(SSID home, BSSID 2:0:0:0:0:3); rates :: AvailableRates(DEFAULT 2);
            Idle -> BeaconSource(WIRELESS_INFO wi, RT rates) -> {loss} -> SetTimestamp
            -> b :: BeaconTracker(WIRELESS_INFO wi, TRACK 20) -> k :: Sink"
        ))
    }

    #[test]
    fn the_share_of_beacons_is_told() {
        let mut t = tracker("Null");
        t.run_for(Duration::from_millis(4050));
        assert_eq!(
            (t.read("b.stats"), t.read("b.beacon_interval"), t.read("b.track")),
            ("100\n".into(), "100\n".into(), "20\n".into())
        );
        let mut t = tracker("rr :: RoundRobinSwitch; rr[1] -> Discard; rr[0]");
        t.run_for(Duration::from_millis(4050));
        assert_eq!(t.read("b.stats"), "50\n");
        t.write("b.reset").unwrap();
        assert_eq!(t.read("b.stats"), "0\n");
    }

    #[test]
    fn other_frames_are_dropped() {
        let mut t = Harness::new(
            "wi :: WirelessInfo(BSSID 2:0:0:0:0:9); s :: Source -> b :: BeaconTracker(WIRELESS_INFO wi) -> k :: Sink",
        );
        t.push("s", 0, ["beacon", "ack", "probe request"].map(|name| Packet::new(&samples::frame(name))));
        assert_eq!(t.take("k").len(), 0);
        assert_eq!(
            t.printed(),
            "b :: BeaconTracker: packet too small: 10 vs 24\nb :: BeaconTracker: received subtype 64 packet\n"
        );
    }
}

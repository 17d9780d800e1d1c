//! RXStats: how strong the frames of each Ethernet source are received.

use super::extra::Extra;
use super::station_map::StationMap;
use clickwork_packet::addr::EtherAddress;
use clickwork_packet::headers::{EthernetHeader, Header};
use clickwork_packet::{Packet, Timestamp};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, SimpleElement, Verdict, read_handler, write_handler};
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "tells how strong each Ethernet source is received",
    manual: "Passes every packet on. The handler stats gives, for each source address, rate, signal and noise of its last \
             frame from the annotation WIFI_EXTRA, averages and sums, the number of frames, and when the last one came. \
             16384 addresses are kept; then the one seen first gives way.",
    example: "InfiniteSource(DATA \\<000000000001 000000000002 0800>, LIMIT 3, STOP true) -> s :: RXStats -> Discard; \
              DriverManager(wait_stop, print s.stats)",
    packets: "should ether/same",
    handlers: &[
        read_handler!("stats", "what is known of each source", |e: &mut RXStats, cx| e.stats(cx.steady())),
        write_handler!("reset", "forgets everything", |e: &mut RXStats, _, _| e.sources.clear()).flags("b"),
    ],
    ..Class::new("RXStats", "wifi", || Box::<RXStats>::default())
};

#[derive(Default)]
struct RXStats {
    sources: StationMap<EtherAddress, Source>,
}

#[derive(Clone, Debug, Default)]
struct Source {
    rate: u8,
    signal: u8,
    noise: u8,
    packets: u32,
    signal_sum: u64,
    noise_sum: u64,
    last: Timestamp,
}

impl Source {
    fn line(&self, address: EtherAddress, now: Timestamp) -> String {
        let Source { rate, signal, noise, packets, signal_sum, noise_sum, last } = self;
        // Thousandths, printed as a time is.
        let average =
            |sum: u64| Timestamp::ZERO + Duration::from_millis(1000 * sum / u64::from(*packets).max(1));
        let (avg_signal, avg_noise, age) = (average(*signal_sum), average(*noise_sum), now - *last);
        format!(
            "{address} rate {rate} signal {signal} noise {noise} avg_signal {avg_signal} avg_noise {avg_noise} \
             total_signal {signal_sum} total_noise {noise_sum} packets {packets} last_received {age}\n"
        )
    }
}

impl RXStats {
    fn stats(&self, now: Timestamp) -> String {
        self.sources.iter().map(|(address, source)| source.line(address, now)).collect()
    }
}

impl SimpleElement for RXStats {
    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let Some(header) = EthernetHeader::peek(p.data()) else { return Verdict::PASS };
        let (extra, source) = (Extra::of(p), self.sources.entry(header.source, Source::default));
        (source.rate, source.signal, source.noise) = (extra.rate[0], extra.rssi, extra.silence);
        source.packets += 1;
        source.signal_sum += u64::from(extra.rssi);
        source.noise_sum += u64::from(extra.silence);
        source.last = cx.steady();
        Verdict::PASS
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<RXStats>(old) {
            self.sources = std::mem::take(&mut old.sources);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Harness;

    #[test]
    fn signals_are_averaged() {
        let mut t = Harness::new("s :: Source -> r :: RXStats -> k :: Sink");
        let heard = |rssi, silence| {
            let mut p = Packet::new(&[0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 1, 8, 0]);
            Extra { rssi, silence, rate: [22, 0, 0, 0], ..Extra::ZERO }.annotate(&mut p);
            p
        };
        t.push("s", 0, [heard(40, 5), heard(45, 5), Packet::new(b"short")]);
        let stats = t.read("r.stats");
        let expected = "00-00-00-00-00-01 rate 22 signal 45 noise 5 avg_signal 42.500000 avg_noise 5.000000 \
                        total_signal 85 total_noise 10 packets 2 last_received ";
        assert!(stats.starts_with(expected), "{stats}");
        t.write("r.reset").unwrap();
        assert_eq!((t.read("r.stats").as_str(), t.take("k").len()), ("", 3));
    }
}

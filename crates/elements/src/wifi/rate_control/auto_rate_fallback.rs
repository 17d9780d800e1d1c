//! AutoRateFallback: a lower rate after failures, a higher one after successes (Kamerman and Monteban 1997).

use super::super::available_rates::{self, Rates};
use super::super::extra::{Extra, MAGIC, flag};
use super::super::params::{Partner, debug_handler, declaration, line, parameter};
use super::super::station_map::StationMap;
use super::{RateControl, assign_falling, assign_to_group, class, rates_of, station};
use clickwork_packet::addr::EtherAddress;
use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "lowers the rate after failures, raises it after successes",
    manual: "Input 0 takes packets to be sent and gives them a rate and three lower ones to fall back on, in the annotation \
             WIFI_EXTRA; input 1 takes packets that were sent, with what became of them. Each station begins with the highest \
             rate that RT knows for it. A packet that failed, or needed a lower rate, lowers it; more than STEPUP packets in \
             a row without a retry raise it. With ADAPTIVE_STEPUP, a rise that fails at once doubles the number of packets \
             before the next. 16384 stations are known; then the first one gives way.",
    example: "rates :: AvailableRates(DEFAULT 2 4 11 22); InfiniteSource(LENGTH 100, LIMIT 3, STOP true) \
              -> EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:2) -> a :: AutoRateFallback(RT rates) -> Discard; \
              Idle -> [1] a [1] -> Discard",
    args: &[
        ArgSpec::keyword("OFFSET", ArgType::U32, "0", "where the station's address is"),
        ArgSpec::keyword(
            "ADAPTIVE_STEPUP",
            ArgType::Bool,
            "true",
            "whether failed rises are repeated less often",
        ),
        ArgSpec::keyword("STEPUP", ArgType::I32, "10", "packets before a rise"),
        ArgSpec::keyword("STEPDOWN", ArgType::I32, "1", "of no effect, as in Click"),
        ArgSpec::keyword("RT", ArgType::Element, "", "an AvailableRates"),
        ArgSpec::keyword("THRESHOLD", ArgType::U32, "0", "packets that went well count from this length on"),
        ArgSpec::keyword("ACTIVE", ArgType::Bool, "true", "whether anything is done"),
    ],
    handlers: &[
        debug_handler!(AutoRateFallback),
        read_handler!(
            "rates",
            "stations, their rates, and successes in a row",
            |e: &mut AutoRateFallback, _| e.print()
        ),
        parameter!(
            AutoRateFallback,
            "threshold",
            threshold,
            "packets that went well count from this length on",
            "threshold parameter must be unsigned"
        ),
        parameter!(
            AutoRateFallback,
            "stepup",
            stepup,
            "packets before a rise",
            "stepup parameter must be unsigned"
        ),
        parameter!(
            AutoRateFallback,
            "stepdown",
            stepdown,
            "of no effect",
            "stepdown parameter must be unsigned"
        ),
        parameter!(
            AutoRateFallback,
            "offset",
            offset,
            "where the address is",
            "offset parameter must be unsigned"
        ),
        parameter!(AutoRateFallback, "active", active, "whether anything is done", "active must be boolean"),
        write_handler!("reset", "forgets the stations", |e: &mut AutoRateFallback, _, _| e.stations.clear())
            .flags("b"),
    ],
    ..class("AutoRateFallback", || Box::<AutoRateFallback>::default())
};

struct AutoRateFallback {
    debug: bool,
    active: bool,
    adaptive: bool,
    offset: u32,
    stepup: u32,
    stepdown: u32,
    threshold: u32,
    rates: Partner<Rates>,
    stations: StationMap<EtherAddress, Station>,
}

impl Default for AutoRateFallback {
    fn default() -> AutoRateFallback {
        let (rates, stations) = (Partner::default(), StationMap::default());
        let (debug, active, adaptive, stepup, stepdown) = (false, true, true, 10, 1);
        AutoRateFallback {
            debug,
            active,
            adaptive,
            offset: 0,
            stepup,
            stepdown,
            threshold: 0,
            rates,
            stations,
        }
    }
}

/// What is known of a station; it has at least one rate.
struct Station {
    rates: Vec<i32>,
    current: usize,
    successes: u32,
    /// Whether the last change was a rise that has not proved itself.
    rose: bool,
    stepup: u32,
}

impl Station {
    fn fall(&mut self, retries: u8, stepup: u32, adaptive: bool) {
        let down = usize::from(retries / 2).saturating_sub(1);
        self.stepup = if self.rose && adaptive { self.stepup.saturating_mul(2) } else { stepup };
        self.rose &= !adaptive;
        self.successes = 0;
        self.current = self.current.saturating_sub(down);
    }

    fn succeed(&mut self, retries: u8, stepup: u32) {
        if self.rose {
            self.stepup = stepup;
        }
        self.rose = false;
        self.successes = if retries == 0 { self.successes.saturating_add(1) } else { 0 };
        if self.successes > self.stepup && self.current + 1 < self.rates.len() {
            self.current += 1;
            self.successes = 0;
            self.rose = true;
        }
    }
}

impl AutoRateFallback {
    fn print(&self) -> String {
        let row = |(address, s): (EtherAddress, &Station)| {
            line(format_args!("{address} {} {}", s.rates[s.current], s.successes))
        };
        self.stations.iter().map(row).collect()
    }
}

impl RateControl for AutoRateFallback {
    fn is_active(&self) -> bool {
        self.active
    }

    fn assign(&mut self, p: &mut Packet, cx: &mut Cx<'_>) {
        let Some(address) = station(p, self.offset) else { return };
        Extra::change(p, |extra| extra.magic = MAGIC.into());
        if address.is_multicast() {
            return assign_to_group(p, &self.rates, cx);
        }
        if self.stations.get(address).is_none() {
            let rates = rates_of(address, &self.rates, cx);
            let Some(current) = rates.len().checked_sub(1) else { return };
            if self.debug {
                cx.chatter(&format!("{} initial rate for {address} is {}", declaration(cx), rates[current]));
            }
            self.stations
                .insert(address, Station { rates, current, successes: 0, rose: false, stepup: self.stepup });
        }
        if let Some(station) = self.stations.get(address) {
            Extra::change(p, |extra| assign_falling(extra, &station.rates, station.current));
        }
    }

    fn learn(&mut self, p: &Packet, cx: &mut Cx<'_>) {
        let extra = Extra::of(p);
        let (success, rate, retries) = (!extra.has(flag::TX_FAIL), i32::from(extra.rate[0]), extra.retries);
        let Some(address) = station(p, self.offset).filter(|address| !address.is_multicast()) else { return };
        if rate == 0 || success && p.len() < self.threshold as usize {
            return;
        }
        let Some(station) = self.stations.get_mut(address) else { return };
        if station.rates[station.current] != rate {
            return;
        }
        let fell = extra.has(flag::TX_USED_ALT_RATE) || !success;
        if fell {
            station.fall(retries, self.stepup, self.adaptive);
        } else {
            station.succeed(retries, self.stepup);
        }
        let now = station.rates[station.current];
        if self.debug && (fell || now != rate) {
            let way = if fell { "stepping down" } else { "steping up" };
            cx.chatter(&format!("{} {way} for {address} from {rate} to {now}", declaration(cx)));
        }
    }
}

impl Element for AutoRateFallback {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        args.read("OFFSET", &mut self.offset).read("ADAPTIVE_STEPUP", &mut self.adaptive);
        for (name, slot) in [("STEPUP", &mut self.stepup), ("STEPDOWN", &mut self.stepdown)] {
            if let Some(steps) = args.get::<i32>(name) {
                *slot = u32::try_from(steps).unwrap_or(0);
            }
        }
        self.rates.configure(args, "RT", &available_rates::CLASS, cx);
        args.read("THRESHOLD", &mut self.threshold).read("ACTIVE", &mut self.active);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.rates.initialize(cx);
        Ok(())
    }

    fn push(&mut self, port: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        super::push(self, port, batch, cx);
    }

    fn pull(&mut self, port: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        super::pull(self, port, limit, cx)
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<AutoRateFallback>(old) {
            self.stations = std::mem::take(&mut old.stations);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::radio::Radio;
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    const RATES: [i32; 4] = [2, 4, 11, 22];

    #[test]
    fn it_begins_high_and_falls_until_packets_go_through() {
        let mut radio = Radio::new("AutoRateFallback(RT rates)", &RATES);
        assert_eq!(radio.send(), ([22, 11, 4, 2], [4, 2, 2, 2]));
        // One step down for each failure, which had four tries.
        radio.fail(4);
        assert_eq!(radio.send().0[0], 11);
        radio.fail(4);
        radio.fail(4);
        assert_eq!(radio.send(), ([2, 0, 0, 0], [4, 0, 0, 0]));
        radio.fail(4);
        assert_eq!(radio.send().0[0], 2);
        assert_eq!(radio.harness.read("r.rates"), "02-00-00-00-00-01 2 0\n");
    }

    #[test]
    fn it_rises_after_successes_and_less_often_after_rises_that_failed() {
        let mut radio = Radio::new("AutoRateFallback(RT rates, STEPUP 3)", &RATES);
        radio.send();
        radio.fail(4);
        (0..4).for_each(|_| radio.succeed(0));
        assert_eq!(radio.send().0[0], 22);
        radio.fail(4);
        // Twice as many are needed now; a retry between begins anew.
        (0..6).for_each(|_| radio.succeed(0));
        radio.succeed(1);
        (0..6).for_each(|_| radio.succeed(0));
        assert_eq!(radio.send().0[0], 11);
        radio.succeed(0);
        assert_eq!(radio.send().0[0], 22);
    }

    #[test]
    fn over_a_link_that_carries_some_rates_only_it_settles_below_them() {
        let mut radio = Radio::new("AutoRateFallback(RT rates)", &RATES);
        let at_best = radio.simulate(2000, |rate, random| if rate <= 4 { 100 } else { 5 } > random % 100);
        assert!(at_best[4] > 1700, "{}", at_best[4]);
    }

    /// Drivers report with radiotap headers: rate, flags of transmission, retries.
    #[test]
    fn feedback_comes_in_radiotap_headers() {
        let mut t = Harness::new(
            "rates :: AvailableRates(DEFAULT 2 4 11 22); s :: Source -> r :: AutoRateFallback(RT rates) -> k :: Sink;
             f :: Source -> RadiotapDecap -> [1] r [1] -> Discard",
        );
        let station = [2, 0, 0, 0, 0, 1];
        t.push("s", 0, [Packet::new(&station)]);
        for (retries, successes) in [(0, "1"), (3, "0"), (0, "1"), (0, "2")] {
            let header = [0, 0, 13, 0, 4, 0x80, 2, 0, 22, 0, 0, 0, retries];
            t.push("f", 0, [Packet::new(&[&header[..], &station].concat())]);
            assert_eq!(t.read("r.rates"), format!("02-00-00-00-00-01 22 {successes}\n"));
        }
    }

    #[test]
    fn groups_and_unknown_stations() {
        let mut radio = Radio::new("AutoRateFallback(RT rates)", &RATES);
        assert_eq!(radio.send_to([0xFF; 6]), ([2, 0, 0, 0], [0; 4]));
        let mut radio = Radio::new("AutoRateFallback", &RATES);
        assert_eq!(radio.send(), ([0; 4], [0; 4]));
        assert_eq!(radio.send_to([0xFF; 6]).0[0], 2);
        radio.harness.write("r.active false").unwrap();
        assert_eq!(radio.send_to([0xFF; 6]).0[0], 0);
        let handlers = ["stepup", "stepdown", "threshold", "offset", "active", "debug"];
        assert_eq!(
            handlers.map(|h| radio.harness.read(&format!("r.{h}"))),
            ["10\n", "1\n", "0\n", "0\n", "false\n", "false\n"]
        );
        assert_eq!(radio.harness.write("r.stepup x").unwrap_err(), "stepup parameter must be unsigned");
    }
}

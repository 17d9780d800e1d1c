//! MadwifiRate: once a second, a lower rate if packets failed, after ten good seconds a higher one: the algorithm "onoe" of
//! the driver MadWifi.

use super::super::available_rates::{self, Rates};
use super::super::extra::{Extra, MAGIC, flag};
use super::super::params::{Partner, debug_handler, declaration, parameter};
use super::super::station_map::StationMap;
use super::{RateControl, assign_falling, assign_to_group, class, index_of, rates_of, station};
use clickwork_packet::addr::EtherAddress;
use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, read_handler, write_handler};
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "chooses rates once a second by failures and retries",
    manual: "Input 0 takes packets to be sent and gives them a rate and three lower ones to fall back on, in the annotation \
             WIFI_EXTRA; input 1 takes packets that were sent, with what became of them. Every PERIOD milliseconds each \
             station's rate is looked at: it falls if no packet went through, or if of more than ten the average one was \
             sent again; it rises after ten periods with more than ten packets of which fewer than a tenth were sent again. \
             Stations begin with 24 Mbit/s, or 11 Mbit/s. 16384 stations are known; then the first one gives way.",
    example: "rates :: AvailableRates(DEFAULT 2 4 11 22); InfiniteSource(LENGTH 100, LIMIT 3, STOP true) \
              -> EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:2) -> a :: MadwifiRate(RT rates) -> Discard; \
              Idle -> [1] a [1] -> Discard",
    args: &[
        ArgSpec::keyword("OFFSET", ArgType::U32, "0", "where the station's address is"),
        ArgSpec::keyword("RT", ArgType::Element, "", "an AvailableRates"),
        ArgSpec::keyword("THRESHOLD", ArgType::U32, "0", "packets that went well count from this length on"),
        ArgSpec::keyword(
            "ALT_RATE",
            ArgType::Bool,
            "false",
            "whether packets that needed a lower rate count as failed",
        ),
        ArgSpec::keyword("ACTIVE", ArgType::Bool, "true", "whether anything is done"),
        ArgSpec::keyword("PERIOD", ArgType::U32, "1000", "milliseconds between looks"),
    ],
    handlers: &[
        debug_handler!(MadwifiRate),
        read_handler!("rates", "stations, their rates and counts", |e: &mut MadwifiRate, _| e.print()),
        parameter!(
            MadwifiRate,
            "threshold",
            threshold,
            "packets that went well count from this length on",
            "threshold parameter must be unsigned"
        ),
        parameter!(MadwifiRate, "stepup", stepup, "of no effect", "stepup parameter must be unsigned"),
        parameter!(MadwifiRate, "stepdown", stepdown, "of no effect", "stepdown parameter must be unsigned"),
        parameter!(
            MadwifiRate,
            "offset",
            offset,
            "where the address is",
            "offset parameter must be unsigned"
        ),
        parameter!(MadwifiRate, "active", active, "whether anything is done", "active must be boolean"),
        parameter!(
            MadwifiRate,
            "alt_rate",
            alt_rate,
            "whether packets that needed a lower rate count as failed",
            "alt_rate parameter must be boolean"
        ),
        write_handler!("reset", "forgets the stations", |e: &mut MadwifiRate, _, _| e.stations.clear())
            .flags("b"),
    ],
    ..class("MadwifiRate", || Box::<MadwifiRate>::default())
};

/// Good periods before a rise.
const CREDITS_FOR_RISE: u32 = 10;
/// Packets that a period must have had to count.
const ENOUGH: u32 = 10;
/// The retries, in percent of successes, below which a period is good.
const GOOD_PERCENT: u32 = 10;
/// What a failure counts in retries.
const RETRIES_OF_FAILURE: u32 = 4;

struct MadwifiRate {
    debug: bool,
    active: bool,
    alt_rate: bool,
    offset: u32,
    threshold: u32,
    stepup: u32,
    stepdown: u32,
    period: u32,
    rates: Partner<Rates>,
    stations: StationMap<EtherAddress, Station>,
}

impl Default for MadwifiRate {
    fn default() -> MadwifiRate {
        let (rates, stations) = (Partner::default(), StationMap::default());
        let (debug, active, alt_rate, period) = (false, true, false, 1000);
        MadwifiRate {
            debug,
            active,
            alt_rate,
            offset: 0,
            threshold: 0,
            stepup: 0,
            stepdown: 0,
            period,
            rates,
            stations,
        }
    }
}

/// What is known of a station; it has at least one rate. The counts are of this period.
#[derive(Default)]
struct Station {
    rates: Vec<i32>,
    current: usize,
    successes: u32,
    failures: u32,
    retries: u32,
    credits: u32,
}

impl Station {
    fn new(rates: Vec<i32>) -> Station {
        let first = |rate| Some(index_of(rate, &rates)).filter(|index| *index > 0);
        let current = first(48).or(first(22)).unwrap_or(0);
        Station { rates, current, ..Station::default() }
    }

    /// Looks back at the period; the rate may change.
    fn adjust(&mut self) {
        let enough = self.successes.saturating_add(self.failures) > ENOUGH;
        let is_bad = self.failures > 0 && self.successes == 0 || enough && self.successes < self.retries;
        let good_below = self.successes.saturating_mul(GOOD_PERCENT) / 100;
        let is_good = enough && self.failures == 0 && self.retries < good_below;
        if is_bad {
            self.current = self.current.saturating_sub(1);
            self.credits = 0;
        } else if is_good {
            self.credits += 1;
            if self.credits >= CREDITS_FOR_RISE {
                self.current = (self.current + 1).min(self.rates.len() - 1);
                self.credits = 0;
            }
        } else if enough {
            self.credits = self.credits.saturating_sub(1);
        }
        (self.successes, self.failures, self.retries) = (0, 0, 0);
    }

    fn line(&self, address: EtherAddress) -> String {
        let Station { rates, current, successes, failures, retries, credits } = self;
        let rate = rates[*current];
        format!(
            "{address} {rate} successes {successes} failures {failures} retries {retries} credits {credits}\n"
        )
    }
}

impl MadwifiRate {
    fn print(&self) -> String {
        self.stations.iter().map(|(address, station)| station.line(address)).collect()
    }
}

impl RateControl for MadwifiRate {
    fn is_active(&self) -> bool {
        self.active
    }

    fn assign(&mut self, p: &mut Packet, cx: &mut Cx<'_>) {
        let Some(address) = station(p, self.offset) else { return };
        if address.is_multicast() {
            return assign_to_group(p, &self.rates, cx);
        }
        if self.stations.get(address).is_none() {
            let rates = rates_of(address, &self.rates, cx);
            if rates.is_empty() {
                return;
            }
            let station = Station::new(rates);
            if self.debug {
                let rate = station.rates[station.current];
                cx.chatter(&format!("{} initial rate for {address} is {rate}", declaration(cx)));
            }
            self.stations.insert(address, station);
        }
        if let Some(station) = self.stations.get(address) {
            Extra::change(p, |extra| {
                extra.magic = MAGIC.into();
                assign_falling(extra, &station.rates, station.current);
            });
        }
    }

    fn learn(&mut self, p: &Packet, cx: &mut Cx<'_>) {
        let extra = Extra::of(p);
        let (success, rate) = (!extra.has(flag::TX_FAIL), extra.rate[0]);
        let Some(address) = station(p, self.offset).filter(|address| !address.is_multicast()) else { return };
        if rate == 0 || success && p.len() < self.threshold as usize {
            return;
        }
        let current = |s: &&mut Station| s.rates[s.current] == i32::from(rate);
        let Some(station) = self.stations.get_mut(address).filter(current) else { return };
        if !success && self.debug {
            let alternate = extra.rate[1];
            cx.chatter(&format!(
                "{} packet failed {address} success 0 rate {rate} alt {alternate}",
                declaration(cx)
            ));
        }
        if success && !(self.alt_rate && extra.has(flag::TX_USED_ALT_RATE)) {
            station.successes = station.successes.saturating_add(1);
            station.retries = station.retries.saturating_add(u32::from(extra.retries));
        } else {
            station.failures = station.failures.saturating_add(1);
            station.retries = station.retries.saturating_add(RETRIES_OF_FAILURE);
        }
    }
}

impl Element for MadwifiRate {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        args.read("OFFSET", &mut self.offset).read("THRESHOLD", &mut self.threshold);
        args.read("ALT_RATE", &mut self.alt_rate).read("ACTIVE", &mut self.active);
        args.read("PERIOD", &mut self.period);
        self.rates.configure(args, "RT", &available_rates::CLASS, cx);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.rates.initialize(cx);
        cx.schedule_timer_after(0, Duration::ZERO);
        Ok(())
    }

    fn push(&mut self, port: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        super::push(self, port, batch, cx);
    }

    fn pull(&mut self, port: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        super::pull(self, port, limit, cx)
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        self.stations.values_mut().for_each(Station::adjust);
        cx.schedule_timer_after(0, Duration::from_millis(u64::from(self.period.max(1))));
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<MadwifiRate>(old) {
            self.stations = std::mem::take(&mut old.stations);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::radio::Radio;
    use super::*;

    const RATES: [i32; 6] = [2, 4, 11, 22, 48, 108];

    #[test]
    fn it_begins_at_24_or_11_mbit_per_second() {
        assert_eq!(Radio::new("MadwifiRate(RT rates)", &RATES).send().0, [48, 22, 11, 4]);
        assert_eq!(Radio::new("MadwifiRate(RT rates)", &RATES[..4]).send().0, [22, 11, 4, 2]);
        assert_eq!(Radio::new("MadwifiRate(RT rates)", &[12, 18]).send(), ([12, 0, 0, 0], [4, 0, 0, 0]));
    }

    #[test]
    fn it_falls_after_a_period_of_failures() {
        let mut radio = Radio::new("MadwifiRate(RT rates, PERIOD 100)", &RATES);
        radio.send();
        radio.wait(150);
        radio.fail(4);
        assert_eq!(
            radio.harness.read("r.rates"),
            "02-00-00-00-00-01 48 successes 0 failures 1 retries 4 credits 0\n"
        );
        radio.wait(100);
        assert_eq!(radio.send().0[0], 22);
    }

    #[test]
    fn ten_good_periods_raise_the_rate() {
        let mut radio = Radio::new("MadwifiRate(RT rates, PERIOD 100)", &RATES);
        radio.send();
        radio.wait(50);
        for period in 0..10 {
            assert_eq!(radio.send().0[0], 48, "{period}");
            (0..11).for_each(|_| radio.succeed(0));
            // What was sent has taken 23 milliseconds.
            radio.wait(77);
        }
        assert_eq!(radio.send().0[0], 108);
    }

    #[test]
    fn many_retries_lower_the_rate_too() {
        let mut s =
            Station { successes: 11, retries: 12, current: 1, rates: vec![2, 4], ..Station::default() };
        s.adjust();
        assert_eq!((s.current, s.retries), (0, 0));
        let mut s = Station {
            successes: 10,
            retries: 12,
            current: 1,
            rates: vec![2, 4],
            credits: 2,
            ..Station::default()
        };
        s.adjust();
        assert_eq!((s.current, s.credits), (1, 2));
        s = Station { successes: 20, retries: 5, credits: 2, ..s };
        s.adjust();
        assert_eq!((s.current, s.credits), (1, 1));
    }

    #[test]
    fn over_a_link_that_carries_some_rates_only_it_settles_there() {
        let mut radio = Radio::new("MadwifiRate(RT rates, PERIOD 20)", &RATES);
        let used = radio.simulate(4000, |rate, random| if rate <= 11 { 100 } else { 10 } > random % 100);
        assert!(used[11] > 3000, "{}", used[11]);
    }
}

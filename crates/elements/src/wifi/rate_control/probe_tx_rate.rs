//! ProbeTXRate: the rate that took the least time, and now and then another to see (Bicket 2005, SampleRate).

use super::super::available_rates::{self, Rates};
use super::super::extra::{Extra, flag};
use super::super::params::{Partner, debug_handler, declaration, parameter, say};
use super::super::station_map::StationMap;
use super::transmit_time::transmit_time;
use super::{RateControl, assign_to_group, class, index_of, rates_of, station};
use clickwork_packet::addr::EtherAddress;
use clickwork_packet::{Batch, Packet, Timestamp};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, read_handler, write_handler};
use std::collections::VecDeque;
use std::fmt::Write;
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "chooses the rate that takes the least time, by trying",
    manual: "Input 0 takes packets to be sent and gives them a rate in the annotation WIFI_EXTRA; input 1 takes packets that \
             were sent, with what became of them. For each station and rate the time that packets took in the last WINDOW \
             milliseconds is estimated from their retries. Nine of ten packets get the rate that took the least time for each \
             packet that went through; the tenth one of those rates that could be better and have not failed four times in a \
             row. 4096 packets of each of 16384 stations are remembered; then the oldest give way.",
    example: "rates :: AvailableRates(DEFAULT 2 4 11 22); InfiniteSource(LENGTH 100, LIMIT 3, STOP true) \
              -> EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:2) -> a :: ProbeTXRate(RT rates, WINDOW 5000) -> Discard; \
              Idle -> [1] a [1] -> Discard",
    args: &[
        ArgSpec::keyword("OFFSET", ArgType::U32, "0", "where the station's address is"),
        ArgSpec::keyword("WINDOW", ArgType::I32, "", "milliseconds that are remembered; must be given"),
        ArgSpec::keyword("THRESHOLD", ArgType::U32, "0", "failed packets count from this length on"),
        super::super::params::DEBUG,
        ArgSpec::required_keyword("RT", ArgType::Element, "an AvailableRates"),
        ArgSpec::keyword("ACTIVE", ArgType::Bool, "true", "whether anything is done"),
    ],
    handlers: &[
        debug_handler!(ProbeTXRate),
        read_handler!("rates", "stations, and what is known of each rate", |e: &mut ProbeTXRate, _| e
            .print()),
        parameter!(
            ProbeTXRate,
            "threshold",
            threshold,
            "failed packets count from this length on",
            "threshold parameter must be unsigned"
        ),
        parameter!(
            ProbeTXRate,
            "offset",
            offset,
            "where the address is",
            "offset parameter must be unsigned"
        ),
        parameter!(ProbeTXRate, "active", active, "whether anything is done", "active must be boolean"),
        write_handler!("reset", "forgets the stations", |e: &mut ProbeTXRate, _, _| e.stations.clear())
            .flags("b"),
    ],
    ..class("ProbeTXRate", || Box::<ProbeTXRate>::default())
};

/// The packet length for which times are compared.
const LENGTH: u64 = 1500;
/// One packet of so many tries another rate.
const PROBE_EVERY: u32 = 10;
/// Packets of a station that are remembered at most.
const LIMIT: usize = 4096;

struct ProbeTXRate {
    debug: bool,
    active: bool,
    offset: u32,
    threshold: u32,
    window: Duration,
    rates: Partner<Rates>,
    stations: StationMap<EtherAddress, Station>,
}

impl Default for ProbeTXRate {
    fn default() -> ProbeTXRate {
        let (rates, stations) = (Partner::default(), StationMap::default());
        ProbeTXRate {
            debug: false,
            active: true,
            offset: 0,
            threshold: 0,
            window: Duration::ZERO,
            rates,
            stations,
        }
    }
}

/// A packet that was sent.
struct Sent {
    when: Timestamp,
    rate: usize,
    success: bool,
    time: u64,
    tries: u64,
}

/// What happened at a rate within the window.
#[derive(Clone, Default)]
struct Tally {
    rate: i32,
    packets: u64,
    time: u64,
    successes: u64,
    failures: u64,
    tries: u64,
    /// The time of a packet that goes through at once.
    perfect: u64,
}

impl Tally {
    /// The time for each packet that went through.
    fn average(&self) -> u64 {
        self.time.checked_div(self.successes).unwrap_or(0)
    }

    fn count(&mut self, sent: &Sent) {
        self.packets += 1;
        self.time += sent.time;
        self.tries += sent.tries;
        *(if sent.success { &mut self.successes } else { &mut self.failures }) += 1;
    }

    fn forget(&mut self, sent: &Sent) {
        self.packets -= 1;
        self.time -= sent.time;
        self.tries -= sent.tries;
        *(if sent.success { &mut self.successes } else { &mut self.failures }) -= 1;
    }

    /// A line of the handler.
    fn line(&self) -> String {
        let Tally { rate, packets, time, successes, failures, tries, perfect } = self;
        let average = match packets {
            0 => "0".into(),
            // Thousandths, printed as a time is.
            _ => (Timestamp::ZERO + Duration::from_millis(tries * 1000 / packets)).to_string(),
        };
        format!(
            " {rate} success {successes} fail {failures} tries {tries} perfect_usecs {perfect} total_usecs {time} \
             average_usecs {} average_tries {average}\n",
            self.average()
        )
    }
}

/// What is known of a station; it has at least one rate.
struct Station {
    tallies: Vec<Tally>,
    sent: VecDeque<Sent>,
    assigned: u32,
}

impl Station {
    fn new(rates: &[i32]) -> Station {
        let tally = |&rate| Tally { rate, perfect: transmit_time(LENGTH, rate, 0), ..Tally::default() };
        Station { tallies: rates.iter().map(tally).collect(), sent: VecDeque::new(), assigned: 0 }
    }

    fn rates(&self) -> Vec<i32> {
        self.tallies.iter().map(|tally| tally.rate).collect()
    }

    fn add(&mut self, sent: Sent) {
        self.tallies[sent.rate].count(&sent);
        self.sent.push_back(sent);
        if self.sent.len() > LIMIT {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        if let Some(sent) = self.sent.pop_front() {
            self.tallies[sent.rate].forget(&sent);
        }
    }

    fn trim(&mut self, earliest: Timestamp) {
        while self.sent.front().is_some_and(|sent| sent.when < earliest) {
            self.forget_oldest();
        }
    }

    /// The rate that took the least time; as long as none went through, the highest that failed less than three times.
    fn best(&self) -> usize {
        let known = self.tallies.iter().enumerate().filter(|(_, tally)| tally.successes > 0);
        known.min_by_key(|(_, tally)| tally.average()).map_or_else(
            || self.tallies.iter().rposition(|tally| tally.failures < 3).unwrap_or(0),
            |(index, _)| index,
        )
    }

    /// Rates that may be better than the best.
    fn worth_a_try(&self) -> Vec<i32> {
        let best = self.tallies[self.best()].average();
        let promising =
            |tally: &&Tally| best >= tally.perfect && (tally.failures <= 3 || tally.successes > 0);
        self.tallies.iter().filter(promising).map(|tally| tally.rate).collect()
    }

    /// The rate for the next packet, and how often to try it.
    fn choose(&mut self, cx: &mut Cx<'_>) -> (i32, u8) {
        let number = self.assigned;
        self.assigned = self.assigned.wrapping_add(1);
        let candidates = if number.is_multiple_of(PROBE_EVERY) { self.worth_a_try() } else { Vec::new() };
        match candidates.len() {
            0 => (self.tallies[self.best()].rate, 4),
            n => (candidates[cx.random() as usize % n], 2),
        }
    }
}

impl ProbeTXRate {
    fn print(&self) -> String {
        let mut text = String::new();
        for (address, station) in self.stations.iter() {
            // A String takes any text.
            let _ = writeln!(text, "{address}");
            text.extend(station.tallies.iter().map(Tally::line));
        }
        text
    }

    /// What a packet that was sent says, if it counts.
    fn outcome(&self, p: &Packet, cx: &Cx<'_>) -> Option<(EtherAddress, Extra, bool)> {
        let (extra, address) = (Extra::of(p), station(p, self.offset)?);
        let success = !extra.has(flag::TX_FAIL);
        let why_not = if address.is_broadcast() {
            format!(": discarding bcast {address}")
        } else if extra.rate[0] == 0 {
            format!(" no rate set for {address}")
        } else if !success && p.len() < self.threshold as usize {
            format!(" short success for {address}")
        } else if self.stations.get(address).is_none() {
            format!(" no info for {address}")
        } else {
            return Some((address, extra, success));
        };
        if self.debug {
            cx.chatter(&format!("{}{why_not}", declaration(cx)));
        }
        None
    }
}

impl RateControl for ProbeTXRate {
    fn is_active(&self) -> bool {
        self.active
    }

    fn assign(&mut self, p: &mut Packet, cx: &mut Cx<'_>) {
        let Some(address) = station(p, self.offset) else { return };
        if address.is_multicast() || address.is_zero() {
            return assign_to_group(p, &self.rates, cx);
        }
        if self.stations.get(address).is_none() {
            let rates = rates_of(address, &self.rates, cx);
            if rates.is_empty() {
                return;
            }
            self.stations.insert(address, Station::new(&rates));
        }
        let Some(station) = self.stations.get_mut(address) else { return };
        station.trim(cx.steady() - self.window);
        let best = station.tallies[station.best()].rate;
        let (rate, tries) = station.choose(cx);
        Extra::change(p, |extra| {
            extra.rate = [rate as u8, best as u8, 0, 0];
            extra.tries = [tries, 2, 0, 0];
        });
    }

    fn learn(&mut self, p: &Packet, cx: &mut Cx<'_>) {
        let Some((address, extra, success)) = self.outcome(p, cx) else { return };
        let (rate, retries) = (extra.rate[0], extra.retries);
        let (time, tries) = (transmit_time(LENGTH, i32::from(rate), retries), u64::from(retries) + 1);
        if self.debug {
            if !success {
                let alternate = extra.rate[1];
                let failed = format!("packet failed {address} retries {retries} rate {rate} alt {alternate}");
                cx.chatter(&format!("{} {failed}", declaration(cx)));
            }
            say(
                cx,
                format_args!(":process_feedback() rate {rate} tries {tries} (retries {retries}) time {time}"),
            );
        }
        if let Some(station) = self.stations.get_mut(address) {
            let rate = index_of(i32::from(rate), &station.rates());
            station.add(Sent { when: cx.steady(), rate, success, time, tries });
        }
    }
}

impl Element for ProbeTXRate {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        args.read("OFFSET", &mut self.offset).read("THRESHOLD", &mut self.threshold);
        args.read("DEBUG", &mut self.debug).read("ACTIVE", &mut self.active);
        self.rates.configure(args, "RT", &available_rates::CLASS, cx);
        match args.get::<i32>("WINDOW").unwrap_or(0) {
            ..=0 => args.error("WINDOW must be > 0"),
            window => self.window = Duration::from_millis(u64::from(window.unsigned_abs())),
        }
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
        if let Some(old) = try_downcast::<ProbeTXRate>(old) {
            self.stations = std::mem::take(&mut old.stations);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::radio::Radio;
    use super::*;
    use crate::testing::Harness;

    const RATES: [i32; 4] = [2, 4, 11, 22];

    #[test]
    fn over_a_link_that_loses_at_high_rates_the_fastest_good_rate_wins() {
        // 11 at 30 % loss takes less time than 4 without, 22 at 95 % loss more.
        let mut radio = Radio::new("ProbeTXRate(RT rates, WINDOW 2000)", &RATES);
        let loss = |rate| match rate {
            22 => 95,
            11 => 30,
            _ => 0,
        };
        let used = radio.simulate(3000, |rate, random| random % 100 >= loss(rate));
        assert!(used[11] > 2300, "{} {} {} {}", used[2], used[4], used[11], used[22]);
    }

    #[test]
    fn what_is_known_is_listed_and_forgotten() {
        let mut radio = Radio::new("ProbeTXRate(RT rates, WINDOW 1000)", &[11, 22]);
        radio.send();
        radio.send();
        radio.report(22, 0, true);
        radio.report(22, 1, true);
        radio.report(11, 1, false);
        let (perfect11, perfect22) = (transmit_time(1500, 11, 0), transmit_time(1500, 22, 0));
        let (twice11, twice22) = (transmit_time(1500, 11, 1), transmit_time(1500, 22, 1));
        let all = perfect22 + twice22;
        let expected = format!(
            "02-00-00-00-00-01\n 11 success 0 fail 1 tries 2 perfect_usecs {perfect11} total_usecs {twice11} average_usecs 0 \
             average_tries 2.000000\n 22 success 2 fail 0 tries 3 perfect_usecs {perfect22} total_usecs {all} \
             average_usecs {} average_tries 1.500000\n",
            all / 2
        );
        assert_eq!(radio.harness.read("r.rates"), expected);
        radio.wait(1100);
        radio.send();
        assert!(radio.harness.read("r.rates").contains(" 22 success 0 fail 0 tries 0"));
        radio.harness.write("r.reset").unwrap();
        assert_eq!(radio.harness.read("r.rates"), "");
    }

    #[test]
    fn the_window_must_be_given_and_floods_of_feedback_are_forgotten() {
        let e = Harness::errors("r :: AvailableRates; Idle -> p :: ProbeTXRate(RT r); Idle -> [1] p");
        assert!(e.contains("WINDOW must be > 0"), "{e}");
        let mut s = Station::new(&RATES);
        for n in 0..3 * LIMIT {
            s.add(Sent { when: Timestamp::ZERO, rate: n % 4, success: n % 3 == 0, time: 5, tries: 1 });
        }
        assert_eq!((s.sent.len(), s.tallies.iter().map(|t| t.packets).sum::<u64>()), (LIMIT, LIMIT as u64));
    }
}

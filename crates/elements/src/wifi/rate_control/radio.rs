//! A radio for tests: sends what a rate control gives it over a link that loses some packets, and reports.

use super::super::extra::{Extra, MAGIC, flag};
use crate::testing::Harness;
use clickwork_packet::Packet;
use std::time::Duration;

/// The station to which everything goes.
const STATION: [u8; 6] = [2, 0, 0, 0, 0, 1];

/// The radio, with the rate control `r`.
pub struct Radio {
    pub harness: Harness,
    last_rate: u8,
    random: u32,
}

impl Radio {
    /// A radio with a rate control; stations have these rates.
    pub fn new(control: &str, rates: &[i32]) -> Radio {
        let rates: String = rates.iter().map(|rate| format!(" {rate}")).collect();
        let harness = Harness::new(&format!(
            "rates :: AvailableRates(DEFAULT{rates}); s :: Source -> r :: {control} -> k :: Sink;
             f :: Source -> [1] r [1] -> Sink; TimedSource(0.1) -> Discard"
        ));
        Radio { harness, last_rate: 0, random: 1 }
    }

    /// Lets simulated time pass.
    pub fn wait(&mut self, milliseconds: u64) {
        self.harness.run_for(Duration::from_millis(milliseconds));
    }

    /// Rates and tries for a packet to the station.
    pub fn send(&mut self) -> ([u8; 4], [u8; 4]) {
        let sent = self.send_to(STATION);
        self.last_rate = sent.0[0];
        sent
    }

    /// Rates and tries for a packet to an address. Takes a millisecond.
    pub fn send_to(&mut self, address: [u8; 6]) -> ([u8; 4], [u8; 4]) {
        self.push("s", Packet::new(&address));
        let extra = Extra::of(&self.harness.take("k")[0]);
        (extra.rate, extra.tries)
    }

    fn push(&mut self, source: &str, p: Packet) {
        let element = self.harness.router.find(source).expect("the source exists");
        let to = clickwork_router::Endpoint { element, port: 0 };
        self.harness.router.push(to, clickwork_packet::Batch::one(p));
        self.wait(1);
    }

    /// Reports what became of a packet.
    pub fn report(&mut self, rate: u8, retries: u8, success: bool) {
        let mut p = Packet::new(&STATION);
        let mut extra =
            Extra { magic: MAGIC.into(), rate: [rate, 0, 0, 0], tries: [9; 4], retries, ..Extra::ZERO };
        extra.set(flag::TX, true);
        extra.set(flag::TX_FAIL, !success);
        extra.annotate(&mut p);
        self.push("f", p);
    }

    /// Reports the last packet as lost.
    pub fn fail(&mut self, retries: u8) {
        self.send();
        self.report(self.last_rate, retries, false);
    }

    /// Reports the last packet as received.
    pub fn succeed(&mut self, retries: u8) {
        self.send();
        self.report(self.last_rate, retries, true);
    }

    /// Sends packets, each until it arrives or its tries are used up: `arrives` says so for the rate and a random number. Returns how often a rate
    /// was used.
    pub fn simulate(&mut self, packets: usize, arrives: impl Fn(u8, u32) -> bool) -> [usize; 256] {
        let mut used = [0; 256];
        for _ in 0..packets {
            let (rates, tries) = self.send();
            used[usize::from(rates[0])] += 1;
            let attempts = 0..=tries[0];
            let arrived = attempts.into_iter().find(|_| {
                self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                arrives(rates[0], self.random >> 16)
            });
            self.report(rates[0], arrived.unwrap_or(tries[0]), arrived.is_some());
        }
        used
    }
}

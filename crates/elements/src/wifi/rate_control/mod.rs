//! Rate control: which rate each station is sent to with, from how well it went so far.
//!
//! What the three elements have in common is here: packets to be sent enter by input 0 and get a rate, those that were sent
//! come back by input 1 with what became of them, both leave by the output of the same number.

mod auto_rate_fallback;
mod madwifi_rate;
mod probe_tx_rate;
#[cfg(test)]
mod radio;
mod transmit_time;

use super::available_rates::Rates;
use super::extra::Extra;
use super::params::{Partner, address_at};
use clickwork_packet::addr::EtherAddress;
use clickwork_packet::{Batch, Packet};
use clickwork_router::{Class, Cx, Element};

/// The classes of this family.
pub static CLASSES: [&Class; 3] = [&auto_rate_fallback::CLASS, &madwifi_rate::CLASS, &probe_tx_rate::CLASS];

/// The class facts that all have.
const fn class(name: &'static str, make: fn() -> Box<dyn Element>) -> Class {
    Class {
        ports: "2/0-2",
        processing: "ah/a",
        flow: "#/#",
        packets: "any/from(0),from(1)",
        ..Class::new(name, "wifi", make)
    }
}

/// A way to choose rates.
trait RateControl {
    /// Whether anything is done.
    fn is_active(&self) -> bool;

    /// Gives a packet that is to be sent a rate.
    fn assign(&mut self, p: &mut Packet, cx: &mut Cx<'_>);

    /// Learns what became of a packet.
    fn learn(&mut self, p: &Packet, cx: &mut Cx<'_>);
}

/// Takes packets at a push input.
fn push(control: &mut impl RateControl, port: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
    if control.is_active() {
        for p in batch.iter_mut() {
            match port {
                0 => control.assign(p, cx),
                _ => control.learn(p, cx),
            }
        }
    }
    if port < cx.outputs() {
        cx.emit_batch(port, batch.take());
    } else {
        cx.drop_batch(batch, "no such output");
    }
}

/// Gives packets to a pull output.
fn pull(control: &mut impl RateControl, port: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
    let mut batch = cx.pull(port, limit);
    if control.is_active() {
        batch.iter_mut().for_each(|p| control.assign(p, cx));
    }
    batch
}

/// The rate for groups: the first that everybody has, else 1 Mbit/s. Nobody acknowledges such packets.
fn assign_to_group(p: &mut Packet, rates: &Partner<Rates>, cx: &Cx<'_>) {
    let rates = rates.get().map_or_else(Vec::new, |rates| rates.lookup(EtherAddress::BROADCAST, cx));
    Extra::change(p, |extra| extra.rate[0] = rates.first().map_or(2, |rate| *rate as u8));
}

/// The rates of a station.
fn rates_of(station: EtherAddress, rates: &Partner<Rates>, cx: &Cx<'_>) -> Vec<i32> {
    rates.get().map_or_else(Vec::new, |rates| rates.lookup(station, cx))
}

/// The station a packet goes to.
fn station(p: &Packet, offset: u32) -> Option<EtherAddress> {
    address_at(p.data(), offset as usize)
}

/// Four tries at a rate, then two at each of the three below it.
fn assign_falling(extra: &mut Extra, rates: &[i32], index: usize) {
    for step in 0..4 {
        let rate = index.checked_sub(step).and_then(|lower| rates.get(lower));
        extra.rate[step] = rate.map_or(0, |rate| *rate as u8);
        extra.tries[step] = match (step, rate) {
            (0, _) => 4,
            (_, Some(_)) => 2,
            (_, None) => 0,
        };
    }
}

/// The place of a rate among others; the first if it is not among them, as in Click.
fn index_of(rate: i32, rates: &[i32]) -> usize {
    rates.iter().position(|known| *known == rate).unwrap_or(0)
}

//! How fast text gets through, in simulated time: what is lost or comes in another order must cost no more than the
//! formulas of the RFCs say.

use clickwork_prolac_tcp::abi::Config;
use clickwork_prolac_tcp::{Options, Program};

use crate::link::Behaviour;
use crate::scenario::{Conversation, Scenario};
use crate::user::{Leave, Plan};
use crate::world::run;

const SEGMENT: f64 = 1448.0;

/// Bytes a second with which so many are sent over a link, the same both ways.
fn goodput(bytes: u64, link: &Behaviour) -> f64 {
    let config = Config { receive_buffer: 16 << 20, time_wait: 1, ..Config::default() };
    let options = Options { send_buffer: 8 << 20, ..Options::default() };
    let writer = Plan { total: bytes, write_size: 65_536, ..Plan::default() };
    let reader = Plan { total: 0, read_size: 65_536, leave: Leave::AfterPeer, ..Plan::default() };
    let conversation = Conversation {
        options: [options.clone(), options],
        plans: [writer, reader],
        ..Conversation::default()
    };
    let scenario = Scenario {
        seed: 7,
        configs: [config; 2],
        links: [link.clone(), link.clone()],
        conversations: vec![conversation],
        ..Scenario::default()
    };
    let outcome =
        run(Program::linked(), &scenario, false).unwrap_or_else(|error| panic!("{link:?}: {error}"));
    bytes as f64 * 1e6 / outcome.time as f64
}

/// 100 Mbit/s, and a queue of half a round trip of 50 ms.
fn far() -> Behaviour {
    Behaviour { delay: 25_000, rate: 12_500_000, queue: 312_500, ..Behaviour::default() }
}

/// 5 Gbit/s over 0.2 ms.
fn near() -> Behaviour {
    Behaviour { delay: 100, rate: 625_000_000, queue: 300_000, ..Behaviour::default() }
}

/// What Reno gets with this loss, in thousandths, and round trip: RFC 5681 in equilibrium, as RFC 9438 §4.3 uses it.
fn reno(loss: u32, round_trip: u64) -> f64 {
    (1.5 / (f64::from(loss) / 1000.0)).sqrt() * SEGMENT / (round_trip as f64 / 1e6)
}

#[test]
fn a_clean_link_is_full() {
    let (rate, link) = (goodput(30_000_000, &far()), far());
    assert!(rate > 0.8 * link.rate as f64, "{rate} of {}", link.rate);
    let (rate, link) = (goodput(10_000_000, &near()), near());
    assert!(rate > 0.8 * link.rate as f64, "{rate} of {}", link.rate);
}

#[test]
fn random_loss_costs_no_more_than_with_reno() {
    for (link, loss, bytes) in
        [(far(), 1, 8_000_000), (far(), 10, 6_000_000), (near(), 1, 8_000_000), (near(), 10, 6_000_000)]
    {
        let lossy = Behaviour { loss, ..link.clone() };
        let (rate, least) = (goodput(bytes, &lossy), reno(loss, 2 * link.delay).min(link.rate as f64));
        println!("loss {loss} in 1000, round trip {} us: {:.2} of Reno's", 2 * link.delay, rate / least);
        assert!(rate > 0.9 * least, "{link:?}: {rate} of {least}");
    }
}

/// One packet in a hundred comes up to ten packets late.
#[test]
fn reordering_costs_little() {
    for (link, bytes, packet) in [(far(), 15_000_000, 120), (near(), 10_000_000, 3)] {
        let mixed = Behaviour { reorder: 10, reorder_by: 10 * packet, ..link.clone() };
        let (rate, clean) = (goodput(bytes, &mixed), goodput(bytes, &link));
        println!("reordering, round trip {} us: {:.2}", 2 * link.delay, rate / clean);
        assert!(rate > 0.9 * clean, "{link:?}: {rate} of {clean}");
    }
}

//! Packets and handler calls for random routers.

use super::Running;
use super::packets;
use super::random::{Random, change};
use clickwork_packet::{Batch, Packet};
use clickwork_router::{Driver, Endpoint};
use std::time::Duration;

/// Packets and handler calls, the same for both routers.
pub fn exercise(running: &mut Running, text: &str, seed: u64, ordered: bool) {
    let mut random = Random::new(seed);
    let input = running.router.find("in").expect("there is an input");
    for _ in 0..6 {
        let count = if ordered { 1 } else { 1 + random.below(40) };
        let mut shared: Vec<Packet> = Vec::new();
        let batch: Batch = (0..count)
            .map(|_| {
                let p = packets::packet(&mut random);
                if random.once_in(5) {
                    shared.push(p.clone());
                }
                p
            })
            .collect();
        running.router.push(Endpoint { element: input, port: 0 }, batch);
        drop(shared);
        Driver::default().run_for(&mut running.router, Duration::from_millis(10));
        if let Some((handler, value)) = change(&mut random, text) {
            let _ = running.router.write(&handler, &value);
        }
    }
}

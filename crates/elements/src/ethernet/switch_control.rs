//! What a spanning tree tells a switch, without either knowing the other: the switch exports a [`SwitchControl`].

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Commands to a switch, which it obeys from the next packet on.
#[derive(Debug, Default)]
pub struct SwitchControl {
    /// In nanoseconds; 0 for none.
    short_ageing: AtomicU64,
    learn_only: Vec<AtomicBool>,
}

impl SwitchControl {
    /// For a switch with this many ports, which forwards between all of them.
    pub fn new(ports: usize) -> SwitchControl {
        SwitchControl {
            short_ageing: AtomicU64::new(0),
            learn_only: (0..ports).map(|_| AtomicBool::new(false)).collect(),
        }
    }

    /// How many ports the switch has.
    pub fn ports(&self) -> usize {
        self.learn_only.len()
    }

    /// Stations are to be forgotten this long after their last frame, if that is sooner than otherwise.
    pub fn set_short_ageing(&self, time: Option<Duration>) {
        let nanos = time.map_or(0, |t| u64::try_from(t.as_nanos()).unwrap_or(u64::MAX).max(1));
        self.short_ageing.store(nanos, Ordering::Relaxed);
    }

    /// The time that was last set.
    pub fn short_ageing(&self) -> Option<Duration> {
        let nanos = self.short_ageing.load(Ordering::Relaxed);
        (nanos > 0).then_some(Duration::from_nanos(nanos))
    }

    /// Frames from a port are learned from, and go nowhere (IEEE 802.1D §8.4.3); or are forwarded as usual.
    pub fn set_learn_only(&self, port: usize, yes: bool) {
        if let Some(flag) = self.learn_only.get(port) {
            flag.store(yes, Ordering::Relaxed);
        }
    }

    /// Whether frames from a port are only learned from.
    pub fn is_learn_only(&self, port: usize) -> bool {
        self.learn_only.get(port).is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

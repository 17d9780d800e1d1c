//! The PIE algorithm: a controller that turns the delay of a queue into a probability of drops.
//!
//! Read first: RFC 8033 §4 (the basic scheme) and §5 (what is advised besides). It knows no element and no clock.

use std::time::Duration;

/// The parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameters {
    /// The delay to keep to (QDELAY_REF).
    pub target: Duration,
    /// How often the probability is computed anew (T_UPDATE).
    pub update: Duration,
    /// Weight of the distance from the target, and of the change since the last update, per second.
    pub alpha: f64,
    pub beta: f64,
    /// How long a burst may last that loses nothing.
    pub max_burst: Duration,
}

impl Default for Parameters {
    /// RFC 8033 §4.2, §4.4.
    fn default() -> Parameters {
        Parameters {
            target: Duration::from_millis(15),
            update: Duration::from_millis(15),
            alpha: 0.125,
            beta: 1.25,
            max_burst: Duration::from_millis(150),
        }
    }
}

/// Where the steps of the probability become smaller: below each bound they are divided (RFC 8033 §4.2).
const STEPS: [(f64, f64); 6] =
    [(0.000_001, 2048.0), (0.000_01, 512.0), (0.000_1, 128.0), (0.001, 32.0), (0.01, 8.0), (0.1, 2.0)];
/// From this probability on it grows at most so much at a time (RFC 8033 §5.3).
const CAP_FROM: f64 = 0.1;
const CAP: f64 = 0.02;
/// How fast the probability falls while there is no delay.
const DECAY: f64 = 0.98;
/// Below this it is none.
const NOTHING: f64 = 1e-9;
/// A queue of no more than two packets of the mean size loses nothing (RFC 8033 §4.1).
const SPARED_BYTES: usize = 2 * 1024;
/// Sums of probabilities that forbid a drop, and that demand one (RFC 8033 §5.4).
const TOO_SOON: f64 = 0.85;
const OVERDUE: f64 = 8.5;

/// The controller.
#[derive(Clone, Copy, Debug)]
pub(super) struct Controller {
    probability: f64,
    /// The delay at the last update.
    before: Duration,
    /// How much longer a burst may last.
    allowance: Duration,
    /// The probabilities of the packets since the last drop, added up.
    sum: f64,
}

impl Default for Controller {
    fn default() -> Controller {
        let allowance = Parameters::default().max_burst;
        Controller { probability: 0.0, before: Duration::ZERO, allowance, sum: 0.0 }
    }
}

impl Controller {
    /// A controller that allows a burst at once.
    pub fn new(p: &Parameters) -> Controller {
        Controller { allowance: p.max_burst, ..Controller::default() }
    }

    /// The probability of a drop.
    pub fn probability(&self) -> f64 {
        self.probability
    }

    /// Whether nothing would change if there were no packets.
    pub fn is_at_rest(&self) -> bool {
        self.probability == 0.0 && self.before.is_zero()
    }

    /// Looks at the delay, to be called every `update`.
    pub fn update(&mut self, p: &Parameters, delay: Duration) {
        let (delay_s, before, target) =
            (delay.as_secs_f64(), self.before.as_secs_f64(), p.target.as_secs_f64());
        let wanted = p.alpha * (delay_s - target) + p.beta * (delay_s - before);
        let divisor =
            STEPS.iter().find(|(bound, _)| self.probability < *bound).map_or(1.0, |(_, divisor)| *divisor);
        let step = wanted / divisor;
        let step = if self.probability >= CAP_FROM { step.min(CAP) } else { step };
        self.probability = (self.probability + step).clamp(0.0, 1.0);
        if delay.is_zero() && self.before.is_zero() {
            self.probability *= DECAY;
        }
        if self.probability < NOTHING {
            self.probability = 0.0;
        }
        self.before = delay;
        self.allowance = self.allowance.saturating_sub(p.update);
        // RFC 8033 §4.4: the congestion is over, the next burst is allowed again.
        if self.probability == 0.0 && delay < p.target / 2 && before < target / 2.0 {
            self.allowance = p.max_burst;
        }
    }

    /// Whether a packet that comes is dropped, at `bytes` in the queue. `chance` is a random number from 0 to 1.
    pub fn drops(&mut self, p: &Parameters, bytes: usize, chance: f64) -> bool {
        let early = self.before < p.target / 2 && self.probability < 0.2;
        if !self.allowance.is_zero() || early || bytes <= SPARED_BYTES {
            return false;
        }
        if self.probability == 0.0 {
            self.sum = 0.0;
        }
        self.sum += self.probability;
        let drops = self.sum >= OVERDUE || self.sum >= TOO_SOON && chance < self.probability;
        if drops {
            self.sum = 0.0;
        }
        drops
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn the_probability_follows_the_control_law() {
        let p = Parameters::default();
        let mut c = Controller::new(&p);
        c.update(&p, ms(30));
        // 0.125 * 15 ms + 1.25 * 30 ms, divided by 2048 at first.
        let first = (0.125 * 0.015 + 1.25 * 0.030) / 2048.0;
        assert!((c.probability() - first).abs() < 1e-12);
        c.update(&p, ms(40));
        let second = first + (0.125 * 0.025 + 1.25 * 0.010) / 128.0;
        assert!((c.probability() - second).abs() < 1e-12, "{} {second}", c.probability());
        // With a standing delay it rises ever faster, but never by more than the cap.
        let mut last = c.probability();
        for _ in 0..100_000 {
            c.update(&p, ms(1000));
            assert!(c.probability() - last <= if last >= 0.1 { 0.02 } else { 0.15 } + 1e-12);
            last = c.probability();
        }
        assert!(last == 1.0);
        // Without one it falls to nothing, and the next burst is allowed.
        assert!(!c.is_at_rest());
        (0..2000).for_each(|_| c.update(&p, Duration::ZERO));
        assert!(c.is_at_rest() && !c.drops(&p, 1 << 20, 0.0));
    }

    #[test]
    fn bursts_and_short_queues_are_spared() {
        let p = Parameters::default();
        let mut c = Controller::new(&p);
        for _ in 0..9 {
            c.update(&p, ms(500));
            assert!((0..100).all(|_| !c.drops(&p, 1 << 20, 0.0)));
        }
        (0..1000).for_each(|_| c.update(&p, ms(500)));
        assert!(!c.drops(&p, 2048, 0.0) && c.drops(&p, 2049, 0.0));
    }

    #[test]
    fn drops_are_neither_too_close_nor_too_far() {
        let p = Parameters::default();
        let mut c = Controller::new(&p);
        while c.probability() < 0.05 {
            c.update(&p, ms(100));
        }
        let step = c.probability();
        let mut gap_with = |chance: f64| (1..).find(|_| c.drops(&p, 1 << 20, chance)).unwrap();
        let (least, most) = ((TOO_SOON / step).ceil(), (OVERDUE / step).ceil());
        assert_eq!((f64::from(gap_with(0.0)), f64::from(gap_with(0.999))), (least, most));
    }
}

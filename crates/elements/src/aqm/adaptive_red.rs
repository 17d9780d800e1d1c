//! AdaptiveRED: RED that finds its maximum probability itself.
//!
//! Read first: Floyd, Gummadi and Shenker, "Adaptive RED: an algorithm for increasing the robustness of RED's active queue
//! management" (2001).

use super::red::{HANDLERS, QUEUES, Red, STABILITY};
use clickwork_router::Class;
use clickwork_router::args::{ArgSpec, ArgType};

/// The class facts.
pub static CLASS: Class = Class {
    help: "drops packets at random so that queues keep near a length",
    manual: "As RED, with thresholds of a half and one and a half of TARGET, which is at least 10. MAX_P is where the \
             probability begins: every half second it is raised a little if the average is above the middle of the \
             thresholds, and lowered if it is below.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> AdaptiveRED(20, 0.02) -> Queue -> Unqueue -> Discard",
    ports: "1/1-2",
    processing: "a/ah",
    packets: "any/each",
    args: &[
        ArgSpec::required("TARGET", ArgType::U32, "average length to keep near to"),
        ArgSpec::required("MAX_P", ArgType::Real, "probability at the upper threshold at first, 0 to 1"),
        QUEUES,
        STABILITY,
    ],
    handlers: HANDLERS,
    ..Class::new("AdaptiveRED", "aqm", || Box::new(Red::adaptive()))
};

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use std::time::Duration;

    #[test]
    fn thresholds_follow_from_the_target() {
        for (target, min, max) in [("20", "10", "30"), ("31", "15", "46"), ("3", "5", "15")] {
            let mut t = Harness::new(&format!("Idle -> r :: AdaptiveRED({target}, 0.02) -> Queue -> Idle"));
            assert_eq!([t.read("r.min_thresh"), t.read("r.max_thresh")], [min, max]);
        }
        let e = Harness::errors("Idle -> AdaptiveRED(60000, 0.02) -> Queue -> Discard");
        assert!(e.contains("MAX_THRESH must be <= 65535"), "{e}");
        assert!(
            Harness::errors("Idle -> AdaptiveRED(20, 2) -> Queue -> Discard")
                .contains("MAX_P must be between")
        );
        assert!(Harness::errors("Idle -> AdaptiveRED(20, 0.1) -> Discard").contains("no nearby Queues"));
    }

    #[test]
    fn the_probability_is_adapted_every_half_second() {
        // Nothing is queued: the probability goes down by a tenth each time, to a hundredth.
        let mut t = Harness::new("Idle -> r :: AdaptiveRED(20, 0.5) -> Queue -> Idle");
        let p = |t: &mut Harness| t.read("r.max_p").parse::<f64>().unwrap();
        t.run_for(Duration::from_millis(1600));
        assert!((p(&mut t) - 0.5 * 0.9f64.powi(3)).abs() < 0.001, "{}", p(&mut t));
        t.run_for(Duration::from_secs(60));
        assert!((0.009..0.0101).contains(&p(&mut t)));
    }

    #[test]
    fn the_average_comes_to_the_target_whatever_the_load() {
        for rate in [1100, 1700] {
            let mut t = Harness::new(&format!(
                "RatedSource(RATE {rate}) -> r :: AdaptiveRED(40, 0.01, STABILITY 9) -> q :: Queue -> RatedUnqueue(1000) \
                 -> c :: Counter -> Discard"
            ));
            t.run_for(Duration::from_secs(40));
            let mut sum = 0.0;
            for _ in 0..120 {
                t.run_for(Duration::from_millis(250));
                sum += t.read("r.avg_queue_size").parse::<f64>().unwrap();
            }
            let mean = sum / 120.0;
            assert!((32.0..52.0).contains(&mean), "{mean} at {rate}");
            assert!(t.read("c.count").parse::<i32>().unwrap() > 69_000);
        }
    }
}

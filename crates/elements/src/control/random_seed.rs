//! RandomSeed: makes random numbers the same in every run.

use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::facts::phase;
use clickwork_router::{Class, Cx, Element, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "makes random numbers the same in every run",
    manual: "Random choices of all elements follow from the number SEED, so that a run can be repeated. Without SEED they are \
             different in every run, as they are without this element. The numbers are not Click's.",
    example: "RandomSeed(42); RandomSource(20, LIMIT 3, STOP true) -> Discard",
    ports: "0/0",
    phase: phase::INFO,
    args: &[ArgSpec::positional("SEED", ArgType::U32, "", "where the random numbers begin")],
    handlers: &[write_handler!("seed", "begins anew with this number", |_: &mut RandomSeed, text, cx| {
        let seed: u32 = crate::values::parse(text, "seed")?;
        cx.act(|router| router.seed_random(seed.into()));
        Ok::<(), String>(())
    })],
    ..Class::new("RandomSeed", "control", || Box::new(RandomSeed))
};

struct RandomSeed;

impl Element for RandomSeed {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        if let Some(seed) = args.get::<u32>("SEED") {
            cx.act(|router| router.seed_random(seed.into()));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;

    fn drawn(t: &mut Harness) -> Vec<Vec<u8>> {
        t.write("r.active true").unwrap();
        t.run();
        t.bytes("k")
    }

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let harness = |seed: &str| {
            Harness::new(&format!(
                "x :: RandomSeed({seed}); r :: RandomSource(20, LIMIT 1, ACTIVE false) -> k :: Sink"
            ))
        };
        let first = drawn(&mut harness("7"));
        assert_eq!(drawn(&mut harness("7")), first);
        assert_ne!(drawn(&mut harness("8")), first);
        let mut t = harness("");
        t.write("x.seed 7").unwrap();
        assert_eq!(drawn(&mut t), first);
        assert!(t.write("x.seed seven").unwrap_err().contains("expected seed"));
    }
}

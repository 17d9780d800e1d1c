//! Dead code elimination: random routers that do the same before and after. What is removed and why, `golden/undead` shows.

mod common;

use clickwork_passes::undead::undead;
use clickwork_source::Span;
use common::{Random, run, transform};
use std::collections::BTreeSet;

fn undeaded(text: &str) -> (String, String) {
    transform(text, |network, facts| undead(network, facts, Span::NONE))
}

#[test]
fn a_second_time_nothing_changes() {
    for seed in 0..100 {
        let once = undeaded(&Generator::new(seed).router()).0;
        let twice = undeaded(&once).0;
        assert_eq!(lines(&once), lines(&twice), "seed {seed}");
    }
}

/// The lines of a configuration, whatever their order.
fn lines(text: &str) -> BTreeSet<&str> {
    text.lines().map(|line| line.trim_end_matches(';')).collect()
}

/// How many random routers are compared.
const ROUTERS: u64 = 600;

#[test]
fn random_routers_do_the_same_before_and_after() {
    let mut smaller = 0;
    for seed in 0..ROUTERS {
        let before = Generator::new(seed).router();
        let after = undeaded(&before).0;
        smaller += u64::from(after.matches(" :: ").count() < before.matches(" :: ").count());
        for ordered in [true, false] {
            let mut was = run(&before, ordered, &["Counter"]);
            let mut is = run(&after, ordered, &["Counter"]);
            if !ordered {
                // Which of two sources is first depends on how many packets a batch gathers.
                [&mut was, &mut is]
                    .into_iter()
                    .flat_map(|d| d.printed.values_mut())
                    .for_each(|lines| lines.sort());
            }
            // Queues say when they overflow; those that are gone do not.
            was.printed.retain(|label, _| !label.starts_with('x') || is.printed.contains_key(label));
            assert_eq!(was.printed, is.printed, "seed {seed}, ordered {ordered}\n{before}\n---\n{after}");
            for (counter, count) in &is.counts {
                assert_eq!(
                    Some(count),
                    was.counts.get(counter),
                    "seed {seed} {counter}\n{before}\n---\n{after}"
                );
            }
        }
    }
    assert!(smaller > ROUTERS * 3 / 4, "{smaller}");
}

/// Random routers, correct by construction: outputs that wait for a connection are kept in two lists, push and pull.
struct Generator {
    random: Random,
    text: String,
    count: usize,
    push: Vec<String>,
    pull: Vec<String>,
    /// Whether there are static switches. Then sources do not look for room, since they would look behind them too.
    switches: bool,
}

impl Generator {
    fn new(seed: u64) -> Generator {
        let mut random = Random::new(seed);
        let switches = random.below(3) > 0;
        Generator { random, text: String::new(), count: 0, push: Vec::new(), pull: Vec::new(), switches }
    }

    fn router(mut self) -> String {
        for n in 0..1 + self.random.below(4) {
            self.source(n);
        }
        for _ in 0..4 + self.random.below(30) {
            match self.random.below(2) {
                0 => self.push_step(),
                _ => self.pull_step(),
            }
        }
        while let Some(output) = self.push.pop() {
            self.end(
                &output,
                &["Print -> Discard", "Print -> Idle", "Counter -> Discard", "Idle", "Counter -> Idle"],
            );
        }
        while let Some(output) = self.pull.pop() {
            self.end(
                &output,
                &[
                    "Print -> Discard",
                    "Print -> Discard",
                    "Idle",
                    "Counter -> Unqueue -> Idle",
                    "Null -> Idle",
                ],
            );
        }
        if self.random.below(4) == 0 && self.text.contains("x2 :: Counter") {
            self.text.push_str("Script(wait 5s, read x2.count);\n");
        }
        self.text
    }

    fn source(&mut self, n: usize) {
        let (limit, burst) = (1 + self.random.below(20), 1 + self.random.below(3));
        let busy = if self.switches { "TimedSource" } else { "InfiniteSource" };
        let class = self.random.pick(&[busy, busy, "RatedSource", "Idle"]);
        let data = ["a", "b"][n % 2];
        let config = match class {
            "Idle" => String::new(),
            "RatedSource" => format!("(DATA {data}{n}, RATE {}, LIMIT {limit})", 7 + n),
            "TimedSource" => format!("(DATA {data}{n}, INTERVAL 0.{n}1, LIMIT {limit})"),
            _ => format!("(DATA {data}{n}, LIMIT {limit}, BURST {burst})"),
        };
        let source = self.add(&format!("{class}{config}"));
        self.push.push(source);
    }

    /// Declares an element and gives its name.
    fn add(&mut self, what: &str) -> String {
        self.count += 1;
        self.text.push_str(&format!("x{} :: {what};\n", self.count));
        format!("x{}", self.count)
    }

    fn link(&mut self, from: &str, to: &str) {
        self.text.push_str(&format!("{from} -> {to};\n"));
    }

    /// Ends an output with one of some chains. A Print gets a label of its own.
    fn end(&mut self, output: &str, chains: &[&str]) {
        self.count += 1;
        let chain =
            self.random.pick(chains).replace("Print", &format!("Print(k{}, ACTIVE true)", self.count));
        self.link(output, &chain);
    }

    fn take(&mut self, is_push: bool) -> Option<String> {
        let list = if is_push { &mut self.push } else { &mut self.pull };
        let at = self.random.below(list.len());
        (!list.is_empty()).then(|| list.swap_remove(at))
    }

    fn push_step(&mut self) {
        let Some(from) = self.take(true) else { return };
        let ports = 1 + self.random.below(3);
        let choice = self.random.below(ports + 1) as i32 - 1;
        let class = self.random.pick(&[
            "Null",
            "PushNull",
            "Counter",
            "Queue",
            "Queue",
            "small",
            "Tee",
            "switch",
            "Classifier",
        ]);
        let (what, outputs) = match class {
            "Queue" => ("Queue".to_string(), 0),
            "small" => ("Queue(3)".to_string(), 0),
            "Tee" => (format!("Tee({ports})"), ports),
            "switch" if self.switches => (format!("StaticSwitch({choice})"), ports),
            "switch" => ("PushNull".to_string(), 1),
            "Classifier" => ("Classifier(0/61, 0/62, -)".to_string(), 3),
            plain => (plain.to_string(), 1),
        };
        let to = self.add(&what);
        self.link(&from, &to);
        if self.random.below(4) == 0
            && let Some(other) = self.take(true)
        {
            self.link(&other, &to);
        }
        self.push.extend((0..outputs).map(|p| format!("{to}[{p}]")));
        if outputs == 0 {
            self.pull.push(format!("{to}[0]"));
        }
        if class == "small" && self.random.below(2) == 0 {
            self.push.push(format!("{to}[1]"));
        }
    }

    fn pull_step(&mut self) {
        let Some(from) = self.take(false) else { return };
        let ports = 1 + self.random.below(3);
        let choice = self.random.below(ports + 1) as i32 - 1;
        let class = self.random.pick(&[
            "Null",
            "PullNull",
            "Counter",
            "Unqueue",
            "Unqueue",
            "PullTee",
            "switch",
            "RoundRobinSched",
            "PrioSched",
            "StrideSched",
            "DRRSched",
            "SimplePrioSched",
        ]);
        let (what, inputs) = match class {
            "PullTee" => (format!("PullTee({ports})"), 1),
            "switch" => (format!("StaticPullSwitch({choice})"), ports),
            "StrideSched" => (format!("StrideSched({})", ["1", "2, 1", "3, 1, 2"][ports - 1]), ports),
            sched if sched.ends_with("Sched") => (sched.to_string(), ports),
            plain => (plain.to_string(), 1),
        };
        let to = self.add(&what);
        self.link(&from, &format!("[0] {to}"));
        for p in 1..inputs {
            let other = self.take(false).unwrap_or("Idle".to_string());
            self.link(&other, &format!("[{p}] {to}"));
        }
        match class {
            "Unqueue" => self.push.push(to),
            "PullTee" => {
                self.pull.push(format!("{to}[0]"));
                self.push.extend((1..ports).map(|p| format!("{to}[{p}]")));
            }
            _ => self.pull.push(to),
        }
    }
}

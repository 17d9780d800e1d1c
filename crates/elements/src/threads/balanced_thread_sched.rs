//! BalancedThreadSched: would move tasks between threads.

use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, Element};

/// The class facts.
pub static CLASS: Class = Class {
    help: "balances the load of threads, of which there is one",
    manual: "In Click, moves tasks from the busiest thread to the idlest every INTERVAL milliseconds, trying short tasks first if \
             INCREASING. A router runs on one thread here: there is nothing to balance, and this element only accepts \
             configurations that have it. It is also called SortedTaskSched.",
    example: "BalancedThreadSched(500); InfiniteSource(LIMIT 5, STOP true) -> Discard",
    ports: "0/0",
    args: &[
        ArgSpec::positional("INTERVAL", ArgType::U32, "1000", "milliseconds between moves; no effect"),
        ArgSpec::positional("INCREASING", ArgType::Bool, "true", "which tasks move first; no effect"),
    ],
    ..Class::new("BalancedThreadSched", "threads", || Box::new(BalancedThreadSched))
};

struct BalancedThreadSched;

impl Element for BalancedThreadSched {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let _: (Option<u32>, Option<bool>) = (args.get("INTERVAL"), args.get("INCREASING"));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;

    #[test]
    fn old_configurations_are_accepted_and_mistakes_named() {
        for class in ["BalancedThreadSched", "SortedTaskSched"] {
            Harness::new(&format!("s :: {class}(10, false); Idle -> Discard")).run();
            let e = Harness::errors(&format!("{class}(soon)"));
            assert!(e.contains("INTERVAL: "), "{e}");
        }
    }
}

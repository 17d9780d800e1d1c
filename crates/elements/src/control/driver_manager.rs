//! DriverManager: a script that decides what happens when the driver is asked to stop.

use super::script::{HANDLERS, INSTRUCTIONS, Kind, ScriptElement, TYPE};
use clickwork_router::Class;

/// The class facts.
pub static CLASS: Class = Class {
    help: "decides when the driver stops",
    manual: "A Script of type DRIVER, with the same instructions and handlers. It begins at once and runs up to its first \
             'pause' or 'wait'. Each time an element asks the driver to stop, the script takes a step instead: past the \
             pause, up to the next one. The driver stops when the script does: at 'stop', 'end' or its last \
             instruction. Without arguments, the first request stops the driver. A router has one driver script at \
             most.",
    example: "InfiniteSource(LIMIT 3, STOP true) -> c :: Counter -> Discard;\n\
              DriverManager(pause, print c.count, wait 1ms, stop)",
    ports: "-/-",
    processing: "ah/ah",
    args: &[TYPE, INSTRUCTIONS],
    handlers: HANDLERS,
    ..Class::new("DriverManager", "control", || Box::new(ScriptElement::new(Some(Kind::Driver))))
};

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_router::Outcome;
    use std::time::Duration;

    #[test]
    fn each_stop_request_is_a_step() {
        let mut t = Harness::new(
            "InfiniteSource(LIMIT 1, STOP true) -> Discard;
             DriverManager(print zero, pause, print \"one\", wait 1ms, print \"two\", stop)",
        );
        assert_eq!(t.run(), Outcome::Stopped);
        assert_eq!(t.output(), "one\ntwo\n");
        assert!(t.printed().contains("no 'zero' read handler"));
    }

    #[test]
    fn a_pause_of_two_takes_two_requests_and_none_left_stops() {
        let mut t = Harness::new("s :: Script(stop); u :: Script(wait 1s, stop); DriverManager(pause 2)");
        assert_eq!(t.run_for(Duration::from_millis(500)), Outcome::TimeLimit);
        assert_eq!(t.run(), Outcome::Stopped);
        let mut t = Harness::new("Script(stop); DriverManager");
        assert_eq!(t.run(), Outcome::Stopped);
    }

    #[test]
    fn a_request_ends_a_wait_early() {
        let mut t = Harness::new(
            "Script(wait 1s, stop, stop); d :: DriverManager(wait 100s, print \"x\", pause, stop)",
        );
        assert_eq!(t.run_for(Duration::from_secs(2)), Outcome::Exhausted);
        assert_eq!(t.output(), "x\n");
    }

    #[test]
    fn there_is_one_at_most() {
        let e = Harness::errors("DriverManager(pause); Script(TYPE DRIVER, pause)");
        assert!(e.contains("router has more than one driver script"), "{e}");
    }
}

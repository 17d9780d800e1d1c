//! Burster: an older name of TimedUnqueue.

use clickwork_router::Class;

/// The class facts.
pub static CLASS: Class = Class {
    help: "pulls packets at fixed intervals and pushes them on",
    manual: "The same as TimedUnqueue.",
    example: "InfiniteSource(LIMIT 5, STOP false) -> Queue -> Burster(10ms, 2) -> Discard; \
              DriverManager(wait 1s, stop)",
    ..super::timed_unqueue::class("Burster")
};

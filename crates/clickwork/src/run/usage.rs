//! The time a run takes, for `--time`.

use std::time::{Duration, Instant};

/// Processor time used so far, and the time of day.
pub struct Usage {
    user: Duration,
    system: Duration,
    at: Instant,
}

impl Usage {
    /// As it is now.
    pub fn now() -> Usage {
        let (user, system) = processor_time().unwrap_or_default();
        Usage { user, system, at: Instant::now() }
    }

    /// What was used since `before`, in Click's form: `0.120u 0.010s 0:01.25`.
    pub fn since(&self, before: &Usage) -> String {
        let part = |now: Duration, then: Duration| now.saturating_sub(then).as_millis();
        let (user, system) = (part(self.user, before.user), part(self.system, before.system));
        let hundredths = (self.at - before.at).as_millis().div_ceil(10);
        let (minutes, rest) = (hundredths / 6000, hundredths % 6000);
        format!(
            "{}.{:03}u {}.{:03}s {minutes}:{:02}.{:02}\n",
            user / 1000,
            user % 1000,
            system / 1000,
            system % 1000,
            rest / 100,
            rest % 100
        )
    }
}

/// The process's user and system time, from the fields 14 and 15 of its line in `/proc`.
fn processor_time() -> Option<(Duration, Duration)> {
    let line = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the program's name, which may hold spaces.
    let mut fields = line[line.rfind(')')? + 1..].split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    let per_second = rustix::param::clock_ticks_per_second();
    let time = |ticks: u64| Duration::from_millis(ticks * 1000 / per_second);
    Some((time(ticks()?), time(ticks()?)))
}

//! A packet that is held back until it has a certain age.

use super::turns::pull_packet;
use clickwork_packet::{Packet, Timestamp};
use clickwork_router::Cx;
use clickwork_router::args::{ArgSpec, ArgType};
use std::time::Duration;

/// The argument of delaying elements.
pub(super) const DELAY_ARGS: &[ArgSpec] =
    &[ArgSpec::required("DELAY", ArgType::Seconds, "age at which a packet goes on")];

/// A packet whose timestamp says when it may go on.
pub(super) struct Delayed(Packet);

impl Delayed {
    /// Pulls one and adds the delay to its timestamp, which is the time now if it has none.
    pub fn pull(delay: Duration, cx: &mut Cx<'_>) -> Option<Delayed> {
        let mut p = pull_packet(0, cx)?;
        let since = if p.timestamp().seconds() == 0 { cx.now() } else { p.timestamp() };
        p.set_timestamp(since + delay);
        Some(Delayed(p))
    }

    /// The packet if its time has come; else how long it still has to wait.
    pub fn if_due(self, now: Timestamp) -> Result<Packet, (Delayed, Duration)> {
        let due = self.0.timestamp();
        if due <= now { Ok(self.0) } else { Err((self, due.since(now))) }
    }
}

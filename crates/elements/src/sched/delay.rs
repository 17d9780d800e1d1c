//! A packet that is held back until it has a certain age.

use super::turns::pull_packet;
use crate::ages::Ages;
use clickwork_packet::{Packet, Timestamp};
use clickwork_router::Cx;
use clickwork_router::args::{ArgSpec, ArgType};
use std::time::Duration;

/// The argument of delaying elements.
pub(super) const DELAY_ARGS: &[ArgSpec] =
    &[ArgSpec::required("DELAY", ArgType::Seconds, "age at which a packet goes on")];

/// A packet that may go on at a steady time.
pub(super) struct Delayed {
    packet: Packet,
    due: Timestamp,
}

impl Delayed {
    /// The packet that is held, or another one.
    pub fn next(
        held: &mut Option<Delayed>,
        delay: Duration,
        ages: &mut Ages,
        cx: &mut Cx<'_>,
    ) -> Option<Delayed> {
        match held.take() {
            None => Delayed::pull(delay, ages, cx),
            held => {
                ages.look(cx.router().clock());
                held
            }
        }
    }

    /// Pulls one and adds the delay to its timestamp, which is the time now if it has none.
    fn pull(delay: Duration, ages: &mut Ages, cx: &mut Cx<'_>) -> Option<Delayed> {
        let mut packet = pull_packet(0, cx)?;
        if packet.timestamp().seconds() == 0 {
            packet.set_timestamp(cx.now());
        }
        ages.look(cx.router().clock());
        let due = ages.steady_time(packet.timestamp()) + delay;
        packet.set_timestamp(packet.timestamp() + delay);
        Some(Delayed { packet, due })
    }

    /// The packet if its time has come; else how long it still has to wait.
    pub fn if_due(mut self, now: Timestamp, ages: &Ages) -> Result<Packet, (Delayed, Duration)> {
        let wait = self.due.since(now);
        if !wait.is_zero() {
            return Err((self, wait));
        }
        self.packet.set_timestamp(ages.present_timestamp(self.packet.timestamp(), self.due));
        Ok(self.packet)
    }
}

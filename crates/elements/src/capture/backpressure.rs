//! What ToDump and its relatives do when nobody reads the pipe they write: they wait for the descriptor while packets go on,
//! ask for no more packets, say that there is no room to those who push and care, and count what they had to lose.

use super::destination::Stream;
use clickwork_router::notify::{NotifierId, NotifierKind, Search};
use clickwork_router::{Cx, Ready};
use std::io;
use std::os::fd::RawFd;

/// The reason for dropping a packet that there was no room for.
pub const NO_ROOM: &str = "nobody reads the pipe";

/// What is known of the reader.
#[derive(Default)]
pub struct Backpressure {
    /// Active while there is room, for those who push.
    room: [Option<NotifierId>; 2],
    /// Records lost since the reader stalled.
    lost: u64,
    /// And before.
    lost_before: u64,
}

impl Backpressure {
    /// Exports the notifier of an element that ends the way of its packets.
    pub fn export(&mut self, cx: &mut Cx<'_>) {
        if cx.outputs() == 0 {
            let kinds = [NotifierKind::Full, NotifierKind::Reader];
            self.room = kinds.map(|kind| Some(cx.export_port_notifier(0, kind, Search::Stop)));
        }
    }

    /// Records that were not written.
    pub fn lost(&self) -> u64 {
        self.lost_before + self.lost
    }

    /// Sets the count of lost records to 0.
    pub fn reset(&mut self) {
        (self.lost, self.lost_before) = (0, 0);
    }

    /// Notes that a record was not written. The first time it is said.
    pub fn lose(&mut self, n: u64, name: &str, cx: &Cx<'_>) {
        if self.lost == 0 {
            cx.chatter(&format!("{}: {name}: {NO_ROOM}; packets are not written", cx.name()));
        }
        self.lost += n;
    }

    /// After writing: hands over what the reader takes, and waits for it if there is more.
    ///
    /// # Errors
    /// Of the system.
    pub fn settle(&mut self, stream: &mut Stream, cx: &mut Cx<'_>) -> io::Result<()> {
        stream.push_out()?;
        if let Some(pipe) = stream.waits_for() {
            cx.watch(pipe, Ready { read: false, write: true })?;
        }
        for room in self.room.into_iter().flatten() {
            if stream.has_room() { cx.wake(room) } else { cx.sleep(room) }
        }
        Ok(())
    }

    /// The reader takes something again.
    ///
    /// # Errors
    /// Of the system.
    pub fn selected(
        &mut self,
        fd: RawFd,
        stream: &mut Stream,
        name: &str,
        cx: &mut Cx<'_>,
    ) -> io::Result<()> {
        cx.unwatch(fd);
        self.settle(stream, cx)?;
        if self.lost > 0 && stream.has_room() {
            cx.chatter(&format!("{}: {name}: read again; {} packets were not written", cx.name(), self.lost));
            self.lost_before += std::mem::take(&mut self.lost);
        }
        Ok(())
    }
}

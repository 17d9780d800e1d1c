//! The window of time in which FromDump emits packets.

use clickwork_packet::Timestamp;
use clickwork_router::args::Args;

/// From when and until when packets are emitted. Times may be given relative to the first packet of the file, or the
/// end relative to the start; they become absolute when the first packet is seen.
#[derive(Default)]
pub struct Window {
    start: Timestamp,
    start_is_pending: bool,
    end: Timestamp,
    end_is_pending: bool,
    start_base: Base,
    end_base: Base,
    /// Whether the first packet has been seen.
    is_settled: bool,
}

/// What a time counts from.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Base {
    #[default]
    Epoch,
    FirstPacket,
    Start,
}

impl Window {
    /// Reads the arguments about time.
    pub fn configure(&mut self, args: &mut Args) {
        let starts = [("START", Base::Epoch), ("START_AFTER", Base::FirstPacket)];
        let ends = [("END", Base::Epoch), ("END_AFTER", Base::FirstPacket), ("INTERVAL", Base::Start)];
        let (starts, ends) = (given(args, &starts), given(args, &ends));
        if starts.len() > 1 {
            args.error("START and START_AFTER are mutually exclusive");
        }
        if ends.len() > 1 {
            args.error("END, END_AFTER, and INTERVAL are mutually exclusive");
        }
        match starts.first() {
            Some((start, base)) => {
                (self.start, self.start_base, self.start_is_pending) = (*start, *base, true)
            }
            // Without a start, an interval counts from the first packet.
            None => self.start_base = Base::FirstPacket,
        }
        if let Some((end, base)) = ends.first() {
            (self.end, self.end_base, self.end_is_pending) = (*end, *base, true);
        }
    }

    /// Whether the window is bounded.
    pub fn has_end(&self) -> bool {
        self.end_is_pending
    }

    fn settle(&mut self, first: Timestamp) {
        if self.is_settled {
            return;
        }
        self.is_settled = true;
        if self.start_base == Base::FirstPacket {
            self.start = self.start + first;
        }
        self.end = match self.end_base {
            Base::Epoch => self.end,
            Base::FirstPacket => self.end + first,
            Base::Start => self.end + self.start,
        };
    }

    /// Whether the window has not begun at `timestamp`. Once begun it has begun for all later packets of the file.
    pub fn starts_after(&mut self, timestamp: Timestamp) -> bool {
        self.settle(timestamp);
        self.start_is_pending &= timestamp < self.start;
        self.start_is_pending
    }

    /// Whether the window has ended at `timestamp`; says so once.
    pub fn ends_before(&mut self, timestamp: Timestamp) -> bool {
        let ends = self.end_is_pending && timestamp >= self.end;
        self.end_is_pending &= !ends;
        ends
    }

    /// Moves the end; if `again`, reaching it counts again.
    pub fn extend(&mut self, more: Timestamp, again: bool) {
        self.end = self.end + more;
        self.end_is_pending |= again;
    }

    /// Times are absolute from now on.
    pub fn reset(&mut self) {
        (self.start_base, self.end_base, self.is_settled) = (Base::Epoch, Base::Epoch, false);
    }
}

/// Those of some arguments that are given and not zero.
fn given(args: &mut Args, names: &[(&'static str, Base)]) -> Vec<(Timestamp, Base)> {
    names
        .iter()
        .filter_map(|(name, base)| {
            args.get::<Timestamp>(name).filter(|time| !time.is_zero()).map(|time| (time, *base))
        })
        .collect()
}

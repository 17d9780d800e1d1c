//! What the elements that read files have in common: sampling, pacing, a window of time, and what to do at the end.

use clickwork_packet::{Packet, Timestamp, anno};
use clickwork_router::args::{Args, HandlerCall, Real2, format_real2};
use clickwork_router::notify::{NotifierId, Signal};
use clickwork_router::{Cx, Ready};

use super::linktype::LinkType;
use std::os::fd::BorrowedFd;
use std::sync::OnceLock;
use std::time::Duration;

/// The link type of the packets that an element emits, exported for ToDump's `USE_ENCAP_FROM`. Of a pipe it is known when
/// the header of its file has come.
#[derive(Clone, Debug, Default)]
pub struct Encapsulation(OnceLock<LinkType>);

impl Encapsulation {
    /// One that is known.
    pub fn new(link_type: LinkType) -> Encapsulation {
        Encapsulation(OnceLock::from(link_type))
    }

    /// The link type, as soon as it is known.
    pub fn get(&self) -> Option<LinkType> {
        self.0.get().copied()
    }

    /// Makes it known.
    pub fn set(&self, link_type: LinkType) {
        let _ = self.0.set(link_type);
    }
}

/// How long after a pipe could not be watched it is looked at again.
const RETRY: Duration = Duration::from_millis(10);

/// Bits of fraction of a sampling probability.
const SAMPLING_BITS: u32 = 28;

/// The probability with which a packet is emitted.
pub struct Sampling(u32);

impl Default for Sampling {
    fn default() -> Sampling {
        Sampling(1 << SAMPLING_BITS)
    }
}

impl Sampling {
    /// Reads the argument `SAMPLE`.
    pub fn configure(&mut self, args: &mut Args) {
        args.read_with("SAMPLE", Real2(SAMPLING_BITS), &mut self.0);
        if self.0 > 1 << SAMPLING_BITS {
            args.warn("SAMPLE probability reduced to 1");
            self.0 = 1 << SAMPLING_BITS;
        } else if self.0 == 0 {
            args.warn("SAMPLE probability is 0; emitting no packets");
        }
    }

    /// Decides about one packet.
    pub fn takes(&self, cx: &mut Cx<'_>) -> bool {
        self.0 == 1 << SAMPLING_BITS || cx.random() & ((1 << SAMPLING_BITS) - 1) < self.0
    }

    /// The probability in decimal.
    pub fn text(&self) -> String {
        format_real2(self.0.into(), SAMPLING_BITS)
    }
}

/// Emits packets at the times they were captured, if `TIMING` is true.
#[derive(Default)]
pub struct Pace {
    /// Whether packets wait for their time.
    pub enabled: bool,
    /// What to add to a packet's timestamp for the steady time it is due.
    offset: Option<Timestamp>,
}

impl Pace {
    /// The first packet after this is due at once.
    pub fn restart(&mut self) {
        self.offset = None;
    }

    /// The time of a packet of the file, whether it is to be emitted or not: the first is due now.
    pub fn begin(&mut self, timestamp: Timestamp, cx: &mut Cx<'_>) {
        if self.enabled && self.offset.is_none() {
            self.offset = Some(cx.steady() - timestamp);
        }
    }

    /// Keeps the beat of a source that this one replaces.
    pub fn inherit(&mut self, old: &Pace) {
        self.offset = old.offset;
    }

    /// Whether a packet of this time is due. If not, the timer is set.
    pub fn is_due(&mut self, timestamp: Timestamp, cx: &mut Cx<'_>) -> bool {
        if !self.enabled {
            return true;
        }
        let now = cx.steady();
        let due = timestamp + *self.offset.get_or_insert(now - timestamp);
        if due > now {
            cx.schedule_timer_at(0, due);
        }
        due <= now
    }
}

/// What happens when there are no more packets.
#[derive(Default)]
pub enum AtEnd {
    /// Nothing.
    #[default]
    Nothing,
    /// The element becomes inactive.
    Deactivate,
    /// The element becomes inactive and the driver stops.
    Stop,
    /// A handler is called.
    Call(HandlerCall),
}

/// Whether a source works, and how those downstream learn about it.
pub struct Activity {
    /// Whether packets are emitted.
    pub active: bool,
    empty: Option<NotifierId>,
    /// Those outside who read what is made of the packets. A file can wait for them.
    readers: Signal,
}

impl Default for Activity {
    fn default() -> Activity {
        Activity { active: true, empty: None, readers: Signal::idle() }
    }
}

impl Activity {
    /// Keeps the empty notifier that was exported.
    pub fn set_notifier(&mut self, empty: NotifierId) {
        self.empty = Some(empty);
    }

    /// Finds those who read what is made of the packets.
    pub fn find_readers(&mut self, cx: &mut Cx<'_>) {
        if cx.output_is_push(0) {
            self.readers = cx.downstream_readers(0);
        }
    }

    /// Whether packets that are pushed now find room with all who read them.
    pub fn may_push(&self, cx: &Cx<'_>) -> bool {
        cx.are_all_active(&self.readers)
    }

    /// Starts, or lets whoever pulls start.
    pub fn wake(&self, cx: &mut Cx<'_>) {
        if !self.active {
            return;
        }
        match self.empty {
            Some(empty) if !cx.output_is_push(0) => cx.wake(empty),
            _ => cx.schedule_task(),
        }
    }

    /// Tells whoever pulls that there is nothing now.
    pub fn sleep(&self, cx: &mut Cx<'_>) {
        if let Some(empty) = self.empty {
            cx.sleep(empty);
        }
    }

    /// Waits until a pipe brings more. The element wakes it when the descriptor is selected.
    pub fn wait_for(&self, pipe: BorrowedFd<'_>, cx: &mut Cx<'_>) {
        self.sleep(cx);
        let readable = Ready { read: true, write: false };
        if let Err(error) = cx.watch(pipe, readable) {
            cx.chatter(&format!("{}: {}", cx.name(), super::error::system_message(&error)));
            cx.schedule_timer_after(0, RETRY);
        }
    }

    /// Changes `active`.
    pub fn set(&mut self, active: bool, cx: &mut Cx<'_>) {
        self.active = active;
        if active { self.wake(cx) } else { self.sleep(cx) }
    }
}

/// The first-timestamp annotation, in nanoseconds.
pub fn first_timestamp(p: &Packet) -> i64 {
    p.anno_bytes(anno::FIRST_TIMESTAMP).try_into().map_or(0, i64::from_ne_bytes)
}

/// Sets the first-timestamp annotation, in nanoseconds.
pub fn set_first_timestamp(p: &mut Packet, nanoseconds: i64) {
    p.set_anno_bytes(anno::FIRST_TIMESTAMP, &nanoseconds.to_ne_bytes());
}

//! What queues with a management of their own have in common: counts, and who is told that they are empty or full.

use clickwork_packet::Packet;
use clickwork_packet::headers::{Header, Ipv4Header};
use clickwork_router::args::Args;
use clickwork_router::notify::{NotifierId, NotifierKind, Search};
use clickwork_router::{Cx, Storage};
use std::sync::Arc;

/// The public side of a queue.
#[derive(Default)]
pub(super) struct Store {
    pub capacity: u32,
    pub highwater: usize,
    pub drops: u64,
    storage: Arc<Storage>,
    empty: Option<NotifierId>,
    full: Option<NotifierId>,
}

impl Store {
    /// Reads CAPACITY, and makes the queue known to others.
    pub fn configure(&mut self, default: u32, args: &mut Args, cx: &mut Cx<'_>) {
        self.capacity = args.get("CAPACITY").unwrap_or(default);
        self.storage.set_capacity(self.capacity as usize);
        cx.export(Arc::clone(&self.storage));
        self.empty = Some(cx.export_notifier(NotifierKind::Empty, Search::Stop));
        self.full = Some(cx.export_notifier(NotifierKind::Full, Search::Stop));
    }

    /// Tells everybody who cares that `length` packets are held now.
    pub fn note(&mut self, length: usize, cx: &mut Cx<'_>) {
        self.highwater = self.highwater.max(length);
        self.storage.set_length(length);
        if let Some(empty) = self.empty {
            if length > 0 { cx.wake(empty) } else { cx.sleep(empty) }
        }
        if let Some(full) = self.full {
            if length < self.capacity as usize { cx.wake(full) } else { cx.sleep(full) }
        }
    }

    /// Sends a packet to output 1, or drops it if there is none.
    pub fn refuse(&mut self, p: Packet, reason: &'static str, cx: &mut Cx<'_>) {
        self.drops += 1;
        cx.emit_or_drop(1, p, reason);
    }
}

/// The bits of ECN in the type of service.
const ECN: u8 = 3;

/// Marks an IP packet as having met congestion, if its transport understands that (RFC 3168 §5).
pub(super) fn mark(p: &mut Packet) -> bool {
    let tos = p.network_header().and_then(Ipv4Header::peek).filter(|ip| ip.version() == 4).map(|ip| ip.tos);
    tos.is_some_and(|tos| tos & ECN != 0) && crate::ip::rewrite::change_tos(p, |tos| tos | ECN).is_some()
}

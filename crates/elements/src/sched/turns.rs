//! What schedulers share: looking at one input's signal, and gathering packets of several inputs into one batch.

use clickwork_packet::{Batch, Packet};
use clickwork_router::Cx;
use clickwork_router::notify::Signal;

/// The signal of each input, to look at.
pub(super) fn input_signals(cx: &Cx<'_>) -> Vec<Signal> {
    (0..cx.inputs()).map(|port| cx.upstream_empty_state(port)).collect()
}

/// Puts `more` behind `batch`.
#[inline]
pub(super) fn join(batch: &mut Batch, mut more: Batch, cx: &mut Cx<'_>) {
    if batch.is_empty() {
        *batch = more;
    } else {
        batch.append(&mut more);
        cx.recycle(more);
    }
}

/// Calls `next` for one packet at a time until there are `limit` of them or no more.
#[inline]
pub(crate) fn gather(
    limit: usize,
    cx: &mut Cx<'_>,
    mut next: impl FnMut(&mut Cx<'_>) -> Option<Batch>,
) -> Batch {
    let mut batch = Batch::new();
    while batch.len() < limit
        && let Some(one) = next(cx)
    {
        join(&mut batch, one, cx);
    }
    batch
}

/// Pulls one packet.
#[inline]
pub(crate) fn pull_packet(port: usize, cx: &mut Cx<'_>) -> Option<Packet> {
    let mut batch = cx.pull(port, 1);
    let packet = batch.pop();
    cx.recycle(batch);
    packet
}

//! What happens in the life of aggregates, told from the elements that make them to those that keep something for them.
//!
//! Who makes aggregates exports a [`Notifier`]; who wants to know names that element in its argument `NOTIFIER` and calls
//! [`listen`]. The router carries the news over when the element that has them returns, before its packets move on.

use crate::named::element;
use clickwork_router::args::Args;
use clickwork_router::{Cx, Element, ElementId};
use std::sync::{Arc, Mutex, PoisonError};

/// What has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The aggregate has begun.
    New,
    /// The aggregate is over: no packet of it will come.
    Deleted,
}

/// What a listener does about it; the element is the listener.
pub type Notify = fn(&mut dyn Element, u32, Event, &mut Cx<'_>);

/// The listeners of one element.
#[derive(Default)]
pub struct Notifier(Mutex<Vec<(ElementId, Notify)>>);

impl Notifier {
    /// Tells all listeners.
    pub fn tell(&self, aggregate: u32, event: Event, cx: &mut Cx<'_>) {
        for &(listener, notify) in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            cx.defer(move |router| {
                router.with_element(listener, |element, cx| notify(element, aggregate, event, cx));
            });
        }
    }
}

/// Reads the argument `NOTIFIER`.
pub fn configured(args: &mut Args, cx: &Cx<'_>) -> Option<ElementId> {
    element(args, "NOTIFIER", cx)
}

/// Makes the element a listener of another, if any.
///
/// # Errors
/// If that makes no aggregates.
pub fn listen(notifier: Option<ElementId>, notify: Notify, cx: &Cx<'_>) -> Result<(), String> {
    let Some(id) = notifier else { return Ok(()) };
    let notifier: Arc<Notifier> = cx
        .exported(id)
        .ok_or_else(|| format!("{} is not an AggregateNotifier", cx.router().info(id).name))?;
    notifier.0.lock().unwrap_or_else(PoisonError::into_inner).push((cx.id(), notify));
    Ok(())
}

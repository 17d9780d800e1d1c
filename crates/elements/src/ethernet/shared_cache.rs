//! How elements hold an ARP cache: alone, or together with others behind a lock.
//!
//! An uncontended lock costs as much as forwarding a packet, so an ARPQuerier that shares with nobody has none.

use super::arp_cache::ArpCache;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard};

/// A cache that several elements use.
#[derive(Debug, Default)]
pub struct SharedCache(Mutex<ArpCache>);

impl SharedCache {
    /// The cache. Nothing that holds it can panic half-way, so a poisoned lock is as good as a clean one.
    pub fn lock(&self) -> MutexGuard<'_, ArpCache> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// An element's cache. It can be shared until [`Cache::make_own`].
pub(super) enum Cache {
    Own(Box<ArpCache>),
    Shared(Arc<SharedCache>),
}

impl Default for Cache {
    fn default() -> Cache {
        Cache::Shared(Arc::default())
    }
}

impl Cache {
    /// Takes the cache out of the shared place, which nobody else will use.
    pub fn make_own(&mut self) {
        if let Cache::Shared(shared) = self {
            let cache = std::mem::take(&mut *shared.lock());
            *self = Cache::Own(Box::new(cache));
        }
    }

    /// The cache, for a moment.
    pub fn hold(&mut self) -> Held<'_> {
        match self {
            Cache::Own(cache) => Held::Own(cache),
            Cache::Shared(shared) => Held::Shared(shared.lock()),
        }
    }
}

/// Access to a cache.
pub(super) enum Held<'a> {
    Own(&'a mut ArpCache),
    Shared(MutexGuard<'a, ArpCache>),
}

impl Deref for Held<'_> {
    type Target = ArpCache;
    fn deref(&self) -> &ArpCache {
        match self {
            Held::Own(cache) => cache,
            Held::Shared(guard) => guard,
        }
    }
}

impl DerefMut for Held<'_> {
    fn deref_mut(&mut self) -> &mut ArpCache {
        match self {
            Held::Own(cache) => cache,
            Held::Shared(guard) => guard,
        }
    }
}

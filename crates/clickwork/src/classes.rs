//! The element classes of this program: those that `main` gave it, which never change while it runs.

use clickwork_router::Registry;
use std::sync::{Arc, OnceLock};

static REGISTRY: OnceLock<Arc<Registry>> = OnceLock::new();

/// Says which classes there are. Only the first call counts.
pub fn set(registry: Registry) {
    let _ = REGISTRY.set(Arc::new(registry));
}

/// The classes; all of the library in tests, which have no `main`.
pub fn registry() -> Arc<Registry> {
    #[cfg(test)]
    set(clickwork_elements::registry());
    Arc::clone(REGISTRY.get().expect("main says which classes there are"))
}

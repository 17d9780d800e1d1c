//! Which element is answerable for packets ([`clickwork_packet::custody`]), and the end of those that a router holds.

use crate::router::{ElementId, Info, Router};

#[cfg(debug_assertions)]
mod watched {
    use super::{ElementId, Info, Router};
    use clickwork_packet::custody::Custody;
    use std::sync::Arc;

    /// `name :: Class` of each element.
    pub(crate) type Labels = Vec<Arc<str>>;

    pub(crate) fn labels(infos: &[Info]) -> Labels {
        infos.iter().map(|info| crate::build::declaration(info).into()).collect()
    }

    impl Router {
        /// While the answer lives, the element is answerable for packets. For builds with debug assertions.
        #[inline]
        pub(crate) fn custody(&self, id: ElementId) -> Custody {
            Custody::of(&self.labels[id.index()])
        }
    }

    /// What a router holds at its end is held until then: elements, what waits to be delivered, commands.
    impl Drop for Router {
        fn drop(&mut self) {
            clickwork_packet::custody::released(|| {
                self.elements.clear();
                self.commands.clear();
                self.stack.clear();
                self.slots = Default::default();
            });
        }
    }
}

#[cfg(debug_assertions)]
pub(crate) use watched::{Labels, labels};

#[cfg(not(debug_assertions))]
pub(crate) use unwatched::{Labels, labels};

#[cfg(not(debug_assertions))]
mod unwatched {
    use super::{ElementId, Info, Router};

    pub(crate) struct Labels;
    pub(crate) struct Custody;

    pub(crate) fn labels(_: &[Info]) -> Labels {
        Labels
    }

    impl Router {
        #[inline(always)]
        pub(crate) fn custody(&self, _: ElementId) -> Custody {
            Custody
        }
    }
}

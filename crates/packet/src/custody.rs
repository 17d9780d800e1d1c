//! Who is answerable for packets. Nothing may vanish: a batch ends by being delivered, recycled, or dropped with a count. In
//! builds with debug assertions, a batch (or an iterator that takes packets out of one) that is dropped while packets are in
//! it is a panic, which names the element that was at work. Other builds know nothing of this.
#![forbid(unsafe_code)]

#[cfg(debug_assertions)]
pub use watched::{Custody, released};

#[cfg(debug_assertions)]
mod watched {
    use std::cell::{Cell, RefCell};
    use std::sync::Arc;

    thread_local! {
        static AT_WORK: RefCell<Option<Arc<str>>> = const { RefCell::new(None) };
        static RELEASED: Cell<bool> = const { Cell::new(false) };
    }

    /// While it lives, an element is answerable for the packets that this thread has. Builds with debug assertions only.
    #[derive(Debug)]
    pub struct Custody(Option<Arc<str>>);

    impl Custody {
        /// Of the element of that name.
        pub fn of(element: &Arc<str>) -> Custody {
            Custody(AT_WORK.replace(Some(Arc::clone(element))))
        }
    }

    impl Drop for Custody {
        fn drop(&mut self) {
            AT_WORK.replace(self.0.take());
        }
    }

    /// Runs `action`, in which batches may be dropped with packets in them: at the end of a router, what it holds. Builds with
    /// debug assertions only.
    pub fn released<R>(action: impl FnOnce() -> R) -> R {
        let before = RELEASED.replace(true);
        let result = action();
        RELEASED.set(before);
        result
    }

    /// Packets are about to vanish.
    pub(crate) fn lost(count: usize) {
        if count == 0 || RELEASED.get() || std::thread::panicking() {
            return;
        }
        let element =
            AT_WORK.with_borrow(|name| name.as_ref().map_or("no element".to_string(), |n| format!("'{n}'")));
        panic!("{count} packets vanish uncounted in a batch that is dropped; at work: {element}");
    }
}

#[cfg(debug_assertions)]
pub(crate) use watched::lost;

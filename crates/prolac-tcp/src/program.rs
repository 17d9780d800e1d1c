//! A compiled TCP: the table of functions that a stack runs. One is linked in; others, made of other extensions, can be
//! loaded from shared objects, and tests bring their own.
//!
//! Read first: [`Entries`], which is what the Prolac side exports.

use std::ptr::NonNull;
use std::sync::OnceLock;

use crate::abi::{Entries, Tcb};
use crate::stack::ENVIRONMENT;

/// A TCP to run. Copies refer to the same code.
#[derive(Clone, Copy)]
pub struct Program {
    entries: &'static Entries,
    tcb_size: usize,
    shared_size: usize,
}

impl Program {
    /// The TCP that is compiled into this crate, with all extensions.
    #[cfg(prolac_linked)]
    pub fn linked() -> Program {
        unsafe extern "C" {
            fn prolac_tcp_entries() -> *const Entries;
        }
        static LINKED: OnceLock<Program> = OnceLock::new();
        // SAFETY: the generated C returns the address of a constant table of functions with the signatures of
        // `Entries`, which `build.rs` compiled from the same `abi.rs`.
        *LINKED.get_or_init(|| unsafe { Program::from_entries(prolac_tcp_entries()) })
    }

    /// The TCP that is compiled into this crate: there is none in this build.
    #[cfg(not(prolac_linked))]
    pub fn linked() -> Program {
        static NONE: OnceLock<Program> = OnceLock::new();
        *NONE.get_or_init(|| panic!("this build has no TCP linked in; load one with Program::from_entries"))
    }

    /// The TCP behind a table, such as `prolac_tcp_entries` of a shared object returns. Initialises it: call this once
    /// for each table, and copy the result.
    ///
    /// # Safety
    /// The table and the code behind it must stay for ever, keep the contracts of [`Entries`], hold no state besides
    /// what `initialize` is given, and accept any TCB size that `tcb_size` tells, at least that of [`Tcb`].
    pub unsafe fn from_entries(entries: *const Entries) -> Program {
        let entries = NonNull::new(entries.cast_mut()).expect("a program has a table");
        // SAFETY: the caller promises that the table stays for ever and is one.
        let entries: &'static Entries = unsafe { entries.as_ref() };
        // SAFETY: nothing was called before, and the environment is a constant.
        unsafe { (entries.initialize)(&raw const ENVIRONMENT) };
        // SAFETY: as the caller promises.
        let tcb_size = unsafe { (entries.tcb_size)() } as usize;
        // SAFETY: as the caller promises.
        let shared_size = unsafe { (entries.shared_size)() } as usize;
        assert!(tcb_size >= size_of::<Tcb>(), "a TCB begins with the fields that the environment knows");
        Program { entries, tcb_size, shared_size }
    }

    /// The functions.
    pub fn entries(self) -> &'static Entries {
        self.entries
    }

    /// Bytes of a TCB.
    pub fn tcb_size(self) -> usize {
        self.tcb_size
    }

    /// Bytes of what the connections of a stack have in common.
    pub fn shared_size(self) -> usize {
        self.shared_size
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Program(TCBs of {} bytes)", self.tcb_size)
    }
}

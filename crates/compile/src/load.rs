//! Compiled code in the running program.
//!
//! A shared object is trusted with packets only if it says that it was made of the same packet sources as this program.
#![allow(unsafe_code)]

use crate::rustc::CompileError;
use crate::text::ABI_SYMBOL;
use clickwork_packet::Packet;
use clickwork_router::segment::{Code, Exit};
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::Arc;

type Function = unsafe extern "C" fn(*mut Packet, usize, *mut Exit) -> bool;

/// A loaded shared object; it stays as long as any of its functions is in use.
#[derive(Clone, Debug)]
pub struct Library(Arc<Loaded>);

#[derive(Debug)]
struct Loaded {
    object: libloading::Library,
    /// The memory that it was loaded from. The system knows objects by the names of their files: while this one is loaded, no
    /// other may get its name, `/proc/self/fd/N`.
    _memory: Option<File>,
}

impl Library {
    /// Loads a shared object that [`crate::rustc::compile`] made.
    ///
    /// # Errors
    /// If it cannot be loaded, or was made by another version of the program.
    pub fn open(file: &Path) -> Result<Library, CompileError> {
        Library::load(file, None)
    }

    fn load(file: &Path, memory: Option<File>) -> Result<Library, CompileError> {
        let failed = |e: libloading::Error| CompileError::new(format!("{}: {e}", file.display()));
        // SAFETY: the file comes from our own compiler run: loading it runs no code of its own.
        let library = unsafe { libloading::Library::new(file) }.map_err(failed)?;
        // SAFETY: every object that we make has this symbol, a `u64`.
        let abi = unsafe { library.get::<*const u64>(ABI_SYMBOL).map(|abi| **abi) }.map_err(failed)?;
        match abi == crate::text::abi() {
            true => Ok(Library(Arc::new(Loaded { object: library, _memory: memory }))),
            false => {
                Err(CompileError::new(format!("{}: made by another version of the program", file.display())))
            }
        }
    }

    /// The same with the bytes of such a file.
    ///
    /// # Errors
    /// As [`Library::open`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Library, CompileError> {
        let memory = rustix::fs::memfd_create("clickwork-segments", rustix::fs::MemfdFlags::CLOEXEC);
        let mut file =
            memory.map(File::from).map_err(|e| CompileError::new(format!("compiled code: {e}")))?;
        file.write_all(bytes).map_err(|e| CompileError::new(format!("compiled code: {e}")))?;
        let name = format!("/proc/self/fd/{}", file.as_raw_fd());
        Library::load(Path::new(&name), Some(file))
    }

    /// The function of that name, if it is there.
    pub fn function(&self, symbol: &str) -> Option<Code> {
        // SAFETY: symbols named by a hash are functions of this type: `text.rs` writes no others.
        let function: Function = unsafe { *self.0.object.get::<Function>(symbol).ok()? };
        let library = Arc::clone(&self.0);
        Some(Code::Function(Arc::new(move |packets: &mut [Packet], exits: &mut [Exit]| {
            let _loaded = &library;
            assert!(exits.len() >= packets.len(), "there is an exit for each packet");
            // SAFETY: the function was compiled from the same sources of `Packet`, touches `packets.len()` of both arrays,
            // and keeps nothing.
            unsafe { function(packets.as_mut_ptr(), packets.len(), exits.as_mut_ptr()) }
        })))
    }
}

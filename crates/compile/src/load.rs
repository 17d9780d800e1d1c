//! Compiled code in the running program.
//!
//! A shared object is trusted with packets only if it says that it was made of the same packet sources as this program.
#![allow(unsafe_code)]

use crate::rustc::CompileError;
use crate::text::ABI_SYMBOL;
use clickwork_packet::Packet;
use clickwork_router::segment::{Code, Exit};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
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
    _memory: File,
}

impl Library {
    /// Loads the bytes of a shared object that [`crate::rustc::compile`] made. They are loaded from memory that nobody can
    /// change: a file could be cut off later, or be another one when it is opened again.
    ///
    /// # Errors
    /// If they cannot be loaded, or were made by another version of the program.
    pub fn from_bytes(bytes: &[u8]) -> Result<Library, CompileError> {
        let memory = memory(bytes).map_err(|e| CompileError::new(format!("compiled code: {e}")))?;
        let file = format!("/proc/self/fd/{}", memory.as_raw_fd());
        let failed = |e: libloading::Error| CompileError::new(format!("compiled code: {e}"));
        // SAFETY: the bytes come from our own compiler run: loading them runs no code of their own.
        let library = unsafe { libloading::Library::new(&file) }.map_err(failed)?;
        // SAFETY: every object that we make has this symbol, a `u64`.
        let abi = unsafe { library.get::<*const u64>(ABI_SYMBOL).map(|abi| **abi) }.map_err(failed)?;
        match abi == crate::text::abi() {
            true => Ok(Library(Arc::new(Loaded { object: library, _memory: memory }))),
            false => {
                Err(CompileError::new("compiled code: made by another version of the program".to_string()))
            }
        }
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

/// A file without a name that has these bytes for ever.
fn memory(bytes: &[u8]) -> io::Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = File::from(memfd_create("clickwork-segments", flags)?);
    file.write_all(bytes)?;
    fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(file)
}
